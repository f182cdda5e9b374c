import { expect, setDefaultTimeout, test } from 'bun:test'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { findMisspelt } from '../../src/cli/command/misspelt-settings.ts'
import { connect } from '../../src/database/client.ts'
import { MIGRATIONS } from '../../src/database/migrate.ts'
import { scratchFolder, testsFolder } from '../support/at-end.ts'
import { run, runJson, serving } from '../support/cli.ts'
import { newDataFolder } from '../support/data-folder.ts'
import { hold, testDatabase } from '../support/postgres.ts'

// The program tells an operator why it cannot go on, and builds can be told apart.

setDefaultTimeout(180_000)
const MAIN = resolve(import.meta.dir, '../../src/main.ts')
const folder = testsFolder()
const env = { DATA_DIR: join(folder.path, 'data'), PORT: '1' }

test('folders that cannot be written are wrong settings, found at the start and named together', async () => {
  const file = join(folder.path, 'file')
  writeFileSync(file, '')
  const data = join(file, 'data')
  const backups = join(file, 'backups')
  for (const [settings, names] of [
    [{ DATA_DIR: data }, ['DATA_DIR']],
    [{ BACKUP_DIR: backups, BACKUP_EVERY: '24h' }, ['BACKUP_DIR']],
    [{ DATA_DIR: data, BACKUP_DIR: backups }, ['DATA_DIR', 'BACKUP_DIR']],
    // backups are in DATA_DIR
    [{ DATA_DIR: data, BACKUP_EVERY: '24h' }, ['DATA_DIR']],
    // a wrong one is another server's all the same, and nothing is kept here
    [{ DATA_DIR: data, DATABASE_URL: 'mysql://db', SECRET_KEY: Buffer.alloc(32).toString('base64') }, []],
  ] as const) {
    const { code, stdout, stderr } = await run(['serve', '--port', '0', '--log-level', 'loud'], {
      ...env,
      ...settings,
    })
    expect([code, stdout]).toEqual([2, ''])
    // beside those that need no look at the folders
    expect(stderr).toMatch(/^ {2}--log-level must be one of /m)
    const found = [...stderr.matchAll(/^ {2}(\w+): .* cannot be written/gm)].map(([, name]) => name)
    expect(found).toEqual([...names])
  }
})

test('a variable with one of our prefixes that is no setting is named with the nearest one', async () => {
  const misspelt = {
    ...{
      WEBHOOK_TIMEOUT: '1',
      RETENTION_AUDIT_DAY: '30',
      OIDC_ROLE: 'admin',
      DATABASE_URI: 'postgres://x',
    },
    ...{ RETENTON_AUDIT_DAYS: '1', LOG_FORMATS: 'json', RATE_LIMIT: '5' },
  }
  expect(findMisspelt({ ...misspelt, ...env, HOSTNAME: 'a', LOGNAME: 'b', PORTS: '1' })).toEqual([
    { name: 'WEBHOOK_TIMEOUT', nearest: 'WEBHOOK_TIMEOUT_MS' },
    { name: 'RETENTION_AUDIT_DAY', nearest: 'RETENTION_AUDIT_DAYS' },
    { name: 'OIDC_ROLE', nearest: 'OIDC_ROLES' },
    { name: 'DATABASE_URI', nearest: 'DATABASE_URL' },
    { name: 'RETENTON_AUDIT_DAYS', nearest: 'RETENTION_AUDIT_DAYS' },
    { name: 'LOG_FORMATS', nearest: 'LOG_FORMAT' },
    { name: 'RATE_LIMIT', nearest: 'RATE_LIMITS' },
  ])
  const server = await serving('serve', { ...env, WEBHOOK_TIMEOUT: '1', LOG_FORMAT: 'json' })
  const { code, stderr } = await server.end()
  expect(code).toBe(0)
  expect(
    stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    {
      level: 'warn',
      message: 'WEBHOOK_TIMEOUT is no setting and has no effect: the nearest one is WEBHOOK_TIMEOUT_MS',
    },
  ])
})

test('with LOG_FORMAT=json an error is one line of JSON, also one of settings and of usage', async () => {
  // without a database
  const plain = { ...env, DATA_DIR: join(folder.path, 'none') }
  const json = { ...plain, LOG_FORMAT: 'json' }
  const settings = join(folder.path, 'json')
  writeFileSync(settings, 'LOG_FORMAT=json\n')
  for (const [args, code, environment] of [
    [['org', 'list'], 1, json],
    [['org', 'list', '--log-format', 'json'], 1, plain],
    [['org', 'list', '--env-file', settings], 1, plain],
    [['serve', '--port', 'x', '--host', 'a b'], 2, json],
    [['serve', '--bogus'], 2, json],
    [['srve'], 2, json],
  ] as const) {
    const done = await run(args, environment)
    expect([args, done.code, done.stderr.match(/\n/g)?.length]).toEqual([args, code, 1])
    expect(JSON.parse(done.stderr)).toEqual({
      time: expect.any(String),
      level: 'error',
      message: expect.not.stringMatching(/^error/),
    })
  }
  expect((await run(['org', 'list'], plain)).stderr).toMatch(/^error: /)
})

test('the first command on a new database prints one line at most of its migrations', async () => {
  const { path: DATA_DIR, remove } = scratchFolder()
  const args = ['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team']
  const { code, stderr } = await run(args, { ...env, DATA_DIR, LOG_LEVEL: 'info' })
  expect([code, stderr.trim().split('\n').length]).toEqual([0, 1])
  remove()
})

test('a database of another build is refused with the next step, by doctor too', async () => {
  const database = await testDatabase()
  const environment = { ...env, DATABASE_URL: database.url }
  // another history of migrations, with more of them than this program has
  await database.sql`update schema_migrations set checksum = 'x'`
  await database.sql`insert into schema_migrations (number, name, checksum) values (${MIGRATIONS.length + 1}, 'x', 'x')`
  const next = /made by another build.*`version`.*`export`.*`import`/
  const { code, stderr } = await run(['migrate'], environment)
  expect([code, stderr]).toEqual([1, expect.stringMatching(next)])
  const doctor = await run(['doctor', '--json'], environment)
  expect(doctor.code).toBe(1)
  expect(JSON.parse(doctor.stdout).checks).toContainEqual({
    name: 'migrations',
    status: 'fail',
    message: expect.stringMatching(next),
  })
  await database.drop()
})

test('version tells builds apart', async () => {
  const { stdout } = Bun.spawnSync([process.execPath, MAIN, 'version', '--json'], { env })
  expect(JSON.parse(stdout.toString())).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+(-dev)?$/),
    // run from source
    commit: null,
    schema: MIGRATIONS.length,
    postgresql: expect.stringMatching(/^\d+\.\d+$/),
    target: `${process.platform}-${process.arch}`,
  })
})

test('a data directory that is removed makes the server not ready, and its last line says what is lost', async () => {
  const DATA_DIR = join(folder.path, 'removed')
  await newDataFolder(DATA_DIR)
  const server = await serving('serve', { ...env, DATA_DIR, LOG_FORMAT: 'json' })
  const pid = Number((await Bun.file(join(DATA_DIR, 'data-18/postmaster.pid')).text()).split('\n')[0])
  expect((await fetch(`${server.url}/ready`)).status).toBe(200)
  rmSync(DATA_DIR, { recursive: true })
  const ready = await fetch(`${server.url}/ready`)
  expect([ready.status, await ready.json()]).toEqual([
    503,
    expect.objectContaining({ disk: 'the data directory was removed' }),
  ])
  const write = await fetch(`${server.url}/v1/sync`, { method: 'POST', body: '{}' })
  expect([write.status, await write.json()]).toEqual([
    503,
    expect.objectContaining({ error: 'The data directory was removed; nothing was stored' }),
  ])
  // PostgreSQL itself notices within a minute, and may have done so
  try {
    process.kill(pid, 'SIGQUIT')
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' })
  }
  expect(await server.exited).toBe(1)
  const { stderr } = await server.end()
  const { level, message } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '')
  expect([level, message]).toEqual(['error', expect.stringContaining('all of its data is lost')])
  expect(message).not.toContain('nothing committed is lost')
})

test('a folder of backups that is lost makes the server not ready until it is back, and nothing else', async () => {
  const backups = join(folder.path, 'later', 'backups')
  const DATA_DIR = join(folder.path, 'backed-up')
  await newDataFolder(DATA_DIR)
  const server = await serving('serve', { ...env, DATA_DIR, BACKUP_DIR: backups })
  const ready = async () => {
    const answer = await fetch(`${server.url}/ready`)
    return [answer.status, ((await answer.json()) as { disk: string }).disk]
  }
  // made at the start
  expect(await ready()).toEqual([200, 'ok'])
  renameSync(backups, `${backups}-elsewhere`)
  expect(await ready()).toEqual([503, `BACKUP_DIR: ${backups} cannot be written (ENOENT)`])
  writeFileSync(backups, '')
  expect((await ready())[0]).toBe(503)
  rmSync(backups)
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
  await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'], { DATA_DIR })
  const { key } = await runJson(['key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'write'], {
    DATA_DIR,
  })
  const write = await fetch(`${server.url}/v1/sync`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"records":[]}',
  })
  expect(write.status).toBe(200)
  renameSync(`${backups}-elsewhere`, backups)
  expect(await ready()).toEqual([200, 'ok'])
  expect((await server.end()).code).toBe(0)
})

test('doctor says how far it is while one statement takes long', async () => {
  const database = await testDatabase()
  const locker = connect(database.target, { max: 1, applicationName: 'test' })
  const environment = { ...env, DATABASE_URL: database.url }
  await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'], environment)
  const letGo = await hold(locker, (tx) => tx`lock table session_rollups in access exclusive mode`)
  const doctor = Bun.spawn([process.execPath, MAIN, 'doctor', '--json'], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const reader = doctor.stderr.getReader()
  const line = new TextDecoder().decode((await reader.read()).value)
  await letGo()
  expect(line).toMatch(/^checking: \d+ % session_rollups/)
  expect(await doctor.exited).toBe(0)
  await locker.end()
  await database.drop()
})
