// Signs requests to receivers and checks signatures, in two forms: HMAC-SHA256 of the body in hex, as GitHub sends it, and
// the `webhook-*` headers of Standard Webhooks, which sign the id and the time too.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { VERSION } from '../../base/version.ts'
import { isExample } from '../outbox/catalogue.ts'

/** The contents of the headers besides the signatures. */
interface AttemptIdentity {
  /** Beginning of the header names: the setting WEBHOOK_HEADER_PREFIX. */
  prefix: string
  /** `evt_…`, by which receivers recognize duplicates. */
  eventId: string
  event: string
  /** `dlv_…`, the same on every attempt. */
  deliveryId: string
  attempt: number
  body: string
  /** Time when it is sent. */
  at: Date
}

interface Signatures {
  /** The signature by the secret that receivers have: during the grace period of a rotation the former one. */
  main: string
  /** The signature by the new secret, during the grace period; else null. */
  next: string | null
  /** All signatures of Standard Webhooks, separated by spaces. */
  standard: string
}

export const USER_AGENT = `CloudAnalytics/${VERSION}`

const SECRET_FORM = /^whsec_([A-Za-z0-9+/]+={0,2})$/

/** The key of Standard Webhooks: the decoded bytes of a secret `whsec_<base64>`; of any other text its bytes in UTF-8. */
function standardKey(secret: string): Buffer {
  const encoded = SECRET_FORM.exec(secret)?.[1]
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64')
}

/** `sha256=<hex>`: HMAC-SHA256 of the body; the key is the secret's text as UTF-8, `whsec_` included. */
export const signatureOf = (secret: string, body: string | Uint8Array): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

/** The message that Standard Webhooks signs: `webhook-id` and `webhook-timestamp` as they are sent, and the body. */
interface StandardMessage {
  id: string
  /** Unix seconds, in decimal. */
  timestamp: string
  body: string | Uint8Array
}

function standardSignatureOf(secret: string, { id, timestamp, body }: StandardMessage): string {
  const hmac = createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.`).update(body)
  return `v1,${hmac.digest('base64')}`
}

function headersOf(identity: AttemptIdentity, signatures: Signatures): Record<string, string> {
  const { prefix, eventId, event, deliveryId, attempt, body, at } = identity
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'User-Agent': USER_AGENT,
    [`${prefix}-Signature-256`]: signatures.main,
    [`${prefix}-Signature`]: signatures.main,
    [`${prefix}-Event`]: event,
    [`${prefix}-Delivery`]: deliveryId,
    [`${prefix}-Attempt`]: `${attempt}`,
    'webhook-id': eventId,
    'webhook-timestamp': unixSeconds(at),
    'webhook-signature': signatures.standard,
  }
  if (isExample(body)) headers[`${prefix}-Test`] = 'true'
  if (signatures.next !== null) headers[`${prefix}-Signature-256-Next`] = signatures.next
  return headers
}

const unixSeconds = (at: Date): string => `${Math.floor(at.getTime() / 1_000)}`

/** The headers of an attempt. In a rotation's grace they are by the previous secret, one beside them by the new one. */
export function signedHeaders(request: AttemptIdentity & { secret: string; previousSecret: string | null }) {
  const { secret, previousSecret, body, eventId, at } = request
  const message = { id: eventId, timestamp: unixSeconds(at), body }
  const secrets = previousSecret === null ? [secret] : [previousSecret, secret]
  return headersOf(request, {
    main: signatureOf(previousSecret ?? secret, body),
    next: previousSecret === null ? null : signatureOf(secret, body),
    standard: secrets.map((each) => standardSignatureOf(each, message)).join(' '),
  })
}

const MASKED = 'sha256=***'

/** The headers of an attempt outside of a grace period, with masked signatures: which one it was in is not stored. */
export function maskedHeaders(identity: AttemptIdentity): Record<string, string> {
  return headersOf(identity, {
    main: MASKED,
    next: null,
    standard: 'v1,***',
  })
}

// compares in constant time; the length of a signature is no secret
const isEqual = (signature: string, expected: string): boolean => {
  const [a, b] = [Buffer.from(signature), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Whether `header` (`sha256=<hex>`) is the body's signature; in constant time. */
export const verifySignature = (secret: string, body: string | Uint8Array, header: string): boolean =>
  isEqual(header, signatureOf(secret, body))

/** Whether one of the header's signatures (`v1,<base64>`, by spaces) is the message's. The caller checks its age. */
export function verifyStandardSignature(secret: string, message: StandardMessage, header: string): boolean {
  const expected = standardSignatureOf(secret, message)
  return header.split(' ').some((part) => isEqual(part, expected))
}
