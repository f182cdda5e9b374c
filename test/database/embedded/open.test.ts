import { afterAll, describe, expect, test } from 'bun:test'
import {
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createLog } from '../../../src/base/log.ts'
import { type DatabaseConfig, openDatabase } from '../../../src/database/open.ts'
import { silent as log, testDatabase } from '../../support/postgres.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function embeddedConfig(): DatabaseConfig {
  const dataDir = mkdtempSync(join(tmpdir(), 'cloud-analytics-open-'))
  folders.push(dataDir)
  return { databaseUrl: null, dataDir, databasePool: 2 }
}

const urlConfig = (databaseUrl: string): DatabaseConfig => ({
  databaseUrl,
  dataDir: '/nowhere',
  databasePool: 2,
})

test('a command opens two connections at most, a server those that are configured', async () => {
  const { url, drop } = await testDatabase()
  const config = { ...urlConfig(url), databasePool: 10 }
  for (const [role, most] of [
    ['command', 2],
    ['serve', 10],
  ] as const) {
    const { sql, close } = await openDatabase(config, role, log)
    const pids = await Promise.all(
      Array.from(
        { length: 12 },
        () => sql<{ pid: number }[]>`select pg_backend_pid() as pid from pg_sleep(0.05)`,
      ),
    )
    expect(new Set(pids.map(([row]) => row?.pid)).size).toBe(most)
    await close()
  }
  await drop()
})

describe('the embedded database', () => {
  test('a command uses the running server and leaves it running', async () => {
    const config = embeddedConfig()
    const server = await openDatabase(config, 'serve', log)
    const command = await openDatabase(config, 'command', log)
    expect(command.embedded).toBeUndefined()
    expect(await command.sql`select 1 as one`).toHaveLength(1)
    await command.close()
    expect(await server.sql`select 1 as one`).toHaveLength(1)
    await server.close()
  })

  test('nobody else can lock the data directory', async () => {
    const config = embeddedConfig()
    const lock = join(config.dataDir, 'instance.lock')
    writeFileSync(lock, '', { mode: 0o644 })
    const server = await openDatabase(config, 'serve', log)
    expect(statSync(lock).mode & 0o777).toBe(0o600)
    await server.close()
  })

  test.each(['symlink', 'link'] as const)('a %s at postmaster.pid is not written through', async (kind) => {
    const config = embeddedConfig()
    await (await openDatabase(config, 'serve', log)).close()
    const [version = ''] = readdirSync(config.dataDir, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /^[^/]+\/PG_VERSION$/.test(path),
    )
    const target = join(config.dataDir, 'precious')
    writeFileSync(target, 'precious\n')
    const link = join(config.dataDir, dirname(version), 'postmaster.pid')
    if (kind === 'symlink') symlinkSync(target, link)
    else linkSync(target, link)
    await expect(openDatabase(config, 'serve', log)).rejects.toThrow(
      /postmaster\.pid is a link or no regular file/,
    )
    expect(readFileSync(target, 'utf8')).toBe('precious\n')
  })

  test('two commands at once share one server, and the one that started it waits for the other', async () => {
    const config = embeddedConfig()
    const lines: string[] = []
    const telling = createLog('info', 'json', (line) => lines.push(line))
    const opened = await Promise.all([
      openDatabase(config, 'command', telling),
      openDatabase(config, 'command', telling),
    ])
    const owner = opened.find(({ embedded }) => embedded !== undefined)
    const guest = opened.find(({ embedded }) => embedded === undefined)
    if (owner === undefined || guest === undefined) throw new Error('both or neither started a server')
    const closing = owner.close()
    expect(await guest.sql`select pg_sleep(0.1)`).toHaveLength(1)
    await guest.close()
    await closing
    expect(lines.filter((line) => line.includes('waiting for other commands')).length).toBeLessThanOrEqual(1)
  })

  test('a server waits for the command that uses the database', async () => {
    const config = embeddedConfig()
    const command = await openDatabase(config, 'command', log)
    const opening = openDatabase(config, 'serve', log)
    await command.close()
    const server = await opening
    expect(server.embedded?.pid).not.toBe(command.embedded?.pid)
    await server.close()
  })

  test('sessions have timeouts for the server and none for commands', async () => {
    const config = embeddedConfig()
    const server = await openDatabase(config, 'serve', log)
    const command = await openDatabase(config, 'command', log)
    const timeout = (sql: typeof server.sql) => sql<{ statement_timeout: string }[]>`show statement_timeout`
    expect((await timeout(server.sql))[0]?.statement_timeout).toBe('25s')
    expect((await timeout(command.sql))[0]?.statement_timeout).toBe('0')
    await command.close()
    await server.close()
  })
})

describe('DATABASE_URL', () => {
  test('is used when given, in every sslmode that permits a server without TLS', async () => {
    const { url, drop } = await testDatabase()
    for (const mode of ['disable', 'allow', 'prefer']) {
      const withMode = new URL(url)
      withMode.searchParams.set('sslmode', mode)
      const { sql, close } = await openDatabase(urlConfig(withMode.href), 'serve', log)
      expect(await sql`select 1 as one`).toHaveLength(1)
      await close()
    }
    await drop()
  })

  test.each([
    ['mysql://user:hush@localhost/x', 'DATABASE_URL is not of the form'],
    [
      'postgres://user:hush@127.0.0.1:1/nothing',
      'the database nothing at 127.0.0.1:1 does not answer: no server listens there',
    ],
    ['postgres://user:hush@nowhere.invalid/x', 'the host name is unknown'],
    ['postgres://user:hush@localhost/x?sslmode=sometimes', 'sslmode=sometimes'],
    ...['1/hush', '1?hush=1', '1#hush', 'hush%', 'hush%zz'].map((password): [string, string] => [
      `postgres://user:${password}@127.0.0.1:1/x`,
      'DATABASE_URL has a character that must be percent-encoded',
    ]),
    [
      'postgres://user:hush@localhost/x?sslmode=verify-full&sslrootcert=/no/such/file',
      'sslrootcert=/no/such/file',
    ],
  ])('%s is refused with an error for the operator', async (url, message) => {
    const error = await openDatabase(urlConfig(url), 'serve', log).catch((reason: Error) => reason)
    expect(String(error)).toContain(message)
    expect(String(error)).not.toContain('hush')
    expect(error).toHaveProperty('name', 'OperatorError')
  })

  test('names a database that does not exist', async () => {
    const { url, drop } = await testDatabase()
    const missing = url.replace(/\/test_[^?]*/, '/missing')
    await expect(openDatabase(urlConfig(missing), 'serve', log)).rejects.toThrow(
      /refuses us: database "missing" does not exist/,
    )
    await drop()
  })
})

test('dates and microseconds pass through unchanged', async () => {
  const { sql, drop } = await testDatabase()
  const [row] = await sql`
    select ${'2026-01-31'}::date as day,
      ${'2026-01-31T12:34:56.789123Z'}::timestamptz::text as exact,
      ${new Date(0)}::timestamptz as instant,
      ${new Date(0)}::date as first_day,
      ${['2026-01-31']}::date[] as days,
      9007199254740993::int8 as big,
      0.10::numeric as money`
  expect(row).toEqual({
    day: '2026-01-31',
    exact: '2026-01-31 12:34:56.789123+00',
    instant: new Date(0),
    first_day: '1970-01-01',
    days: ['2026-01-31'],
    big: '9007199254740993',
    money: '0.10',
  })
  await drop()
})
