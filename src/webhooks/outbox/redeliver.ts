// Queues deliveries once more: one, those that wait, or those of a span.

import type { ISql } from '../../database/client.ts'
import { pagesOf, unnest } from '../../database/rows.ts'
import { updateCounts } from './events.ts'

interface Moved {
  day: string
  event: string
  was: string
  status: string
  deliveries: number
}

interface FoundDelivery {
  id: string
  was: string
}

/**
 * Queues finished deliveries for one more attempt, due now, unless they have changed since they were found. A
 * successful attempt gets a row in webhook_attempts. The caller updates the counts. One statement for each
 * status, and no join, in which PostgreSQL might compare each of 20,000 rows with each id.
 */
async function requeue(tx: ISql, orgId: string, deliveries: readonly FoundDelivery[]): Promise<Moved[]> {
  const moved: Moved[] = []
  for (const [was, rows] of Map.groupBy(deliveries, (row) => row.was)) {
    const ids = rows.map(({ id }) => id)
    const statement = tx<Moved[]>`
      with changed as (
        update webhook_deliveries d
        set status = 'pending', undelivered = false, completed_at = null
        where d.org_id = ${orgId}
          and d.id = any(${ids}::text[])
          and d.status = ${was}
          and d.completed_at is not null
        returning
          d.id, d.endpoint_id, d.event_id, d.event, d.status, d.attempts, d.created_at, d.succeeded_at, d.duration_ms,
          d.last_status_code, d.response_body
      ),
      earlier as (
        insert into webhook_attempts (
          org_id, delivery_id, number, started_at, duration_ms, status_code, response_body
        )
        select ${orgId}, x.id, x.attempts, x.succeeded_at, x.duration_ms, x.last_status_code, x.response_body
        from changed x
        where ${was} = 'success'
      ),
      queued as (
        insert into webhook_queue (
          org_id, delivery_id, endpoint_id, event_id, mode, attempts, failures, lost, leased, due_at
        )
        select ${orgId}, x.id, x.endpoint_id, x.event_id, 'once', x.attempts, 0, 0, false, statement_timestamp()
        from changed x
      )
      select
        (x.created_at at time zone 'UTC')::date as day, x.event, ${was}::text as was, x.status,
        count(*)::integer as deliveries
      from changed x
      group by day, x.event, x.status`
    moved.push(...(await statement))
  }
  return moved
}

async function updateCountsOf(tx: ISql, orgId: string, endpointId: string, moved: readonly Moved[]) {
  await tx`
    with changed as (
      select
        ${endpointId}::text as endpoint_id, m.day::timestamp at time zone 'UTC' as created_at, m.event, m.was, m.status
      from ${unnest(tx, moved, { day: 'date', event: 'text', was: 'text', status: 'text', deliveries: 'integer' }, 'm')}
      cross join generate_series(1, m.deliveries)
    )
    ${updateCounts(tx, orgId)}`
  return moved.reduce((sum, { deliveries }) => sum + deliveries, 0)
}

/** Makes a delivery due now unless it is in flight: with its retries, or one more attempt. Whether anything was changed. */
export async function redeliverOne(tx: ISql, orgId: string, endpointId: string, id: string) {
  const { count } = await tx`
    update webhook_queue q
    set due_at = statement_timestamp()
    where q.org_id = ${orgId}
      and q.delivery_id = ${id}
      and q.endpoint_id = ${endpointId}
      and not q.leased`
  if (count > 0) return true
  const rows = await tx<FoundDelivery[]>`
    select d.id, d.status as was
    from webhook_deliveries d
    where d.org_id = ${orgId}
      and d.id = ${id}
      and d.endpoint_id = ${endpointId}`
  return (await updateCountsOf(tx, orgId, endpointId, await requeue(tx, orgId, rows))) > 0
}

/** Makes all deliveries of the endpoint that wait for a retry due now. Returns how many. */
export async function retryWaiting(tx: ISql, orgId: string, endpointId: string): Promise<number> {
  const { count } = await tx`
    update webhook_queue q
    set due_at = statement_timestamp()
    where q.org_id = ${orgId}
      and q.endpoint_id = ${endpointId}
      and not q.leased
      and q.attempts > 0`
  return count
}

/** Deliveries created in [since, until), where null is now; times are RFC 3339 in UTC. */
export interface Span {
  since: string
  until: string | null
}

const undelivered = (sql: ISql, orgId: string, endpointId: string, { since, until }: Span) => sql`
  from webhook_deliveries d
  where d.org_id = ${orgId}
    and d.endpoint_id = ${endpointId}
    and d.undelivered
    and d.created_at >= ${since}
    and d.created_at < coalesce(${until}::timestamptz, now())`

/** Deliveries in one statement, some 60 µs each: 1.2 s of the 25 s that a statement may take. */
const BATCH = 20_000

/** Makes failed and cancelled deliveries of the span due now. The counts come last: settlements wait for the same rows. */
export async function redeliverSpan(tx: ISql, orgId: string, endpointId: string, span: Span) {
  const moved: Moved[] = []
  const foundAfter = async ({ at, id }: { at: string; id: string }) =>
    await tx<(FoundDelivery & { at: string })[]>`
      select d.id, d.status as was, d.created_at::text as at
      ${undelivered(tx, orgId, endpointId, span)}
        and (d.created_at, d.id) > (${at}::timestamptz, ${id})
      order by d.created_at, d.id
      limit ${BATCH}`
  for await (const deliveries of pagesOf(BATCH, { at: '-infinity', id: '' }, foundAfter))
    moved.push(...(await requeue(tx, orgId, deliveries)))
  return await updateCountsOf(tx, orgId, endpointId, moved)
}

/** Counts the deliveries that `redeliverSpan` would change. */
export async function countUndelivered(sql: ISql, orgId: string, endpointId: string, span: Span) {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    ${undelivered(sql, orgId, endpointId, span)}`
  return row?.count ?? 0
}
