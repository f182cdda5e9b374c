import { sumOf } from '../../base/batches.ts'
import type { Log } from '../../base/log.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { endUndelivered } from './end-undelivered.ts'
import { MAX_LOST } from './lease.ts'
import { FAILED_FOR_GOOD } from './settle.ts'

/** Endpoints in one call; the next call continues. */
const MAX_ENDPOINTS = 1_000
const BATCH = 5_000

/**
 * Fails deliveries that are not claimed again: tests whose process ended, and those that have lost MAX_LOST
 * attempts. Returns how many.
 */
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
  return await sumOf(endpoints, ({ org_id, endpoint_id }) => failAbandonedOf(sql, org_id, endpoint_id, log))
}

async function failAbandonedOf(
  sql: ISql,
  orgId: string,
  endpointId: string,
  log: Pick<Log, 'warn'>,
): Promise<number> {
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
