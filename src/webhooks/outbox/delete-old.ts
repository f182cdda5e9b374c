// Deletes deliveries that finished long ago, with attempts and counts, and events without any.

import { inBatches, sumBy } from '../../base/batches.ts'
import { orderedIdFloor } from '../../base/ids.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { deleteFrom } from '../../database/rows.ts'
import { updateCounts } from './events.ts'

/** Endpoints in one call; the next call continues. */
const MAX_ENDPOINTS = 1_000
/** Rows in one statement, so that no other waits long for its locks. */
const BATCH = 5_000

export async function deleteOldDeliveries(sql: Sql, before: Date): Promise<number> {
  const endpoints = await sql<{ org_id: string; endpoint_id: string }[]>`
    select distinct c.org_id, c.endpoint_id
    from webhook_delivery_counts c
    where c.day <= ${before}::timestamptz::date
      and c.status in ('success', 'failed', 'cancelled')
    limit ${MAX_ENDPOINTS}`
  const deleted = await sumBy(endpoints, ({ org_id, endpoint_id }) =>
    inBatches(BATCH, () => deleteBatch(sql, org_id, endpoint_id, before)),
  )
  for (const orgId of new Set(endpoints.map((endpoint) => endpoint.org_id))) {
    await inBatches(BATCH, () => deleteEvents(sql, orgId, before))
    const isEmpty = sql`and t.deliveries = 0 and t.day <= ${before}::timestamptz::date`
    await deleteFrom(sql, orgId, 'webhook_delivery_counts', isEmpty)
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
    counts as (${updateCounts(sql, orgId)})
    select x.id
    from changed x`
  return rows.length
}

/** Ids sort by time, so that only old events are read. */
async function deleteEvents(sql: ISql, orgId: string, before: Date): Promise<number> {
  const { count } = await sql`
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
  return count
}
