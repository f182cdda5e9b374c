import type { ISql } from '../../db/client.ts'
import type { Attemptable } from '../attempt.ts'
import { countsMoved } from '../outbox/queue.ts'
import { noEndpoint } from '../queries.ts'
import type { DeliveryStatus } from './model.ts'

// Deliveries that somebody asks for: tests, and what is sent again.

/** A test to be stored. */
export interface NewTest {
  deliveryId: string
  eventId: string
  event: string
  body: string
  at: Date
  /** After which the attempt is taken for lost. */
  leaseMs: number
}

/**
 * Stores the event and the delivery of a test, its one attempt begun: the caller makes it, and settles it. Throws
 * NOT_FOUND.
 */
export async function insertTest(
  tx: ISql,
  orgId: string,
  endpointId: string,
  { deliveryId, eventId, event, body, at, leaseMs }: NewTest,
): Promise<Attemptable> {
  const [endpoint] = await tx<Pick<Attemptable, 'url' | 'secret' | 'previous_secret'>[]>`
    select
      e.url,
      e.secret,
      case when e.previous_secret_expires_at > clock_timestamp() then e.previous_secret end as previous_secret
    from webhook_endpoints e
    where e.org_id = ${orgId}
      and e.id = ${endpointId}`
  if (endpoint === undefined) throw noEndpoint()
  await tx`
    with event as (
      insert into webhook_events (org_id, id, event, created_at, body)
      values (${orgId}, ${eventId}, ${event}, ${at}, ${body})
    ),
    queued as (
      insert into webhook_queue (
        org_id, delivery_id, endpoint_id, event_id, mode, attempts, failures, lost, leased, claimed_at, due_at
      )
      values (
        ${orgId}, ${deliveryId}, ${endpointId}, ${eventId}, 'test', 1, 0, 0, true,
        clock_timestamp(), clock_timestamp() + ${leaseMs} * interval '1 millisecond'
      )
    ),
    changed as (
      insert into webhook_deliveries (org_id, id, endpoint_id, event_id, event, status, attempts, created_at)
      values (${orgId}, ${deliveryId}, ${endpointId}, ${eventId}, ${event}, 'pending', 0, ${at})
      returning endpoint_id, created_at, event, null::text as was, status
    )
    ${countsMoved(tx, orgId)}`
  return {
    ...endpoint,
    id: deliveryId,
    endpoint_id: endpointId,
    event_id: eventId,
    event,
    attempt: 1,
    body,
  }
}

/** Deliveries of one day and event that went from one state to another. */
interface Moved {
  day: string
  event: string
  was: DeliveryStatus
  status: DeliveryStatus
  deliveries: number
}

/** A finished delivery as it was found. */
interface Found {
  id: string
  was: DeliveryStatus
}

/**
 * Gives finished deliveries one attempt more, due now; those that have changed since they were found are left as they are.
 * The attempt by which one had succeeded gets its row now. Counts are for the caller to move. One statement for each
 * status, and no join: of 20,000 rows joined with their ids PostgreSQL may compare each with each.
 */
async function sendAgain(tx: ISql, orgId: string, found: readonly Found[]): Promise<Moved[]> {
  const moved: Moved[] = []
  for (const [was, rows] of Map.groupBy(found, (row) => row.was)) {
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
        select ${orgId}, x.id, x.endpoint_id, x.event_id, 'once', x.attempts, 0, 0, false, clock_timestamp()
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

/** Moves the counts of the endpoint; how many deliveries that were. */
async function moveCounts(
  tx: ISql,
  orgId: string,
  endpointId: string,
  moved: readonly Moved[],
): Promise<number> {
  const of = <Field extends keyof Moved>(field: Field) => moved.map((one) => one[field])
  await tx`
    with changed as (
      select
        ${endpointId}::text as endpoint_id, m.day::timestamp at time zone 'UTC' as created_at, m.event, m.was, m.status
      from unnest(
        ${of('day')}::text[]::date[],
        ${of('event')}::text[],
        ${of('was')}::text[],
        ${of('status')}::text[],
        ${of('deliveries')}::integer[]
      ) as m (day, event, was, status, deliveries)
      cross join generate_series(1, m.deliveries)
    )
    ${countsMoved(tx, orgId)}`
  return moved.reduce((sum, { deliveries }) => sum + deliveries, 0)
}

/**
 * Makes a delivery due now, unless an attempt of it is in flight: a finished one has one attempt more, a waiting one keeps
 * its place in the schedule. Whether anything was changed.
 */
export async function resend(tx: ISql, orgId: string, endpointId: string, id: string): Promise<boolean> {
  const { count } = await tx`
    update webhook_queue q
    set due_at = clock_timestamp()
    where q.org_id = ${orgId}
      and q.delivery_id = ${id}
      and q.endpoint_id = ${endpointId}
      and not q.leased`
  if (count > 0) return true
  const found = await tx<Found[]>`
    select d.id, d.status as was
    from webhook_deliveries d
    where d.org_id = ${orgId}
      and d.id = ${id}
      and d.endpoint_id = ${endpointId}`
  return (await moveCounts(tx, orgId, endpointId, await sendAgain(tx, orgId, found))) > 0
}

/** Deliveries made in [since, until), null being now; times as RFC 3339 in UTC. */
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

/** Deliveries in one statement: some 60 microseconds each, far from what a statement may take. */
const BATCH = 20_000

/**
 * Makes all that were given up or cancelled due now; how many. Their counts are moved last and by one statement: whoever
 * settles deliveries of this endpoint takes the same rows, and is to wait for an instant only.
 */
export async function resendUndelivered(
  tx: ISql,
  orgId: string,
  endpointId: string,
  span: Span,
): Promise<number> {
  const moved: Moved[] = []
  let after = { at: '-infinity', id: '' }
  for (;;) {
    const found = await tx<(Found & { at: string })[]>`
      select d.id, d.status as was, d.created_at::text as at
      ${undelivered(tx, orgId, endpointId, span)}
        and (d.created_at, d.id) > (${after.at}::timestamptz, ${after.id})
      order by d.created_at, d.id
      limit ${BATCH}`
    const last = found.at(-1)
    if (last === undefined) return await moveCounts(tx, orgId, endpointId, moved)
    moved.push(...(await sendAgain(tx, orgId, found)))
    after = { at: last.at, id: last.id }
  }
}

/** How many that would be. */
export async function countUndelivered(
  sql: ISql,
  orgId: string,
  endpointId: string,
  span: Span,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    ${undelivered(sql, orgId, endpointId, span)}`
  return row?.count ?? 0
}
