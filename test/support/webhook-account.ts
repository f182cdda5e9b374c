import { expect } from 'bun:test'
import type { Sql } from '../../src/database/client.ts'
import { eventually } from './cli.ts'
import type { Received } from './receiver.ts'
import { expectCounts } from './webhook-rows.ts'

// Compares what a run of deliveries recorded in the database with what a receiver got.

/** A received request. */
export interface Arrival {
  delivery: string
  attempt: number
  session: string
  /** performance.now() of this process. */
  atMs: number
}

export const arrivalOf = ({ headers, body, atMs }: Received): Arrival => ({
  delivery: headers['x-service-delivery'] ?? '',
  attempt: Number(headers['x-service-attempt']),
  session: (JSON.parse(body) as { data: { session_id: string } }).data.session_id,
  atMs,
})

interface DeliveryRow {
  id: string
  status: string
  attempts: number
  failures: number
  lost: number
}

interface AttemptRow {
  delivery_id: string
  number: number
  status_code: number | null
  /** Null for an attempt without a result. */
  duration_ms: number | null
  started_at: Date
}

/** Ids of the deliveries that the database has as succeeded now. */
export async function findSettled(sql: Sql, orgId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select d.id from webhook_deliveries d where d.org_id = ${orgId} and d.status = 'success'`
  return rows.map(({ id }) => id)
}

/** Waits until no delivery is waiting or in flight. */
export async function untilAllDone(sql: Sql, orgId: string, limitMs: number): Promise<void> {
  const waiting = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count
      from webhook_queue q
      where q.org_id = ${orgId}`
    return row?.count ?? 0
  }
  await eventually(waiting, (count) => count === 0, limitMs)
}

export interface Account {
  deliveries: number
  /** Acknowledged sessions whose event was not received. */
  lost: string[]
  /** Requests beyond the first of a delivery. */
  duplicates: number
  /** Attempts without a result: they were in flight when their sender ended. */
  lostAttempts: number
  failedAttempts: number
  /** Lost attempts that were followed by another, with the time from the claim to the arrival of that. */
  rescues: { delivery: string; lostAt: Date; claimToRescueMs: number; rescuedAtMs: number }[]
}

/**
 * Checks what must hold after a run: each delivery succeeded by its last attempt, attempts are numbered
 * without a gap, no number was received twice, each request is one of the attempts in the database, and
 * counts agree.
 */
export async function account(
  sql: Sql,
  orgId: string,
  received: readonly Received[],
  acknowledged: ReadonlySet<string>,
): Promise<Account> {
  const rows = await sql<DeliveryRow[]>`
    select
      d.id, d.status, d.attempts,
      count(a.number) filter (where a.duration_ms is null)::int as lost,
      count(a.number) filter (where a.duration_ms is not null and a.error is not null)::int as failures
    from webhook_deliveries d
    left join webhook_attempts a on a.org_id = d.org_id and a.delivery_id = d.id
    where d.org_id = ${orgId}
    group by d.id, d.status, d.attempts`
  const attemptRows = await sql<AttemptRow[]>`
    select a.delivery_id, a.number, a.status_code, a.duration_ms, a.started_at
    from webhook_attempts a
    where a.org_id = ${orgId}
    union all
    select d.id, d.attempts, d.last_status_code, d.duration_ms, d.succeeded_at
    from webhook_deliveries d
    where d.org_id = ${orgId} and d.status = 'success'
    order by delivery_id, number`
  const arrivals = received.map(arrivalOf)
  const byDelivery = Map.groupBy(arrivals, ({ delivery }) => delivery)
  const attempts = Map.groupBy(attemptRows, (row) => row.delivery_id)
  const problems = rows.flatMap((row) =>
    problemsOf(row, attempts.get(row.id) ?? [], byDelivery.get(row.id) ?? []),
  )
  expect(problems.slice(0, 5)).toEqual([])
  const known = new Set(rows.map(({ id }) => id))
  expect(arrivals.filter(({ delivery }) => !known.has(delivery))).toEqual([])
  await expectCounts(sql, orgId)
  const arrived = new Set(arrivals.map(({ session }) => session))
  return {
    deliveries: rows.length,
    lost: [...acknowledged].filter((session) => !arrived.has(session)),
    duplicates: arrivals.length - byDelivery.size,
    lostAttempts: rows.reduce((sum, { lost }) => sum + lost, 0),
    failedAttempts: rows.reduce((sum, { failures }) => sum + failures, 0),
    rescues: attemptRows.flatMap((row) => rescueOf(row, byDelivery.get(row.delivery_id) ?? [])),
  }
}

function problemsOf(
  row: DeliveryRow,
  attempts: readonly AttemptRow[],
  arrivals: readonly Arrival[],
): string[] {
  const isOk = (attempt: AttemptRow) => attempt.status_code === 204
  const numbers = arrivals.map(({ attempt }) => attempt)
  const rules: Record<string, boolean> = {
    'it succeeded': row.status === 'success',
    'attempts are numbered from 1': attempts.every(({ number }, index) => number === index + 1),
    'every attempt has its row': attempts.length === row.attempts,
    'the last one succeeded, and no other': attempts.findIndex(isOk) === attempts.length - 1,
    'no attempt was received twice': new Set(numbers).size === numbers.length,
    'the attempt that succeeded was received': numbers.includes(row.attempts),
    'it came again only after a lost or failed attempt': numbers.length <= 1 + row.lost + row.failures,
  }
  return Object.entries(rules).flatMap(([rule, holds]) =>
    holds ? [] : [`${row.id}: not so: ${rule} (${JSON.stringify({ row, attempts, numbers })})`],
  )
}

function rescueOf(row: AttemptRow, arrivals: readonly Arrival[]): Account['rescues'] {
  const next = arrivals.find(({ attempt }) => attempt === row.number + 1)
  if (row.duration_ms !== null || next === undefined) return []
  const rescuedAtMs = performance.timeOrigin + next.atMs
  return [
    {
      delivery: row.delivery_id,
      lostAt: row.started_at,
      claimToRescueMs: rescuedAtMs - row.started_at.getTime(),
      rescuedAtMs,
    },
  ]
}
