import { createHmac, timingSafeEqual } from 'node:crypto'
import { WebhookVerificationError } from './errors.js'

/** How far `webhook-timestamp` may be from now, in seconds. */
const TOLERANCE = 300

function equal(a, b) {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** The headers by their names in lower case; of several values the first. */
function lowerCased(headers) {
  const entries = typeof headers?.entries === 'function' ? headers.entries() : Object.entries(headers ?? {})
  return new Map([...entries].map(([name, value]) => [name.toLowerCase(), String([value].flat()[0] ?? '')]))
}

export function verifyWebhook(payload, headers, secret) {
  const body = typeof payload === 'string' ? Buffer.from(payload) : Buffer.from(payload)
  const given = lowerCased(headers)
  const problem = problemOf(body, given, secret)
  if (problem) throw new WebhookVerificationError(problem)
  const text = body.toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function problemOf(body, headers, secret) {
  if (!secret) return 'no secret is given'
  // the word between `X-` and `-Signature` is a setting of the server
  const own = [...headers].filter(([name]) => /^x-.+-signature(-256(-next)?)?$/.test(name))
  const hex = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  if (own.filter(([, value]) => equal(value, hex)).length > 0) return null

  const signatures = headers.get('webhook-signature')
  if (signatures === undefined)
    return own.length > 0 ? 'the signature is of another body or secret' : 'there is no signature'
  const [id, time] = [headers.get('webhook-id') ?? '', headers.get('webhook-timestamp') ?? '']
  if (!/^\d+$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE)
    return `webhook-timestamp is not within ${TOLERANCE} seconds of now`
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  if (key.length === 0) return 'the secret is none of a webhook endpoint'
  const signature = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')
  const matching = signatures.split(' ').filter((one) => equal(one, `v1,${signature}`))
  return matching.length > 0 ? null : 'the signature is of another body or secret'
}
