// Looks for secrets in the texts of a session while it is read.

import { cut } from '../../../base/text.ts'
import {
  type FoundSecret,
  findSecretsInTexts,
  maskSecrets,
  type ScannedText,
} from '../../detection/secrets.ts'
import type { Place, SecretScan } from './transcript-model.ts'

/** One piece of `inPieces`: what is longer is scanned in pieces that overlap. */
const BATCH_CHARACTERS = 384 * 1024
/** Secrets kept per session; further ones are still masked. */
const MAX_SECRETS_PER_SESSION = 100_000
/** Characters of content kept per turn and per session: a record must fit into a request of 32 MiB. */
const MAX_TURN_CONTENT = 16 * 1024
const MAX_SESSION_CONTENT = 4 * 1024 * 1024

/** A scan that adds the secrets to their transcripts, and with `keepContent` the masked texts to their turns. */
export function newSecretScan(keepContent: boolean): SecretScan {
  let collected: ScannedText<Place>[] = []
  let size = 0
  const flush = async () => {
    if (collected.length === 0) return
    const texts = collected
    collected = []
    size = 0
    const results = await findSecretsInTexts(texts)
    for (const [{ place }, secrets] of results) for (const secret of secrets) keepSecret(place, secret)
    if (keepContent) keepTexts(texts, results)
  }
  return {
    add(text, place) {
      if (text === '') return
      collected.push({ text, place })
      size += text.length
    },
    flushIfFull: async () => {
      if (size >= BATCH_CHARACTERS) await flush()
    },
    flush,
  }
}

export const noScan: SecretScan = { add() {}, async flushIfFull() {}, async flush() {} }

// Keeps one place per secret and file: the first exposed one, else the first.
function keepSecret(place: Place, secret: FoundSecret): void {
  const { secrets } = place.transcript
  const key = `${secret.fingerprint} ${place.call?.effects.file ?? ''}`
  const sameSecret = secrets.get(key)
  if (
    sameSecret !== undefined
      ? place.exposed && !sameSecret.place.exposed
      : secrets.size < MAX_SECRETS_PER_SESSION
  ) {
    secrets.set(key, { place, secret })
  }
}

function keepTexts(
  texts: readonly ScannedText<Place>[],
  hits: ReadonlyMap<ScannedText<Place>, readonly FoundSecret[]>,
): void {
  for (const scanned of texts) {
    const { turn, transcript } = scanned.place
    if (turn === null) continue
    const masked = maskSecrets(scanned.text, hits.get(scanned) ?? [], ({ ruleId }) => `[secret: ${ruleId}]`)
    const room = Math.max(
      0,
      Math.min(MAX_TURN_CONTENT - turn.content.length, MAX_SESSION_CONTENT - transcript.contentLength),
    )
    const piece = `${turn.content === '' ? '' : '\n\n'}${masked}`
    const shortened = cut(piece, room)
    turn.content += shortened
    turn.contentCut += piece.length - shortened.length
    transcript.contentLength += shortened.length
  }
}
