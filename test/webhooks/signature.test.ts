import { expect, test } from 'bun:test'
import { verify, verifyWithFallback } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import {
  maskedHeaders,
  signatureOf,
  signedHeaders,
  verifySignature,
  verifyStandardSignature,
} from '../../src/webhooks/signing/signature.ts'

const SECRET = `whsec_${Buffer.from('k'.repeat(32)).toString('base64')}`
const PREVIOUS = `whsec_${Buffer.from('p'.repeat(32)).toString('base64')}`
const BODY = '{"id":"evt_1","data":{"note":"naïve 🙂 \\u2028"}}'

const identity = (at = new Date()) => ({
  prefix: 'X-Service',
  eventId: 'evt_1',
  event: 'session.completed',
  deliveryId: 'dlv_1',
  attempt: 2,
  body: BODY,
  at,
})
const signed = (previousSecret: string | null, at = new Date(), secret = SECRET) =>
  signedHeaders({ ...identity(at), secret, previousSecret })
const header = (headers: Record<string, string>, name: string) => headers[name] ?? 'no such header'

test('the published vector', () => {
  const [secret, body] = ["It's a Secret to Everybody", 'Hello, World!']
  const right = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  expect(signatureOf(secret, body)).toBe(right)
  expect(verifySignature(secret, Buffer.from(body), right)).toBe(true)
})

test('the headers, and no others', () => {
  const headers = signed(null, new Date('2026-01-31T12:34:56.789Z'))
  expect(headers['User-Agent']).toMatch(/^CloudAnalytics\/\d+\.\d+\.\d+/)
  expect(headers).toEqual({
    'Content-Type': 'application/json',
    'User-Agent': header(headers, 'User-Agent'),
    'X-Service-Signature-256': signatureOf(SECRET, BODY),
    'X-Service-Signature': signatureOf(SECRET, BODY),
    'X-Service-Event': 'session.completed',
    'X-Service-Delivery': 'dlv_1',
    'X-Service-Attempt': '2',
    'webhook-id': 'evt_1',
    'webhook-timestamp': '1769862896',
    'webhook-signature': header(headers, 'webhook-signature'),
  })
})

test('the prefix is what the setting says', () => {
  const headers = signedHeaders({
    ...identity(),
    prefix: 'X-Acme',
    secret: SECRET,
    previousSecret: PREVIOUS,
    body: BODY,
  })
  expect(
    Object.keys(headers)
      .filter((name) => name.startsWith('X-'))
      .sort(),
  ).toEqual([
    'X-Acme-Attempt',
    'X-Acme-Delivery',
    'X-Acme-Event',
    'X-Acme-Signature',
    'X-Acme-Signature-256',
    'X-Acme-Signature-256-Next',
  ])
})

test("GitHub's library takes the signature, and within a rotation's grace that of the former secret", async () => {
  const headers = signed(PREVIOUS)
  const main = header(headers, 'X-Service-Signature-256')
  expect(header(headers, 'X-Service-Signature')).toBe(main)
  expect(await verify(PREVIOUS, BODY, main)).toBe(true)
  expect(await verify(SECRET, BODY, main)).toBe(false)
  expect(await verify(PREVIOUS, `${BODY} `, main)).toBe(false)
  // a receiver that was told the new secret but keeps the old one; and one that knows only the new
  expect(await verifyWithFallback(SECRET, BODY, main, [PREVIOUS])).toBe(true)
  expect(await verify(SECRET, BODY, header(headers, 'X-Service-Signature-256-Next'))).toBe(true)
  expect(await verify(SECRET, BODY, header(signed(null), 'X-Service-Signature-256'))).toBe(true)
})

test('the library of Standard Webhooks takes the other form with either secret', () => {
  const headers = signed(PREVIOUS)
  expect(header(headers, 'webhook-signature').split(' ')).toHaveLength(2)
  expect(new Webhook(SECRET).verify(BODY, headers)).toEqual(JSON.parse(BODY))
  expect(new Webhook(PREVIOUS).verify(BODY, headers)).toEqual(JSON.parse(BODY))
  expect(() => new Webhook(PREVIOUS).verify(BODY, signed(null))).toThrow('No matching signature')
  expect(() => new Webhook(SECRET).verify(BODY, { ...headers, 'webhook-id': 'evt_2' })).toThrow()
})

test('a secret without whsec_ is its own key in that form', () => {
  const secret = "It's a Secret to Everybody"
  const headers = signed(null, new Date(), secret)
  expect(new Webhook(secret, { format: 'raw' }).verify(BODY, headers)).toEqual(JSON.parse(BODY))
})

test('what is verified here is what those libraries sign', () => {
  const at = new Date()
  const theirs = new Webhook(SECRET).sign('evt_1', at, BODY)
  const message = { id: 'evt_1', timestamp: `${Math.floor(at.getTime() / 1_000)}`, body: BODY }
  expect(verifyStandardSignature(SECRET, message, theirs)).toBe(true)
  expect(verifyStandardSignature(SECRET, message, `v1a,xyz v1,wrong ${theirs}`)).toBe(true)
  expect(verifyStandardSignature(SECRET, { ...message, timestamp: '1' }, theirs)).toBe(false)
  expect(verifyStandardSignature(SECRET, { ...message, body: '{}' }, theirs)).toBe(false)
  expect(verifyStandardSignature(PREVIOUS, message, theirs)).toBe(false)
})

test.each([
  '',
  'sha256=',
  'sha256=00',
  'v1,',
  `sha1=${'0'.repeat(40)}`,
  `sha256=${'0'.repeat(64)}`,
  'é'.repeat(71),
])('a wrong header does not verify: %p', (given) => {
  expect(verifySignature(SECRET, BODY, given)).toBe(false)
  expect(verifySignature(SECRET, BODY, signatureOf(SECRET, BODY).slice(0, -1))).toBe(false)
  expect(verifyStandardSignature(SECRET, { id: 'evt_1', timestamp: '1', body: BODY }, given)).toBe(false)
})

test('masked: the same headers without a signature', () => {
  const at = new Date()
  const real = signed(null, at)
  const masked = maskedHeaders(identity(at))
  expect(Object.keys(masked)).toEqual(Object.keys(real))
  for (const [name, value] of Object.entries(masked)) {
    const isSignature = /signature/i.test(name)
    expect(value).toBe(
      isSignature ? header(real, name).replace(/(sha256=|v1,)\S+/g, '$1***') : header(real, name),
    )
  }
})
