import { inBatches, sumOf } from '../../base/batches.ts'
import type { Sql } from '../../database/client.ts'
import { cancelWaiting } from './cancel.ts'

/** Endpoints in one call; the next call continues. */
const MAX_ENDPOINTS = 1_000
const BATCH = 5_000

/**
 * Cancels waiting deliveries of deleted endpoints: those beyond the number that is cancelled with the
 * endpoint, and those that were in flight then and failed later. Deletes the health that such attempts have
 * written. Returns how many were cancelled.
 */
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
  const cancelled = await sumOf(endpoints, ({ org_id, endpoint_id }) =>
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
  for (const { org_id, endpoint_id } of endpoints) {
    await sql`
      delete from webhook_health h
      where h.org_id = ${org_id}
        and h.endpoint_id = ${endpoint_id}`
  }
}
