// Claims due deliveries, and finds the organizations that have some. The queue of deliveries has one file here for each
// verb. A claim begins attempts and gives each a lease. To settle an attempt, its number has to be given, so that a sender
// whose lease has ended changes nothing. Due times and leases are by the database's clock. Claiming and settling, which are
// done for every delivery, are functions of the schema (database/schema.sql), whose plans are kept; the other verbs are
// statements in these files. Each is for one organization. Rows are selected by an array of ids: PostgreSQL then reads them
// by their key even while its statistics do not know the organization, which it may not do in a join.

import type { Fragment, Sql } from '../../database/client.ts'

/** Failures in a row after which an endpoint is failing: without reserved slots, skipped for PACE_MS. */
export const FAILING_AFTER = 5
/** A failing endpoint is skipped for this long after a failure: a connection is refused within a millisecond. */
export const PACE_MS = 100

/**
 * A delivery is one event on its way to one endpoint. Each HTTP request for it is an attempt; a delivery succeeds with the
 * first 2xx, is tried again after the delays of the retry schedule, and fails at their end. Receivers may get it twice,
 * since a worker can end between the request and its result, and recognize it by the event's id. `claim` has begun this
 * attempt.
 */
export interface ClaimedDelivery {
  id: string
  endpoint_id: string
  event_id: string
  event: string
  /** The attempt's number, from 1; it is also the fencing number. */
  attempt: number
  /** A first attempt to an endpoint that is not failing. */
  is_first: boolean
  url: string
  secret: Uint8Array
  /** Encrypted; null outside the grace period of a rotation. */
  previous_secret: Uint8Array | null
  body: string
  /** Time when it was due, in microseconds; null when a lease had ended. */
  due_at: string | null
}

export type Attemptable = Omit<ClaimedDelivery, 'is_first' | 'due_at'>

/**
 * The `due_at` of the last claimed delivery per endpoint, from which the next claim searches. Without
 * cursors each claim steps over the index entries of the deliveries before it, until PostgreSQL removes them:
 * draining 120,000 deliveries took 0.21 ms of PostgreSQL's CPU time each instead of 0.17 ms. Retries may be due
 * earlier, so cursors have to be reset now and then.
 */
export type Cursors = ReadonlyMap<string, string>

export interface ClaimLimits {
  /** Deliveries at most; one of them is reserved for each endpoint that has nothing in flight, due or not. */
  limit: number
  /** Largest number of them with `is_first` false. */
  laterLimit: number
  /** Deliveries in flight to one endpoint at most, over all instances. */
  endpointLimit: number
  /** The time after which an attempt counts as lost. */
  leaseMs: number
}

/** Begins attempts of due deliveries, oldest first, endpoints in rotation. They are due again when their leases end. */
export async function claim(
  sql: Sql,
  orgId: string,
  limits: ClaimLimits,
  cursors: Cursors = new Map(),
): Promise<ClaimedDelivery[]> {
  return await sql<ClaimedDelivery[]>`
    select
      c.id, c.endpoint_id, c.event_id, c.event, c.attempt, c.is_first, c.url, c.secret, c.previous_secret, c.body,
      c.due_at::text as due_at
    from claim_webhook_deliveries(
      ${orgId}, ${limits.limit}, ${limits.laterLimit}, ${limits.endpointLimit}, ${limits.leaseMs},
      ${MAX_LOST}, ${FAILING_AFTER}, ${PACE_MS}, ${[...cursors.keys()]}::text[], ${[...cursors.values()]}::text[]::timestamptz[]
    ) c`
}

/** Deliveries of the endpoint `e`. `isKind` has the condition of one of the queue's partial indexes. */
const deliveriesOf = (sql: Sql, isKind: Fragment) => sql`
  select q.due_at
  from webhook_queue q
  where q.org_id = e.org_id
    and q.endpoint_id = e.id
    and ${isKind}`

/** The unclaimed deliveries of the endpoint that are due, oldest first. */
const oldestOf = (sql: Sql, isKind: Fragment, limit: number) => sql`
  ${deliveriesOf(sql, isKind)}
    and not q.leased
    and q.due_at <= now()
  order by q.due_at, q.delivery_id
  limit ${limit}`

/** Due deliveries that may be sent, at most `limit` first attempts and `limit` retries of each endpoint; and `others`. */
export const dueDeliveries = (sql: Sql, limit: number, others = sql``) => sql`
  webhook_endpoints e
  join organizations o on o.org_id = e.org_id
  cross join lateral (
    (${oldestOf(sql, sql`q.attempts = 0`, limit)})
    union all
    (${oldestOf(sql, sql`q.attempts > 0`, limit)})
    ${others}
  ) w
  where e.enabled
    and (o.plan <> 'cloud_pro' or e.owner is not null)`

/** Organizations with due deliveries: one read of three index entries of each endpoint, without locks. */
export async function findDueOrganizations(sql: Sql): Promise<string[]> {
  const abandoned = sql`q.leased and q.mode <> 'test' and q.due_at <= now()`
  const orOne = sql`
    union all
    (${deliveriesOf(sql, abandoned)} limit 1)
    limit 1`
  const rows = await sql<{ org_id: string }[]>`
    select distinct e.org_id
    from ${dueDeliveries(sql, 1, orOne)}`
  return rows.map((row) => row.org_id)
}

/** Added to the time limit of an attempt, for settling it. */
const LEASE_MARGIN_MS = 5_000

/** The lease of an attempt of at most `timeoutMs`; after it the attempt counts as lost and is repeated. */
export const leaseMsOf = (timeoutMs: number): number => timeoutMs + LEASE_MARGIN_MS

/** Lost attempts after which a delivery is given up: its body may be what crashes the sender. */
export const MAX_LOST = 10
