import { describe, expect, test } from 'bun:test'
import { seedMembers } from '../../bench/support/members.ts'
import { mostRead } from '../../bench/support/plans.ts'
import { loadPricer } from '../../src/analysis/scoring/prices.ts'
import { BREAKDOWN_KEYS, type BreakdownQuery } from '../../src/features/cost/breakdown-model.ts'
import { breakdownList } from '../../src/features/cost/breakdown-queries.ts'
import { getCost, getCostTrend } from '../../src/features/cost/queries.ts'
import { getQuality, getQualityTrend } from '../../src/features/quality/queries.ts'
import { getSession } from '../../src/features/sessions/detail-queries.ts'
import { sessionList } from '../../src/features/sessions/list-queries.ts'
import type { SessionListQuery } from '../../src/features/sessions/model.ts'
import { nameList } from '../../src/features/sessions/name-queries.ts'
import { seed } from '../../src/server/seed/seed.ts'
import { writeRecords } from '../../src/server/sync/write.ts'
import { newOrg } from '../support/api.ts'
import { plainDatabase, testsDatabase } from '../support/postgres.ts'

// No query of these routes reads more sessions than its page and one day of them, whatever plan PostgreSQL makes.

const NOW = new Date('2026-11-15T12:00:00.000Z')
const TODAY = '2026-11-15'
/** More than are sorted, when they are of some days and sorted by cost or turns. */
const SESSIONS = 6_000
const PAGE = 50
const LAST = SESSIONS / PAGE
const MONTH = { date_from: '2026-10-25', date_to: '2026-11-08' }

const database = await testsDatabase(plainDatabase)
const { sql } = database
const { orgId } = await newOrg(sql)
const other = await newOrg(sql)
const plan = { sessions: SESSIONS, projects: 3, days: 60, seed: 1, today: '2026-11-15' }
const deps = { sql, now: () => NOW, pricer: async () => loadPricer({}), storeContent: false }
await seed(deps, orgId, plan)
await seed(deps, other.orgId, { ...plan, seed: 2 })
// commits of a scratch server are flushed later: until then VACUUM marks no page as visible to all
await sql`checkpoint`
// autovacuum would do the same at some moment between the tests, and plans depend on it
await sql`vacuum analyze`
const [row] = await sql<{ fullest: number }[]>`
  select max(d.sessions)::int as fullest
  from (select count(*) as sessions from sessions s where s.org_id = ${orgId} group by s.day) d`
const fullestDay = row?.fullest ?? 0

const listed = (options: Partial<SessionListQuery>) => () =>
  sessionList.list.page(database.sql, orgId, {
    page: 1,
    per_page: PAGE,
    sort: 'created_at',
    order: 'desc',
    ...options,
  })

const mostOf = (run: () => Promise<unknown>) => mostRead(database.sql, run)

test('the database counts what is read', async () => {
  const all = await mostOf(() => database.sql`select s.user_email from sessions s where s.turns >= ${0}`)
  expect(all).toEqual({ rows: 2 * SESSIONS, indexOnly: 0 })
  expect(fullestDay).toBeGreaterThan(80)
  expect(fullestDay).toBeLessThan(120)
})

describe('reads at most a page and a day', () => {
  const cases: [string, Partial<SessionListQuery>][] = [
    ['first page', {}],
    ['second page', { page: 2 }],
    ['middle page', { page: LAST / 2 }],
    ['last page', { page: LAST }],
    ['page past the end', { page: LAST + 1 }],
    ['page far past the end', { page: 1_000_000_000 }],
    ['oldest first', { order: 'asc' }],
    ['oldest first, last page', { order: 'asc', page: LAST }],
    ['one project', { project: 'project-02' }],
    ['one project, deep', { project: 'project-02', page: 15 }],
    ['days', MONTH],
    ['days, deep', { ...MONTH, page: 25 }],
    ['one project, days', { project: 'project-02', ...MONTH }],
    ['no such project', { project: 'nothing' }],
  ]
  test.each(cases)('list, %s', async (_name, options) => {
    const reads = await mostOf(listed(options))
    expect(reads.rows + reads.indexOnly).toBeLessThanOrEqual(PAGE + fullestDay)
  })

  test('session in full', async () => {
    const reads = await mostOf(() => getSession(database.sql, orgId, 'sess_seed1_1500'))
    // the other rows are its detail and its usage, which names its member
    expect(reads).toEqual({ rows: 3, indexOnly: 0 })
  })
})

describe('sorted by a value, reads its page, and in the index alone what is nearer to an end', () => {
  const project = 'project-02'
  const MIDDLE = SESSIONS / 2 + PAGE
  // the indexes have what lists filter by: a page may be read in them, too, before its rows
  const cases: [string, Partial<SessionListQuery>, number][] = [
    ['first page by cost', { sort: 'estimated_cost' }, PAGE],
    ['first page by turns', { sort: 'turns', order: 'asc' }, PAGE],
    ['first page of a project by cost', { sort: 'estimated_cost', project }, PAGE],
    ['second page by cost', { sort: 'estimated_cost', page: 2 }, 2 * PAGE],
    ['middle page by cost', { sort: 'estimated_cost', page: LAST / 2 }, MIDDLE],
    ['middle page by cost, ascending', { sort: 'estimated_cost', order: 'asc', page: LAST / 2 }, MIDDLE],
    ['middle page by turns', { sort: 'turns', page: LAST / 2 }, MIDDLE],
    ['last page by cost', { sort: 'estimated_cost', page: LAST }, PAGE],
    ['last page by turns', { sort: 'turns', page: LAST }, PAGE],
    ['first page by quality', { sort: 'quality_score' }, PAGE],
    ['middle page by quality', { sort: 'quality_score', page: LAST / 2 }, MIDDLE],
    ['page past the end', { sort: 'turns', page: LAST + 1 }, 0],
  ]
  test.each(cases)('%s', async (_name, options, entries) => {
    const reads = await mostOf(listed(options))
    expect(reads.rows).toBeLessThanOrEqual(PAGE)
    expect(reads.indexOnly).toBeLessThanOrEqual(entries)
  })

  test.each(['estimated_cost', 'turns', 'quality_score'] as const)(
    'every page by %s is exact',
    async (sort) => {
      for (const order of ['asc', 'desc'] as const) {
        for (const of of [undefined, project]) {
          const sorted = await database.sql<{ id: string }[]>`
          select s.id
          from sessions s
          where s.org_id = ${orgId}
            ${of === undefined ? database.sql`` : database.sql`and s.project = ${of}`}
          order by s.${database.sql(sort)} ${database.sql.unsafe(order)}, s.id collate "C" ${database.sql.unsafe(order)}`
          const last = Math.ceil(sorted.length / PAGE)
          for (const page of [1, 2, last >> 2, last >> 1, (last >> 1) + 1, last - 1, last, last + 1]) {
            const { text } = await listed({
              page,
              sort,
              order,
              ...(of === undefined ? {} : { project: of }),
            })()
            const { data, pagination } = JSON.parse(text)
            expect(data.map(({ id }: { id: string }) => id)).toEqual(
              sorted.slice((page - 1) * PAGE, page * PAGE).map(({ id }) => id),
            )
            expect(pagination.total).toBe(sorted.length)
          }
        }
      }
    },
  )

  test('first and last page of all but a few days, few of the others between', async () => {
    const days = { date_from: '2026-09-20' }
    for (const page of [1, Math.ceil((SESSIONS * 56) / 60 / PAGE)]) {
      const reads = await mostOf(listed({ ...days, sort: 'estimated_cost', page }))
      expect(reads.rows).toBeLessThanOrEqual(PAGE)
      expect(reads.indexOnly).toBeLessThanOrEqual(4 * PAGE)
    }
  })

  test('of few days, the sessions of these', async () => {
    for (const page of [1, 10, 30]) {
      const reads = await mostOf(listed({ ...MONTH, sort: 'turns', page }))
      expect(reads.rows).toBeLessThanOrEqual(15 * fullestDay + PAGE)
      // a plan for so few sessions may read a whole index in place of the rows of these days
      expect(reads.indexOnly).toBeLessThanOrEqual(SESSIONS)
    }
  })
})

const breakdown = (keys: Pick<BreakdownQuery, 'by'> & Partial<BreakdownQuery>) => () =>
  breakdownList.list.page(database.sql, orgId, {
    ...{ sort: 'cost', order: 'desc', page: 1, per_page: PAGE, ...keys },
  } as const)

describe('reads no session', () => {
  const aggregates: [string, () => Promise<unknown>][] = [
    ['quality', () => getQuality(database.sql, orgId, {})],
    [
      'quality of a project and days',
      () => getQuality(database.sql, orgId, { project: 'project-02', ...MONTH }),
    ],
    ['quality trend', () => getQualityTrend(database.sql, orgId, { granularity: 'week' })],
    ['cost', () => getCost(database.sql, orgId, { group_by: 'day' }, TODAY)],
    ['cost of days', () => getCost(database.sql, orgId, { group_by: 'month', ...MONTH }, TODAY)],
    ['cost trend', () => getCostTrend(database.sql, orgId, { granularity: 'day' })],
    ...BREAKDOWN_KEYS.filter((by) => by !== 'ticket').map((by): [string, () => Promise<unknown>] => [
      `breakdown by ${by}`,
      breakdown({ by }),
    ]),
    ['breakdown by project and model', breakdown({ by: 'project', and_by: 'model' })],
    ['breakdown by member and model', breakdown({ by: 'member', and_by: 'model' })],
    ['breakdown by project and day', breakdown({ by: 'project', and_by: 'day' })],
  ]
  test.each(aggregates)('%s', async (_name, run) => {
    expect(await mostOf(run)).toEqual({ rows: 0, indexOnly: 0 })
  })
})

test.each(['project', 'model', 'agent'] as const)('names of each %s: its newest sessions', async (named) => {
  const reads = await mostOf(() =>
    nameList(named).list.page(database.sql, orgId, { page: 1, per_page: PAGE }),
  )
  // usage of later days, of sessions that began before the newest one, is skipped
  expect(reads.rows + reads.indexOnly).toBeLessThanOrEqual(12)
})

test('a breakdown by member reads no member, and one by team each member once, however many sums there are', async () => {
  // statistics do not know a new organization
  await database.sql`delete from pg_statistic where starelid = 'usage_rollups'::regclass`
  const members = seedMembers(NOW)
  await writeRecords(
    { sql: database.sql, now: () => NOW, pricer: async () => loadPricer({}), storeContent: false },
    orgId,
    members,
  )
  const tables = new Set(['members', 'member_aliases'])
  const read = async (by: 'member' | 'team') => {
    const { rows, indexOnly } = await mostRead(database.sql, breakdown({ by }), tables)
    return rows + indexOnly
  }
  expect(await read('member')).toBe(0)
  expect(await read('team')).toBe(members.length)
})

test('a breakdown of one member reads the sums of that member', async () => {
  const [row] = await database.sql<{ member: string; sums: number }[]>`
    select r.member, count(*)::int as sums
    from usage_rollups r
    where r.org_id = ${orgId}
      and r.dims = 'project_member'
      and r.grain = 'month'
      and r.member <> ''
    group by r.member
    limit 1`
  const { member = '', sums = 0 } = row ?? {}
  await database.sql`vacuum analyze usage_rollups`
  const run = breakdown({ by: 'project', member })
  const { rows, indexOnly } = await mostRead(database.sql, run, new Set(['usage_rollups']))
  expect([rows + indexOnly, sums]).toEqual([9, 9])
})

test('a breakdown by branch reads the branches of its page, however many there are', async () => {
  const branches = 5_000
  const { orgId: other } = await newOrg(database.sql)
  await database.sql`
    insert into branch_rollups (
      org_id, project, branch, sessions, turns, input, output, cache_read, cache_creation, unpriced_tokens, cost_other
    )
    select ${other}, '', 'branch-' || n, 1, 1, 1, 1, 1, 1, 0, n % 100
    from generate_series(1, ${branches}::integer) n`
  await database.sql`vacuum analyze branch_rollups`
  const { rows } = await mostRead(
    database.sql,
    () =>
      breakdownList.list.page(database.sql, other, {
        ...{ by: 'branch', sort: 'cost', order: 'desc', page: 1, per_page: PAGE },
      }),
    new Set(['branch_rollups']),
  )
  // all are counted, by the table or an index, and none is read to sort them
  expect(rows).toBeLessThanOrEqual(branches + 2 * PAGE)
})
