import { afterEach, describe, expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../src/database/client.ts'
import { startEmbedded } from '../../src/database/embedded/embedded-server.ts'
import { scratchFolder } from '../support/at-end.ts'
import { PROGRAM, run } from '../support/cli.ts'
import { freePort } from '../support/ports.ts'
import { silent, testDatabase } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import { type RunningProxy, startPgBouncer } from '../support/scaling/proxies.ts'
import {
  addEndpointByApi,
  killInstances,
  makeOrg,
  SETTINGS,
  startInstance,
  syncSessions,
} from '../support/webhook-load.ts'

// The program behind PgBouncer in transaction mode, configured as docs/scaling.md says.

const isThere = Bun.which('pgbouncer') !== null
if (!isThere) process.stderr.write('skipping the tests behind PgBouncer: it is not installed\n')

const ended: (() => unknown)[] = []
afterEach(async () => {
  await killInstances()
  for (const end of ended.splice(0).reverse()) await end()
})

/** A database behind a pooler: the URL by which the program reaches it. */
async function pooledDatabase(without?: string) {
  const database = await testDatabase()
  ended.push(() => database.drop())
  const folder = scratchFolder()
  ended.push(folder.remove)
  const direct = new URL(database.url)
  const host = direct.searchParams.get('host') ?? direct.hostname
  const pooler: RunningProxy = await startPgBouncer(folder.path, {
    host,
    port: Number(direct.port || 5432),
    ...(without === undefined ? {} : { without }),
  })
  ended.push(pooler.stop)
  const url = `postgres://postgres@127.0.0.1:${pooler.port}${direct.pathname}?prepare=false`
  // an attempt of a busy machine must not be late
  const patience = { WEBHOOK_TIMEOUT_MS: '30000' }
  return { database, env: { ...SETTINGS, ...patience, DATA_DIR: folder.path, DATABASE_URL: url } }
}

describe.skipIf(!isThere)('behind PgBouncer in transaction mode', () => {
  test('two instances take sessions, answer reads and deliver, each delivery once', async () => {
    const { database, env } = await pooledDatabase()
    const receiver = await startReceiver(204)
    ended.push(receiver.close)
    const org = await makeOrg(PROGRAM, env)
    const instances = await Promise.all([startInstance(PROGRAM, env), startInstance(PROGRAM, env)])
    const [first, second] = instances
    await addEndpointByApi(first.url, org, receiver.url)
    for (let round = 0; round < 10; round += 1) {
      const instance = round % 2 === 0 ? first : second
      await syncSessions(instance.url, org, 5)
    }
    await until(async () => {
      const [row] = await database.sql<
        { left: number }[]
      >`select count(*)::integer as left from webhook_queue`
      return row?.left === 0
    })
    const [row] = await database.sql<{ done: number; attempts: number }[]>`
      select
        count(*)::integer as done, max(d.attempts) as attempts
      from webhook_deliveries d
      where d.status = 'success'`
    expect(row).toEqual({ done: 50, attempts: 1 })
    for (const { url } of instances) {
      const answer = await fetch(`${url}/v1/sessions`, { headers: org.headers })
      const body = (await answer.json()) as { pagination: { total: number } }
      expect([answer.status, body.pagination.total]).toEqual([200, 50])
    }
    const { stdout } = await run(['doctor'], { DATA_DIR: env.DATA_DIR, DATABASE_URL: env.DATABASE_URL })
    expect(stdout).toContain('ok    rollups')
  }, 360_000)

  test('restarts of the pooler and of the database behind it, under load, end no thread and are logged once', async () => {
    const folder = scratchFolder()
    ended.push(folder.remove)
    chmodSync(folder.path, 0o755)
    const dataDir = join(folder.path, 'database')
    let server = await startEmbedded({ dataDir, log: silent })
    ended.push(() => server.stop())
    if ('url' in server.target) throw new Error('an embedded server listens on a socket')
    let pooler = await startPgBouncer(folder.path, { host: server.target.socketDir, port: 5432 })
    ended.push(() => pooler.stop())
    const env = {
      ...{ ...SETTINGS, DATA_DIR: folder.path, ADMIN_PORT: String(freePort()) },
      DATABASE_URL: `postgres://postgres@127.0.0.1:${pooler.port}/postgres?prepare=false`,
    }
    const org = await makeOrg(PROGRAM, env)
    const { url, log, end } = await startInstance(PROGRAM, env)
    const receiver = await startReceiver(204)
    ended.push(receiver.close)
    await addEndpointByApi(url, org, receiver.url)
    let isLoading = true
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${url}${path}`, { headers: org.headers, ...init }).then(
        (answer) => answer.text(),
        () => '',
      )
    const loop = async (work: () => Promise<unknown>) => {
      while (isLoading) await work()
    }
    const load = [
      loop(() => syncSessions(url, org, 5)),
      loop(() => ask('/v1/sessions')),
      loop(() => ask('/v1/cost')),
      loop(() => ask('/v1/logs', { method: 'POST', body: '{"resourceLogs":[]}' })),
    ]
    const isWell = async () => (await fetch(`${url}/health`)).status === 200
    for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
      await pooler.stop()
      await until(async () => !(await isWell()))
      pooler = await pooler.again()
      await until(isWell)
      process.kill(server.pid, signal)
      await server.exited
      await server.stop()
      await until(async () => !(await isWell()))
      server = await startEmbedded({ dataDir, log: silent })
      await until(isWell)
    }
    isLoading = false
    await Promise.all(load)
    expect(await syncSessions(url, org, 1)).toHaveLength(1)
    const metrics = await (await fetch(`http://127.0.0.1:${env.ADMIN_PORT}/metrics`)).text()
    expect(metrics).toContain('thread_restarts_total{thread="worker"} 0\n')
    expect(metrics).toContain('thread_restarts_total{thread="intake"} 0\n')
    expect(await end()).toBe(0)
    const lines = log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { time: string; message: string })
    const away = lines
      .filter(({ message }) => message === 'the database is away')
      .map(({ time }) => Date.parse(time))
    expect(away.length).toBeGreaterThan(0)
    for (const [index, at] of away.slice(1).entries())
      expect(at - (away[index] ?? 0)).toBeGreaterThanOrEqual(59_000)
  }, 540_000)

  test('statements that are sent at once over one connection are all answered', async () => {
    const { env } = await pooledDatabase()
    const sql = connect({ url: env.DATABASE_URL }, { max: 1, applicationName: 'test' })
    ended.push(() => sql.end({ timeout: 0 }))
    const numbers = Array.from({ length: 20 }, (_item, index) => index)
    const asked = numbers.flatMap((n) => [
      sql`select pg_sleep(0.01)`.then(),
      sql<{ n: number }[]>`select ${n}::integer as n`.then(([row]) => row?.n),
    ])
    const answers = await Promise.all(asked)
    expect(answers.filter((_answer, index) => index % 2 === 1)).toEqual(numbers)
  })

  test('without the setting that it needs the program names it', async () => {
    const { env } = await pooledDatabase('ignore_startup_parameters')
    const { code, stderr } = await run(['doctor'], { DATA_DIR: env.DATA_DIR, DATABASE_URL: env.DATABASE_URL })
    expect([code, stderr]).toEqual([1, expect.any(String)])
    const migrated = await run(['migrate'], { DATA_DIR: env.DATA_DIR, DATABASE_URL: env.DATABASE_URL })
    expect([migrated.code, migrated.stderr]).toEqual([
      1,
      expect.stringContaining(
        'ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout,plan_cache_mode',
      ),
    ])
  })
})

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await Bun.sleep(50)
}
