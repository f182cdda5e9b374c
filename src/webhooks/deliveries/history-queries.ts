import type { ISql } from '../../db/client.ts'
import { ApiError } from '../../errors.ts'
import type { Delivery, DeliveryDetail, DeliveryListQuery, DeliveryStatus } from './model.ts'

// The deliveries of an endpoint, finished or not.

interface DeliveryRow {
  id: string
  event: string
  event_id: string
  status: DeliveryStatus
  attempts: number
  /** null: finished, or in flight. */
  next_attempt_at: Date | null
  last_status_code: number | null
  created_at: Date
  completed_at: Date | null
}

/** Columns of `webhook_deliveries d`. The subqueries name the organization too: Citus then knows that all is on one node. */
const deliveryColumns = (sql: ISql, orgId: string) => sql`
  d.id, d.event, d.event_id, d.status, d.last_status_code, d.created_at, d.completed_at,
  coalesce(
    (
      select q.attempts
      from webhook_queue q
      where q.org_id = ${orgId}
        and q.delivery_id = d.id
    ),
    d.attempts
  ) as attempts,
  (
    select q.due_at
    from webhook_queue q
    where q.org_id = ${orgId}
      and q.delivery_id = d.id
      and not q.leased
  ) as next_attempt_at`

const deliveryOf = (row: DeliveryRow): Delivery => ({
  id: row.id,
  event: row.event,
  event_id: row.event_id,
  status: row.status,
  attempts: row.attempts,
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  last_status_code: row.last_status_code,
  created_at: row.created_at.toISOString(),
  completed_at: row.completed_at?.toISOString() ?? null,
})

/** The error of every request for a delivery that does not exist. */
const noDelivery = () => new ApiError('NOT_FOUND', 'no such delivery')

/** Selects per day the number of matching deliveries, and of those of later days (`before` them in the list). */
const matchingDays = (sql: ISql, orgId: string, endpointId: string, query: DeliveryListQuery) => sql`
  select
    c.day,
    sum(c.deliveries)::bigint as deliveries,
    (sum(sum(c.deliveries)) over (order by c.day desc) - sum(c.deliveries))::bigint as before
  from webhook_delivery_counts c
  where c.org_id = ${orgId}
    and c.endpoint_id = ${endpointId}
    ${query.status === undefined ? sql`` : sql`and c.status = ${query.status}`}
    ${query.event === undefined ? sql`` : sql`and c.event = ${query.event}`}
    ${query.date_from === undefined ? sql`` : sql`and c.day >= ${query.date_from}`}
    ${query.date_to === undefined ? sql`` : sql`and c.day <= ${query.date_to}`}
  group by c.day
  having sum(c.deliveries) > 0`

/** The condition for a status. Failed and cancelled deliveries are read by the index on `undelivered`. */
function inState(sql: ISql, status: DeliveryStatus | undefined) {
  if (status === undefined) return sql``
  const byIndex = status === 'failed' || status === 'cancelled' ? sql`and d.undelivered` : sql``
  return sql`and d.status = ${status} ${byIndex}`
}

type ListRow = Omit<DeliveryRow, 'id'> & {
  total: string
  /** null in the one row of an empty page. */
  id: string | null
}

/**
 * A page of matching deliveries of the endpoint, newest first, and the total, both of one snapshot. The
 * counts give the days of the page and the offsets in them, so that the last page of a million deliveries
 * costs as much as the first.
 */
export async function listDeliveries(
  sql: ISql,
  orgId: string,
  endpointId: string,
  query: DeliveryListQuery,
): Promise<{ rows: Delivery[]; total: number }> {
  const offset = (query.page - 1) * query.per_page
  const rows = await sql<ListRow[]>`
    with days as materialized (${matchingDays(sql, orgId, endpointId, query)}),
    parts as (
      select
        y.day,
        greatest(${offset}::bigint - y.before, 0) as skip,
        least(y.deliveries, ${offset}::bigint + ${query.per_page}::bigint - y.before) as until
      from days y
      where y.before + y.deliveries > ${offset}::bigint
        and y.before < ${offset}::bigint + ${query.per_page}::bigint
    )
    select t.total, p.*
    from (select coalesce(sum(y.deliveries), 0) as total from days y) t
    left join (
      select p.*
      from parts b
      cross join lateral (
        select ${deliveryColumns(sql, orgId)}
        from webhook_deliveries d
        where d.org_id = ${orgId}
          and d.endpoint_id = ${endpointId}
          and d.created_at >= b.day::timestamp at time zone 'UTC'
          and d.created_at < (b.day + 1)::timestamp at time zone 'UTC'
          ${inState(sql, query.status)}
          ${query.event === undefined ? sql`` : sql`and d.event = ${query.event}`}
        order by d.created_at desc, d.id desc
        limit b.until - b.skip
        offset b.skip
      ) p
    ) p on true
    order by p.created_at desc, p.id desc`
  const deliveries: Delivery[] = []
  for (const row of rows) if (row.id !== null) deliveries.push(deliveryOf({ ...row, id: row.id }))
  return { rows: deliveries, total: Number(rows[0]?.total ?? 0) }
}

/** One delivery as in the list. Throws NOT_FOUND, also for one of another endpoint or organization. */
export async function getDelivery(
  sql: ISql,
  orgId: string,
  endpointId: string,
  id: string,
): Promise<Delivery> {
  const [row] = await sql<DeliveryRow[]>`
    select ${deliveryColumns(sql, orgId)}
    from webhook_deliveries d
    where d.org_id = ${orgId}
      and d.id = ${id}
      and d.endpoint_id = ${endpointId}`
  if (row === undefined) throw noDelivery()
  return deliveryOf(row)
}

type AttemptRow = Omit<DeliveryDetail['attempts'][number], 'started_at'> & { started_at: Date }

/** A delivery with its request body and attempts. */
export interface DeliveryHistory {
  delivery: Delivery
  body: string
  attempts: DeliveryDetail['attempts']
}

/** One delivery in full. Throws NOT_FOUND. */
export async function getHistory(
  sql: ISql,
  orgId: string,
  endpointId: string,
  id: string,
): Promise<DeliveryHistory> {
  const [row] = await sql<(DeliveryRow & { body: string })[]>`
    select ${deliveryColumns(sql, orgId)}, v.body
    from webhook_deliveries d
    join webhook_events v on v.org_id = d.org_id and v.id = d.event_id
    where d.org_id = ${orgId}
      and d.id = ${id}
      and d.endpoint_id = ${endpointId}`
  if (row === undefined) throw noDelivery()
  const attempts = await sql<AttemptRow[]>`
    select a.number, a.started_at, a.duration_ms, a.status_code, a.error, a.response_body
    from webhook_attempts a
    where a.org_id = ${orgId}
      and a.delivery_id = ${id}
    union all
    -- the one that succeeded
    select d.attempts, d.succeeded_at, d.duration_ms, d.last_status_code, null, d.response_body
    from webhook_deliveries d
    where d.org_id = ${orgId}
      and d.id = ${id}
      and d.status = 'success'
    order by number`
  return {
    delivery: deliveryOf(row),
    body: row.body,
    attempts: attempts.map((attempt) => ({ ...attempt, started_at: attempt.started_at.toISOString() })),
  }
}
