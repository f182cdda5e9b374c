import type { Fragment, ISql, Sql } from '../../db/client.ts'

// The queue of deliveries. A claim begins attempts and gives each a lease; whoever settles one names its number, so that a
// sender that was away for longer than its lease can change nothing. Due times and leases are by the database's clock.
// Each statement is of one organization. Many rows are named by an array of their ids: by it PostgreSQL reads them by
// their key even where its statistics do not know the organization yet, which it may not do in a join.

/** Channel of NOTIFY; the payload is an organization's id. */
export const CHANNEL = 'cloud_analytics_webhooks'

/** Beyond an attempt's own limit, for writing down how it ended. Then it is taken for lost and made again. */
const LEASE_MARGIN_MS = 5_000

/** How long an attempt of at most `timeoutMs` may be in flight before another is made in its place. */
export const leaseMsOf = (timeoutMs: number): number => timeoutMs + LEASE_MARGIN_MS

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
  /** When it was due, to the microsecond; null for one whose lease had ended. */
  due_at: string | null
}

/** By endpoint, the `due_at` before which it has nothing that waits, as far as was seen. */
export type Marks = ReadonlyMap<string, string>

export interface ClaimLimits {
  /** Deliveries at most; one of them is kept for each endpoint that has nothing in flight, also where nothing is due. */
  limit: number
  /** Of these, at most so many that are not `is_first`. */
  laterLimit: number
  /** In flight of one endpoint, over all instances. */
  endpointLimit: number
  /** After which an attempt is taken for lost. */
  leaseMs: number
}

/** One delivery that is due of the endpoint `e`: a query by one of the queue's indexes, whose rows fulfil `isKind`. */
const dueOf = (sql: Sql, isKind: Fragment) => sql`
  select 1
  from webhook_queue q
  where q.org_id = e.org_id
    and q.endpoint_id = e.id
    and ${isKind}
    and q.due_at <= now()`

/**
 * Organizations that have something due, in no order: in one read without a lock. The laterals keep it to three
 * index entries an endpoint, however much waits.
 */
export async function findDueOrganizations(sql: Sql): Promise<string[]> {
  const inOrder = sql`
    order by q.due_at, q.delivery_id
    limit 1`
  const rows = await sql<{ org_id: string }[]>`
    select distinct e.org_id
    from webhook_endpoints e
    join organizations o on o.org_id = e.org_id
    cross join lateral (
      (${dueOf(sql, sql`not q.leased and q.attempts = 0`)} ${inOrder})
      union all
      (${dueOf(sql, sql`not q.leased and q.attempts > 0`)} ${inOrder})
      union all
      (${dueOf(sql, sql`q.leased`)} limit 1)
      limit 1
    ) w
    where e.enabled
      and o.plan <> 'cloud_pro'`
  return rows.map((row) => row.org_id)
}

/**
 * Begins attempts of what is due of the organization, oldest first, each endpoint in turn. What was due before an
 * endpoint's mark is not looked for: a retry may be. Marks save the steps over what earlier claims left in the index,
 * some 2 ms after 60,000, until PostgreSQL removes it.
 */
export async function claim(
  sql: Sql,
  orgId: string,
  limits: ClaimLimits,
  marks: Marks = new Map(),
): Promise<Claimed[]> {
  return await sql<Claimed[]>`
    select
      c.id, c.endpoint_id, c.event_id, c.event, c.attempt, c.is_first, c.url, c.secret, c.previous_secret, c.body,
      c.due_at::text as due_at
    from claim_webhook_deliveries(
      ${orgId}, ${limits.limit}, ${limits.laterLimit}, ${limits.endpointLimit}, ${limits.leaseMs},
      ${MAX_LOST}, ${FAILING_AFTER}, ${PACE_MS}, ${[...marks.keys()]}::text[], ${[...marks.values()]}::text[]::timestamptz[]
    ) c`
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
