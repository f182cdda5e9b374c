// Checks signature and age of a delivery as a receiver does, for `webhook verify` and `listen`.

import { verifySignature, verifyStandardSignature } from '../../webhooks/signing/signature.ts'

/** Standard Webhooks tells receivers to refuse an older message, which may be a replay. */
const MAX_AGE_S = 300

/** The signing secret from --secret or WEBHOOK_SECRET, which other users cannot see; null: neither. */
export const secretOf = (env: Record<string, string | undefined>, given: string | undefined): string | null =>
  given || env.WEBHOOK_SECRET || null

/** `unverified`: the secret is not known. */
type SignatureStatus = 'valid' | 'invalid' | 'unverified'

export interface Verification {
  signature: SignatureStatus
  /** Warns the receiver's owner; null: no warning. */
  warning: string | null
}

/** Verifies the signatures of a delivery: one form has to be sent, and each that is sent to be valid. */
export function verifyDelivery(
  secret: string | null,
  prefix: string,
  headers: Headers,
  body: Uint8Array,
): Verification {
  const tooOld = ageWarning(headers.get('webhook-timestamp'))
  if (secret === null) return { signature: 'unverified', warning: tooOld }
  // during the grace period of a rotation the first is signed with the former secret, the second with the new one
  const names = [`${prefix}-Signature-256`, `${prefix}-Signature-256-Next`, `${prefix}-Signature`]
  const plain = names.map((name) => headers.get(name)).filter((header) => header !== null)
  const standard = headers.get('webhook-signature')
  if (plain.length === 0 && standard === null) {
    const warning = `no signature: neither ${prefix}-Signature-256 nor webhook-signature was sent`
    return { signature: 'invalid', warning }
  }
  const isPlainValid = plain.length === 0 || plain.some((header) => verifySignature(secret, body, header))
  const [id, timestamp] = [headers.get('webhook-id') ?? '', headers.get('webhook-timestamp') ?? '']
  const isStandardValid =
    standard === null || verifyStandardSignature(secret, { id, timestamp, body }, standard)
  if (isPlainValid && isStandardValid) return { signature: 'valid', warning: tooOld }
  return { signature: 'invalid', warning: 'signed with another secret, or changed on its way' }
}

/** A warning about a `webhook-timestamp` (Unix seconds) that is too old or ahead; null: none. */
export function ageWarning(timestamp: string | null): string | null {
  if (timestamp === null) return null
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp is no number of seconds'
  const ageS = Math.floor(Date.now() / 1_000) - Number(timestamp)
  if (Math.abs(ageS) <= MAX_AGE_S) return null
  return `webhook-timestamp is ${Math.abs(ageS)} s ${ageS > 0 ? 'old' : 'ahead'}: receivers should refuse beyond ${MAX_AGE_S} s`
}
