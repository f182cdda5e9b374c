import type { ISql, Sql } from '../db/client.ts'
import type { AttemptResult } from './attempt-result.ts'

// The queue of deliveries. A claim begins attempts and gives each a lease; whoever settles one names its number, so that a
// sender that was away for longer than its lease can change nothing. Due times and leases are by the database's clock.
// Each statement is of one organization. Ids are given twice, as an array and in a join: by the array PostgreSQL reads
// the rows by their key even where its statistics do not know the organization yet.

/** Channel of NOTIFY; the payload is an organization's id. */
export const CHANNEL = 'cloud_analytics_webhooks'

/** Attempts of one delivery whose sender died, before it is given up: a body that kills its sender must end. */
export const MAX_LOST = 10
/** Failures in a row after which an endpoint counts as failing: it keeps to the slots of retries, and rests. */
export const FAILING_AFTER = 5
/** How long a failing endpoint rests after a failure: a refused connection fails in a millisecond. */
export const PACE_MS = 100

/** A delivery and its attempt, begun by `claim`. */
export interface Claimed {
  id: string
  endpoint_id: string
  event_id: string
  event: string
  /** From 1; also its fencing number. */
  attempt: number
  /** A first attempt to an endpoint that is not failing. */
  is_first: boolean
  url: string
  /** Encrypted, as all secrets that come out of the database. */
  secret: Uint8Array
  /** While a rotation's grace lasts. */
  previous_secret: Uint8Array | null
  body: string
}

export interface ClaimLimits {
  /** Deliveries at most. */
  limit: number
  /** Of these, at most so many that are not `is_first`. */
  laterLimit: number
  /** In flight of one endpoint, over all instances. */
  endpointLimit: number
  /** After which an attempt is taken for lost. */
  leaseMs: number
}

/**
 * Organizations that have something due, in no order: in one read without a lock. The laterals keep it to two
 * index entries an endpoint, however much waits.
 */
export async function findDueOrganizations(sql: Sql): Promise<string[]> {
  const rows = await sql<{ org_id: string }[]>`
    select distinct e.org_id
    from webhook_endpoints e
    join organizations o on o.org_id = e.org_id
    cross join lateral (
      select 1
      from (values (false), (true)) as l (leased)
      cross join lateral (
        select 1
        from webhook_queue q
        where q.org_id = e.org_id
          and q.endpoint_id = e.id
          and q.leased = l.leased
          and q.due_at <= now()
        order by q.due_at, q.delivery_id
        limit 1
      ) w
      limit 1
    ) w
    where e.enabled
      and o.plan <> 'cloud_pro'`
  return rows.map((row) => row.org_id)
}

/** Begins attempts of what is due of the organization, oldest first, each endpoint in turn. */
export async function claim(sql: Sql, orgId: string, limits: ClaimLimits): Promise<Claimed[]> {
  return await sql<Claimed[]>`
    select c.id, c.endpoint_id, c.event_id, c.event, c.attempt, c.is_first, c.url, c.secret, c.previous_secret, c.body
    from claim_webhook_deliveries(
      ${orgId}, ${limits.limit}, ${limits.laterLimit}, ${limits.endpointLimit}, ${limits.leaseMs},
      ${MAX_LOST}, ${FAILING_AFTER}, ${PACE_MS}
    ) c`
}

/** An attempt and how it ended. */
export interface Outcome {
  deliveryId: string
  attempt: number
  result: AttemptResult
}

/**
 * The part of a statement that moves deliveries from count to count: of the rows of its `changed` (endpoint_id,
 * created_at, event, was, status), where `was` is null for a new one and `status` null for one that is deleted. Every
 * statement that makes, changes or deletes deliveries has it.
 */
export const countsMoved = (sql: ISql, orgId: string) => sql`
  insert into webhook_delivery_counts as c (org_id, endpoint_id, day, event, status, deliveries)
  select ${orgId}, x.endpoint_id, (x.created_at at time zone 'UTC')::date as day, x.event, m.status, sum(m.by)
  from changed x
  cross join lateral (values (x.was, -1), (x.status, 1)) as m (status, by)
  where x.was is distinct from x.status
    and m.status is not null
  group by x.endpoint_id, day, x.event, m.status
  -- two that count the same rows take them in the same order
  order by x.endpoint_id, day, x.event, m.status
  on conflict (org_id, endpoint_id, day, event, status) do update set
    deliveries = c.deliveries + excluded.deliveries`

/**
 * Writes down how attempts ended: the delivery's status, the attempt, the endpoint's health. `delaysS` are the waits
 * before each retry. Returns the ids of those that took effect; another one's lease had ended and somebody else has it,
 * or its delivery was cancelled.
 */
export async function settle(
  sql: ISql,
  orgId: string,
  outcomes: readonly Outcome[],
  delaysS: readonly number[],
): Promise<string[]> {
  const ids = outcomes.map((outcome) => outcome.deliveryId)
  // booleans and times as texts: the driver would take an array of them for a single one
  const of = <Value>(pick: (result: AttemptResult) => Value) => outcomes.map(({ result }) => pick(result))
  const failedIds = outcomes.flatMap(({ deliveryId, result }) => (result.ok ? [] : [deliveryId]))
  const isLast = sql`(g.refused or q.mode <> 'scheduled' or q.failures >= ${delaysS.length})`
  const rows = await sql<{ id: string }[]>`
    with given as (
      select *
      from unnest(
        ${ids}::text[],
        ${outcomes.map((outcome) => outcome.attempt)}::integer[],
        ${of((result) => String(result.ok))}::text[]::boolean[],
        ${of((result) => String(result.refused))}::text[]::boolean[],
        ${of((result) => result.startedAt.toISOString())}::timestamptz[],
        ${of((result) => Math.round(result.durationMs))}::integer[],
        ${of((result) => result.statusCode)}::integer[],
        ${of((result) => result.error)}::text[],
        ${of((result) => result.responseBody)}::text[]
      ) as g (id, number, ok, refused, started_at, duration_ms, status_code, error, response_body)
    ),
    finished as (
      delete from webhook_queue q
      using given g
      where q.org_id = ${orgId}
        and q.delivery_id = any(${ids}::text[])
        and q.delivery_id = g.id
        and q.attempts = g.number
        and q.leased
        and (g.ok or ${isLast})
      returning g.*, q.endpoint_id, q.failures
    ),
    delayed as (
      update webhook_queue q
      set
        leased = false,
        failures = q.failures + 1,
        due_at = clock_timestamp() + (${[...delaysS]}::integer[])[q.failures + 1] * interval '1 second'
      from given g
      where q.org_id = ${orgId}
        and q.delivery_id = any(${failedIds}::text[])
        and q.delivery_id = g.id
        and q.attempts = g.number
        and q.leased
        and not (g.ok or ${isLast})
      returning g.*, q.endpoint_id, q.failures - 1 as failures
    ),
    judged as materialized (
      select
        b.*,
        case when b.failures > 0 then 'pending_retry' else 'pending' end as was,
        max(b.started_at) filter (where b.ok) over (partition by b.endpoint_id) as last_ok_at
      from (
        select f.*, case when f.ok then 'success' else 'failed' end as status
        from finished f
        union all
        select y.*, 'pending_retry'
        from delayed y
      ) b
    ),
    changed as (
      update webhook_deliveries d
      set
        status = j.status,
        undelivered = j.status = 'failed',
        attempts = j.number,
        last_status_code = j.status_code,
        completed_at = case when j.status <> 'pending_retry' then clock_timestamp() end
      from judged j
      where d.org_id = ${orgId}
        and d.id = any(${ids}::text[])
        and d.id = j.id
      returning d.id, j.endpoint_id, d.created_at, d.event, j.was, j.status
    ),
    attempts as (
      insert into webhook_attempts (
        org_id, delivery_id, number, started_at, duration_ms, status_code, error, response_body
      )
      select ${orgId}, j.id, j.number, j.started_at, j.duration_ms, j.status_code, j.error, j.response_body
      from judged j
    ),
    counts as (${countsMoved(sql, orgId)}),
    health as (
      insert into webhook_health as h (
        org_id, endpoint_id, consecutive_failures, last_success_at, last_failure_at, last_status_code
      )
      select
        ${orgId},
        j.endpoint_id,
        count(*) filter (where not j.ok and (j.last_ok_at is null or j.started_at > j.last_ok_at)),
        max(clock_timestamp()) filter (where j.ok),
        max(clock_timestamp()) filter (where not j.ok),
        (array_agg(j.status_code order by j.started_at desc, j.id))[1]
      from judged j
      group by j.endpoint_id
      order by j.endpoint_id
      on conflict (org_id, endpoint_id) do update set
        consecutive_failures =
          case when excluded.last_success_at is null then h.consecutive_failures else 0 end
          + excluded.consecutive_failures,
        last_success_at = coalesce(excluded.last_success_at, h.last_success_at),
        last_failure_at = coalesce(excluded.last_failure_at, h.last_failure_at),
        last_status_code = excluded.last_status_code
    )
    select x.id
    from changed x`
  return rows.map((row) => row.id)
}

/**
 * Gives back deliveries of which nothing was sent, since this machine had no socket left: due again in `delayMs`, their
 * attempts not counted.
 */
export async function release(
  sql: ISql,
  orgId: string,
  attempts: readonly { deliveryId: string; attempt: number }[],
  delayMs: number,
): Promise<void> {
  const ids = attempts.map(({ deliveryId }) => deliveryId)
  await sql`
    update webhook_queue q
    set
      leased = false,
      attempts = q.attempts - 1,
      due_at = clock_timestamp() + ${delayMs} * interval '1 millisecond'
    from unnest(
      ${ids}::text[],
      ${attempts.map(({ attempt }) => attempt)}::integer[]
    ) as g (id, number)
    where q.org_id = ${orgId}
      and q.delivery_id = any(${ids}::text[])
      and q.delivery_id = g.id
      and q.attempts = g.number
      and q.leased`
}
