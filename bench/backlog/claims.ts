import { loadavg } from 'node:os'
import type { Sql } from '../../src/database/client.ts'
import { type ClaimedDelivery, type ClaimLimits, claim } from '../../src/webhooks/outbox/claim.ts'
import { findDueOrganizations } from '../../src/webhooks/outbox/find-due.ts'
import { settle } from '../../src/webhooks/outbox/settle.ts'
import { statementsOf } from '../support/plans.ts'
import { print, printColumns, quantile } from '../support/table.ts'
import { addBacklog, addEndpoint, addTenant } from './rows.ts'
import { type StageOptions, withStage } from './stage.ts'

// The cost of a claim, a settlement and a search for due deliveries at each size of backlog: milliseconds,
// and pages and rows that PostgreSQL reads. Autovacuum is off: there are no statistics until ANALYZE is run.

const ENDPOINTS = 10
/** The limits of a claim of the program with default settings and all slots free. */
const LIMITS: ClaimLimits = { limit: 64, laterLimit: 48, endpointLimit: 4, leaseMs: 20_000 }
const DELAYS_S = [60, 300, 1_800]
/** Deliveries of each endpoint of an organization in the search for due deliveries. */
const WAITING_OF_MANY = 20

interface ClaimOptions extends StageOptions {
  waiting: readonly number[]
  organizations: number
  rounds: number
}

const outcomesOf = (claimed: readonly ClaimedDelivery[]) =>
  claimed.map(({ id, endpoint_id, attempt }) => ({
    deliveryId: id,
    endpointId: endpoint_id,
    attempt,
    result: {
      startedAt: new Date(),
      durationMs: 12,
      ok: true,
      refused: false,
      postponed: false,
      statusCode: 200,
      error: null,
      responseBody: 'ok',
    },
  }))

const timed = async <Value>(times: number[], run: () => Promise<Value>): Promise<Value> => {
  const startMs = performance.now()
  const value = await run()
  times.push(performance.now() - startMs)
  return value
}

/** The pages and rows that a statement reads. */
interface Touched {
  pages: number
  /** Rows of all tables, read by an index and by scans of a whole table. */
  rows: number
  wholeTable: number
}

interface PlanRoot {
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
}

/** Records the statement of `run`, runs it under EXPLAIN ANALYZE and rolls it back. */
async function touchedBy(sql: Sql, run: () => Promise<unknown>): Promise<Touched> {
  const [statement] = await statementsOf(sql, run)
  if (statement === undefined) throw new Error('no statement was caught')
  let touched: Touched | undefined
  const undo = new Error('undo')
  try {
    await sql.begin(async (tx) => {
      const rows = async () => {
        const [row] = await tx<{ by_index: number; whole: number }[]>`
          select sum(s.idx_tup_fetch)::int as by_index, sum(s.seq_tup_read)::int as whole
          from pg_stat_xact_user_tables s
          where s.relname like 'webhook%'`
        return row ?? { by_index: 0, whole: 0 }
      }
      const before = await rows()
      const [plan] = await tx.unsafe<{ 'QUERY PLAN': { Plan: PlanRoot }[] }[]>(
        `explain (analyze, buffers, timing off, format json) ${statement.text}`,
        statement.parameters as never[],
      )
      const root = plan?.['QUERY PLAN'][0]?.Plan
      const after = await rows()
      touched = {
        pages: (root?.['Shared Hit Blocks'] ?? 0) + (root?.['Shared Read Blocks'] ?? 0),
        rows: after.by_index - before.by_index,
        wholeTable: after.whole - before.whole,
      }
      throw undo
    })
  } catch (error) {
    if (error !== undo) throw error
  }
  if (touched === undefined) throw new Error('nothing was explained')
  return touched
}

/** Claims and settles `rounds` times; a row of the table for each. */
async function measureRounds(sql: Sql, orgId: string, name: string, rounds: number): Promise<string[][]> {
  const claims: number[] = []
  const settlements: number[] = []
  let count = 0
  for (let round = 0; round < rounds; round += 1) {
    const claimed = await timed(claims, () => claim(sql, orgId, LIMITS))
    const settled = await timed(settlements, () => settle(sql, orgId, outcomesOf(claimed), DELAYS_S))
    if (settled.length !== claimed.length || claimed.length === 0)
      throw new Error(`${settled.length} of ${claimed.length} were settled`)
    count += claimed.length
  }
  let held: ClaimedDelivery[] = []
  const ofClaim = await touchedBy(sql, async () => {
    held = await claim(sql, orgId, LIMITS)
    // the explained statement claims as many again
    await settle(sql, orgId, outcomesOf(held), DELAYS_S)
  })
  held = await claim(sql, orgId, LIMITS)
  await sql`
    create temporary table held as
    select q.*
    from webhook_queue q
    where q.org_id = ${orgId} and q.leased`
  const ofSettle = await touchedBy(sql, async () => {
    await settle(sql, orgId, outcomesOf(held), DELAYS_S)
    await sql`insert into webhook_queue table held`
    await sql`
      update webhook_deliveries d
      set status = 'pending', completed_at = null
      from held h
      where d.org_id = h.org_id and d.id = h.delivery_id`
    await sql`
      delete from webhook_attempts a using held h where a.org_id = h.org_id and a.delivery_id = h.delivery_id`
  })
  await sql`drop table held`
  await settle(sql, orgId, outcomesOf(held), DELAYS_S)
  const load = loadavg()[0]?.toFixed(1) ?? ''
  const row = (what: string, times: readonly number[], { pages, rows, wholeTable }: Touched) => [
    `${what}, ${name}`,
    quantile(times, 0.5).toFixed(2),
    quantile(times, 0.99).toFixed(2),
    (count / rounds).toFixed(0),
    ...[pages, rows, wholeTable].map(String),
    load,
  ]
  return [row('claim', claims, ofClaim), row('settle', settlements, ofSettle)]
}

const withoutAutovacuum = async (sql: Sql) => {
  await sql`alter table webhook_deliveries set (autovacuum_enabled = false)`
  await sql`alter table webhook_queue set (autovacuum_enabled = false)`
  await sql`alter table webhook_events set (autovacuum_enabled = false)`
}

/** Measures one size: without statistics, with, and with a snapshot held that keeps every dead row version. */
async function measureSize(options: ClaimOptions, waiting: number): Promise<string[][]> {
  return await withStage(options, async ({ sql: pool, one: sql }) => {
    await withoutAutovacuum(sql)
    const { orgId } = await addTenant(sql, 'claims')
    for (let at = 0; at < ENDPOINTS; at += 1) {
      const id = await addEndpoint(sql, orgId, `http://127.0.0.1:9/${at}`)
      await addBacklog(sql, orgId, id, Math.ceil(waiting / ENDPOINTS))
    }
    // a small backlog must suffice for all three measurements
    const most = Math.floor(waiting / (4 * ENDPOINTS * LIMITS.endpointLimit)) - 3
    const rounds = Math.max(1, Math.min(options.rounds, most))
    const name = waiting.toLocaleString('en')
    const rows = await measureRounds(sql, orgId, `${name}, no statistics`, rounds)
    await sql`analyze`
    rows.push(...(await measureRounds(sql, orgId, `${name}, analyzed`, rounds)))
    await pool.begin('isolation level repeatable read', async (tx) => {
      await tx`select 1 from webhook_queue q limit 1`
      rows.push(...(await measureRounds(sql, orgId, `${name}, a snapshot held`, rounds)))
    })
    return rows
  })
}

async function addOrganizations(sql: Sql, count: number): Promise<void> {
  await sql`
    insert into organizations (org_id, slug, name, plan)
    select 'org_' || n, 'many-' || n, 'many', 'cloud_team'
    from generate_series(1, ${count}::integer) as n`
  await sql`
    insert into webhook_endpoints (org_id, id, url, events, enabled, secret, secret_hint, created_at, updated_at)
    select 'org_' || n, 'hook_' || n || '_' || e, 'http://127.0.0.1:9/', array['*'], true, 'x'::bytea, 'hint', now(), now()
    from generate_series(1, ${count}::integer) as n
    cross join generate_series(1, 5) as e`
  await sql`
    insert into webhook_queue (
      org_id, delivery_id, endpoint_id, event_id, mode, attempts, failures, lost, leased, due_at
    )
    select
      'org_' || n, 'dlv_' || n || '_' || e || '_' || i, 'hook_' || n || '_' || e, 'evt_' || n || '_' || i,
      'scheduled', 0, 0, 0, false, now() + i * interval '1 millisecond'
    from generate_series(1, ${count}::integer) as n
    cross join generate_series(1, 5) as e
    cross join generate_series(1, ${WAITING_OF_MANY}::integer) as i`
}

/** The search for due deliveries over many organizations: when none is due, and when all are. */
async function measureSearch(options: ClaimOptions): Promise<string[][]> {
  return await withStage(options, async ({ one: sql }) => {
    await withoutAutovacuum(sql)
    await addOrganizations(sql, options.organizations)
    const look = async (name: string, expected: number) => {
      const times: number[] = []
      for (let round = 0; round < Math.min(options.rounds, 50); round += 1) {
        const found = await timed(times, () => findDueOrganizations(sql))
        if (found.length !== expected) throw new Error(`${found.length} organizations were found`)
      }
      const { pages, rows, wholeTable } = await touchedBy(sql, () => findDueOrganizations(sql))
      const ms = [quantile(times, 0.5), quantile(times, 0.99)].map((value) => value.toFixed(2))
      const counts = [expected, pages, rows, wholeTable].map(String)
      return [`look, ${name}`, ...ms, ...counts, loadavg()[0]?.toFixed(1) ?? '']
    }
    const many = options.organizations
    const rows: string[][] = []
    await sql`update webhook_queue q set due_at = q.due_at + interval '1 hour'`
    rows.push(await look('nothing due, no statistics', 0))
    await sql`vacuum analyze`
    rows.push(await look('nothing due, analyzed', 0))
    await sql`update webhook_queue q set due_at = q.due_at - interval '2 hours'`
    rows.push(await look('everything due', many))
    await sql`vacuum analyze`
    rows.push(await look('everything due, analyzed', many))
    return rows
  })
}

/** Measures and prints. */
export async function measureClaims(options: ClaimOptions): Promise<void> {
  const rows: string[][] = []
  for (const waiting of options.waiting) {
    rows.push(...(await measureSize(options, waiting)))
    for (const row of rows.slice(-6)) print(row.join('  '))
  }
  rows.push(...(await measureSearch(options)))
  print(
    `\nclaims and settlements of ${ENDPOINTS} endpoints; looking over ${options.organizations} organizations of 5`,
  )
  const heads = ['p50 ms', 'p99 ms', 'deliveries', 'pages', 'rows by index', 'rows of whole tables', 'load']
  printColumns([['', ...heads], ...rows])
}
