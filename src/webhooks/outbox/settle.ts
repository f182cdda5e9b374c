// Stores how attempts ended, and releases deliveries that were not sent since no socket was left.

import type { Log } from '../../base/log.ts'
import type { ISql } from '../../database/client.ts'
import type { AttemptResult } from '../http/attempt-result.ts'

export interface Outcome {
  deliveryId: string
  endpointId: string
  attempt: number
  result: AttemptResult
}

/** Outcomes in the order in which to settle them: an endpoint's failures before its last success, successes, later failures. */
export function outcomeBatches<Some extends Outcome>(outcomes: readonly Some[]): Some[][] {
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
 * Settles attempts, all of them successes or all of them failures: updates the delivery, the attempt and the
 * endpoint's health. `delaysS` are the waits before each retry. Returns the ids that took effect; the others'
 * lease had ended, or their delivery was cancelled. Deliveries that have failed for good, and the first failure of an
 * endpoint after a success, are logged.
 */
export async function settle(
  sql: ISql,
  orgId: string,
  part: readonly Outcome[],
  delaysS: readonly number[],
  log: Pick<Log, 'warn'>,
): Promise<string[]> {
  const [first] = part
  if (first === undefined) return []
  if (first.result.ok) return await writeOutcomes(sql, orgId, part, delaysS)
  const failing = await findFailing(sql, orgId, part, delaysS.length)
  const settled = await writeOutcomes(sql, orgId, part, delaysS)
  const endpoints = new Set<string>()
  for (const { deliveryId, endpointId, result } of part) {
    const was = failing.get(deliveryId)
    if (was === undefined || !settled.includes(deliveryId)) continue
    const { statusCode: status_code, error } = result
    const fields = { org_id: orgId, endpoint_id: endpointId, delivery_id: deliveryId, status_code, error }
    if (was.isHealthy && !endpoints.has(endpointId)) log.warn('a webhook endpoint has failed', fields)
    endpoints.add(endpointId)
    if (was.isLast || result.refused) log.warn(FAILED_FOR_GOOD, fields)
  }
  return settled
}

export const FAILED_FOR_GOOD = 'a webhook delivery has failed for good'

/** Finds of leased deliveries whether this attempt is their last one, and whether their endpoint has not failed since a success. */
async function findFailing(sql: ISql, orgId: string, part: readonly Outcome[], retries: number) {
  const rows = await sql<{ id: string; isLast: boolean; isHealthy: boolean }[]>`
    select
      q.delivery_id as id,
      q.mode <> 'scheduled' or q.failures >= ${retries} as "isLast",
      coalesce(h.consecutive_failures, 0) = 0 as "isHealthy"
    from webhook_queue q
    left join webhook_health h on h.org_id = q.org_id and h.endpoint_id = q.endpoint_id
    where q.org_id = ${orgId}
      and q.delivery_id = any(${part.map(({ deliveryId }) => deliveryId)}::text[])`
  return new Map(rows.map((row) => [row.id, row]))
}

async function writeOutcomes(sql: ISql, orgId: string, part: readonly Outcome[], delaysS: readonly number[]) {
  const of = <Value>(value: (result: AttemptResult) => Value) => part.map(({ result }) => value(result))
  const ids = part.map(({ deliveryId }) => deliveryId)
  const numbers = part.map(({ attempt }) => attempt)
  // times and booleans are sent as texts: the driver takes an array of them for a single value
  const starts = of(({ startedAt }) => startedAt.toISOString())
  const durations = of(({ durationMs }) => Math.round(durationMs))
  const statusCodes = of(({ statusCode }) => statusCode)
  const bodies = of(({ responseBody }) => responseBody)
  const statement = part[0]?.result.ok
    ? sql<{ id: string }[]>`
        select s.id
        from settle_webhook_successes(
          ${orgId}, ${ids}::text[], ${numbers}::integer[], ${starts}::text[]::timestamptz[],
          ${durations}::integer[], ${statusCodes}::integer[], ${bodies}::text[]
        ) s`
    : sql<{ id: string }[]>`
        select s.id
        from settle_webhook_failures(
          ${orgId}, ${ids}::text[], ${numbers}::integer[],
          ${of(({ refused }) => String(refused))}::text[]::boolean[], ${starts}::text[]::timestamptz[],
          ${durations}::integer[], ${statusCodes}::integer[], ${of(({ error }) => error)}::text[], ${bodies}::text[],
          ${[...delaysS]}::integer[]
        ) s`
  return (await statement).map(({ id }) => id)
}

/** Ends the lease of a delivery that was not sent, since no socket was left. Due again in `delayMs`; no attempt counts. */
export async function release(
  sql: ISql,
  orgId: string,
  { deliveryId, attempt }: { deliveryId: string; attempt: number },
  delayMs: number,
): Promise<void> {
  await sql`
    update webhook_queue q
    set
      leased = false,
      attempts = q.attempts - 1,
      due_at = statement_timestamp() + ${delayMs} * interval '1 millisecond'
    where q.org_id = ${orgId}
      and q.delivery_id = ${deliveryId}
      and q.attempts = ${attempt}
      and q.leased`
}
