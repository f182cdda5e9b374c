import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadPricer } from '../../src/analysis/scoring/prices.ts'
import type { ISql } from '../../src/database/client.ts'
import type { AuditListQuery } from '../../src/features/audit/model.ts'
import { listEntries } from '../../src/features/audit/queries.ts'
import { seed } from '../../src/server/seed/seed.ts'
import { tenant } from '../support/api.ts'
import { plainDatabase, type TestDatabase } from '../support/postgres.ts'

// No page of the list reads more entries than itself and one day, whatever it is filtered by and whatever plan
// PostgreSQL makes: one for the parameters given, or the one that serves any.

const ENTRIES = 8_000
const DAYS = 20
const PAGE = 50

let database: TestDatabase
let orgId: string
let fullestDay: number

beforeAll(async () => {
  database = await plainDatabase()
  const { sql } = database
  ;({ orgId } = await tenant(sql))
  const other = await tenant(sql)
  const plan = { audit: ENTRIES, projects: 1, days: DAYS, today: '2026-11-01' }
  const deps = {
    sql,
    now: () => new Date('2026-11-01'),
    pricer: async () => loadPricer({}),
    storeContent: false,
  }
  await seed(deps, orgId, { ...plan, seed: 1 })
  await seed(deps, other.orgId, { ...plan, seed: 2 })
  const [row] = await sql<{ fullest: number }[]>`
    select max(r.entries)::int as fullest
    from audit_rollups r
    where r.org_id = ${orgId} and r.grain = 'day' and r.user_id = '' and r.action = ''`
  fullestDay = row?.fullest ?? 0
}, 90_000)
afterAll(() => database.drop())

/** Entries that a page reads from the table, as PostgreSQL counts them. */
async function readsOf(query: Partial<AuditListQuery>, plan: string): Promise<number> {
  return await database.sql.begin(async (tx) => {
    await tx.unsafe(`set local plan_cache_mode = ${plan}`)
    const before = await readsSoFar(tx)
    await listEntries(tx, orgId, { page: 1, per_page: PAGE, ...query })
    return (await readsSoFar(tx)) - before
  })
}

/** Counts the reads of this connection that it has not yet reported. */
async function readsSoFar(tx: ISql): Promise<number> {
  const [row] = await tx<{ reads: number }[]>`
    select (t.seq_tup_read + t.idx_tup_fetch)::int as reads
    from pg_stat_xact_user_tables t
    where t.relname = 'audit_log'`
  return row?.reads ?? Number.NaN
}

const cases: [string, Partial<AuditListQuery>][] = [
  ['first page', {}],
  ['middle page', { page: ENTRIES / PAGE / 2 }],
  ['last page', { page: ENTRIES / PAGE }],
  ['far past the end', { page: 1_000_000_000 }],
  ['an action', { action: 'api_key.created' }],
  ['an action, deep', { action: 'api_key.created', page: 10 }],
  ['actions of a noun', { action: 'webhook.*' }],
  ['actions of a noun, deep', { action: 'webhook.*', page: 20 }],
  ['no such action', { action: 'nothing.*' }],
  ['a user', { user_id: 'user_seed3' }],
  ['a user, deep', { user_id: 'user_seed3', page: 4 }],
  ['a user and an action', { user_id: 'user_seed3', action: 'user.login' }],
  ['a user and actions of a noun', { user_id: 'user_seed3', action: 'webhook.*' }],
  ['days', { date_from: '2026-10-15', date_to: '2026-10-25', page: 60 }],
  ['no such user', { user_id: 'key_x', date_from: '2026-10-01' }],
]

test('reads are counted', async () => {
  const reads = await database.sql.begin(async (tx) => {
    const before = await readsSoFar(tx)
    await tx`select l.details from audit_log l where l.ip_address = 'none'`
    return (await readsSoFar(tx)) - before
  })
  expect(reads).toBeGreaterThanOrEqual(2 * ENTRIES)
})

test.each(cases)('%s', async (_name, query) => {
  expect(fullestDay).toBe(ENTRIES / DAYS)
  for (const plan of ['force_custom_plan', 'force_generic_plan']) {
    expect(await readsOf(query, plan)).toBeLessThanOrEqual(fullestDay + 2 * PAGE)
  }
})
