import type { Fragment, ISql } from '../../db/client.ts'
import { updateCounts } from './counts.ts'

/**
 * Cancels deliveries of the endpoint that are not in flight. Returns how many: at most `limit` each of first attempts, of later
 * ones, and of those whose lease has ended, each read by an index of its own.
 */
export async function cancelWaiting(
  sql: ISql,
  orgId: string,
  endpointId: string,
  limit: number,
): Promise<number> {
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
    with waiting as materialized (
      ${some(sql`not q.leased and q.attempts = 0`)}
      union all
      ${some(sql`not q.leased and q.attempts > 0`)}
      union all
      ${some(sql`q.leased and q.due_at <= clock_timestamp()`)}
    ),
    unqueued as (
      delete from webhook_queue q
      using waiting w
      where q.org_id = ${orgId}
        and q.delivery_id = w.id
    ),
    changed as (
      update webhook_deliveries d
      set status = 'cancelled', undelivered = true, attempts = w.attempts, completed_at = clock_timestamp()
      from waiting w
      where d.org_id = ${orgId}
        and d.id = w.id
      returning
        d.id, d.endpoint_id, d.created_at, d.event, d.status,
        case when w.failures > 0 then 'pending_retry' else 'pending' end as was
    ),
    counts as (${updateCounts(sql, orgId)})
    select count(*)::integer as cancelled
    from changed x`
  return row?.cancelled ?? 0
}
