import { expect, test } from 'bun:test'
import { createOrganization } from '../../src/accounts/organizations/queries.ts'
import { rebuildTables } from '../../src/database/derived-tables.ts'
import type { AttemptResult } from '../../src/webhooks/http/attempt-result.ts'
import { claim, FAILING_AFTER, findDueOrganizations, MAX_LOST } from '../../src/webhooks/outbox/claim.ts'
import { deleteOldDeliveries } from '../../src/webhooks/outbox/delete-old.ts'
import { failAbandoned } from '../../src/webhooks/outbox/end.ts'
import { release, settle } from '../../src/webhooks/outbox/settle.ts'
import { DELIVERY_TABLES } from '../../src/webhooks/outbox/state.ts'
import { findDifferences, silent, testsDatabase } from '../support/postgres.ts'
import {
  addDeliveries,
  addEndpoint,
  earlier,
  expectCounts,
  good,
  LIMITS,
  result,
  settleAll,
} from '../support/webhook-rows.ts'

const database = await testsDatabase()
const { sql } = database

let made = 0
async function organization(plan = 'cloud_team'): Promise<string> {
  made += 1
  const slug = `queue-${made}`
  return (await createOrganization(sql, { slug, name: slug, plan })).id
}

const deliveryOf = async (orgId: string, id: string) => {
  const [row] = await sql`
    select
      d.status, coalesce(q.attempts, d.attempts) as attempts, q.failures, q.lost, q.leased, d.last_status_code,
      d.completed_at, extract(epoch from q.due_at - now())::float8 as due_in_s
    from webhook_deliveries d
    left join webhook_queue q on q.org_id = d.org_id and q.delivery_id = d.id
    where d.org_id = ${orgId} and d.id = ${id}`
  return row
}
/** Time passes: leases and retries of the organization are as they will be in `seconds`. */
const pass = (orgId: string, seconds: number) => sql`
  update webhook_queue q
  set due_at = ${earlier(sql, sql`q.due_at`, seconds)}
  where q.org_id = ${orgId}`

/** Deliveries that failed once and are due again; their ids. */
async function addRetries(orgId: string, endpoint: string, count: number): Promise<string[]> {
  const ids = await addDeliveries(sql, orgId, endpoint, count)
  await sql`
    update webhook_queue q set attempts = 1, failures = 1
    where q.org_id = ${orgId} and q.delivery_id = any(${ids})`
  return ids
}

test('claims the oldest first, no more of an endpoint than may be in flight', async () => {
  const orgId = await organization()
  const endpoint = await addEndpoint(sql, orgId)
  const ids = await addDeliveries(sql, orgId, endpoint, 10)
  expect(await findDueOrganizations(sql)).toContain(orgId)
  const first = await claim(sql, orgId, LIMITS)
  expect(first.map(({ id }) => id).sort()).toEqual(ids.slice(0, 4))
  expect(first.every(({ attempt, is_first }) => attempt === 1 && is_first)).toBe(true)
  expect(await claim(sql, orgId, LIMITS)).toEqual([])
  await settleAll(sql, orgId, first.slice(0, 1), good())
  const next = await claim(sql, orgId, LIMITS)
  expect(next.map(({ id }) => id)).toEqual(ids.slice(4, 5))
})

test('instances that claim at once never have the same delivery, nor more than the limit together', async () => {
  const orgId = await organization()
  const pools = [1, 2, 3, 4].map(() => database.pool(4))
  for (let endpoint = 0; endpoint < 3; endpoint += 1) {
    await addDeliveries(sql, orgId, await addEndpoint(sql, orgId), 30)
  }
  const sent = new Map<string, number>()
  for (let round = 0; round < 12; round += 1) {
    const claims = await Promise.all(
      pools.flatMap((sql) => [claim(sql, orgId, LIMITS), claim(sql, orgId, LIMITS)]),
    )
    const claimed = claims.flat()
    for (const { id } of claimed) sent.set(id, (sent.get(id) ?? 0) + 1)
    const perEndpoint = Map.groupBy(claimed, ({ endpoint_id }) => endpoint_id)
    for (const deliveries of perEndpoint.values()) expect(deliveries.length).toBeLessThanOrEqual(4)
    await settleAll(sql, orgId, claimed, good())
  }
  expect(sent.size).toBe(90)
  expect([...sent.values()].every((count) => count === 1)).toBe(true)
  for (const pool of pools) await pool.end()
})

test('gives each endpoint its turn, and keeps slots for first attempts', async () => {
  const orgId = await organization()
  const busy = await addEndpoint(sql, orgId)
  const retried = await addRetries(orgId, busy, 20)
  const fresh = await addEndpoint(sql, orgId)
  const firsts = await addDeliveries(sql, orgId, fresh, 20)
  // the retries are older and could take every slot
  const claimed = await claim(sql, orgId, { ...LIMITS, limit: 8, laterLimit: 2, endpointLimit: 8 })
  expect(claimed.filter(({ is_first }) => !is_first).map(({ id }) => id)).toEqual(retried.slice(0, 2))
  expect(claimed.filter(({ is_first }) => is_first).map(({ id }) => id)).toEqual(firsts.slice(0, 6))
})

test('first attempts are found behind retries of their endpoint that have no slot', async () => {
  const orgId = await organization()
  const endpoint = await addEndpoint(sql, orgId)
  const retried = await addRetries(orgId, endpoint, 20)
  const firsts = await addDeliveries(sql, orgId, endpoint, 20)
  const limits = { ...LIMITS, limit: 8, endpointLimit: 4 }
  const withoutSlot = await claim(sql, orgId, { ...limits, laterLimit: 0 })
  expect(withoutSlot.map(({ id }) => id)).toEqual(firsts.slice(0, 4))
  await settleAll(sql, orgId, withoutSlot, good())
  // the oldest go first with slots for them, whichever they are
  const withSlots = await claim(sql, orgId, { ...limits, laterLimit: 8 })
  expect(withSlots.map(({ id }) => id)).toEqual(retried.slice(0, 4))
  // their sender died: they wait for a slot of later ones as well
  await pass(orgId, 3_600)
  const afterDeath = await claim(sql, orgId, { ...limits, laterLimit: 0 })
  expect(afterDeath.map(({ id }) => id)).toEqual(firsts.slice(4, 8))
})

test('the few slots that retries have are not in the way of first attempts elsewhere', async () => {
  const orgId = await organization()
  const firsts: string[] = []
  for (let endpoint = 0; endpoint < 6; endpoint += 1) {
    const id = await addEndpoint(sql, orgId)
    await addRetries(orgId, id, 5)
    firsts.push(...(await addDeliveries(sql, orgId, id, 4)))
  }
  const claimed = await claim(sql, orgId, { ...LIMITS, laterLimit: 2, endpointLimit: 4 })
  expect(claimed.filter(({ is_first }) => !is_first)).toHaveLength(2)
  // four each, two of them with a retry in place of a first attempt
  expect(claimed).toHaveLength(24)
  expect(claimed.every(({ id, is_first }) => !is_first || firsts.includes(id))).toBe(true)
})

test('endpoints whose attempts do not end leave a slot to each of the others', async () => {
  const orgId = await organization()
  const endpoints: string[] = []
  for (let at = 0; at < 8; at += 1) endpoints.push(await addEndpoint(sql, orgId))
  const [late = '', ...hanging] = endpoints
  for (const id of hanging) await addDeliveries(sql, orgId, id, 10)
  // 16 slots in all, of which one is kept for the endpoint that has nothing to send yet
  const held = await claim(sql, orgId, { ...LIMITS, limit: 16 })
  expect(held).toHaveLength(15)
  const counts = Map.groupBy(held, ({ endpoint_id }) => endpoint_id)
  expect([...counts.values()].map(({ length }) => length).sort()).toEqual([2, 2, 2, 2, 2, 2, 3])
  expect(await claim(sql, orgId, { ...LIMITS, limit: 1 })).toEqual([])
  const [first] = await addDeliveries(sql, orgId, late, 2)
  const [next, ...more] = await claim(sql, orgId, { ...LIMITS, limit: 1 })
  expect(next?.id).toBe(first)
  expect(more).toEqual([])
})

test('the slot that is kept for an endpoint takes a retry as well', async () => {
  const orgId = await organization()
  const busy = await addEndpoint(sql, orgId)
  const other = await addEndpoint(sql, orgId)
  await addRetries(orgId, busy, 10)
  const [younger = ''] = await addRetries(orgId, other, 1)
  await sql`update webhook_queue q set due_at = now() + interval '1 hour' where q.delivery_id = ${younger}`
  expect(await claim(sql, orgId, { ...LIMITS, limit: 3 })).toHaveLength(2)
  await sql`update webhook_queue q set due_at = now() where q.delivery_id = ${younger}`
  // its older ones would take the only slot of retries, and be left out then
  const next = await claim(sql, orgId, { ...LIMITS, limit: 1, laterLimit: 1 })
  expect(next.map(({ id }) => id)).toEqual([younger])
})

test('an endpoint alone among many idle ones keeps its limit, also where few slots are left', async () => {
  const orgId = await organization()
  const busy = await addEndpoint(sql, orgId)
  for (let at = 0; at < 19; at += 1) await addEndpoint(sql, orgId)
  await addDeliveries(sql, orgId, busy, 10)
  expect(await claim(sql, orgId, { ...LIMITS, limit: 14, endpointLimit: 4 })).toHaveLength(4)
})

test('retries by the schedule from the end of the attempt, then fails', async () => {
  const orgId = await organization()
  const [id = ''] = await addDeliveries(sql, orgId, await addEndpoint(sql, orgId), 1)
  for (const [index, delayS] of [60, 300, 1_800].entries()) {
    const claimed = await claim(sql, orgId, LIMITS)
    expect(claimed.map(({ attempt, is_first }) => ({ attempt, is_first }))).toEqual([
      { attempt: index + 1, is_first: index === 0 },
    ])
    expect(await settleAll(sql, orgId, claimed, result())).toEqual([id])
    const row = await deliveryOf(orgId, id)
    expect(row).toMatchObject({ status: 'pending_retry', attempts: index + 1, failures: index + 1 })
    expect(row?.due_in_s).toBeGreaterThan(delayS - 30)
    expect(row?.due_in_s).toBeLessThanOrEqual(delayS)
    expect(await claim(sql, orgId, LIMITS)).toEqual([])
    await pass(orgId, delayS)
  }
  await settleAll(sql, orgId, await claim(sql, orgId, LIMITS), result({ statusCode: 500 }))
  const row = await deliveryOf(orgId, id)
  expect(row).toMatchObject({ status: 'failed', attempts: 4, due_in_s: null, last_status_code: 500 })
  expect(row?.completed_at).toBeInstanceOf(Date)
  const attempts = await sql`
    select a.number, a.duration_ms, a.status_code, a.error, a.response_body
    from webhook_attempts a
    where a.org_id = ${orgId}
    order by a.number`
  expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4])
  expect(attempts[3]).toEqual({
    number: 4,
    duration_ms: 12,
    status_code: 500,
    error: 'status: answered 503',
    response_body: 'busy',
  })
  await expectCounts(sql, orgId)
})

test('a refused address fails at once', async () => {
  const orgId = await organization()
  const [id = ''] = await addDeliveries(sql, orgId, await addEndpoint(sql, orgId), 1)
  const refused = result({ refused: true, statusCode: null, error: 'refused: the address' })
  await settleAll(sql, orgId, await claim(sql, orgId, LIMITS), refused)
  expect(await deliveryOf(orgId, id)).toMatchObject({ status: 'failed', attempts: 1 })
})

test('after its lease an attempt is made again, and the late result is refused', async () => {
  const orgId = await organization()
  const [id = ''] = await addDeliveries(sql, orgId, await addEndpoint(sql, orgId), 1)
  const stopped = await claim(sql, orgId, LIMITS)
  expect(await claim(sql, orgId, LIMITS)).toEqual([])
  await pass(orgId, 20)
  const rescued = await claim(sql, orgId, LIMITS)
  expect(rescued.map(({ attempt }) => attempt)).toEqual([2])
  expect(await settleAll(sql, orgId, stopped, good())).toEqual([])
  expect(await deliveryOf(orgId, id)).toMatchObject({ status: 'pending', attempts: 2, lost: 1, leased: true })
  expect(await settleAll(sql, orgId, rescued, result())).toEqual([id])
  // the attempt that was lost is no failure: the schedule begins with the first known one
  const row = await deliveryOf(orgId, id)
  expect(row).toMatchObject({ status: 'pending_retry', failures: 1, lost: 1 })
  expect(row?.due_in_s).toBeLessThanOrEqual(60)
  const [lost] = await sql`
    select a.number, a.duration_ms, a.error from webhook_attempts a where a.org_id = ${orgId} order by a.number`
  expect(lost).toEqual({ number: 1, duration_ms: null, error: expect.stringContaining('the sender ended') })
})

test('what has failed for good, and the first failure of an endpoint, are lines of the log', async () => {
  const orgId = await organization()
  const endpoint = await addEndpoint(sql, orgId)
  const lines: [string, unknown][] = []
  const log = { warn: (message: string, fields: object = {}) => lines.push([message, fields]) }
  const attempt = async (how: Partial<AttemptResult>, delaysS: number[]) => {
    const [id = ''] = await addDeliveries(sql, orgId, endpoint, 1)
    const claimed = await claim(sql, orgId, LIMITS)
    const outcomes = claimed.map(({ id: deliveryId, endpoint_id: endpointId, attempt }) => ({
      ...{ deliveryId, endpointId, attempt, result: result(how) },
    }))
    await settle(sql, orgId, outcomes, delaysS, log)
    const said = lines.splice(0).map(([message, fields]) => {
      expect(fields).toEqual({
        ...{ org_id: orgId, endpoint_id: endpoint, delivery_id: id, status_code: how.statusCode ?? null },
        error: how.error ?? null,
      })
      return message
    })
    return said
  }
  const failure = { ok: false, statusCode: 500, error: 'status: answered 500' }
  const [first, last] = ['a webhook endpoint has failed', 'a webhook delivery has failed for good']
  expect(await attempt(failure, [600])).toEqual([first])
  expect(await attempt(failure, [600])).toEqual([])
  expect(await attempt(failure, [])).toEqual([last])
  expect(await attempt({ ok: true, statusCode: 200 }, [])).toEqual([])
  expect(await attempt({ ...failure, refused: true }, [600])).toEqual([first, last])
})

test('what kills its sender again and again ends as failed', async () => {
  const orgId = await organization()
  const [id = ''] = await addDeliveries(sql, orgId, await addEndpoint(sql, orgId), 1)
  for (let attempt = 1; attempt <= MAX_LOST + 1; attempt += 1) {
    expect((await claim(sql, orgId, LIMITS)).map((claimed) => claimed.attempt)).toEqual([attempt])
    await pass(orgId, 20)
  }
  expect(await claim(sql, orgId, LIMITS)).toEqual([])
  expect(await failAbandoned(sql, silent)).toBe(1)
  expect(await deliveryOf(orgId, id)).toMatchObject({ status: 'failed', attempts: MAX_LOST + 1 })
  await expectCounts(sql, orgId)
})

test('a disabled endpoint and a smaller plan hold what waits', async () => {
  const orgId = await organization()
  const endpoint = await addEndpoint(sql, orgId, { enabled: false })
  await addDeliveries(sql, orgId, endpoint, 1)
  expect(await findDueOrganizations(sql)).not.toContain(orgId)
  expect(await claim(sql, orgId, LIMITS)).toEqual([])
  await sql`update webhook_endpoints set enabled = true where org_id = ${orgId}`
  await sql`update organizations set plan = 'cloud_pro' where org_id = ${orgId}`
  expect(await findDueOrganizations(sql)).not.toContain(orgId)
  expect(await claim(sql, orgId, LIMITS)).toEqual([])
  await sql`update organizations set plan = 'cloud_team' where org_id = ${orgId}`
  expect(await claim(sql, orgId, LIMITS)).toHaveLength(1)
})

test('an endpoint that keeps failing rests after a failure and leaves the slots of first attempts', async () => {
  const orgId = await organization()
  const endpoint = await addEndpoint(sql, orgId)
  await addDeliveries(sql, orgId, endpoint, 20)
  await settleAll(sql, orgId, await claim(sql, orgId, LIMITS), result())
  await settleAll(sql, orgId, await claim(sql, orgId, LIMITS), result())
  const [health] = await sql<{ consecutive_failures: number; last_failure_at: Date }[]>`
    select h.consecutive_failures, h.last_failure_at from webhook_health h where h.org_id = ${orgId}`
  expect(health?.consecutive_failures).toBe(8)
  expect(8).toBeGreaterThanOrEqual(FAILING_AFTER)
  await sql`update webhook_health h set last_failure_at = now() + interval '1 hour' where h.org_id = ${orgId}`
  expect(await claim(sql, orgId, LIMITS)).toEqual([])
  await sql`update webhook_health h set last_failure_at = now() - interval '1 minute' where h.org_id = ${orgId}`
  expect(await claim(sql, orgId, { ...LIMITS, laterLimit: 0 })).toEqual([])
  const claimed = await claim(sql, orgId, LIMITS)
  expect(claimed.map(({ is_first }) => is_first)).toEqual([false, false, false, false])
  await settleAll(sql, orgId, claimed, good())
  const [healed] = await sql`
    select h.consecutive_failures, h.last_status_code from webhook_health h where h.org_id = ${orgId}`
  expect(healed).toEqual({ consecutive_failures: 0, last_status_code: 200 })
})

test('what could not be sent is given back, its attempt not counted', async () => {
  const orgId = await organization()
  const [id = ''] = await addDeliveries(sql, orgId, await addEndpoint(sql, orgId), 1)
  for (const claimed of await claim(sql, orgId, LIMITS))
    await release(sql, orgId, { deliveryId: claimed.id, attempt: claimed.attempt }, 1_000)
  expect(await deliveryOf(orgId, id)).toMatchObject({
    status: 'pending',
    attempts: 0,
    lost: 0,
    leased: false,
  })
  await pass(orgId, 1)
  expect((await claim(sql, orgId, LIMITS)).map(({ attempt }) => attempt)).toEqual([1])
})

test('finished deliveries are deleted when their time is over, with all that belongs to them', async () => {
  const orgId = await organization()
  const endpoint = await addEndpoint(sql, orgId)
  const ids = await addDeliveries(sql, orgId, endpoint, 3)
  await settleAll(sql, orgId, (await claim(sql, orgId, LIMITS)).slice(0, 2), good())
  const longAgo = new Date(Date.now() - 86_400_000)
  expect(await deleteOldDeliveries(sql, longAgo)).toBe(0)
  // the third is in flight: nothing of it goes
  expect(await deleteOldDeliveries(sql, new Date(Date.now() + 86_400_000))).toBeGreaterThanOrEqual(2)
  const left = await sql`select d.id from webhook_deliveries d where d.org_id = ${orgId}`
  expect(left.map(({ id }) => id)).toEqual(ids.slice(2))
  const tables = await sql`
    select
      (select count(*)::int from webhook_attempts a where a.org_id = ${orgId}) as attempts,
      (select count(*)::int from webhook_events e where e.org_id = ${orgId}) as events,
      (select count(*)::int from webhook_delivery_counts c where c.org_id = ${orgId}) as counts`
  expect([...tables]).toEqual([{ attempts: 0, events: 1, counts: 1 }])
})

test('counts of deliveries that went wrong are found and written anew', async () => {
  const orgId = await organization()
  await addDeliveries(sql, orgId, await addEndpoint(sql, orgId), 5)
  await settleAll(sql, orgId, await claim(sql, orgId, LIMITS), good())
  expect(await findDifferences(sql, orgId, DELIVERY_TABLES)).toEqual([])
  await sql`update webhook_delivery_counts c set deliveries = 9 where c.org_id = ${orgId} and c.status = 'success'`
  expect(await findDifferences(sql, orgId, DELIVERY_TABLES)).toEqual([
    expect.stringMatching(/^deliveries success of /),
  ])
  await sql.begin((tx) => rebuildTables(tx, orgId, DELIVERY_TABLES))
  expect(await findDifferences(sql, orgId, DELIVERY_TABLES)).toEqual([])
})
