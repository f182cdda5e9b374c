import { deleteOldest } from '../audit/record.ts'
import type { Sql } from '../db/client.ts'
import { lockOrganization } from '../db/org-lock.ts'
import { cancelWaiting } from './queries.ts'

/** Organizations looked at in one round; the next round goes on. */
const MAX_ORGANIZATIONS = 1_000

/**
 * Deletes the request counts of organizations that asked nothing for an hour, and returns how many. One statement an
 * organization: none writes to two, so that it also holds where the tables are spread over servers.
 */
export async function deleteStaleRateWindows(sql: Sql): Promise<number> {
  const stale = await sql<{ org_id: string }[]>`
    select w.org_id
    from rate_windows w
    where w.minute < extract(epoch from now()) / 60 - 60
    limit ${MAX_ORGANIZATIONS}`
  let deleted = 0
  for (const { org_id } of stale) {
    const result = await sql`
      delete from rate_windows w
      where w.org_id = ${org_id}
        and w.minute < extract(epoch from now()) / 60 - 60`
    deleted += result.count
  }
  return deleted
}

/** Audit entries deleted in one transaction: some 100 ms of the organization's lock. */
const AUDIT_BATCH = 5_000

/** Deletes audit entries from before `before`, batch by batch, with their counts; how many. */
export async function deleteOldAuditEntries(sql: Sql, before: Date): Promise<number> {
  const organizations = await sql<{ org_id: string }[]>`
    select o.org_id
    from organizations o
    where exists (
      select 1
      from audit_log l
      where l.org_id = o.org_id
        and l.created_at < ${before}
    )
    limit ${MAX_ORGANIZATIONS}`
  let deleted = 0
  for (const { org_id } of organizations) {
    let batch: number
    do {
      batch = await sql.begin(async (tx) => {
        await lockOrganization(tx, org_id)
        return await deleteOldest(tx, org_id, before, AUDIT_BATCH)
      })
      deleted += batch
    } while (batch === AUDIT_BATCH)
  }
  return deleted
}

/** Deletes answers to an Idempotency-Key that are a day old and are given no more; how many. */
export async function deleteOldIdempotencyKeys(sql: Sql): Promise<number> {
  const organizations = await sql<{ org_id: string }[]>`
    select distinct k.org_id
    from webhook_idempotency_keys k
    where k.created_at <= now() - interval '24 hours'
    limit ${MAX_ORGANIZATIONS}`
  let deleted = 0
  for (const { org_id } of organizations) {
    const result = await sql`
      delete from webhook_idempotency_keys k
      where k.org_id = ${org_id}
        and k.created_at <= now() - interval '24 hours'`
    deleted += result.count
  }
  return deleted
}

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
