import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { createOrganization } from '../../../src/accounts/organizations/queries.ts'
import { createLog } from '../../../src/base/log.ts'
import { type Config, loadConfig } from '../../../src/config.ts'
import { connect } from '../../../src/database/client.ts'
import { createReconnectingPool } from '../../../src/database/pools/reconnecting-pool.ts'
import { secretContext } from '../../../src/webhooks/attempt.ts'
import { CHANNEL } from '../../../src/webhooks/outbox/events.ts'
import { createSecretBox } from '../../../src/webhooks/signing/secret-box.ts'
import { verifySignature } from '../../../src/webhooks/signing/signature.ts'
import { startDeliveries } from '../../../src/webhooks/worker/deliveries.ts'
import { eventually, until } from '../../support/cli.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { addDeliveries, addEndpoint } from '../../support/webhook-rows.ts'

// The whole of delivering, in this thread: the database, the loop, the network, a real receiver.

const KEY = new Uint8Array(32).fill(7)
const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`

const database = await testsDatabase()
const receivers: Receiver[] = []
const running: { delivering: ReturnType<typeof startDeliveries>; end: () => Promise<void> }[] = []

afterEach(async () => {
  setSystemTime()
  for (const receiver of receivers.splice(0)) receiver.close()
  for (const { delivering, end } of running.splice(0)) {
    await delivering.drain()
    await end()
  }
  // the next test's loop is not to find what this one left
  await database.sql`delete from webhook_queue`
})

function deliver(over: Partial<Config> = {}) {
  const lines: string[] = []
  const options = { max: 6, applicationName: 'test-deliver' }
  const pool = createReconnectingPool(database.target, options)
  const open = () => connect(database.target, options)
  const settings = {
    ...loadConfig({}),
    webhookAllowHttp: true,
    webhookAllowCidrs: ['127.0.0.0/8'],
    webhookRetryDelaysS: [0, 0, 0],
    ...over,
  }
  const log = createLog('warn', 'json', (line) => lines.push(line))
  const delivering = startDeliveries({
    pool,
    openListener: open,
    settings,
    secretKey: KEY,
    onAttempt: () => {},
    log,
  })
  const end = async () => {
    await pool.end(1)
  }
  running.push({ delivering, end })
  return { delivering, lines }
}

async function receiver(how?: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const made = await startReceiver(how)
  receivers.push(made)
  return made
}

let made = 0
async function organization(): Promise<string> {
  made += 1
  const slug = `loop-${made}`
  return (await createOrganization(database.sql, { slug, name: slug, plan: 'cloud_team' })).id
}

async function endpointTo(orgId: string, url: string): Promise<string> {
  const id = await addEndpoint(database.sql, orgId, { url })
  const secret = createSecretBox(KEY).seal(SECRET, secretContext(orgId, id))
  await database.sql`update webhook_endpoints set secret = ${secret} where org_id = ${orgId} and id = ${id}`
  return id
}

const wake = (orgId: string) => database.sql.notify(CHANNEL, orgId)
const statuses = async (orgId: string): Promise<Record<string, number>> => {
  const rows = await database.sql<{ status: string; count: number }[]>`
    select d.status, count(*)::int as count from webhook_deliveries d where d.org_id = ${orgId} group by d.status`
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}

test('two that share a database deliver what waits, signed, each once, and wake at a notification', async () => {
  const { url, received } = await receiver()
  const orgId = await organization()
  const endpoint = await endpointTo(orgId, url)
  const ids = await addDeliveries(database.sql, orgId, endpoint, 200, '{"n":"é"}')
  deliver()
  deliver()
  await eventually(
    () => statuses(orgId),
    (counts) => counts.success === 200,
  )
  expect(received.map(({ headers }) => headers['x-service-delivery'] ?? '').sort()).toEqual(ids)
  for (const { headers, body } of received) {
    expect(body).toBe('{"n":"é"}')
    expect(verifySignature(SECRET, body, headers['x-service-signature-256'] ?? '')).toBe(true)
    expect(headers['x-service-attempt']).toBe('1')
  }
  await addDeliveries(database.sql, orgId, endpoint, 1)
  await wake(orgId)
  await until(() => received.length === 201)
})

test.each([
  ['an hour fast', 3_600_000],
  ['an hour slow', -3_600_000],
])('a clock that is %s makes nothing early and nothing late', async (_how, skewMs) => {
  const { url, received } = await receiver(500)
  const orgId = await organization()
  const endpoint = await endpointTo(orgId, url)
  setSystemTime(new Date(Date.now() + skewMs))
  deliver({ webhookRetryDelaysS: [1, 3_000] })
  const begin = performance.now()
  await addDeliveries(database.sql, orgId, endpoint, 3)
  await wake(orgId)
  const arrivals = async (count: number) => {
    await until(() => received.length >= count)
    return performance.now() - begin
  }
  await arrivals(3)
  expect(await arrivals(6)).toBeGreaterThan(900)
  // the next one is due by the database's clock; now() may be before the commit that the statement sees
  const due = () => database.sql<{ left_s: number }[]>`
    select extract(epoch from q.due_at - clock_timestamp())::float8 as left_s
    from webhook_queue q
    where q.org_id = ${orgId} and not q.leased and q.failures = 2`
  for (const { left_s } of await eventually(due, (rows) => rows.length === 3)) {
    expect(left_s).toBeGreaterThan(2_900)
    expect(left_s).toBeLessThanOrEqual(3_000)
  }
  expect(received).toHaveLength(6)
})

test('a receiver that hangs has no more than its limit in flight, and delays no other', async () => {
  const dead = await receiver('hang')
  const healthy = await receiver()
  const orgId = await organization()
  await addDeliveries(database.sql, orgId, await endpointTo(orgId, dead.url), 500)
  const endpoint = await endpointTo(orgId, healthy.url)
  deliver()
  await until(() => dead.open() === 4)
  await addDeliveries(database.sql, orgId, endpoint, 100)
  await wake(orgId)
  await until(() => healthy.received.length === 100)
  expect(dead.mostOpen()).toBe(4)
})

test('a drain finishes what is in flight and leaves the rest', async () => {
  const answers: (() => void)[] = []
  let isDraining = false
  const { url, received } = await receiver((_request, response) => {
    const answer = () => response.writeHead(200).end()
    // a claim that was under way when the drain began is sent too
    if (isDraining) answer()
    else answers.push(answer)
  })
  const orgId = await organization()
  await addDeliveries(database.sql, orgId, await endpointTo(orgId, url), 50)
  const { delivering } = deliver()
  await until(() => answers.length === 4)
  const drained = delivering.drain()
  isDraining = true
  for (const answer of answers) answer()
  await drained
  const sent = received.length
  expect(await statuses(orgId)).toEqual({ success: sent, pending: 50 - sent })
  expect(sent).toBeLessThanOrEqual(8)
})

test('a secret that cannot be opened fails the attempt, says so, and is retried', async () => {
  const { url, received } = await receiver()
  const orgId = await organization()
  const endpoint = await endpointTo(orgId, url)
  const other = createSecretBox(KEY).seal(SECRET, secretContext(orgId, 'hook_other'))
  await database.sql`update webhook_endpoints set secret = ${other} where id = ${endpoint}`
  await addDeliveries(database.sql, orgId, endpoint, 1)
  deliver()
  await eventually(
    () => statuses(orgId),
    (counts) => counts.failed === 1,
  )
  const errors = await database.sql`
    select a.error from webhook_attempts a where a.org_id = ${orgId} and a.error like 'secret: %'`
  expect(errors).toHaveLength(4)
  expect(received).toHaveLength(0)
})
