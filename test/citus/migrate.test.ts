import { afterEach, describe, expect, test } from 'bun:test'
import { PLACEMENTS } from '../../src/database/citus.ts'
import { connect } from '../../src/database/client.ts'
import { distribute } from '../../src/database/distribute.ts'
import { createSchema, MIGRATIONS, migrate } from '../../src/database/migrate.ts'
import { WITHOUT_PROJECT } from '../../src/database/rollups.ts'
import { bodyOf, client, newOrg, testApp } from '../support/api.ts'
import { scratchFolder } from '../support/at-end.ts'
import { run, runJson, serving } from '../support/cli.ts'
import { emptyDatabase, silent, type TestDatabase, testDatabase } from '../support/postgres.ts'
import { citusUrls, joinNodes } from '../support/scaling/citus.ts'

// `migrate --citus` and `doctor` on a cluster: docs/scaling.md.

const NAMES = Object.keys(PLACEMENTS)
/** The tables that `migrate --citus` changes. */
const MOVED = Object.entries(PLACEMENTS).flatMap(([name, placement]) => (placement === 'local' ? [] : [name]))
/** The migrations of 0.2.0, the oldest release whose databases are taken over. */
const OLDEST = MIGRATIONS.slice(0, 13)
const isSkipped = citusUrls.length < 3
if (isSkipped) {
  process.stderr.write(
    'skipping the tests on Citus: TEST_CITUS_URLS names a coordinator and two workers (docs/scaling.md)\n',
  )
}

const ended: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

/** The settings of a program on the database. */
function environment({ url }: TestDatabase) {
  const folder = scratchFolder()
  ended.push(folder.remove)
  return { DATA_DIR: folder.path, DATABASE_URL: url }
}

/** A database of the cluster without tables, in which Citus is known on all nodes. */
async function clusterDatabase(): Promise<TestDatabase> {
  const database = await emptyDatabase()
  ended.push(() => database.drop())
  await joinNodes(database.nodes)
  return database
}

/** Rows of a table on each worker, by a connection to it. */
async function rowsOnWorkers({ nodes }: TestDatabase, table: string): Promise<number[]> {
  return await Promise.all(
    nodes.slice(1).map(async (url) => {
      const sql = connect({ url }, { max: 1, applicationName: 'test-worker' })
      await sql`set citus.override_table_visibility = off`
      const shards = await sql<{ name: string }[]>`
        select c.oid::regclass::text as name
        from pg_class c
        where c.relkind = 'r'
          and c.relname ~ ${`^${table}_[0-9]+$`}`
      let rows = 0
      for (const { name } of shards) {
        const [row] = await sql<{ rows: number }[]>`select count(*)::integer as rows from ${sql(name)}`
        rows += row?.rows ?? 0
      }
      await sql.end()
      return rows
    }),
  )
}

describe.skipIf(isSkipped)('migrate --citus', () => {
  test('distributes an empty database, and says what it did with each table', async () => {
    const database = await clusterDatabase()
    const env = environment(database)
    const before = await run(['migrate'], env)
    expect(before.stdout).toContain(`not distributed: ${MOVED.join(', ')}; `)
    const first = await runJson(['migrate', '--citus'], env)
    expect(first.not_distributed).toEqual([])
    expect(first.tables).toEqual(
      Object.entries(PLACEMENTS).map(([name, placement]) => ({
        name,
        placement,
        changed: placement !== 'local',
      })),
    )
    const again = await run(['migrate', '--citus'], env)
    expect([again.code, again.stderr]).toEqual([0, ''])
    expect(again.stdout.trim().split('\n')).toHaveLength(1 + NAMES.length)
    expect(again.stdout).toMatch(/^sessions +was distributed by org_id$/m)
    expect(again.stdout).toMatch(/^organizations +was copied to every node$/m)
    expect(again.stdout).toMatch(/^rate_windows +was on the coordinator$/m)
  })

  test('moves the rows of a filled database to the workers, and the answers stay the same', async () => {
    const database = await emptyDatabase()
    ended.push(() => database.drop())
    // the nodes come later, as where one PostgreSQL was enough: what was made before is unknown to them
    await migrate(database.sql, silent)
    const app = testApp(database.sql)
    const owners = await Promise.all(Array.from({ length: 6 }, () => newOrg(database.sql)))
    const paths = ['/v1/sessions', '/v1/quality', '/v1/cost', '/v1/security', '/v1/audit/log', '/v1/team']
    const answers = async () => {
      const all: unknown[] = []
      for (const { key } of owners) {
        for (const path of paths) {
          const { request_id: _, ...body } = await bodyOf(await client(app, key)(path))
          all.push(body)
        }
      }
      return all
    }
    const send = async (key: string, ids: readonly number[]) => {
      const body = JSON.stringify({
        records: ids.map((index) => ({
          type: 'session',
          id: `sess_${index}`,
          project_name: `p${index % 3}`,
          created_at: '2026-11-01T10:00:00Z',
          turns: index,
          estimated_cost: index / 7,
          quality_score: 50 + index,
        })),
      })
      const answer = await client(app, key)('/v1/sync', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect([answer.status, await answer.clone().text()]).toEqual([200, expect.anything()])
    }
    for (const { key } of owners)
      await send(
        key,
        Array.from({ length: 20 }, (_, index) => index),
      )
    const before = await answers()
    await joinNodes(database.nodes)
    const done = await distribute(database.sql)
    expect(done.filter(({ changed }) => changed)).toHaveLength(MOVED.length)
    expect(await answers()).toEqual(before)
    const rows = await rowsOnWorkers(database, 'sessions')
    expect(rows.reduce((sum, each) => sum + each)).toBe(6 * 20)
    // a node has none of 6 organizations with a probability of 2 in 64, if at all
    expect(rows).toHaveLength(2)
    const [coordinator] = await database.sql<{ bytes: number }[]>`
      select pg_relation_size('sessions')::integer as bytes`
    expect(coordinator?.bytes).toBe(0)
    for (const { key } of owners) await send(key, [20])
  }, 180_000)

  test('later migrations apply to distributed tables, and what they make is distributed with them', async () => {
    const database = await clusterDatabase()
    const { sql } = database
    await sql.begin(async (tx) => {
      await createSchema(tx, OLDEST.length)
      for (const { number, name, text } of OLDEST) {
        const checksum = new Bun.CryptoHasher('sha256').update(text).digest('hex')
        await tx`insert into schema_migrations (number, name, checksum) values (${number}, ${name}, ${checksum})`
      }
    })
    await distribute(sql)
    // the program's own insert names columns that come later
    const owners = ['a', 'b', 'c', 'd'].map((slug) => ({ orgId: `org_${slug}`, slug }))
    for (const { orgId, slug } of owners) {
      await sql`insert into organizations (org_id, slug, name, plan) values (${orgId}, ${slug}, ${slug}, 'cloud_team')`
      await sql`
        insert into usage_rollups (
          org_id, dims, grain, bucket, project, member, agent, model, branch, sessions, main_sessions, turns, main_turns, cost, input,
          output, cache_read, cache_creation, unpriced_tokens, transcript_tokens, telemetry_tokens, captured_tokens
        )
        select
          ${orgId}, 'project_branch', 'month', m.month::date, p.project, '', '', '', 'main', 2, 1, 20, 10, 0.5, 3,
          4, 5, 6, 7, 8, 9, 8
        from (values ('2026-01-01'), ('2026-02-01')) as m (month)
        cross join (values ('shop'), ('')) as p (project)`
    }
    expect(await migrate(sql, silent)).toHaveLength(MIGRATIONS.length - OLDEST.length)
    expect((await distribute(sql)).map(({ name, changed }) => [name, changed])).toEqual(
      NAMES.map((name) => [name, false]),
    )
    for (const { orgId } of owners) {
      const rows = await sql`
        select r.project, r.branch, r.sessions::integer as sessions, r.cost::float8 as cost
        from branch_rollups r
        where r.org_id = ${orgId}
        order by r.project`
      expect([...rows]).toEqual([
        { project: '', branch: 'main', sessions: 4, cost: 2 },
        { project: WITHOUT_PROJECT, branch: 'main', sessions: 2, cost: 1 },
        { project: 'shop', branch: 'main', sessions: 2, cost: 1 },
      ])
    }
    const rows = await rowsOnWorkers(database, 'branch_rollups')
    expect(rows.reduce((sum, each) => sum + each)).toBe(3 * owners.length)
  })

  test('a table that is not distributed is named by migrate, doctor and serve', async () => {
    const database = await testDatabase()
    ended.push(() => database.drop())
    const env = environment(database)
    const well = await run(['doctor'], env)
    expect(well.stdout).toContain('ok    citus       the tables are distributed by organization')
    await database.sql`select undistribute_table('findings')`
    const ill = await run(['doctor'], env)
    expect([ill.code, ill.stdout]).toEqual([
      1,
      expect.stringContaining(
        'fail  citus       not distributed: findings; migrate --citus distributes them',
      ),
    ])
    expect((await run(['migrate'], env)).stdout).toContain('not distributed: findings; `migrate --citus`')
    const server = await serving('serve', env)
    const { stderr } = await server.end()
    expect(stderr).toContain('tables are not distributed over the nodes of Citus')
    expect(
      (await runJson(['migrate', '--citus'], env)).tables.filter(
        (table: { changed: boolean }) => table.changed,
      ),
    ).toEqual([{ name: 'findings', placement: 'distributed', changed: true }])
  }, 180_000)

  test('a table distributed by another column is refused and named', async () => {
    const database = await clusterDatabase()
    await migrate(database.sql, silent)
    await database.sql`alter table session_hours drop constraint session_hours_pkey`
    await database.sql`select create_distributed_table('session_hours', 'sessions')`
    const { code, stderr } = await run(['migrate', '--citus'], environment(database))
    expect([code, stderr]).toEqual([1, expect.stringContaining('session_hours (by another column or apart)')])
    const [anchor] =
      await database.sql`select from pg_dist_partition where logicalrelid = 'org_locks'::regclass`
    expect(anchor).toBeUndefined()
  })

  test('a worker, a coordinator that is not a node, and a cluster without workers are told apart', async () => {
    const database = await clusterDatabase()
    const [, worker = ''] = database.nodes
    const onWorker = await run(['migrate', '--citus'], { ...environment(database), DATABASE_URL: worker })
    expect([onWorker.code, onWorker.stderr]).toEqual([
      1,
      expect.stringContaining('give the coordinator as DATABASE_URL'),
    ])
    const { sql } = database
    for (const url of database.nodes.slice(1)) {
      const { hostname, port } = new URL(url)
      await sql`select citus_remove_node(${hostname}, ${Number(port)})`
    }
    await expect(distribute(sql)).rejects.toThrow(
      "no node takes rows: add workers by `select citus_add_node('HOST', PORT)`",
    )
    const { hostname, port } = new URL(database.url)
    await sql`select citus_remove_node(${hostname}, ${Number(port)})`
    await expect(distribute(sql)).rejects.toThrow('citus_set_coordinator_host')
  })
})

test('without Citus the error says what is missing, and doctor says nothing of it', async () => {
  const database = await emptyDatabase()
  ended.push(() => database.drop())
  const env = environment(database)
  const { code, stderr } = await run(['migrate', '--citus'], env)
  expect([code, stderr]).toEqual([1, expect.stringContaining('the database has no extension citus')])
  expect((await run(['migrate'], env)).code).toBe(0)
  const doctor = await run(['doctor'], env)
  expect([doctor.code, doctor.stdout]).toEqual([0, expect.not.stringContaining('citus')])
})
