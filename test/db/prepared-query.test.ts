import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPreparedQuery } from '../../src/db/pools/prepared-query.ts'
import { testDatabase } from '../support/postgres.ts'
import { citusUrls } from '../support/scaling/citus.ts'

// A server of the protocol's messages, for what PostgreSQL does only when it is in trouble.
const message = (type: string, body = '') => {
  const bytes = Buffer.alloc(5 + body.length)
  bytes.write(type)
  bytes.writeInt32BE(4 + body.length, 1)
  bytes.write(body, 5, 'latin1')
  return bytes
}
const READY = message('Z', 'I')
const rowOf = (value: string) => message('D', `\0\x01\0\0\0${String.fromCharCode(value.length)}${value}`)
const REFUSAL = message('E', 'SERROR\0C57014\0Mcanceled\0\0')

const folder = mkdtempSync(join(tmpdir(), 'prepared-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Answers the third message and all after it, as `answer` says; the first two begin the session. */
function serve(answer: (socket: { write(bytes: Buffer): number; terminate(): void }, nth: number) => void) {
  const sessions: number[] = []
  const server = Bun.listen<{ nth: number }>({
    unix: join(folder, '.s.PGSQL.5432'),
    socket: {
      open(socket) {
        socket.data = { nth: 0 }
        sessions.push(sessions.length)
      },
      data(socket) {
        socket.data.nth += 1
        if (socket.data.nth <= 2) socket.write(READY)
        else answer(socket, socket.data.nth - 2)
      },
    },
  })
  return { sessions, stop: () => server.stop(true) }
}

const query = (limitMs = 2_000) =>
  createPreparedQuery(
    { socketDir: folder, user: 'u', database: 'd' },
    { statement: 'select $1', applicationName: 'test', limitMs },
  )

test('rows come whole, however the bytes are cut', async () => {
  const bytes = Buffer.concat([
    message('2'),
    rowOf('first'),
    rowOf('second'),
    message('C', 'SELECT 2\0'),
    READY,
  ])
  const server = serve(async (socket) => {
    for (const byte of bytes) {
      socket.write(Buffer.from([byte]))
      await Bun.sleep(0)
    }
  })
  const used = query()
  expect(await used.run('x')).toEqual([['first'], ['second']])
  expect(await used.run('y')).toEqual([['first'], ['second']])
  used.end()
  expect(server.sessions).toEqual([0])
  server.stop()
})

describe.skipIf(citusUrls.length > 0)('on PostgreSQL', () => {
  const opened = async (statement: string, limitMs = 5_000) => {
    const database = await testDatabase()
    const { searchParams, username, pathname } = new URL(database.url)
    const target = { socketDir: searchParams.get('host') ?? '', user: username, database: pathname.slice(1) }
    const used = createPreparedQuery(target, { statement, applicationName: 'test-prepared', limitMs })
    return { used, database }
  }

  test('calls at the same time get the rows of their own', async () => {
    const { used, database } = await opened('select n::text, $1 || n from generate_series(1, 2) n')
    await used.run('warm')
    const letters = ['a', 'é', '', 'x'.repeat(100_000)]
    const rows = await Promise.all(letters.map((letter) => used.run(letter)))
    expect(rows).toEqual(
      letters.map((letter) => [
        ['1', `${letter}1`],
        ['2', `${letter}2`],
      ]),
    )
    used.end()
    await database.drop()
  })

  test('a statement that waits for a lock is ended in PostgreSQL, too', async () => {
    const { used, database } = await opened('select count(*)::text from held where $1::text is not null', 300)
    await database.sql`create table held ()`
    await database.sql.begin(async (tx) => {
      await tx`lock table held in access exclusive mode`
      expect(['57014', 'ETIMEDOUT']).toContain(await used.run('x').catch((error) => error.code))
      const waiting = () => database.sql`
        select 1 from pg_stat_activity where application_name = 'test-prepared' and datname = current_database()`
      for (const end = Date.now() + 5_000; (await waiting()).length > 0 && Date.now() < end; )
        await Bun.sleep(20)
      expect(await waiting()).toHaveLength(0)
    })
    expect(await used.run('x')).toEqual([['0']])
    used.end()
    await database.drop()
  })

  test('a refused statement and an ended session reject, and the next call works', async () => {
    const { used, database } = await opened('select (1 / $1::integer)::text')
    expect(await used.run('0').catch((error) => error.code)).toBe('22012')
    expect(await used.run('1')).toEqual([['1']])
    await database.sql`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'test-prepared'`
    // it may be asked before it has noticed
    const code = await used.run('1').then(
      () => undefined,
      (error) => error.code,
    )
    expect([undefined, '57P01', 'CONNECTION_CLOSED']).toContain(code)
    expect(await used.run('1')).toEqual([['1']])
    used.end()
    await database.drop()
  })
})

test('what the server refuses rejects with its code, and the next call has another connection', async () => {
  const server = serve((socket, nth) =>
    socket.write(
      nth === 1 && server.sessions.length === 1
        ? Buffer.concat([REFUSAL, READY])
        : Buffer.concat([rowOf('ok'), READY]),
    ),
  )
  const used = query()
  expect(await used.run('x').catch((error) => ({ code: error.code, message: error.message }))).toEqual({
    code: '57014',
    message: 'canceled',
  })
  expect(await used.run('x')).toEqual([['ok']])
  expect(server.sessions).toEqual([0, 1])
  used.end()
  server.stop()
})

test('a server that is silent from the start, and an end, leave no connection open', async () => {
  const open = new Set<unknown>()
  const server = Bun.listen({
    unix: join(folder, '.s.PGSQL.5432'),
    socket: {
      open: (socket) => void open.add(socket),
      close: (socket) => void open.delete(socket),
      data() {},
    },
  })
  let silent = 0
  const target = { socketDir: folder, user: 'u', database: 'd' }
  const options = { statement: 'select $1', applicationName: 'test', onSilent: () => (silent += 1) }
  const used = createPreparedQuery(target, { ...options, limitMs: 50 })
  for (let call = 0; call < 3; call += 1) {
    expect(await used.run('x').catch((error) => error.code)).toBe('ETIMEDOUT')
  }
  expect(silent).toBe(3)
  const patient = createPreparedQuery(target, { ...options, limitMs: 60_000 })
  const call = patient.run('x').catch((error) => error.code)
  expect(patient.load()).toEqual({ max: 1, used: 1, waiting: 0 })
  patient.end()
  expect(await call).toBe('CONNECTION_CLOSED')
  expect(await patient.run('x').catch((error) => error.code)).toBe('CONNECTION_ENDED')
  for (const end = Date.now() + 5_000; open.size > 0 && Date.now() < end; ) await Bun.sleep(5)
  expect(open.size).toBe(0)
  server.stop(true)
})

test('a lost connection, a silent server and none at all reject, and the next call works', async () => {
  const used = query(100)
  expect(await used.run('x').catch((error) => error.code)).toBe('ENOENT')
  const server = serve((socket) => {
    if (server.sessions.length === 1) socket.terminate()
    else if (server.sessions.length > 2) socket.write(Buffer.concat([rowOf('ok'), READY]))
  })
  expect(await used.run('x').catch((error) => error.code)).toBe('CONNECTION_CLOSED')
  expect(await used.run('x').catch((error) => error.code)).toBe('ETIMEDOUT')
  expect(await used.run('x')).toEqual([['ok']])
  used.end()
  server.stop()
})
