import { verifySignature, verifyStandardSignature } from '../../webhooks/signing/signature.ts'

// What a receiver has to check of a delivery.

/** A message older than this may be one that somebody sends again: what Standard Webhooks has receivers refuse. */
const MAX_AGE_S = 300

/** `unverified`: there is no secret to judge by. */
export type Verdict = 'valid' | 'invalid' | 'unverified'

export interface Judgement {
  signature: Verdict
  /** What the receiver's owner should know; null: nothing. */
  warning: string | null
}

/** Judges the signatures of a delivery. Both forms have to be right where both are sent, and one has to be there. */
export function judge(
  secret: string | null,
  prefix: string,
  headers: Headers,
  body: Uint8Array,
  now: Date,
): Judgement {
  const old = ageWarning(headers.get('webhook-timestamp'), now)
  if (secret === null) return { signature: 'unverified', warning: old }
  // in a rotation's grace the former secret is right too
  const names = [`${prefix}-Signature-256`, `${prefix}-Signature-256-Previous`, `${prefix}-Signature`]
  const plain = names.map((name) => headers.get(name)).filter((header) => header !== null)
  const standard = headers.get('webhook-signature')
  if (plain.length === 0 && standard === null) {
    const warning = `no signature: neither ${prefix}-Signature-256 nor webhook-signature was sent`
    return { signature: 'invalid', warning }
  }
  const isPlainRight = plain.length === 0 || plain.some((header) => verifySignature(secret, body, header))
  const [id, timestamp] = [headers.get('webhook-id') ?? '', headers.get('webhook-timestamp') ?? '']
  const isStandardRight =
    standard === null || verifyStandardSignature(secret, { id, timestamp, body }, standard)
  if (isPlainRight && isStandardRight) return { signature: 'valid', warning: old }
  return { signature: 'invalid', warning: 'signed with another secret, or changed on its way' }
}

/** A warning of a `webhook-timestamp` (Unix seconds) that a receiver should refuse; null: it is recent, or not there. */
export function ageWarning(timestamp: string | null, now: Date): string | null {
  if (timestamp === null) return null
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp is no number of seconds'
  const ageS = Math.floor(now.getTime() / 1_000) - Number(timestamp)
  if (Math.abs(ageS) <= MAX_AGE_S) return null
  return `webhook-timestamp is ${Math.abs(ageS)} s ${ageS > 0 ? 'old' : 'ahead'}: receivers should refuse beyond ${MAX_AGE_S} s`
}
