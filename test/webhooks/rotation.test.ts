import { beforeEach, expect, test } from 'bun:test'
import { verify } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import { makeAttempt } from '../../src/webhooks/attempt.ts'
import { createEgress } from '../../src/webhooks/http/egress.ts'
import { createSender } from '../../src/webhooks/http/sender.ts'
import { claim } from '../../src/webhooks/outbox/claim.ts'
import { asker, testSecrets } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'
import { addHook, hooked, receiver, webhookApp } from '../support/webhook-api.ts'
import { addDeliveries, result as failure, LIMITS, settleAll } from '../support/webhook-rows.ts'

// A rotation of the signing secret as receivers see it: before it, within its grace, after it, and finished. Each receiver
// uses the library of its form of signature, and knows one secret.

type Headers = Record<string, string>

/** Whether receivers that know `secret` take a delivery, each by its form of signature. */
async function taken(secret: string, { headers, body }: { headers: Headers; body: string }) {
  const github = (name: string) => verify(secret, body, headers[name] ?? 'sha256=')
  let standard = true
  try {
    new Webhook(secret).verify(body, headers)
  } catch {
    standard = false
  }
  return {
    main: await github('x-service-signature-256'),
    old: await github('x-service-signature'),
    next: await github('x-service-signature-256-next'),
    standard,
  }
}

const ALL = { main: true, old: true, next: false, standard: true }
const NONE = { main: false, old: false, next: false, standard: false }
const BY_NEXT = { main: false, old: false, next: true, standard: true }

const db = await testsDatabase()
let own: ReturnType<typeof receiver>
let id: string
let first: string

const owner = await hooked(db)
const ask = asker(webhookApp(db), owner.key)
beforeEach(async () => {
  own = receiver()
  ;({ id, secret: first } = await addHook(ask, own.url))
  return () => own.stop()
})

const rotate = async (body: object = {}): Promise<string> =>
  (await ask('POST', `/v1/webhooks/${id}/rotate-secret`, body)).body.secret
/** Returns the receiver's copy of an event sent now. */
async function sent() {
  expect((await ask('POST', `/v1/webhooks/${id}/test`)).body.success).toBe(true)
  const got = own.got.at(-1)
  if (got === undefined) throw new Error('nothing was received')
  return got
}
const expire = () => db.sql`
  update webhook_endpoints e
  set previous_secret_expires_at = ${new Date(Date.now() - 1_000)}
  where e.org_id = ${owner.orgId} and e.id = ${id}`

test('before: one secret, and no header for another', async () => {
  const got = await sent()
  expect(await taken(first, got)).toEqual(ALL)
  expect(got.headers).not.toHaveProperty('x-service-signature-256-next')
})

test('within the grace: who was not changed takes it as before, who has the new secret by the next header', async () => {
  const second = await rotate()
  const got = await sent()
  expect(await taken(first, got)).toEqual(ALL)
  expect(await taken(second, got)).toEqual(BY_NEXT)
  expect(await taken('whsec_b3RoZXI=', got)).toEqual(NONE)
})

test.each<[string, object, () => unknown]>([
  ['its grace ends', { grace_period_seconds: 3_600 }, expire],
  ['it is finished', { grace_period_seconds: 3_600 }, () => rotate({ finish: true })],
  ['it has no grace', { grace_period_seconds: 0 }, () => undefined],
])('when %s, only the new one is valid, in each header', async (_when, body, end) => {
  const second = await rotate(body)
  await end()
  const got = await sent()
  expect(await taken(second, got)).toEqual(ALL)
  expect(await taken(first, got)).toEqual(NONE)
  expect(got.headers).not.toHaveProperty('x-service-signature-256-next')
})

test('once more within the grace, the new one is replaced and the first stays valid', async () => {
  const second = await rotate()
  const third = await rotate()
  const got = await sent()
  expect(await taken(first, got)).toEqual(ALL)
  expect(await taken(second, got)).toEqual(NONE)
  expect(await taken(third, got)).toEqual(BY_NEXT)
  await expire()
  const fourth = await rotate()
  const later = await sent()
  expect(await taken(third, later)).toEqual(ALL)
  expect(await taken(fourth, later)).toEqual(BY_NEXT)
})

test('what was queued before is retried with the headers of its time', async () => {
  const egress = createEgress({ allowCidrs: ['127.0.0.0/8'], allowHttp: true, ownAddresses: [] })
  const resolve = async () => ({ addresses: ['127.0.0.1'] })
  const sender = createSender({ egress, resolve: resolve as never, timeoutMs: 20_000 })
  const deps = { box: testSecrets, sender, prefix: 'X-Service' }
  const attempt = async () => {
    const [claimed] = await claim(db.sql, owner.orgId, LIMITS)
    if (claimed === undefined) throw new Error('nothing is due')
    const result = await makeAttempt(deps, owner.orgId, claimed)
    expect(result.ok).toBe(true)
    // the receiver says no, whatever it takes: the delivery is due again
    await settleAll(db.sql, owner.orgId, [claimed], failure())
    await db.sql`update webhook_queue q set due_at = now() where q.org_id = ${owner.orgId}`
    return own.got.at(-1) ?? { headers: {}, body: '' }
  }
  const [delivery = ''] = await addDeliveries(db.sql, owner.orgId, id, 1, '{"id":"evt_1"}')
  expect(await taken(first, await attempt())).toEqual(ALL)
  const second = await rotate()
  const within = await attempt()
  expect([await taken(first, within), await taken(second, within)]).toEqual([ALL, BY_NEXT])
  await rotate({ finish: true })
  const after = await attempt()
  expect([await taken(first, after), await taken(second, after)]).toEqual([NONE, ALL])
  expect(own.got.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2', '3'])
  expect(new Set(own.got.map(({ headers }) => headers['x-service-delivery']))).toEqual(new Set([delivery]))
  sender.close()
})
