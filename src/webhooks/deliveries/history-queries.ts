// Reads the deliveries of an endpoint, finished or not, for routes and commands.

import { TIME_PATTERN } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import type { Delivery, DeliveryDetail, DeliveryListQuery, DeliveryStatus } from './model.ts'

const time = (sql: ISql, column: Fragment) => sql`to_char(${column} at time zone 'UTC', ${TIME_PATTERN})`

/** A delivery `d` as JSON. The subqueries name the organization too: Citus then knows that all is on one node. */
export const deliveryItem = (sql: ISql, orgId: string) => {
  const queued = (column: Fragment, condition: Fragment) => sql`
    (
      select ${column}
      from webhook_queue q
      where q.org_id = ${orgId}
        and q.delivery_id = d.id
        ${condition}
    )`
  return sql`
    json_build_object(
      'id', d.id, 'event', d.event, 'event_id', d.event_id, 'status', d.status,
      'attempts', coalesce(${queued(sql`q.attempts`, sql``)}, d.attempts),
      -- null: finished, or in flight
      'next_attempt_at', ${queued(time(sql, sql`q.due_at`), sql`and not q.leased`)},
      'last_status_code', d.last_status_code,
      'created_at', ${time(sql, sql`d.created_at`)},
      'completed_at', ${time(sql, sql`d.completed_at`)}
    ) as item`
}

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

/** A page of deliveries, newest first, and the total of one snapshot; the last page costs as much as the first. */
export async function listDeliveries(sql: ISql, orgId: string, endpointId: string, query: DeliveryListQuery) {
  const offset = (query.page - 1) * query.per_page
  const rows = await sql<{ total: string; item: Delivery | null }[]>`
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
    select t.total, p.item
    from (select coalesce(sum(y.deliveries), 0) as total from days y) t
    left join (
      select p.*
      from parts b
      cross join lateral (
        select d.created_at, d.id, ${deliveryItem(sql, orgId)}
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
  // the one row of an empty page has no item
  return { rows: rows.flatMap(({ item }) => item ?? []), total: Number(rows[0]?.total ?? 0) }
}

/** One delivery as in the list. Throws NOT_FOUND, also for one of another endpoint or organization. */
export async function getDelivery(sql: ISql, orgId: string, endpointId: string, id: string) {
  const [row] = await sql<{ item: Delivery }[]>`
    select ${deliveryItem(sql, orgId)}
    from webhook_deliveries d
    where d.org_id = ${orgId}
      and d.id = ${id}
      and d.endpoint_id = ${endpointId}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'no such delivery')
  return row.item
}

/** One delivery with its request body and attempts. Throws NOT_FOUND. */
export async function getHistory(sql: ISql, orgId: string, endpointId: string, id: string) {
  const delivery = await getDelivery(sql, orgId, endpointId, id)
  const [event] = await sql<{ body: string }[]>`
    select v.body
    from webhook_events v
    where v.org_id = ${orgId}
      and v.id = ${delivery.event_id}`
  // deleted meanwhile
  if (event === undefined) throw new ApiError('NOT_FOUND', 'no such delivery')
  const attempts = await sql<DeliveryDetail['attempts']>`
    select a.number, ${time(sql, sql`a.started_at`)} as started_at, a.duration_ms, a.status_code, a.error, a.response_body
    from webhook_attempts a
    where a.org_id = ${orgId}
      and a.delivery_id = ${id}
    union all
    -- the one that succeeded
    select d.attempts, ${time(sql, sql`d.succeeded_at`)}, d.duration_ms, d.last_status_code, null, d.response_body
    from webhook_deliveries d
    where d.org_id = ${orgId}
      and d.id = ${id}
      and d.status = 'success'
    order by number`
  return { delivery, body: event.body, attempts: [...attempts] }
}

// The command line names an endpoint or a delivery by its id alone. The keys of all tables begin with the
// organization, so these queries read each organization by its index.

/** The organization that has the endpoint, or deliveries to it when it was deleted. Throws NOT_FOUND. */
export async function getEndpointOwner(sql: ISql, endpointId: string): Promise<string> {
  const [owner] = await sql<{ org_id: string }[]>`
    select o.org_id
    from organizations o
    where exists (
        select
        from webhook_endpoints e
        where e.org_id = o.org_id
          and e.id = ${endpointId}
      )
      or exists (
        select
        from webhook_deliveries d
        where d.org_id = o.org_id
          and d.endpoint_id = ${endpointId}
      )
    limit 1`
  if (owner === undefined)
    throw new ApiError(
      'NOT_FOUND',
      `there is no webhook endpoint ${JSON.stringify(endpointId)}, and no delivery to one of that id is kept`,
    )
  return owner.org_id
}

/** The organization and the endpoint of a delivery. Throws NOT_FOUND. */
export async function getDeliveryPlace(sql: ISql, deliveryId: string) {
  const [place] = await sql<{ orgId: string; endpointId: string }[]>`
    select d.org_id as "orgId", d.endpoint_id as "endpointId"
    from organizations o
    join webhook_deliveries d on d.org_id = o.org_id
    where d.id = ${deliveryId}
    limit 1`
  if (place === undefined)
    throw new ApiError('NOT_FOUND', `there is no delivery ${JSON.stringify(deliveryId)}`)
  return place
}
