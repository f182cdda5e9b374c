import type { Sql } from '../../database/client.ts'
import { MAX_LOST } from './lease.ts'

// The queue of deliveries, one file for each verb. A claim begins attempts and gives each a lease. To settle
// an attempt, its number has to be given, so that a sender whose lease has ended changes nothing. Due times
// and leases are by the database's clock. Claiming and settling, which are done for every delivery, are
// functions of the schema (database/schema.sql), whose plans are kept; the other verbs are statements in these
// files. Each is for one organization. Rows are selected by an array of ids: PostgreSQL then reads them by their key even while
// its statistics do not know the organization, which it may not do in a join.

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
  /** Encrypted. */
  secret: Uint8Array
  /** Encrypted; null outside the grace period of a rotation. */
  previous_secret: Uint8Array | null
  body: string
  /** Time when it was due, in microseconds; null when a lease had ended. */
  due_at: string | null
}

/** The fields of a delivery that an attempt needs. */
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

/**
 * Begins attempts of due deliveries of the organization, oldest first, endpoints in rotation. They are due again when their
 * leases end. Instances of earlier versions give their worker's id as the last argument of the function.
 */
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
