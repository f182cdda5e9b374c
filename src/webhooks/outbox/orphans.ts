import type { Sql } from '../../db/client.ts'
import { cancelWaiting } from './cancel.ts'

/** Organizations looked at in one round; the next round goes on. */
const MAX_ORGANIZATIONS = 1_000

/** Deliveries cancelled by one statement. */
const CANCEL_BATCH = 5_000

/**
 * Cancels what waits for endpoints that are gone: more than was cancelled with them, and what was in flight then and
 * failed. Deletes what such an attempt has written of the endpoint's health. How many were cancelled.
 */
export async function cancelOrphans(sql: Sql): Promise<number> {
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
    limit ${MAX_ORGANIZATIONS}`
  let cancelled = 0
  for (const { org_id, endpoint_id } of endpoints) {
    let batch: number
    do {
      batch = await cancelWaiting(sql, org_id, endpoint_id, CANCEL_BATCH)
      cancelled += batch
    } while (batch >= CANCEL_BATCH)
  }
  await deleteOrphanedHealth(sql)
  return cancelled
}

async function deleteOrphanedHealth(sql: Sql): Promise<void> {
  const endpoints = await sql<{ org_id: string; endpoint_id: string }[]>`
    select h.org_id, h.endpoint_id
    from webhook_health h
    where not exists (
      select
      from webhook_endpoints e
      where e.org_id = h.org_id
        and e.id = h.endpoint_id
    )
    limit ${MAX_ORGANIZATIONS}`
  for (const { org_id, endpoint_id } of endpoints) {
    await sql`
      delete from webhook_health h
      where h.org_id = ${org_id}
        and h.endpoint_id = ${endpoint_id}`
  }
}
