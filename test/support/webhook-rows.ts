import { expect } from 'bun:test'
import { newOrderedId } from '../../src/base/ids.ts'
import type { Fragment, Sql } from '../../src/database/client.ts'
import type { AttemptResult } from '../../src/webhooks/http/attempt-result.ts'
import type { ClaimLimits } from '../../src/webhooks/outbox/claim.ts'
import { type Outcome, settle } from '../../src/webhooks/outbox/settle.ts'
import { silent } from './postgres.ts'

// Endpoints and deliveries inserted as rows, for tests of the queue without the code that creates them.

/** A time `seconds` before that of a column. Citus refuses `timestamptz - interval`, whose result the time zone changes. */
export const earlier = (sql: Sql, column: Fragment, seconds: number): Fragment => sql`
  (${column} at time zone 'UTC' - ${seconds} * interval '1 second') at time zone 'UTC'`

/** Adds an endpoint whose secret cannot be decrypted; returns its id. */
export async function addEndpoint(
  sql: Sql,
  orgId: string,
  { url = 'http://127.0.0.1:9/', enabled = true, secret = new Uint8Array(1) } = {},
): Promise<string> {
  const id = newOrderedId('hook', new Date())
  await sql`insert into webhook_claims (org_id) values (${orgId}) on conflict do nothing`
  await sql`
    insert into webhook_endpoints (org_id, id, url, events, enabled, secret, secret_hint, created_at, updated_at)
    values (${orgId}, ${id}, ${url}, array['*'], ${enabled}, ${secret}, 'hint', now(), now())`
  return id
}

/**
 * Adds `count` waiting deliveries, each due a millisecond after the previous one; returns their ids in that
 * order.
 */
export async function addDeliveries(
  sql: Sql,
  orgId: string,
  endpointId: string,
  count: number,
  body = '{}',
): Promise<string[]> {
  const run = newOrderedId('evt', new Date()).slice(4)
  const rows = await sql<{ id: string }[]>`
    with numbers as (select n from generate_series(1, ${count}) as n),
    events as (
      insert into webhook_events (org_id, id, event, created_at, body)
      select ${orgId}, 'evt_' || ${run}::text || lpad(n::text, 8, '0'), 'session.completed', now(), ${body}
      from numbers
    ),
    counts as (
      insert into webhook_delivery_counts as c (org_id, endpoint_id, day, event, status, deliveries)
      values (${orgId}, ${endpointId}, (now() at time zone 'UTC')::date, 'session.completed', 'pending', ${count})
      on conflict (org_id, endpoint_id, day, event, status) do update set
        deliveries = c.deliveries + excluded.deliveries
    ),
    deliveries as (
      insert into webhook_deliveries (org_id, id, endpoint_id, event_id, event, status, attempts, created_at)
      select
        ${orgId}, 'dlv_' || ${run}::text || lpad(n::text, 8, '0'), ${endpointId},
        'evt_' || ${run}::text || lpad(n::text, 8, '0'), 'session.completed', 'pending', 0, now()
      from numbers
    )
    insert into webhook_queue (
      org_id, delivery_id, endpoint_id, event_id, mode, attempts, failures, lost, leased, due_at
    )
    select
      ${orgId}, 'dlv_' || ${run}::text || lpad(n::text, 8, '0'), ${endpointId},
      'evt_' || ${run}::text || lpad(n::text, 8, '0'), 'scheduled', 0, 0, 0, false,
      now() - interval '1 hour' + n * interval '1 millisecond'
    from numbers
    returning delivery_id as id`
  return rows.map(({ id }) => id).sort()
}

export const LIMITS: ClaimLimits = { limit: 64, laterLimit: 48, endpointLimit: 4, leaseMs: 20_000 }
export const DELAYS_S = [60, 300, 1_800]

export const result = (over: Partial<AttemptResult> = {}): AttemptResult => ({
  startedAt: new Date(),
  durationMs: 12.4,
  ok: false,
  refused: false,
  postponed: false,
  statusCode: 503,
  error: 'status: answered 503',
  responseBody: 'busy',
  ...over,
})
export const good = (): AttemptResult => result({ ok: true, statusCode: 200, error: null, responseBody: '' })

/** Settles claimed deliveries with the result `how`; returns the ids of those that were settled. */
export async function settleAll(
  sql: Sql,
  orgId: string,
  claimed: readonly { id: string; endpoint_id: string; attempt: number }[],
  how: AttemptResult,
): Promise<string[]> {
  const outcomes: Outcome[] = claimed.map(({ id, endpoint_id, attempt }) => ({
    deliveryId: id,
    endpointId: endpoint_id,
    attempt,
    result: how,
  }))
  return await settle(sql, orgId, outcomes, DELAYS_S, silent)
}

/** The stored counts, and the same counts computed from the deliveries. */
async function countsOf(sql: Sql, orgId: string) {
  const kept = await sql`
    select c.endpoint_id, c.day, c.event, c.status, c.deliveries
    from webhook_delivery_counts c
    where c.org_id = ${orgId} and c.deliveries <> 0
    order by 1, 2, 3, 4`
  const recounted = await sql`
    select d.endpoint_id, (d.created_at at time zone 'UTC')::date as day, d.event, d.status, count(*) as deliveries
    from webhook_deliveries d
    where d.org_id = ${orgId}
    group by 1, 2, 3, 4
    order by 1, 2, 3, 4`
  return { kept: [...kept], recounted: [...recounted] }
}

/** The stored counts are those of the deliveries; they are returned. */
export async function expectCounts(sql: Sql, orgId: string) {
  const { kept, recounted } = await countsOf(sql, orgId)
  expect(kept).toEqual(recounted)
  return kept
}
