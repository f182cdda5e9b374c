import type { ISql, Sql } from '../../db/client.ts'
import { orderedIdFloor } from '../../ids.ts'
import { countsMoved, MAX_LOST } from './queue.ts'

// What has served its time. One organization a statement, in batches, so that nothing waits long behind it.

/** Endpoints looked at in one round; the next round goes on. */
const MAX_ENDPOINTS = 1_000
const BATCH = 5_000

/**
 * Ends deliveries that nobody will send again: tests whose request died, and those whose attempts were lost MAX_LOST times.
 * How many.
 */
export async function failAbandoned(sql: Sql): Promise<number> {
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
  let failed = 0
  for (const { org_id, endpoint_id } of endpoints) failed += await failAbandonedOf(sql, org_id, endpoint_id)
  return failed
}

async function failAbandonedOf(sql: ISql, orgId: string, endpointId: string): Promise<number> {
  const rows = await sql<{ id: string }[]>`
    with held as materialized (
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
    unqueued as (
      delete from webhook_queue q
      using held h
      where q.org_id = ${orgId}
        and q.delivery_id = h.id
    ),
    changed as (
      update webhook_deliveries d
      set status = 'failed', undelivered = true, attempts = h.attempts, completed_at = clock_timestamp()
      from held h
      where d.org_id = ${orgId}
        and d.id = h.id
      returning
        d.id, d.endpoint_id, d.created_at, d.event, d.status,
        case when h.failures > 0 then 'pending_retry' else 'pending' end as was
    ),
    attempts as (
      insert into webhook_attempts (org_id, delivery_id, number, started_at, error)
      select
        ${orgId}, h.id, h.attempts, h.claimed_at,
        'the sender ended before it was known how the attempt ended; it may have arrived'
      from held h
      on conflict do nothing
    ),
    counts as (${countsMoved(sql, orgId)})
    select x.id
    from changed x`
  return rows.length
}

/**
 * Deletes deliveries that were finished before `before`, with their attempts and their counts, and events that have no
 * delivery left. How many deliveries.
 */
export async function deleteOldDeliveries(sql: Sql, before: Date): Promise<number> {
  const endpoints = await sql<{ org_id: string; endpoint_id: string }[]>`
    select distinct c.org_id, c.endpoint_id
    from webhook_delivery_counts c
    where c.day <= ${before}::timestamptz::date
      and c.status in ('success', 'failed', 'cancelled')
    limit ${MAX_ENDPOINTS}`
  let deleted = 0
  for (const { org_id, endpoint_id } of endpoints) {
    let batch: number
    do {
      batch = await deleteBatch(sql, org_id, endpoint_id, before)
      deleted += batch
    } while (batch === BATCH)
  }
  for (const orgId of new Set(endpoints.map((endpoint) => endpoint.org_id))) {
    await deleteOldEvents(sql, orgId, before)
    await deleteEmptyCounts(sql, orgId, before)
  }
  return deleted
}

async function deleteBatch(sql: ISql, orgId: string, endpointId: string, before: Date): Promise<number> {
  const rows = await sql<{ id: string }[]>`
    with old as materialized (
      select d.id
      from webhook_deliveries d
      where d.org_id = ${orgId}
        and d.endpoint_id = ${endpointId}
        and d.created_at < ${before}
        and d.completed_at < ${before}
      order by d.created_at, d.id
      limit ${BATCH}
      for update skip locked
    ),
    changed as (
      delete from webhook_deliveries d
      using old o
      where d.org_id = ${orgId}
        and d.id = o.id
      returning d.id, d.endpoint_id, d.created_at, d.event, d.status as was, null::text as status
    ),
    attempts as (
      delete from webhook_attempts a
      using old o
      where a.org_id = ${orgId}
        and a.delivery_id = o.id
    ),
    counts as (${countsMoved(sql, orgId)})
    select x.id
    from changed x`
  return rows.length
}

/** Those without a delivery. The ids sort by time, so that only old ones are looked at. */
async function deleteOldEvents(sql: ISql, orgId: string, before: Date): Promise<void> {
  let count: number
  do {
    const result = await sql`
      with old as materialized (
        select e.id
        from webhook_events e
        where e.org_id = ${orgId}
          and e.id < ${orderedIdFloor('evt', before)}
          and e.created_at < ${before}
          and not exists (
            select
            from webhook_deliveries d
            where d.org_id = ${orgId}
              and d.event_id = e.id
          )
        limit ${BATCH}
      )
      delete from webhook_events e
      using old o
      where e.org_id = ${orgId}
        and e.id = o.id`
    count = result.count
  } while (count === BATCH)
}

async function deleteEmptyCounts(sql: ISql, orgId: string, before: Date): Promise<void> {
  await sql`
    delete from webhook_delivery_counts c
    where c.org_id = ${orgId}
      and c.deliveries = 0
      and c.day <= ${before}::timestamptz::date`
}
