import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOrganization } from '../../src/accounts/organizations/queries.ts'
import { startAdmin, startServer } from '../../src/cli/serve/server.ts'
import { loadConfig } from '../../src/config.ts'
import { connect } from '../../src/database/client.ts'
import { openDatabase } from '../../src/database/open.ts'
import { sumOf } from '../server/metrics/exposition.ts'
import { newKey } from '../support/api.ts'
import { testsFolder } from '../support/at-end.ts'
import { eventually, PROGRAM, readUntil, run, type Serving, serving, until } from '../support/cli.ts'
import { newDataFolder } from '../support/data-folder.ts'
import { freePort } from '../support/ports.ts'
import { hold, silent, type TestDatabase, testDatabase } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import { memberRecord, sessionRecord } from '../support/records.ts'

// Each failure of the table in docs/operations.md is caused, and must be visible in the metrics and in what doctor says.

const FIXTURES = '../fixtures'
const folder = testsFolder()

type Environment = Record<string, string> & { DATA_DIR: string }

const scrapeOf = (env: Environment) => async () =>
  await (await fetch(`http://127.0.0.1:${env.ADMIN_PORT}/metrics`)).text()

/** Returns doctor's results by check, as `fail: message`. */
async function doctorOf(env: Environment): Promise<Record<string, string>> {
  const { stdout, stderr } = await run(['doctor', '--json'], env)
  if (stdout === '') throw new Error(stderr)
  const { checks }: { checks: { name: string; status: string; message: string }[] } = JSON.parse(stdout)
  return Object.fromEntries(checks.map(({ name, status, message }) => [name, `${status}: ${message}`]))
}

const session = (id: number) => sessionRecord(`sess_${id}`, { project_name: 'p' })

/** An organization's key, and what sends requests with it. */
async function caller(
  { sql }: TestDatabase,
  slug: string,
  plan: 'cloud_pro' | 'cloud_team',
  url: () => string,
) {
  const { id: orgId } = await createOrganization(sql, { slug, name: slug, plan })
  const key = await newKey(sql, orgId, ['read', 'write', 'webhooks'])
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return {
    orgId,
    get: (path: string) => fetch(`${url()}${path}`, { headers }),
    post: (path: string, body: unknown) =>
      fetch(`${url()}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
  }
}

describe('of a program', () => {
  let database: TestDatabase
  let server: Serving
  let env: Environment
  let scrape: () => Promise<string>
  let team: Awaited<ReturnType<typeof caller>>
  let pro: Awaited<ReturnType<typeof caller>>
  const backups = join(folder.path, 'backups')

  beforeAll(async () => {
    database = await testDatabase()
    // an old backup, so that the next one is due
    mkdirSync(backups)
    writeFileSync(join(backups, 'cloud-analytics-20260101T000000Z.zst'), '')
    env = {
      DATA_DIR: join(folder.path, 'data'),
      DATABASE_URL: database.url,
      DATABASE_POOL: '2',
      ADMIN_PORT: String(freePort()),
      RATE_LIMITS: '2,100000,100000',
      BACKUP_EVERY: '1h',
      BACKUP_DIR: backups,
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      WEBHOOK_RETRY_DELAYS: '0,0,0,0,0,0,0,0',
      WEBHOOK_ENDPOINT_CONCURRENCY: '1',
      WEBHOOK_TIMEOUT_MS: '60000',
      LOG_LEVEL: 'silent',
    }
    scrape = scrapeOf(env)
    team = await caller(database, 'team', 'cloud_team', () => server.url)
    pro = await caller(database, 'pro', 'cloud_pro', () => server.url)
  })
  afterAll(async () => {
    await server?.end('SIGKILL')
    await database.drop()
  })

  test('an old backup, and reads that wait for a connection', async () => {
    const holder = database.pool(1)
    // a backup and the costs read the table, doctor does not
    const letGo = await hold(holder, (tx) => tx`lock table budgets in access exclusive mode`)
    server = await serving('serve', env)
    env.PORT = new URL(server.url).port
    const asked = [1, 2, 3, 4, 5].map((days) => team.get(`/v1/cost?date_from=2026-01-0${days}`))
    // an organization has one of two connections
    const text = await eventually(scrape, (found) => sumOf(found, 'reads', { state: 'waiting' }) === 4)
    expect(sumOf(text, 'reads', { state: 'running' })).toBe(1)
    expect((await pro.get('/v1/whoami')).status).toBe(200)
    const ageS = Date.now() / 1_000 - sumOf(text, 'backup_last_success_timestamp_seconds')
    expect(ageS).toBeGreaterThan(2 * sumOf(text, 'backup_every_seconds'))
    const said = await doctorOf(env)
    expect(said.server).toMatch(/^warn: .*\b\d+ reads? waits? for a connection now/)
    expect(said.backup).toMatch(/^fail: .*older than 2 times BACKUP_EVERY/)
    await letGo()
    await holder.end()
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    await eventually(scrape, (found) => sumOf(found, 'backups_total', { result: 'made' }) === 1)
    await eventually(scrape, (found) => sumOf(found, 'reads') === 0)
  })

  test('clients refused by the rate limit', async () => {
    for (let index = 0; index < 6; index += 1) await pro.get('/v1/cost')
    expect(
      sumOf(await scrape(), 'rate_limit_decisions_total', { limit: 'read', result: 'refused' }),
    ).toBeGreaterThan(0)
    expect((await doctorOf(env)).server).toMatch(
      /^warn: .*\b[1-9]\d* requests? (was|were) refused by a rate limit/,
    )
  })

  test('an endpoint that fails, and deliveries that are not sent', async () => {
    const receiver = await startReceiver(500)
    await team.post('/v1/webhooks', { url: receiver.url, events: ['*'] })
    await team.post('/v1/sync', { records: [memberRecord('a')] })
    await eventually(scrape, (found) => sumOf(found, 'webhook_failing_endpoints') === 1)
    // the thread tells of its attempts by its next heartbeat
    await eventually(scrape, (found) => sumOf(found, 'webhook_attempts_total', { outcome: 'status' }) >= 5)
    expect((await doctorOf(env)).webhooks).toMatch(
      /^warn: .*endpoints that fail: team hook_\w+ \(\d+ attempts in a row\)$/,
    )
    // one delivery is in flight for ever, the others wait
    receiver.answer('hang')
    await team.post('/v1/sync', { records: ['b', 'c', 'd'].map((name) => memberRecord(name)) })
    await until(() => receiver.open() > 0)
    await database.sql`
      update webhook_queue q
      set due_at = now() - interval '1 hour'
      where not q.leased`
    const text = await eventually(scrape, (found) => sumOf(found, 'webhook_oldest_due_seconds') >= 3_600)
    expect(sumOf(text, 'webhook_backlog_deliveries')).toBeGreaterThan(0)
    expect(sumOf(text, 'webhook_leased_deliveries')).toBe(1)
    expect((await doctorOf(env)).webhooks).toMatch(
      /^fail: \d+ deliver(y is|ies are) due, the oldest for 36\d\d s/,
    )
    receiver.close()
  })

  test('a rollup that is wrong is said by doctor alone', async () => {
    await team.post('/v1/sync', { records: [session(1)] })
    await database.sql`
      update session_rollups r
      set sessions = r.sessions + 1`
    expect((await doctorOf(env)).rollups).toMatch(
      /^fail: differ from the sessions: team \(.+\); doctor --repair mends/,
    )
  })

  test('a database that is away, and requests that fail for it', async () => {
    expect(sumOf(await scrape(), 'database_up')).toBe(1)
    const name = new URL(database.url).pathname.slice(1)
    const url = new URL(database.url)
    url.pathname = '/postgres'
    const admin = connect({ url: url.href }, { max: 1, applicationName: 'test' })
    const setAllowed = (allowed: boolean) =>
      admin.unsafe(`alter database "${name}" with allow_connections ${allowed}`)
    await setAllowed(false)
    await admin`select pg_terminate_backend(a.pid) from pg_stat_activity a where a.datname = ${name}`
    const text = await eventually(scrape, (found) => sumOf(found, 'database_up') === 0)
    expect(sumOf(text, 'ready', { part: 'database' })).toBe(0)
    expect((await fetch(`${server.url}/ready`)).status).toBe(503)
    const { status } = await team.get('/v1/cost?group_by=week')
    expect(status).toBeGreaterThanOrEqual(500)
    const labels = { status: String(status), route: '/v1/cost' }
    expect(sumOf(await scrape(), 'http_requests_total', labels)).toBe(1)
    const said = await doctorOf(env)
    expect(said.database).toMatch(/^fail: /)
    expect(said.server).toMatch(/^warn: .*\b[1-9]\d* requests? got a status of 500 or above/)
    await setAllowed(true)
    await admin.end()
    await eventually(scrape, (found) => sumOf(found, 'database_up') === 1)
  })
})

test('a backup that fails', async () => {
  const blocked = join(folder.path, 'blocked')
  const env: Environment = {
    DATA_DIR: join(folder.path, 'embedded'),
    ADMIN_PORT: String(freePort()),
    BACKUP_EVERY: '1s',
    BACKUP_DIR: join(blocked, 'backups'),
    LOG_FORMAT: 'json',
  }
  await newDataFolder(env.DATA_DIR)
  const server = await serving('serve', env)
  // it could be written when the server started
  rmSync(blocked, { recursive: true, force: true })
  writeFileSync(blocked, '')
  const failed = await eventually(scrapeOf(env), (text) => sumOf(text, 'backup_failed') === 1)
  expect(sumOf(failed, 'backups_total', { result: 'failed' })).toBeGreaterThan(0)
  expect((await doctorOf(env)).backup).toMatch(/^fail: failed at 20.*ENOTDIR/)
  expect((await server.end()).stderr).toContain('"level":"error","message":"the backup failed"')
})

test('of a thread the worker and the intake end by themselves', async () => {
  const database = await testDatabase()
  const env: Environment = {
    DATA_DIR: join(folder.path, 'threads'),
    DATABASE_URL: database.url,
    ADMIN_PORT: String(freePort()),
    PORT: String(freePort()),
  }
  const config = loadConfig(env)
  const threads: { worker: Worker[]; intake: Worker[] } = { worker: [], intake: [] }
  const spawn = (name: keyof typeof threads) => () => {
    const thread = new Worker(new URL(`${FIXTURES}/unruly-${name}.ts`, import.meta.url))
    threads[name].push(thread)
    return thread
  }
  const context = {
    env,
    config,
    log: silent,
    json: true,
    isGiven: () => true,
    spawnWorker: spawn('worker'),
    spawnIntake: spawn('intake'),
  }
  const server = await startServer(context, await openDatabase(config, 'serve', silent))
  const admin = startAdmin(context, server)
  const scrape = scrapeOf(env)
  const { post } = await caller(database, 'threads', 'cloud_team', () => server.url)
  expect((await post('/v1/sync', { records: [session(1)] })).status).toBe(200)
  await eventually(scrape, (text) => sumOf(text, 'database_connections', { pool: 'worker' }) > 0)

  // a request that is being written, at a table that is locked
  const holder = database.pool(1)
  const letGo = await hold(holder, (tx) => tx`lock table sessions in exclusive mode`)
  const interrupted = post('/v1/sync', { records: [session(2)] })
  await eventually(
    scrape,
    (text) => sumOf(text, 'database_connections', { pool: 'intake', state: 'active' }) > 0,
  )
  threads.intake.at(-1)?.postMessage({ type: 'throw' })
  expect((await interrupted).status).toBe(503)
  await letGo()
  await holder.end()
  const afterIntake = await scrape()
  expect(sumOf(afterIntake, 'thread_restarts_total', { thread: 'intake' })).toBe(1)
  expect(sumOf(afterIntake, 'intake_requests_total', { result: 'busy' })).toBe(1)

  // four times: then the next thread waits for almost a second
  for (let crash = 1; crash <= 4; crash += 1) {
    await eventually(scrape, (text) => sumOf(text, 'ready', { part: 'worker' }) === 1)
    threads.worker.at(-1)?.postMessage({ type: 'throw' })
    await eventually(scrape, (text) => sumOf(text, 'thread_restarts_total', { thread: 'worker' }) === crash)
  }
  const restarting = await scrape()
  expect(sumOf(restarting, 'ready', { part: 'worker' })).toBe(0)
  expect((await fetch(`${server.url}/ready`)).status).toBe(503)
  const said = await doctorOf(env)
  expect(said.server).toMatch(/^warn: .*\b4 restarts of the worker thread, 1 restart of the intake thread/)
  expect(said.server).toMatch(/\b1 request to write records was not stored/)
  await admin?.stop()
  await server.stop()
  await database.drop()
})

/** A mount of its own; as in test/chaos/full-disk.test.ts. */
const isRoot = process.getuid?.() === 0
const UNSHARE = ['unshare', ...(isRoot ? [] : ['--user', '--map-current-user', '--keep-caps']), '--mount']
const small = join(folder.path, 'small')
mkdirSync(small)
const MOUNT = `mount -t tmpfs -o size=400m,mode=755 tmpfs '${small}'`
const probe = Bun.which('unshare') === null ? undefined : Bun.spawnSync([...UNSHARE, 'sh', '-c', MOUNT])
const why = probe === undefined ? 'there is no unshare' : probe.success ? undefined : probe.stderr.toString()
if (why !== undefined) process.stderr.write(`skipping the test of a disk that is almost full: ${why}\n`)

test.skipIf(why !== undefined)('a disk that is almost full', async () => {
  const env = {
    DATA_DIR: join(small, 'data'),
    ADMIN_PORT: String(freePort()),
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    LOG_LEVEL: 'silent',
  }
  const start = `${MOUNT} && exec ${PROGRAM.map((word) => `'${word}'`).join(' ')} serve --json --port 0`
  const program = Bun.spawn([...UNSHARE, 'sh', '-c', start], { env, stdout: 'pipe' })
  const { url } = JSON.parse((await readUntil(program.stdout, '\n')).split('\n')[0] ?? '')
  const scrape = scrapeOf(env)
  expect(sumOf(await scrape(), 'ready', { part: 'disk' })).toBe(1)
  // the file system is seen through the program's process only
  const inside = `/proc/${program.pid}/root${small}`
  const { bavail, bsize } = statfsSync(inside)
  writeFileSync(join(inside, 'ballast'), Buffer.alloc(bavail * bsize - 50 * 2 ** 20))
  const text = await scrape()
  expect(sumOf(text, 'ready', { part: 'disk' })).toBe(0)
  expect(sumOf(text, 'disk_free_bytes', { folder: 'data' })).toBeLessThan(2 ** 30 / 10)
  expect((await fetch(`${url}/ready`)).status).toBe(503)
  const user = isRoot ? [] : ['--user', '--preserve-credentials']
  const enter = ['nsenter', '-t', String(program.pid), ...user, '--mount']
  const doctor = Bun.spawnSync([...enter, ...PROGRAM, 'doctor', '--json'], { env })
  const { checks }: { checks: unknown[] } = JSON.parse(doctor.stdout.toString())
  expect(checks).toContainEqual({
    name: 'disk',
    status: 'fail',
    message: expect.stringMatching(/^0\.0 GiB free in /),
  })
  program.kill()
  await program.exited
})
