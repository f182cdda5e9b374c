import type { Fragment, ISql } from '../../database/client.ts'
import { endUndelivered } from './end-undelivered.ts'

/**
 * Cancels deliveries of the endpoint that are not in flight. Returns how many: at most `limit` each of first
 * attempts, of later ones, and of those whose lease has ended, each read by an index of its own.
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
