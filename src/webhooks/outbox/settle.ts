import type { ISql } from '../../db/client.ts'
import type { AttemptResult } from '../http/attempt-result.ts'
import { countsMoved } from './queue.ts'

// How attempts ended. Rows are named as in queue.ts.

/** An attempt and how it ended. */
export interface Outcome {
  deliveryId: string
  endpointId: string
  attempt: number
  result: AttemptResult
}

/**
 * The outcomes in parts, in the order in which to settle them: the failures before an endpoint's last success, the
 * successes, and the failures after it, which are those in a row.
 */
export function inParts<Some extends Outcome>(outcomes: readonly Some[]): Some[][] {
  const successes = outcomes.filter(({ result }) => result.ok)
  if (successes.length === outcomes.length) return [successes]
  const lastOf = new Map<string, number>()
  for (const { endpointId, result } of successes)
    lastOf.set(endpointId, Math.max(lastOf.get(endpointId) ?? 0, result.startedAt.getTime()))
  const isLater = ({ endpointId, result }: Outcome) =>
    result.startedAt.getTime() > (lastOf.get(endpointId) ?? 0)
  const failures = Map.groupBy(
    outcomes.filter(({ result }) => !result.ok),
    isLater,
  )
  return [failures.get(false) ?? [], successes, failures.get(true) ?? []].filter((part) => part.length > 0)
}

/**
 * Writes down how attempts ended, all of them well or all of them badly: the delivery's status, the attempt, the
 * endpoint's health. `delaysS` are the waits before each retry. Returns the ids of those that took effect; another one's
 * lease had ended and somebody else has it, or its delivery was cancelled.
 */
export async function settle(
  sql: ISql,
  orgId: string,
  part: readonly Outcome[],
  delaysS: readonly number[],
): Promise<string[]> {
  const [first] = part
  if (first === undefined) return []
  return first.result.ok
    ? await settleSuccesses(sql, orgId, part)
    : await settleFailures(sql, orgId, part, delaysS)
}

/** Written so that no index of leased rows is taken for it: the rows are found by their key. */
const isLeased = (sql: ISql) => sql`q.leased::integer = 1`

const idsOf = (outcomes: readonly Outcome[]) => outcomes.map(({ deliveryId }) => deliveryId)
const attemptsOf = (outcomes: readonly Outcome[]) => outcomes.map(({ attempt }) => attempt)
// times and booleans as texts: the driver would take an array of them for a single one
const startsOf = (outcomes: readonly Outcome[]) =>
  outcomes.map(({ result }) => result.startedAt.toISOString())
const durationsOf = (outcomes: readonly Outcome[]) =>
  outcomes.map(({ result }) => Math.round(result.durationMs))
const statusCodesOf = (outcomes: readonly Outcome[]) => outcomes.map(({ result }) => result.statusCode)
const bodiesOf = (outcomes: readonly Outcome[]) => outcomes.map(({ result }) => result.responseBody)

async function settleSuccesses(sql: ISql, orgId: string, outcomes: readonly Outcome[]): Promise<string[]> {
  const ids = idsOf(outcomes)
  const rows = await sql<{ id: string }[]>`
    select s.id
    from settle_webhook_successes(
      ${orgId}, ${ids}::text[], ${attemptsOf(outcomes)}::integer[], ${startsOf(outcomes)}::text[]::timestamptz[],
      ${durationsOf(outcomes)}::integer[], ${statusCodesOf(outcomes)}::integer[], ${bodiesOf(outcomes)}::text[]
    ) s`
  return rows.map((row) => row.id)
}

async function settleFailures(
  sql: ISql,
  orgId: string,
  outcomes: readonly Outcome[],
  delaysS: readonly number[],
): Promise<string[]> {
  const ids = idsOf(outcomes)
  const refusals = outcomes.map(({ result }) => String(result.refused))
  const errors = outcomes.map(({ result }) => result.error)
  const isLast = sql`(g.refused or q.mode <> 'scheduled' or q.failures >= ${delaysS.length})`
  const given = sql`
    q.org_id = ${orgId}
    and q.delivery_id = any(${ids}::text[])
    and q.delivery_id = g.id
    and q.attempts = g.number
    and ${isLeased(sql)}`
  const rows = await sql<{ id: string }[]>`
    with given as (
      select *
      from unnest(
        ${ids}::text[],
        ${attemptsOf(outcomes)}::integer[],
        ${refusals}::text[]::boolean[],
        ${startsOf(outcomes)}::timestamptz[],
        ${durationsOf(outcomes)}::integer[],
        ${statusCodesOf(outcomes)}::integer[],
        ${errors}::text[],
        ${bodiesOf(outcomes)}::text[]
      ) as g (id, number, refused, started_at, duration_ms, status_code, error, response_body)
    ),
    finished as (
      delete from webhook_queue q
      using given g
      where ${given}
        and ${isLast}
      returning g.*, q.endpoint_id, q.failures, 'failed' as status
    ),
    delayed as (
      update webhook_queue q
      set
        leased = false,
        failures = q.failures + 1,
        due_at = clock_timestamp() + (${[...delaysS]}::integer[])[q.failures + 1] * interval '1 second'
      from given g
      where ${given}
        and not ${isLast}
      returning g.*, q.endpoint_id, q.failures - 1 as failures, 'pending_retry' as status
    ),
    judged as materialized (
      table finished
      union all
      table delayed
    ),
    changed as (
      update webhook_deliveries d
      set
        status = j.status,
        undelivered = j.status = 'failed',
        attempts = j.number,
        last_status_code = j.status_code,
        completed_at = case when j.status = 'failed' then clock_timestamp() end
      from judged j
      where d.org_id = ${orgId}
        and d.id = j.id
      returning
        d.id, d.endpoint_id, d.created_at, d.event, d.status,
        case when j.failures > 0 then 'pending_retry' else 'pending' end as was
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
        org_id, endpoint_id, consecutive_failures, last_failure_at, last_status_code
      )
      select
        ${orgId}, j.endpoint_id, count(*), clock_timestamp(),
        (array_agg(j.status_code order by j.started_at desc))[1]
      from judged j
      group by j.endpoint_id
      order by j.endpoint_id
      on conflict (org_id, endpoint_id) do update set
        consecutive_failures = h.consecutive_failures + excluded.consecutive_failures,
        last_failure_at = excluded.last_failure_at,
        last_status_code = excluded.last_status_code
    )
    select x.id
    from changed x`
  return rows.map((row) => row.id)
}
