import { afterEach, describe, expect, test } from 'bun:test'
import { PROGRAM, run, scratchFolder } from '../support/cli.ts'
import { testDatabase } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import { type RunningProxy, startPgBouncer } from '../support/scaling/proxies.ts'
import {
  addEndpointByApi,
  killInstances,
  makeTenant,
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
  return { database, env: { ...SETTINGS, DATA_DIR: folder.path, DATABASE_URL: url } }
}

describe.skipIf(!isThere)('behind PgBouncer in transaction mode', () => {
  test('two instances take sessions, answer reads and deliver, each delivery once', async () => {
    const { database, env } = await pooledDatabase()
    const receiver = await startReceiver(204)
    ended.push(receiver.close)
    const tenant = await makeTenant(PROGRAM, env)
    const instances = await Promise.all([startInstance(PROGRAM, env), startInstance(PROGRAM, env)])
    const [first, second] = instances
    await addEndpointByApi(first.url, tenant, receiver.url)
    for (let round = 0; round < 10; round += 1) {
      const instance = round % 2 === 0 ? first : second
      await syncSessions(instance.url, tenant, 5)
    }
    await until(async () => {
      const [row] = await database.sql<
        { left: number }[]
      >`select count(*)::integer as left from webhook_queue`
      return row?.left === 0
    })
    const [row] = await database.sql<{ done: number; attempts: number; workers: number }[]>`
      select
        count(*)::integer as done, max(d.attempts) as attempts,
        (select count(*)::integer from webhook_workers w where w.beats is not null) as workers
      from webhook_deliveries d
      where d.status = 'success'`
    expect(row).toEqual({ done: 50, attempts: 1, workers: 2 })
    for (const { url } of instances) {
      const answer = await fetch(`${url}/v1/sessions`, { headers: tenant.headers })
      const body = (await answer.json()) as { pagination: { total: number } }
      expect([answer.status, body.pagination.total]).toEqual([200, 50])
    }
    const { stdout } = await run(['doctor'], { DATA_DIR: env.DATA_DIR, DATABASE_URL: env.DATABASE_URL })
    expect(stdout).toContain('ok    rollups')
  }, 120_000)

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
