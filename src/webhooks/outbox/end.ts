// Cancels and fails deliveries that are not sent any more.

import { inBatches, sumBy } from '../../base/batches.ts'
import type { Log } from '../../base/log.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { deleteFrom } from '../../database/rows.ts'
import { MAX_LOST } from './claim.ts'
import { updateCounts } from './events.ts'
import { FAILED_FOR_GOOD } from './settle.ts'

/** Endpoints in one call; the next call continues. */
const MAX_ENDPOINTS = 1_000
const BATCH = 5_000

/** CTEs that end the unfinished deliveries `ended` (id, attempts, failures) with this status; `changed` has a row for each. */
const endUndelivered = (sql: ISql, orgId: string, status: 'failed' | 'cancelled'): Fragment => sql`
  unqueued as (
    delete from webhook_queue q
    using ended e
    where q.org_id = ${orgId}
      and q.delivery_id = e.id
  ),
  changed as (
    update webhook_deliveries d
    set status = ${status}, undelivered = true, attempts = e.attempts, completed_at = statement_timestamp()
    from ended e
    where d.org_id = ${orgId}
      and d.id = e.id
    returning
      d.id, d.endpoint_id, d.created_at, d.event, d.status,
      case when e.failures > 0 then 'pending_retry' else 'pending' end as was
  ),
  counts as (${updateCounts(sql, orgId)})`

/** Cancels up to `limit` deliveries of each kind that are not in flight: first, later, and with an ended lease. */
export async function cancelWaiting(sql: ISql, orgId: string, endpointId: string, limit: number) {
  const some = (isKind: Fragment) => sql`
    select w.id, w.attempts, w.failures
    from (
      select q.delivery_id as id, q.attempts, q.failures
      from webhook_queue q
      where q.org_id = ${orgId}
        and q.endpoint_id = ${endpointId}
        and ${isKind}
      limit ${limit}
      -- a locked one is being claimed or settled
      for update skip locked
    ) w`
  const [row] = await sql<{ cancelled: number }[]>`
    with ended as materialized (
      ${some(sql`not q.leased and q.attempts = 0`)}
      union all
      ${some(sql`not q.leased and q.attempts > 0`)}
      union all
      ${some(sql`q.leased and q.due_at <= statement_timestamp()`)}
    ),
    ${endUndelivered(sql, orgId, 'cancelled')}
    select count(*)::integer as cancelled
    from changed x`
  return row?.cancelled ?? 0
}

/** Cancels what waits of deleted endpoints, and deletes the health that late attempts have written. Returns how many. */
export async function cancelOfDeletedEndpoints(sql: Sql): Promise<number> {
  const endpoints = await sql<{ org_id: string; endpoint_id: string }[]>`
    select distinct c.org_id, c.endpoint_id
    from webhook_delivery_counts c
    where c.status in ('pending', 'pending_retry')
      and c.deliveries > 0
      and not exists (
        select
        from webhook_endpoints e
        where e.org_id = c.org_id
          and e.id = c.endpoint_id
      )
    limit ${MAX_ENDPOINTS}`
  const cancelled = await sumBy(endpoints, ({ org_id, endpoint_id }) =>
    inBatches(BATCH, () => cancelWaiting(sql, org_id, endpoint_id, BATCH)),
  )
  await deleteHealthOfDeleted(sql)
  return cancelled
}

async function deleteHealthOfDeleted(sql: Sql): Promise<void> {
  const endpoints = await sql<{ org_id: string; endpoint_id: string }[]>`
    select h.org_id, h.endpoint_id
    from webhook_health h
    where not exists (
      select
      from webhook_endpoints e
      where e.org_id = h.org_id
        and e.id = h.endpoint_id
    )
    limit ${MAX_ENDPOINTS}`
  for (const { org_id, endpoint_id } of endpoints)
    await deleteFrom(sql, org_id, 'webhook_health', sql`and t.endpoint_id = ${endpoint_id}`)
}

/** Fails deliveries that are not claimed again: tests whose process ended, and those with MAX_LOST lost attempts. */
export async function failAbandoned(sql: Sql, log: Pick<Log, 'warn'>): Promise<number> {
  const endpoints = await sql<{ org_id: string; endpoint_id: string }[]>`
    select p.org_id, p.endpoint_id
    from (
      select distinct c.org_id, c.endpoint_id
      from webhook_delivery_counts c
      where c.status in ('pending', 'pending_retry')
        and c.deliveries > 0
    ) p
    cross join lateral (
      select 1
      from webhook_queue q
      where q.org_id = p.org_id
        and q.endpoint_id = p.endpoint_id
        and q.leased
        and q.due_at <= now()
        and (q.mode = 'test' or q.lost >= ${MAX_LOST})
      limit 1
    ) a
    limit ${MAX_ENDPOINTS}`
  return await sumBy(endpoints, ({ org_id, endpoint_id }) => failAbandonedOf(sql, org_id, endpoint_id, log))
}

async function failAbandonedOf(sql: ISql, orgId: string, endpointId: string, log: Pick<Log, 'warn'>) {
  const rows = await sql<{ id: string }[]>`
    with ended as materialized (
      select q.delivery_id as id, q.attempts, q.failures, q.claimed_at
      from webhook_queue q
      where q.org_id = ${orgId}
        and q.endpoint_id = ${endpointId}
        and q.leased
        and q.due_at <= now()
        and (q.mode = 'test' or q.lost >= ${MAX_LOST})
      order by q.due_at, q.delivery_id
      limit ${BATCH}
      for update skip locked
    ),
    attempts as (
      insert into webhook_attempts (org_id, delivery_id, number, started_at, error)
      select
        ${orgId}, h.id, h.attempts, h.claimed_at,
        'the sender ended before it was known how the attempt ended; it may have arrived'
      from ended h
      on conflict do nothing
    ),
    ${endUndelivered(sql, orgId, 'failed')}
    select x.id
    from changed x`
  for (const { id } of rows)
    log.warn(FAILED_FOR_GOOD, { org_id: orgId, endpoint_id: endpointId, delivery_id: id, status_code: null })
  return rows.length
}
