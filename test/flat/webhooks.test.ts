import { describe, expect, test } from 'bun:test'
import { mostRead } from '../../bench/support/plans.ts'
import type { Sql } from '../../src/database/client.ts'
import { getHistory, listDeliveries } from '../../src/webhooks/deliveries/history-queries.ts'
import type { DeliveryListQuery } from '../../src/webhooks/deliveries/model.ts'
import { getEndpoint, listEndpoints } from '../../src/webhooks/endpoint-queries.ts'
import { countUndelivered } from '../../src/webhooks/outbox/redeliver.ts'
import { newOrg } from '../support/api.ts'
import { plainDatabase, testsDatabase } from '../support/postgres.ts'
import { addEndpoint, expectCounts } from '../support/webhook-rows.ts'

// Holds the history of webhooks to the rules of sessions.test.ts: no query reads more deliveries than its page and
// one day of them, whatever plan PostgreSQL makes. Of a filter that few deliveries match it reads those days that
// have one.

const DAYS = 30
const DELIVERIES = 3_000
const PER_DAY = DELIVERIES / DAYS
/** One of ten. */
const FAILED = DELIVERIES / 10
const PAGE = 50
const LAST = DELIVERIES / PAGE

const database = await testsDatabase(plainDatabase)
const { sql } = database
const { orgId } = await newOrg(sql)
const other = await newOrg(sql)
const endpoint = await addEndpoint(sql, orgId)
for (const [owner, id] of [
  [orgId, endpoint],
  [orgId, await addEndpoint(sql, orgId)],
  [other.orgId, await addEndpoint(sql, other.orgId)],
] as const)
  await fill(sql, owner, id)

/** Deliveries evenly over the days, of ten one failed and one waiting, each with an attempt. */
async function fill(sql: Sql, owner: string, id: string): Promise<void> {
  await sql`
    with numbers as (
      select n, 'x' || ${id}::text || lpad(n::text, 6, '0') as name,
        date_trunc('day', now(), 'UTC') - interval '12 hours' - n * interval '1 day' / ${PER_DAY} as at,
        case n % 10 when 0 then 'failed' when 5 then 'pending' else 'success' end as status
      from generate_series(1, ${DELIVERIES}) n
    ),
    events as (
      insert into webhook_events (org_id, id, event, created_at, body)
      select ${owner}, 'evt_' || n.name, 'session.completed', n.at, '{}' from numbers n
    ),
    attempts as (
      insert into webhook_attempts (org_id, delivery_id, number, started_at, duration_ms)
      select ${owner}, 'dlv_' || n.name, 1, n.at, 1 from numbers n where n.status <> 'success'
    ),
    deliveries as (
      insert into webhook_deliveries (
        org_id, id, endpoint_id, event_id, event, status, undelivered, attempts, created_at, completed_at,
        succeeded_at, duration_ms
      )
      select ${owner}, 'dlv_' || n.name, ${id}, 'evt_' || n.name, 'session.completed', n.status, n.status = 'failed', 1,
        n.at, case when n.status <> 'pending' then n.at end, n.at, 1
      from numbers n
    ),
    queued as (
      insert into webhook_queue (
        org_id, delivery_id, endpoint_id, event_id, mode, attempts, failures, lost, leased, due_at
      )
      select ${owner}, 'dlv_' || n.name, ${id}, 'evt_' || n.name, 'scheduled', 1, 0, 0, false, n.at
      from numbers n
      where n.status = 'pending'
    )
    insert into webhook_delivery_counts (org_id, endpoint_id, day, event, status, deliveries)
    select ${owner}, ${id}, (n.at at time zone 'UTC')::date, 'session.completed', n.status, count(*)
    from numbers n
    group by 3, 5`
  await expectCounts(sql, owner)
}

async function readsOf(ask: (sql: Sql) => Promise<unknown>): Promise<number> {
  const { rows, indexOnly } = await mostRead(database.sql, () => ask(database.sql))
  return rows + indexOnly
}
const listed = (options: Partial<DeliveryListQuery>) =>
  readsOf((sql) => listDeliveries(sql, orgId, endpoint, { page: 1, per_page: PAGE, ...options }))
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

test('the database counts what is read', async () => {
  const all = (sql: Sql) => sql`select d.status from webhook_deliveries d where d.attempts >= ${0}`
  expect(await readsOf(all)).toBe(3 * DELIVERIES)
})

describe('reads at most a page and a day', () => {
  const cases: [string, Partial<DeliveryListQuery>][] = [
    ['first page', {}],
    ['second page', { page: 2 }],
    ['middle page', { page: LAST / 2 }],
    ['last page', { page: LAST }],
    ['page past the end', { page: LAST + 1 }],
    ['page far past the end', { page: 1_000_000_000 }],
    ['a large page', { per_page: 100, page: 7 }],
    ['days', { date_from: daysAgo(20), date_to: daysAgo(10) }],
    ['days, deep', { date_from: daysAgo(20), date_to: daysAgo(10), page: 15 }],
    ['what succeeded', { status: 'success', page: 20 }],
    ['an event', { event: 'session.completed', page: 20 }],
    ['an event that never was', { event: 'security.alert' }],
    ['what waits, where nothing does', { status: 'pending_retry' }],
    ['what waits, of one day', { status: 'pending', date_from: daysAgo(3), date_to: daysAgo(3) }],
  ]
  test.each(cases)('list, %s', async (_name, options) => {
    expect(await listed(options)).toBeLessThanOrEqual((options.per_page ?? PAGE) + PER_DAY)
  })
})

test('reads of what is rare the days on which a page of it lies', async () => {
  const days = PAGE / (PER_DAY / 10) + 2
  for (const page of [1, FAILED / PAGE]) {
    expect(await listed({ status: 'pending', page })).toBeLessThanOrEqual(days * PER_DAY)
  }
})

test('reads of what failed nothing that did not', async () => {
  for (const page of [1, 3, FAILED / PAGE]) {
    // an index that knows the state is read beside the table
    expect(await listed({ status: 'failed', page })).toBeLessThanOrEqual(2 * (PAGE + PER_DAY / 10))
  }
  const span = { since: '2020-01-01T00:00:00Z', until: null }
  const counted = await readsOf((sql) => countUndelivered(sql, orgId, endpoint, span))
  expect(counted).toBeLessThanOrEqual(2 * FAILED)
})

test('reads one delivery by its id, and no history for an endpoint', async () => {
  const [row] = await database.sql<{ id: string }[]>`
    select min(d.id) as id from webhook_deliveries d where d.org_id = ${orgId} and d.endpoint_id = ${endpoint}`
  // the delivery, its event, its attempt
  expect(await readsOf((sql) => getHistory(sql, orgId, endpoint, row?.id ?? ''))).toBeLessThanOrEqual(3)
  expect(await readsOf((sql) => getEndpoint(sql, orgId, endpoint))).toBe(0)
  expect(await readsOf((sql) => listEndpoints(sql, orgId))).toBe(0)
})
