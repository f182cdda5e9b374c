import { expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import type { ISql } from '../../../src/database/client.ts'
import { createSchema, MIGRATIONS, migrate } from '../../../src/database/migrate.ts'
import { USAGE_TABLES } from '../../../src/features/usage/check.ts'
import { USAGE_ROLLUPS } from '../../../src/features/usage/rollup.ts'
import { findMovedAt } from '../../../src/features/usage/walk.ts'
import { walkUsage } from '../../../src/server/deliveries/usage-walk.ts'
import { checkRollups } from '../../../src/server/doctor/checks.ts'
import { client, jsonPost, newOrg, testApp } from '../../support/api.ts'
import {
  emptyDatabase,
  findDifferences,
  plainDatabase,
  silent,
  type TestDatabase,
  testsDatabase,
} from '../../support/postgres.ts'

// A database of before usage was by day is upgraded: its sums hold at once, and after the walk all is as if it had always been so.

const BEFORE = MIGRATIONS.findIndex(({ name }) => name === 'usage_days')
const SESSIONS = 250
/** Tables that are as they were. */
const TABLES = [
  ...[
    'organizations',
    'org_locks',
    'sessions',
    'session_details',
    'session_tickets',
    'session_hours',
    'session_rollups',
  ],
  ...['session_directories', 'audit_log', 'audit_rollups', 'members', 'member_aliases'],
]

/** Has sent sessions with two addresses. */
const member = {
  ...{ type: 'member', email: 'user1@example.com', display_name: 'Ada', role: 'developer' },
  ...{ joined_at: '2026-01-01T00:00:00Z', aliases: ['user2@example.com'] },
}

const now = await testsDatabase(plainDatabase)
const old = await testsDatabase(emptyDatabase)
const app = testApp(now.sql, { pricer: () => loadPricer() })
const owner = await newOrg(now.sql)
const orgId = owner.orgId
const records = [member, ...Array.from({ length: SESSIONS }, (_, index) => session(index))]
const response = await client(app, owner.key)('/v1/sync', jsonPost({ records }))
expect(await response.json()).toMatchObject({ created: 1 + SESSIONS })

/** Some begin before midnight and end after it. */
function session(index: number): object {
  const at = (minutes: number) =>
    new Date(Date.UTC(2026, index % 7, 1 + (index % 28), 23, 10 * (index % 6) + minutes)).toISOString()
  const model = (count: number) => (count % 3 === 0 ? 'claude-haiku-4-5' : 'claude-sonnet-4-5')
  return {
    ...{ type: 'session', id: `sess_${index}`, created_at: at(0), ended_at: at(90), source: 'claude-code' },
    ...{
      project_name: index % 5 === 0 ? null : `p${index % 3}`,
      branch: index % 2 ? `SHOP-${index % 4}` : 'main',
    },
    ...(index % 4 === 0 ? {} : { user_email: `user${index % 3}@example.com` }),
    ...(index % 7 === 0 ? { estimated_cost: 1.234567 } : {}),
    turn_records: Array.from({ length: index % 9 }, (_, turn) => ({
      ...{ role: turn % 3 === 0 ? 'user' : 'assistant', started_at: at(10 * turn) },
      ...(turn % 3 === 0
        ? {}
        : { model: model(index + turn), tokens: { input: 100 * turn, output: 7, cache_read: 1001 } }),
    })),
  }
}

/** The table's rows of one database as those of another, without columns that it lacks. */
async function copyTable(table: string): Promise<void> {
  const rows = await now.sql<{ row: string }[]>`select to_json(t)::text as row from ${now.sql(table)} t`
  const columns = await old.sql<{ name: string }[]>`
    select c.column_name as name
    from information_schema.columns c
    where c.table_name = ${table}
      and c.is_generated = 'NEVER'`
  const names = old.sql.unsafe(columns.map(({ name }) => name).join(', '))
  await old.sql`
    insert into ${old.sql(table)} (${names})
    select ${names}
    from json_populate_recordset(null::${old.sql(table)}, ${`[${rows.map(({ row }) => row).join(',')}]`}::text::json)`
}

const MONEY = 'cost, input, output, cache_read, cache_creation, unpriced_tokens'
const summed = (alias: string) =>
  MONEY.split(', ')
    .map((column) => `sum(${alias}.${column})`)
    .join(', ')

/** The usage as it was: a row for each model, on the day of created_at, with the address that the session was sent with. */
async function makeOldUsage(): Promise<void> {
  const rows = await now.sql`
    select
      u.org_id, u.session_id, u.model, bool_or(u.is_main) as is_main, u.project,
      coalesce(s.user_email, '') as member, u.agent, u.branch, u.created_at,
      u.ended_at, u.turns, u.quality_score, u.findings, u.session_cost, sum(u.cost) as cost, sum(u.input) as input,
      sum(u.output) as output, sum(u.cache_read) as cache_read, sum(u.cache_creation) as cache_creation,
      sum(u.unpriced_tokens) as unpriced_tokens, sum(u.transcript_tokens) as transcript_tokens
    from session_usage u
    join sessions s on s.org_id = u.org_id and s.id = u.session_id
    group by u.org_id, u.session_id, u.model, u.project, s.user_email, u.agent, u.branch, u.created_at, u.ended_at, u.turns,
      u.quality_score, u.findings, u.session_cost`
  await old.sql`insert into session_usage ${old.sql([...rows])}`
  const sql: ISql = old.sql
  const dims = [
    'agent_model',
    'project',
    'member',
    'project_agent_model',
    'member_agent_model',
    'project_member',
  ]
  const branches = ['branch', 'project_branch', 'member_branch']
  const days = ['agent_model', 'project', 'member', 'branch']
  for (const name of [...dims, ...branches])
    for (const grain of ['day', 'month', 'all']) {
      if (grain === 'day' && !days.includes(name)) continue
      if (grain === 'all' && name !== 'member_branch') continue
      const column = (key: string) => (name.split('_').includes(key) ? `u.${key}` : `''`)
      const keys = ['project', 'member', 'agent', 'model', 'branch'].map(column).join(', ')
      const bucket =
        grain === 'day'
          ? 'u.day'
          : grain === 'all'
            ? `'1970-01-01'::date`
            : `date_trunc('month', u.day::timestamp)::date`
      const of = name.includes('agent') ? 'true' : 'u.is_main'
      await sql.unsafe(`
        insert into usage_rollups (
          org_id, dims, grain, bucket, project, member, agent, model, branch, sessions, main_sessions, turns, main_turns,
          ${MONEY}, transcript_tokens
        )
        select
          u.org_id, '${name}', '${grain}', ${bucket}, ${keys}, count(*) filter (where ${of}), count(*) filter (where u.is_main),
          coalesce(sum(u.turns) filter (where ${of}), 0), coalesce(sum(u.turns) filter (where u.is_main), 0), ${summed('u')},
          sum(u.transcript_tokens)
        from session_usage u
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9`)
    }
  await sql.unsafe(`
    insert into branch_rollups (org_id, project, branch, sessions, turns, ${MONEY})
    select
      u.org_id, p.project, u.branch, count(*) filter (where u.is_main), coalesce(sum(u.turns) filter (where u.is_main), 0),
      ${summed('u')}
    from session_usage u
    cross join lateral (values (coalesce(nullif(u.project, ''), repeat('-', 201))), ('')) as p (project)
    group by 1, 2, 3`)
  const figures = MIGRATIONS.find(({ name }) => name === 'figures')?.text ?? ''
  await sql.unsafe(figures.slice(figures.indexOf('insert into ticket_rollups')))
}

const usage = async ({ sql }: TestDatabase) =>
  (
    await sql<{ row: string }[]>`
    select to_jsonb(u)::text as row
    from session_usage u
    order by u.session_id, u.nth`
  ).map(({ row }) => row)

test('sums hold after the migration and after each step of the walk, and then all is divided by day', async () => {
  const { sql } = old
  await sql.begin((tx) => createSchema(tx, BEFORE))
  for (const { number, name, text } of MIGRATIONS.slice(0, BEFORE)) {
    const checksum = new Bun.CryptoHasher('sha256').update(text).digest('hex')
    await sql`insert into schema_migrations (number, name, checksum) values (${number}, ${name}, ${checksum})`
  }
  for (const table of TABLES) await copyTable(table)
  await makeOldUsage()
  expect(await migrate(sql, silent)).toHaveLength(MIGRATIONS.length - BEFORE)
  expect(await findDifferences(sql, orgId, USAGE_ROLLUPS)).toEqual([])
  const pricer = () => loadPricer()
  const doctor = async () => (await checkRollups(sql, false)).message
  expect(await doctor()).toContain(`${SESSIONS} of ${SESSIONS} sessions are not divided by day yet`)
  // one step at a time
  await walkUsage(sql, pricer, silent, new Date(), 1)
  expect(await doctor()).toContain(`${SESSIONS - 100} of ${SESSIONS} sessions are not divided by day yet`)
  expect(await findDifferences(sql, orgId, USAGE_ROLLUPS)).toEqual([])
  await walkUsage(sql, pricer, silent, new Date(), 60_000)
  expect(await doctor()).toBe('agree with the sessions of 1 organization')
  expect(await findDifferences(sql, orgId, USAGE_TABLES)).toEqual([])
  expect(await usage(old)).toEqual(await usage(now))
  expect((await usage(now)).length).toBeGreaterThan(SESSIONS)
  expect(await findMovedAt(sql, orgId)).toBeInstanceOf(Date)
  expect(await findMovedAt(now.sql, orgId)).toBeUndefined()
}, 120_000)
