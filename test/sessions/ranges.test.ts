import { afterAll, beforeAll, expect, test } from 'bun:test'
import { findDifferences, rebuildTables } from '../../src/db/derived-tables.ts'
import { SESSION_TABLES } from '../../src/sessions/check.ts'
import { listSessions } from '../../src/sessions/queries.ts'
import { type Ranked, updateRanges } from '../../src/sessions/range-rollup.ts'
import { tenant } from '../support/api.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'

// The counts by which deep pages sorted by cost or turns are found: many sessions, most of them with a value that others
// have too, written as rows, since sync takes a minute for as many.

const TABLES = SESSION_TABLES.filter(({ name }) => name === 'session_ranges')
/** More than a wide range holds. */
const SESSIONS = 70_000
const BATCHES = [1, 900, 30_000, SESSIONS]
const PAGE = 50

let database: TestDatabase
let orgId: string

/** Costs are 0 for every third; ids are not in the order of costs. */
const made = (index: number, shift = 0): Ranked => ({
  id: `sess_${(index * 7_919) % 100_003}_${index % 2 === 0 ? 'a' : 'Z'}`,
  project: `p${(index + shift) % 2}`,
  cost: index % 3 === 0 ? 0n : BigInt(((index + shift) * 613) % 90_000) * 100n,
  turns: (index + shift) % 5,
})

async function store(before: Ranked[], after: Ranked[]): Promise<void> {
  await database.sql.begin(async (tx) => {
    await tx`
      insert into sessions (
        org_id, id, project, created_at, turns, estimated_cost, quality_score, security_score, content_hash
      )
      select ${orgId}, n.id, n.project, '2026-11-01T00:00:00Z', n.turns, n.micros / 1000000::numeric, 50, 50, ''
      from unnest(
        ${after.map(({ id }) => id)}::text[], ${after.map(({ project }) => project)}::text[],
        ${after.map(({ turns }) => turns)}::integer[], ${after.map(({ cost }) => String(cost))}::bigint[]
      ) as n (id, project, turns, micros)
      on conflict (org_id, id) do update set
        project = excluded.project, turns = excluded.turns, estimated_cost = excluded.estimated_cost`
    await updateRanges(tx, orgId, before, after)
  })
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

beforeAll(async () => {
  database = await testDatabase()
  ;({ orgId } = await tenant(database.sql))
  for (const [at, end] of BATCHES.entries()) {
    const batch = range(BATCHES[at - 1] ?? 0, end).map((index) => made(index))
    await store([], batch)
  }
  await database.sql`analyze sessions`
  // the list's total comes from the other rollups
  await database.sql.begin((tx) =>
    rebuildTables(
      tx,
      orgId,
      SESSION_TABLES.filter((table) => !TABLES.includes(table)),
    ),
  )
}, 60_000)

afterAll(() => database.drop())

async function expectPages(project: string | undefined): Promise<void> {
  for (const sort of ['estimated_cost', 'turns'] as const) {
    for (const order of ['asc', 'desc'] as const) {
      const sorted = await database.sql<{ id: string }[]>`
        select s.id
        from sessions s
        where s.org_id = ${orgId}
          ${project === undefined ? database.sql`` : database.sql`and s.project = ${project}`}
        order by s.${database.sql(sort)} ${database.sql.unsafe(order)}, s.id collate "C" ${database.sql.unsafe(order)}`
      const last = Math.ceil(sorted.length / PAGE)
      for (const page of [1, 2, 21, last >> 2, last >> 1, last - 30, last, last + 1]) {
        const query = { page, per_page: PAGE, sort, order, ...(project === undefined ? {} : { project }) }
        const { data, pagination } = JSON.parse((await listSessions(database.sql, orgId, query)).text)
        expect(data.map(({ id }: { id: string }) => id)).toEqual(
          sorted.slice((page - 1) * PAGE, page * PAGE).map(({ id }) => id),
        )
        expect(pagination.total).toBe(sorted.length)
      }
    }
  }
}

const differences = () => findDifferences(database.sql, orgId, TABLES)

const sizes = () => database.sql<{ grain: string; ranges: number; most: number }[]>`
  select r.grain, count(*)::integer as ranges, max(r.sessions) as most
  from session_ranges r
  where r.org_id = ${orgId}
    and r.project = ''
    and r.sort = 'turns'
  group by r.grain
  order by r.grain`

test('ranges are divided as they grow', async () => {
  expect(await differences()).toEqual([])
  const [narrow, wide] = await sizes()
  expect(narrow?.most).toBeLessThanOrEqual(2_048)
  expect(narrow?.ranges).toBeLessThan(100)
  expect(wide?.most).toBeLessThanOrEqual(65_536)
  expect(wide?.ranges).toBe(2)
})

test('every page of all sessions is exact', () => expectPages(undefined), 30_000)
test('every page of a project is exact', () => expectPages('p1'), 30_000)

test('changed sessions move to other ranges, a project may lose all of its sessions', async () => {
  const indexes = range(0, 5_000)
  await store(
    indexes.map((index) => made(index)),
    indexes.map((index) => made(index, 1_001)),
  )
  const few = range(SESSIONS, SESSIONS + 3).map((index) => ({ ...made(index), project: 'gone' }))
  await store([], few)
  await store(
    few,
    few.map((session) => ({ ...session, project: 'p1' })),
  )
  expect(await differences()).toEqual([])
  const total = () =>
    database.sql.begin((tx) =>
      rebuildTables(
        tx,
        orgId,
        SESSION_TABLES.filter((table) => !TABLES.includes(table)),
      ),
    )
  await total()
  await expectPages(undefined)
  await expectPages('p1')
}, 60_000)

test('a wrong count and a missing range are found and mended', async () => {
  const { sql } = database
  await sql`
    update session_ranges r
    set sessions = r.sessions + 1
    where r.org_id = ${orgId} and r.grain = 'wide' and r.sort = 'cost' and r.project = 'p1' and r.from_id = ''`
  expect(await differences()).toEqual(['wide range of cost from 0, p1'])
  await sql`delete from session_ranges r where r.org_id = ${orgId} and r.project = 'p0'`
  expect((await differences()).length).toBeGreaterThan(3)
  await sql.begin((tx) => rebuildTables(tx, orgId, TABLES))
  expect(await differences()).toEqual([])
  await expectPages('p0')
}, 30_000)
