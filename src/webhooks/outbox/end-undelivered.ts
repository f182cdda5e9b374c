import type { Fragment, ISql } from '../../database/client.ts'
import { updateCounts } from './counts.ts'

/**
 * CTEs that end unfinished deliveries with this status, and update the counts. They read a CTE `ended` (id,
 * attempts, failures); their CTE `changed` has a row for each delivery.
 */
export const endUndelivered = (sql: ISql, orgId: string, status: 'failed' | 'cancelled'): Fragment => sql`
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
