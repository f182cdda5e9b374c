import {
  type FoundSecret,
  findSecretsInTexts,
  maskSecrets,
  type ScannedText,
} from '../../detection/secrets.ts'
import { cut } from '../../text.ts'
import type { Place } from './session-model.ts'

/** Texts waiting to be scanned, many at a time. */
export interface SecretScan {
  add(text: string, place: Place): void
  /** To be awaited between lines: scans what waits once it is worth a call. */
  flushIfFull(): Promise<void>
  flush(): Promise<void>
}

const BATCH_CHARACTERS = 1024 * 1024
/** Known of one session, by secret and file; what is found beyond them is masked all the same. */
const MAX_SECRETS_PER_SESSION = 100_000
/** Characters of one turn kept with `content`, and of one session: a record must fit a request of 32 MiB. */
const MAX_TURN_CONTENT = 16 * 1024
const MAX_SESSION_CONTENT = 4 * 1024 * 1024

/** Collects the texts of the sessions being read; found secrets, and with `keepContent` the masked texts, go to their sessions. */
export function newSecretScan(keepContent: boolean): SecretScan {
  let waiting: ScannedText<Place>[] = []
  let size = 0
  const flush = async () => {
    if (waiting.length === 0) return
    const texts = waiting
    waiting = []
    size = 0
    const found = await findSecretsInTexts(texts)
    for (const { place, secret } of found) keepSecret(place, secret)
    if (keepContent) keepTexts(texts, found)
  }
  return {
    add(text, place) {
      if (text === '') return
      waiting.push({ text, place })
      size += text.length
    },
    flushIfFull: async () => {
      if (size >= BATCH_CHARACTERS) await flush()
    },
    flush,
  }
}

const isGraver = (place: Place, than: Place): boolean => place.outward && !than.outward

// One secret in one file is one finding, at its gravest or else first place.
function keepSecret(place: Place, secret: FoundSecret): void {
  const { secrets } = place.session
  const key = `${secret.fingerprint} ${place.call?.nature.file ?? ''}`
  const known = secrets.get(key)
  if (known !== undefined ? isGraver(place, known.place) : secrets.size < MAX_SECRETS_PER_SESSION) {
    secrets.set(key, { place, finding: secret })
  }
}

function keepTexts(
  texts: readonly ScannedText<Place>[],
  found: readonly { place: Place; secret: FoundSecret }[],
): void {
  const byPlace = new Map<Place, FoundSecret[]>()
  for (const { place, secret } of found) {
    const secrets = byPlace.get(place) ?? []
    secrets.push(secret)
    byPlace.set(place, secrets)
  }
  for (const { text, place } of texts) {
    const { turn, session } = place
    if (turn === null) continue
    const masked = maskSecrets(text, byPlace.get(place) ?? [], ({ ruleId }) => `[secret: ${ruleId}]`)
    const room = Math.max(
      0,
      Math.min(MAX_TURN_CONTENT - turn.content.length, MAX_SESSION_CONTENT - session.contentLength),
    )
    const piece = `${turn.content === '' ? '' : '\n\n'}${masked}`
    const kept = cut(piece, room)
    turn.content += kept
    turn.contentCut += piece.length - kept.length
    session.contentLength += kept.length
  }
}
