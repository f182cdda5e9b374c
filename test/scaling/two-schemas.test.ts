import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Sql } from '../../src/database/client.ts'
import { MIGRATIONS } from '../../src/database/migrate.ts'
import { scratchFolder } from '../support/at-end.ts'
import { eventually, PROGRAM, until } from '../support/cli.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import {
  addEndpointByApi,
  command,
  type Environment,
  killInstances,
  makeOrg,
  SETTINGS,
  startInstance,
  syncSessions,
} from '../support/webhook-load.ts'

// An upgrade, instance by instance: this program and a build of it with one migration more share a database.

const ROOT = resolve(import.meta.dir, '../..')
const OLD = MIGRATIONS.length
const NEW = OLD + 1
/** The older program does not know the column: its rows would have the default. The migration takes a while. */
const MIGRATION = `
alter table sessions add column later integer not null default 1;
alter table sessions alter column later set default 0;
select pg_sleep(0.3);
`
const WRITERS = 4

const scratch = scratchFolder()
let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(async () => {
  await killInstances()
  await database.drop()
  scratch.remove()
})

/** Copies the sources of this program and adds a migration; returns the command that runs them. */
async function newerProgram(): Promise<readonly string[]> {
  const folder = join(scratch.path, 'newer')
  mkdirSync(folder)
  cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true })
  for (const name of ['dist', 'node_modules', 'package.json', 'tsconfig.json', 'THIRD_PARTY_NOTICES'])
    symlinkSync(join(ROOT, name), join(folder, name))
  const migration = `migrations/${String(NEW).padStart(4, '0')}_later.sql`
  await Bun.write(join(folder, 'src/database', migration), MIGRATION)
  return [process.execPath, join(folder, 'src/main.ts')]
}

/** Hashes of the rows of every table but the counts of the rate limit, which are no data. */
async function contents(sql: Sql): Promise<Record<string, string>> {
  const tables = await sql<{ name: string }[]>`
    select t.tablename as name
    from pg_tables t
    where t.schemaname = 'public'
      and t.tablename <> 'rate_windows'`
  const hashes: Record<string, string> = {}
  for (const { name } of tables) {
    const [row] = await sql.unsafe(
      `select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) as hash from ${name} t`,
    )
    hashes[name] = row?.hash
  }
  return hashes
}

test('an instance of the older program writes nothing from the migration on, says so, and reads', async () => {
  const { sql } = database
  const env: Environment = { ...SETTINGS, DATABASE_URL: database.url, DATA_DIR: join(scratch.path, 'data') }
  const newer = await newerProgram()
  const old = await startInstance(PROGRAM, env)
  const org = await makeOrg(PROGRAM, env)
  const receiver = await startReceiver(204)
  await addEndpointByApi(old.url, org, receiver.url)
  const slug = (await command(PROGRAM, env, 'org', 'list'))[0].slug
  const { url: link } = await command(
    ...[PROGRAM, env, 'owner', 'create', '--org', slug, '--email', 'ada@example.com', '--name', 'Ada'],
  )
  const { headers } = org
  const post = (path: string, body: object, further = {}) =>
    fetch(`${old.url}${path}`, {
      method: 'POST',
      headers: { ...headers, ...further },
      body: JSON.stringify(body),
    })
  const ready = async () => {
    const answer = await fetch(`${old.url}/ready`)
    return { code: answer.status, ...((await answer.json()) as object) }
  }
  expect(await ready()).toMatchObject({ code: 200, schema: 'ok' })

  // writes arrive all the time, also while the migration waits and runs
  const acknowledged: string[] = []
  let isLoading = true
  const load = Array.from({ length: WRITERS }, async () => {
    while (isLoading) acknowledged.push(...(await syncSessions(old.url, org, 3)))
  })
  await until(() => acknowledged.length >= 30)
  const started = await startInstance(newer, env)
  const migratedMs = performance.now()
  const refused: object = await eventually(ready, ({ code }) => code !== 200)
  // 5 s are promised; the machine may be busy
  expect(performance.now() - migratedMs).toBeLessThan(20_000)
  expect(refused).toEqual({
    code: 503,
    status: 'not ready',
    database: 'ok',
    disk: 'ok',
    worker: 'ok',
    schema: `the database has schema ${NEW}, newer than this program's ${OLD}: it only reads until it is upgraded`,
  })
  isLoading = false
  await Promise.all(load)

  // no session was written without what the new schema keeps of it, nor was one that was acknowledged lost
  const [counts] = await sql<{ kept: number; wrong: number }[]>`
    select count(*)::integer as kept, (count(*) filter (where s.later = 0))::integer as wrong
    from sessions s`
  expect(counts?.wrong).toBe(0)
  // one whose answer was lost may be stored
  expect(counts?.kept).toBeGreaterThanOrEqual(acknowledged.length)

  // the newer instance delivers
  // none: no answer within its time, on a machine with much else to do
  const ids = await eventually(
    () => syncSessions(started.url, org, 5),
    ({ length }) => length === 5,
  )
  await until(
    () => ids.filter((id) => receiver.received.some(({ body }) => body.includes(`"${id}"`))).length === 5,
  )
  expect(await started.end()).toBe(0)

  const before = await contents(sql)
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get('token')
  const answers = [
    await post('/v1/sync', { records: [] }),
    await post('/v1/logs', { resourceLogs: [] }),
    await post('/v1/keys', { name: 'later', scopes: ['read'] }),
    await post('/auth/password', { email: 'ada@example.com', password: 'wrong' }),
    await post('/auth/accept', { token, password: 'correct horse battery' }),
    await post('/auth/device', { name: 'laptop' }),
    await post('/auth/device/token', { device_code: 'x' }),
    await post(`/github/${slug}`, {}),
    await fetch(`${old.url}/auth/oidc/callback?code=1`),
  ]
  for (const answer of answers) {
    expect([new URL(answer.url).pathname, answer.status]).toEqual([new URL(answer.url).pathname, 503])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await answer.json()).toMatchObject({ code: 'INTERNAL_ERROR' })
  }
  const list = await fetch(`${old.url}/v1/sessions`, { headers })
  const { pagination } = (await list.json()) as { pagination: { total: number } }
  const [stored] = await sql<{ total: number }[]>`select count(*)::integer as total from sessions`
  expect([list.status, pagination.total]).toEqual([200, Number(stored?.total)])
  expect((await fetch(`${old.url}/health`)).status).toBe(200)
  expect(await contents(sql)).toEqual(before)
  expect(await old.end()).toBe(0)
  receiver.close()
}, 360_000)
