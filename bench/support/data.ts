import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createOrganization, findOrganization } from '../../src/accounts/organizations/queries.ts'
import { addDays, addMonths, monthOf } from '../../src/base/dates.ts'
import { createLog } from '../../src/base/log.ts'
import { packForHost } from '../../src/build/pack.ts'
import type { Sql } from '../../src/database/client.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { type Amounts, type Facts, fill, findFacts, SEED } from './fill.ts'

// The organizations of the benchmarks. They are created once and kept in a data directory for further runs;
// after `rm -r dist/bench` they are created again.

const PAGE = 50

/** The options of a benchmark. */
export interface BenchOptions {
  /** The smaller and the larger organization. */
  sizes: readonly [Amounts, Amounts]
  dataDir: string
  /** Exit with 1 when a case exceeds its limit. */
  check: boolean
  rounds: number
  /** Duration of a measurement: of each case in each round. */
  sliceMs: number
  /** Checks that the benchmark works: no warm-up, each case as often as the slice needs. */
  smoke: boolean
}

/** An organization, with the facts that the cases need. */
export interface BenchOrg {
  id: string
  name: string
  amounts: Amounts
  /** Last page of the list of sessions, with 50 to a page. */
  lastPage: number
  /** A session in the middle of the period. */
  sessionId: string
  project: string
  repo: string
  /** A whole month, and the quarter that ends with it, both half a year before the newest session. */
  month: Days
  quarter: Days
  /** A range as long as a month, but in parts of two months. */
  monthAcross: Days
  /**
   * Number of full pages of the audit log, and of its `webhook.*`: the last one has 50 entries at every size.
   */
  auditPages: { all: number; webhooks: number }
  riskPages: number
  /** One of the risk scores. */
  riskId: string
  /** The day after the newest session's, and noon of it. */
  today: string
  now: Date
  /** The most sessions, audit entries or risk scores of one day. */
  fullestDay: number
}

interface Days {
  date_from: string
  date_to: string
}

/** All optional: `--sessions 10000,1000000 --risk 1000,50000 --commits 10000,50000 --data-dir … --rounds 5 --slice-ms 400 --check --smoke`. */
export function benchOptions(): BenchOptions {
  const { values } = parseArgs({
    options: {
      sessions: { type: 'string', default: '10000,1000000' },
      risk: { type: 'string', default: '1000,50000' },
      commits: { type: 'string', default: '10000,50000' },
      'data-dir': { type: 'string', default: resolve(import.meta.dir, '../../dist/bench') },
      rounds: { type: 'string', default: '5' },
      'slice-ms': { type: 'string', default: '400' },
      check: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
    },
  })
  const [sessions, risk, commits] = [values.sessions, values.risk, values.commits].map(twoCounts)
  const numbers = [Number(values.rounds), Number(values['slice-ms'])]
  if (!sessions || !risk || !commits || !numbers.every(isCount))
    throw new Error(
      '--sessions, --risk and --commits take two counts, as 10000,1000000; --rounds and --slice-ms take one',
    )
  const at = (index: 0 | 1) => ({ sessions: sessions[index], risk: risk[index], commits: commits[index] })
  return {
    sizes: [at(0), at(1)],
    dataDir: resolve(values['data-dir']),
    check: values.check,
    rounds: Number(values.rounds),
    sliceMs: Number(values['slice-ms']),
    smoke: values.smoke,
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value > 0

function twoCounts(text: string): readonly [number, number] | undefined {
  const [small = 0, big = 0, ...more] = text.split(',').map(Number)
  return isCount(small) && isCount(big) && more.length === 0 ? [small, big] : undefined
}

/** `bench-10k` for 10,000. */
export function nameOf(sessions: number): string {
  if (sessions % 1_000_000 === 0) return `bench-${sessions / 1_000_000}m`
  return sessions % 1_000 === 0 ? `bench-${sessions / 1_000}k` : `bench-${sessions}`
}

/** Runs `use` with the prepared organizations, smaller first, on a PostgreSQL that nothing else uses. */
export async function withBenchData<Result>(
  { dataDir, sizes: [small, big] }: Pick<BenchOptions, 'dataDir' | 'sizes'>,
  use: (sql: Sql, orgs: [BenchOrg, BenchOrg]) => Promise<Result>,
): Promise<Result> {
  await packForHost()
  const log = createLog('warn', 'pretty')
  // one connection, so that both sizes use the same prepared statements
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

async function prepareOrg(sql: Sql, amounts: Amounts): Promise<BenchOrg> {
  const slug = nameOf(amounts.sessions)
  const known = await findOrganization(sql, slug)
  const { id } = known ?? (await createOrganization(sql, { slug, name: slug, plan: 'cloud_enterprise' }))
  await fill(sql, id, slug, amounts)
  const facts = await findFacts(sql, id)
  for (const kind of ['sessions', 'risk', 'commits'] as const) {
    if (facts[kind] !== amounts[kind])
      throw new Error(`${slug} has ${facts[kind]} ${kind}, not ${amounts[kind]}: remove the data directory`)
  }
  const today = addDays(facts.last_day, 1)
  return {
    id,
    name: slug,
    amounts,
    lastPage: Math.ceil(amounts.sessions / PAGE),
    sessionId: `sess_seed${SEED}_${Math.floor(amounts.sessions / 2)}`,
    project: 'project-03',
    repo: `seed-${SEED}/project-03`,
    ...rangesOf(facts),
    auditPages: {
      all: Math.floor(facts.audit / PAGE),
      webhooks: Math.max(1, Math.floor(facts.webhooks / PAGE)),
    },
    riskId: facts.risk_id,
    riskPages: Math.max(1, Math.floor(facts.risk / PAGE)),
    today,
    now: new Date(`${today}T12:00:00.000Z`),
    fullestDay: Math.max(facts.fullest_day, facts.fullest_audit_day, facts.fullest_risk_day),
  }
}

function rangesOf({ last_day, month_end }: Facts): Pick<BenchOrg, 'month' | 'quarter' | 'monthAcross'> {
  const month = addMonths(monthOf(last_day), -6)
  return {
    month: { date_from: month, date_to: month_end },
    quarter: { date_from: addMonths(month, -2), date_to: month_end },
    monthAcross: { date_from: addDays(month, -15), date_to: addDays(month, 14) },
  }
}
