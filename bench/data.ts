import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { hostTarget, pack } from '../src/build/pack.ts'
import { addMonths, monthOf } from '../src/dates.ts'
import type { Sql } from '../src/db/client.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { createOrganization, findOrganization } from '../src/keys/queries.ts'
import { createLog } from '../src/log.ts'
import { loadPricer } from '../src/scoring/prices.ts'
import { seedSessions } from '../src/seed/seed.ts'

// The organizations that the benchmarks ask about. They are made once and kept in a data directory of their own, so
// that a second run begins at once; `rm -r dist/bench` makes them anew.

const PROJECTS = 20
const DAYS = 730
const SEED = 1
const PAGE = 50

/** What the command line of a benchmark says. */
export interface BenchOptions {
  /** Sessions of the smaller and of the larger organization. */
  sizes: readonly [number, number]
  dataDir: string
  /** Exit with 1 when a case is beyond its limit. */
  check: boolean
  rounds: number
  /** How long each case is asked in each round. */
  sliceMs: number
}

/** An organization, and what the cases need to know of its sessions. */
export interface BenchOrg {
  id: string
  name: string
  sessions: number
  /** Of the whole list, 50 to a page. */
  lastPage: number
  /** Some session in the middle of the time. */
  sessionId: string
  project: string
  /** A whole month, and the quarter that ends with it, both half a year before the newest session. */
  month: { date_from: string; date_to: string }
  quarter: { date_from: string; date_to: string }
  /** Sessions of the fullest day. */
  fullestDay: number
}

/** `--sessions 10000,1000000 --data-dir dist/bench --rounds 5 --slice-ms 400 --check`, all optional. */
export function benchOptions(): BenchOptions {
  const { values } = parseArgs({
    options: {
      sessions: { type: 'string', default: '10000,1000000' },
      'data-dir': { type: 'string', default: resolve(import.meta.dir, '../dist/bench') },
      rounds: { type: 'string', default: '5' },
      'slice-ms': { type: 'string', default: '400' },
      check: { type: 'boolean', default: false },
    },
  })
  const [small, big] = values.sessions.split(',').map(Number)
  const numbers = [small, big, Number(values.rounds), Number(values['slice-ms'])]
  if (
    small === undefined ||
    big === undefined ||
    !numbers.every((n) => Number.isSafeInteger(n) && Number(n) > 0)
  )
    throw new Error('--sessions takes two counts, as 10000,1000000; --rounds and --slice-ms take one')
  return {
    sizes: [small, big],
    dataDir: resolve(values['data-dir']),
    check: values.check,
    rounds: Number(values.rounds),
    sliceMs: Number(values['slice-ms']),
  }
}

/** `bench-10k` for 10,000. */
export function nameOf(sessions: number): string {
  if (sessions % 1_000_000 === 0) return `bench-${sessions / 1_000_000}m`
  return sessions % 1_000 === 0 ? `bench-${sessions / 1_000}k` : `bench-${sessions}`
}

/** Runs `use` with the prepared organizations, smaller first, on a PostgreSQL that is ours for the while. */
export async function withBenchData<Result>(
  { dataDir, sizes: [small, big] }: Pick<BenchOptions, 'dataDir' | 'sizes'>,
  use: (sql: Sql, orgs: [BenchOrg, BenchOrg]) => Promise<Result>,
): Promise<Result> {
  await pack(hostTarget())
  const log = createLog('warn', 'pretty')
  // one connection: its prepared statements are then as warm for one size as for the other
  const config = { databaseUrl: null, dataDir, databasePool: 1 }
  const database = await openDatabase(config, 'command', log)
  try {
    const { sql } = database
    await migrate(sql, log)
    return await use(sql, [await prepareOrg(sql, small), await prepareOrg(sql, big)])
  } finally {
    await database.close()
  }
}

async function prepareOrg(sql: Sql, sessions: number): Promise<BenchOrg> {
  const slug = nameOf(sessions)
  const known = await findOrganization(sql, slug)
  const { id } = known ?? (await createOrganization(sql, { slug, name: slug, plan: 'cloud_enterprise' }))
  let facts = await findFacts(sql, id)
  if (facts === undefined) {
    await seed(sql, id, sessions)
    facts = await findFacts(sql, id)
  }
  if (facts?.sessions !== sessions)
    throw new Error(`${slug} has ${facts?.sessions} sessions: remove the data directory`)
  const endMonth = addMonths(monthOf(facts.last_day), -6)
  const lastDay = facts.month_end
  return {
    id,
    name: slug,
    sessions,
    lastPage: Math.ceil(sessions / PAGE),
    sessionId: `sess_seed${SEED}_${Math.floor(sessions / 2)}`,
    project: 'project-03',
    month: { date_from: endMonth, date_to: lastDay },
    quarter: { date_from: addMonths(endMonth, -2), date_to: lastDay },
    fullestDay: facts.fullest_day,
  }
}

async function seed(sql: Sql, orgId: string, sessions: number): Promise<void> {
  const startedMs = performance.now()
  const plan = {
    sessions,
    projects: PROJECTS,
    days: DAYS,
    seed: SEED,
    today: new Date().toISOString().slice(0, 10),
  }
  await seedSessions({ sql, now: () => new Date(), pricer: async () => loadPricer({}) }, orgId, plan)
  const seconds = (performance.now() - startedMs) / 1_000
  process.stdout.write(`seeded ${sessions} sessions in ${seconds.toFixed(1)} s\n`)
}

interface Facts {
  sessions: number
  fullest_day: number
  last_day: string
  /** Last day of the sixth month before that of `last_day`. */
  month_end: string
}

async function findFacts(sql: Sql, orgId: string): Promise<Facts | undefined> {
  const [row] = await sql<Facts[]>`
    select
      sum(r.sessions)::int as sessions,
      max(r.sessions)::int as fullest_day,
      max(r.bucket) as last_day,
      (date_trunc('month', max(r.bucket)::timestamp) - interval '5 months' - interval '1 day')::date as month_end
    from session_rollups r
    where r.org_id = ${orgId}
      and r.grain = 'day'
      and r.project = ''
    having count(*) > 0`
  return row
}
