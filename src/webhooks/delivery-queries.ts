import type { Fragment, ISql } from '../db/client.ts'
import type { Attemptable } from './attempt.ts'
import { noEndpoint } from './queries.ts'
import { countsMoved } from './queue.ts'

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
    changed as (
      insert into webhook_deliveries (
        org_id, id, endpoint_id, event_id, event, status, mode, attempts, failures, lost, leased, claimed_at, due_at,
        created_at
      )
      values (
        ${orgId}, ${deliveryId}, ${endpointId}, ${eventId}, ${event}, 'pending', 'test', 1, 0, 0, true,
        clock_timestamp(), clock_timestamp() + ${leaseMs} * interval '1 millisecond', ${at}
      )
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

/**
 * What the rows of `held` (id, endpoint_id, event, created_at, was) become when they are sent again: finished ones have
 * one attempt more, waiting ones keep their place in the schedule.
 */
const sentAgain = (tx: ISql, orgId: string, held: Fragment) => tx`
  with held as materialized (${held}),
  changed as (
    update webhook_deliveries d
    set
      status = case when h.finished then 'pending' else d.status end,
      mode = case when h.finished then 'once' else d.mode end,
      lost = case when h.finished then 0 else d.lost end,
      due_at = clock_timestamp(),
      completed_at = null
    from held h
    where d.org_id = ${orgId}
      and d.id = h.id
    returning h.endpoint_id, h.created_at, h.event, h.was, d.status
  ),
  counts as (${countsMoved(tx, orgId)})
  select count(*)::integer as count
  from changed x`

/** Makes a delivery due now, unless an attempt of it is in flight; whether anything was changed. */
export async function resend(tx: ISql, orgId: string, endpointId: string, id: string): Promise<boolean> {
  const [row] = await tx<{ count: number }[]>`
    ${sentAgain(
      tx,
      orgId,
      tx`
        select
          d.id, d.endpoint_id, d.event, d.created_at, d.status as was,
          d.status in ('success', 'failed', 'cancelled') as finished
        from webhook_deliveries d
        where d.org_id = ${orgId}
          and d.id = ${id}
          and d.endpoint_id = ${endpointId}
          and not d.leased
        for update`,
    )}`
  return row?.count === 1
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
    and d.status in ('failed', 'cancelled')
    and d.created_at >= ${since}
    and d.created_at < coalesce(${until}::timestamptz, clock_timestamp())`

/** Makes all that were given up or cancelled due now; how many. */
export async function resendUndelivered(
  tx: ISql,
  orgId: string,
  endpointId: string,
  span: Span,
): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    ${sentAgain(
      tx,
      orgId,
      tx`
        select d.id, d.endpoint_id, d.event, d.created_at, d.status as was, true as finished
        ${undelivered(tx, orgId, endpointId, span)}
        for update`,
    )}`
  return row?.count ?? 0
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
