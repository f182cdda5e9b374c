import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gettingStarted } from '../../../src/cli/serve/serve.ts'
import { loadConfig } from '../../../src/config.ts'
import { connect } from '../../../src/database/client.ts'
import { readHolder } from '../../../src/database/embedded/instance-lock.ts'
import { scratchFolder } from '../../support/at-end.ts'
import {
  eventually,
  readUntil,
  run,
  runJson,
  type Serving,
  serving,
  startProgram,
} from '../../support/cli.ts'
import { newDataFolder } from '../../support/data-folder.ts'
import { sessionRecord } from '../../support/records.ts'

// `serve` and `demo` on the embedded database, as an operator has them.

const folder = scratchFolder()
const env = { DATA_DIR: join(folder.path, 'data') }
let server: Serving
let key = ''

beforeAll(async () => {
  server = await serving('serve', env)
})
afterAll(async () => {
  await server.end()
  folder.remove()
})

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${server.url}${path}`, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } })

const health = async () => {
  const response = await fetch(`${server.url}/health`)
  return { status: response.status, body: await response.json() }
}

const session = (id: string) => sessionRecord(id, { project_name: 'p', created_at: '2026-01-02T03:04:05Z' })

test('a first run answers, and says how to begin', async () => {
  expect(server.first).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    pid: expect.any(Number),
  })
  expect(await health()).toEqual({
    status: 200,
    body: {
      ...{ status: 'ok', version: expect.any(String), database: 'ok', worker: 'ok' },
      instance: readHolder(env.DATA_DIR)?.instance,
    },
  })
  expect((await ask('/v1/sessions')).status).toBe(401)
})

test('health and doctor find it on its port', async () => {
  expect(await runJson(['health'], env)).toMatchObject({ status: 'ok' })
  const { checks } = await runJson(['doctor'], env)
  expect(checks).toContainEqual({ name: 'worker', status: 'ok', message: `ok (${server.url})` })
  expect((await run(['health', '--port', '1'], env)).code).toBe(1)
})

test('health and doctor fail where the server of another data directory answers, and say which', async () => {
  const other = { DATA_DIR: join(folder.path, 'other'), PORT: new URL(server.url).port }
  await newDataFolder(other.DATA_DIR)
  const instance = readHolder(env.DATA_DIR)?.instance ?? ''
  const who = `${server.url} is another server (instance ${instance}, version`
  const asked = await run(['health'], other)
  expect([asked.code, asked.stdout, asked.stderr]).toEqual([1, '', expect.stringContaining(who)])
  expect(asked.stderr).toContain(`not that of ${other.DATA_DIR}, where none runs`)
  const doctor = await run(['doctor', '--json'], other)
  expect([doctor.code, JSON.parse(doctor.stdout).checks]).toEqual([
    1,
    expect.arrayContaining([{ name: 'worker', status: 'fail', message: expect.stringContaining(who) }]),
  ])
  expect((await run(['health', '--url', server.url], other)).code).toBe(0)
  expect((await run(['health'], env)).stdout).toMatch(
    new RegExp(`^ok \\(version .*\\), ${server.url}, instance ${instance}\n$`),
  )
  // a copy of the folder has the same database, and another server
  await using copy = await serving('serve', other)
  expect(await runJson(['health'], { DATA_DIR: other.DATA_DIR })).toMatchObject({ url: copy.url })
  const wrong = await run(['health', '--port', new URL(copy.url).port], env)
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining(`which is ${server.url}`)])
})

test('a data directory that cannot be written is one line', async () => {
  const occupied = join(folder.path, 'file')
  await Bun.write(occupied, '')
  const { code, stderr } = await run(['migrate'], { DATA_DIR: join(occupied, 'data') })
  expect(code).toBe(1)
  expect(stderr).toMatch(/^error: [^\n]*cannot be written[^\n]*\n$/)
})

test('commands work beside it, at once', async () => {
  const made = await runJson(
    ['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'],
    env,
  )
  key = (await runJson(['key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'read,write'], env)).key
  const body = JSON.stringify({ records: [session('sess_1')] })
  const sent = await ask('/v1/sync', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  expect(await sent.json()).toEqual({ received: 1, created: 1, updated: 0, unchanged: 0 })
  const commands = [
    ['org', 'list'],
    ['member', 'list', '--org', 'acme'],
    ['doctor', '--port', new URL(server.url).port],
  ]
  const [organizations, members, doctor] = await Promise.all(commands.map((args) => runJson(args, env)))
  expect(organizations).toEqual([made])
  expect(members).toEqual([])
  expect(
    doctor.checks.map((check: { name: string; status: string }) => `${check.name} ${check.status}`),
  ).toEqual([
    'settings ok',
    'database ok',
    'migrations ok',
    'rollups ok',
    'prices ok',
    'webhooks ok',
    'machines ok',
    'worker ok',
    'disk ok',
  ])
  expect(await runJson(['health', '--url', server.url], env)).toMatchObject({ status: 'ok', worker: 'ok' })
})

const openEmbedded = () => {
  const socketDir = readHolder(env.DATA_DIR)?.socketDir ?? ''
  const target = { socketDir, user: 'postgres', database: 'postgres' }
  return connect(target, { max: 1, applicationName: 'test' })
}

test('the worker has connections of its own, and finds a new one when they break', async () => {
  const sql = openEmbedded()
  const workers = () => sql<{ pid: number }[]>`
    select a.pid
    from pg_stat_activity a
    where a.application_name like 'cloud-analytics worker%'`
  const before = await eventually(workers, (rows) => rows.length > 0)
  await sql`select pg_terminate_backend(a.pid) from pg_stat_activity a where a.application_name like 'cloud-analytics worker%'`
  const known = new Set(before.map(({ pid }) => pid))
  await eventually(workers, (rows) => rows.some(({ pid }) => !known.has(pid)))
  await eventually(health, ({ status }) => status === 200)
  await sql.end()
})

test('a second serve on the same folder, or on the same port, says so', async () => {
  const second = await run(['serve', '--port', '0'], env)
  expect(second).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(`in use by another running instance (pid ${server.pid})`),
  })
  const { port } = new URL(server.url)
  const taken = await run(['demo', '--port', port], env)
  expect(taken).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(`port ${port} is in use`),
  })
})

test('killed with SIGKILL, it starts again with everything it had answered for', async () => {
  await server.end('SIGKILL')
  server = await serving('serve', env)
  expect((await ask('/v1/sessions/sess_1')).status).toBe(200)
  expect((await health()).status).toBe(200)
})

test('commands work without it too, also two at a time', async () => {
  const { code, stderr } = await server.end('SIGINT')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const results = await Promise.all([
    runJson(['import', '-', '--org', 'acme'], env, JSON.stringify(session('sess_2'))),
    runJson(['import', '-', '--org', 'acme'], env, JSON.stringify(session('sess_3'))),
  ])
  expect(results.map(({ created }) => created)).toEqual([1, 1])
  server = await serving('serve', env)
  expect(await (await ask('/v1/sessions')).json()).toMatchObject({ pagination: { total: 3 } })
})

test('Ctrl-C that arrives twice is one, and stopping leaves nothing running', async () => {
  process.kill(server.pid, 'SIGINT')
  const { code } = await server.end('SIGINT')
  expect(code).toBe(0)
  expect(existsSync(join(env.DATA_DIR, 'data-18', 'postmaster.pid'))).toBe(false)
  server = await serving('serve', env)
})

test('when its PostgreSQL dies, it says so and ends with 1', async () => {
  const postgres = Number(
    readFileSync(join(env.DATA_DIR, 'data-18', 'postmaster.pid'), 'utf8').split('\n')[0],
  )
  process.kill(postgres, 'SIGKILL')
  expect(await server.exited).toBe(1)
  expect((await server.end()).stderr).toContain('PostgreSQL ended by itself')
  server = await serving('serve', env)
  expect((await ask('/v1/sessions/sess_3')).status).toBe(200)
})

test('the demo serves half a year of data from a folder that it removes, whatever the settings', async () => {
  const tmp = join(folder.path, 'tmp')
  await Bun.write(join(tmp, '.keep'), '')
  const demo = await serving('demo', {
    ...env,
    TMPDIR: tmp,
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  })
  expect(demo.first).toEqual({ url: demo.url, key: expect.stringMatching(/^ca_live_/), org: 'demo' })
  expect(readdirSync(tmp)).toHaveLength(2)
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`${demo.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${demo.first.key}` },
    })
    return JSON.parse(await response.text())
  }
  expect((await get('/v1/sessions')).pagination.total).toBeGreaterThan(1_000)
  expect((await get('/v1/cost')).current_budget).toMatchObject({ limit: 160 })
  // its reader may dismiss a finding and make an alert
  expect((await get('/v1/whoami')).scopes).toContain('admin')
  // each part of the product has something to show, findings only some of the sessions
  const some = (await get('/v1/sessions?has_findings=true')).pagination.total
  expect(some).toBeGreaterThan(10)
  expect(some).toBeLessThan(200)
  expect((await get('/v1/risk')).pagination.total).toBeGreaterThan(100)
  expect((await get('/v1/team/expertise')).domains.length).toBeGreaterThan(10)
  expect((await get('/v1/audit?action=budget.*')).pagination.total).toBeGreaterThan(0)
  expect((await get('/v1/audit/report')).source).toBe('pregenerated')
  expect((await get('/v1/models')).data.map(({ name }: { name: string }) => name)).toContain('gpt-5.2-codex')
  expect((await get('/v1/cost?group_by=month')).by_period.length).toBeGreaterThanOrEqual(6)
  // the effect of one change is seen, that of another one is not
  const recorded = async (kind: string) => (await get(`/v1/effects?kind=${kind}`)).data
  const [training] = await recorded('training')
  expect(training).toMatchObject({ verdict: 'seen', evidence: 'compared', changed: 5 })
  expect(training.effect).toBeLessThan(-0.35)
  expect(training.money.extra).toBeLessThan(0)
  expect(await recorded('setting')).toMatchObject([{ verdict: 'not_seen' }])
  // an operator and a manager have something to find
  const { endpoints, silent_machines } = await get('/v1/attention')
  expect([endpoints.length, silent_machines.length]).toEqual([1, 1])
  const { data: budgets } = await get('/v1/budgets?include=used')
  expect(budgets.flatMap(({ scope }: { scope: object }) => Object.keys(scope))).toContain('team')
  const [endpoint] = (await get('/v1/webhooks')).data
  const history = `/v1/webhooks/${endpoint.id}/deliveries?event=team.member_joined`
  const delivered = await eventually(
    () => get(history),
    ({ data }) => data[0]?.status === 'success',
    45_000,
  )
  // the last of the members joins, and nothing else was told
  expect(delivered).toMatchObject({
    data: [{ event: 'team.member_joined', attempts: 1, last_status_code: 200 }],
    pagination: { total: 1 },
  })
  expect((await get('/v1/team')).members).toHaveLength(12)
  const sent = await get(`/v1/webhooks/${endpoint.id}/test`, 'POST')
  expect(sent).toMatchObject({ success: true, response_body: 'signature valid\n' })
  const { code, stderr } = await demo.end('SIGHUP')
  expect(code).toBe(0)
  const received = stderr.split('\n').filter((line) => line.startsWith('webhook received: '))
  const [joined] = delivered.data
  expect(received.map((line) => line.split('  ').slice(1))).toEqual([
    ['team.member_joined', joined.id, 'attempt 1', 'signature valid', 'answered 200'],
    ['webhook.test', sent.delivery_id, 'attempt 1', 'signature valid', 'answered 200'],
  ])
  expect(readdirSync(tmp)).toEqual(['.keep'])
})

test.skipIf(Bun.which('curl') === null)(
  'the first steps work as pasted, whatever the data directory is called',
  async () => {
    const DATA_DIR = join(folder.path, "it's $HOME's `data`")
    const child = startProgram(['serve', '--port', '0', '--data-dir', DATA_DIR], { DATA_DIR: '/nonexistent' })
    try {
      const told = await readUntil(child.stdout, 'sync ~/.claude')
      const steps = told.split('\n').filter((line) => line.startsWith('  '))
      const script = `set -e\n${steps.slice(0, 5).join('\n')}`
      const shell = Bun.spawn(['sh', '-c', script], {
        env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', LOG_LEVEL: 'warn' },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [answers, errors, code] = await Promise.all([
        shell.stdout.text(),
        shell.stderr.text(),
        shell.exited,
      ])
      if (code !== 0) throw new Error(errors)
      expect(answers).toContain('"data":[]')
      expect(answers).toContain('"total_cost":0')
      expect(answers).toContain('/accept#token=')
      expect(steps[5]).toContain('sync ~/.claude --org acme --data-dir')
    } finally {
      child.kill()
      await child.exited
    }
  },
)

test('the first steps never show the DATABASE_URL, and say that it is needed', () => {
  const databaseUrl = 'postgres://u:hunter2@db/x'
  const told = gettingStarted({ config: loadConfig({}, { DATABASE_URL: databaseUrl }), env: {} }, 'http://a')
  expect(told).toContain('in a terminal where the same DATABASE_URL is set')
  expect(told).not.toMatch(/hunter2|--data-dir/)
})

test('the first steps name the file of settings with which the server was started', () => {
  const told = gettingStarted({ config: loadConfig({}, {}), env: {}, envFile: '/etc/a b' }, 'http://a')
  expect(told.match(/ --env-file '\/etc\/a b'/g)).toHaveLength(4)
})

test('standard output has the one line, whatever route is asked', async () => {
  interface Document {
    paths: Record<string, Record<string, unknown>>
  }
  const DATA_DIR = join(folder.path, 'quiet')
  await newDataFolder(DATA_DIR)
  const own = await serving('serve', { DATA_DIR })
  const { paths } = (await (await fetch(`${own.url}/docs/json`)).json()) as Document
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((name) => name !== 'servers')
      .map((method) => ({ path: path.replace(/\{\w+\}/g, 'x'), method: method.toUpperCase() })),
  )
  expect(routes.length).toBeGreaterThan(80)
  // Elysia compiles a route, for which it reads the text of its hooks, when it is first asked
  for (const { path, method } of routes) {
    await (await fetch(own.url + path, { method, redirect: 'manual' })).bytes()
  }
  expect(await own.end()).toMatchObject({ code: 0, stdout: '' })
})
