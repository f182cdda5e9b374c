// These tests guard patches/postgres@3.4.9.patch: without its hunks these tests fail, hang or end the process. Restarts of
// PostgreSQL are in test/database/embedded/restart.test.ts, copies in copy.test.ts.

import { expect, test } from 'bun:test'
import { connect as connectSocket, createServer, type Socket } from 'node:net'
import { connect, type Sql } from '../../src/database/client.ts'
import { eventually } from '../support/cli.ts'
import { atPort, listening, placeOf } from '../support/ports.ts'
import { testsDatabase } from '../support/postgres.ts'

const database = await testsDatabase()

const open = (max: number, url = database.url, oneByOne = false) =>
  connect({ url }, { max, applicationName: 'test-driver', oneByOne })
const pidOf = async (on: Pick<Sql, 'unsafe'>): Promise<number> => {
  const [row] = await on.unsafe<{ pid: number }[]>('select pg_backend_pid() as pid')
  return row?.pid ?? 0
}
/** Waits for a session that answers. */
const answered = (on: Sql) =>
  eventually(
    () =>
      on`select 1`.then(
        ({ count }) => count,
        () => 0,
      ),
    (count) => count === 1,
  )
const terminate = (pid: number) => database.sql`select pg_terminate_backend(${pid}, 5000)`

/**
 * Passes everything on to PostgreSQL, over TCP; `lose` ends the connections without a word of PostgreSQL's, as a crash does.
 * `onSent` sees what a client sends, and says whether that is passed on.
 */
async function losingProxy(onSent: (bytes: string | Buffer, client: Socket) => boolean = () => true) {
  const place = placeOf(database.url)
  const clients = new Set<Socket>()
  const server = createServer((client) => {
    const behind = connectSocket(place)
    clients.add(client)
    client.on('data', (bytes) => void (onSent(bytes, client) && behind.write(bytes)))
    behind.pipe(client)
    client.on('error', () => {})
    behind.on('error', () => {})
    client.on('close', () => {
      clients.delete(client)
      behind.destroy()
    })
  })
  const port = await listening(server)
  return {
    url: atPort(database.url, port),
    lose: (how: 'reset' | 'close') => {
      for (const client of clients) how === 'reset' ? client.resetAndDestroy() : client.destroy()
    },
    close: () => server.close(),
  }
}

test('a statement that cannot be sent takes no answer of those behind it', async () => {
  const one = open(1)
  await one`select 1 as n`
  const asked = (n: number) => one<{ n: number }[]>`select ${n}::integer as n`.then(([row]) => row?.n)
  const unsendable = async () => await one`select ${new Date(Number.NaN)}::timestamptz as n`
  const results = await Promise.allSettled([asked(1), unsendable(), asked(2), unsendable(), asked(3)])
  const values: unknown[] = results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))
  expect(values).toEqual([1, 'failed', 2, 'failed', 3])
  // the same holds if nothing is in flight
  await expect(unsendable()).rejects.toThrow('Invalid')
  expect(await asked(4)).toBe(4)
  await one.end()
})

test('a transaction has its connection alone, however many statements were sent over it before', async () => {
  // the driver sends at most 100 statements over a connection before the first is answered, or one
  for (const [before, oneByOne] of [
    [99, false],
    [100, false],
    [101, false],
    [102, false],
    [0, true],
    [1, true],
    [2, true],
  ] as const) {
    const one = open(1, database.url, oneByOne)
    const pid = await pidOf(one)
    const reads = Array.from({ length: before }, () => one`select pg_sleep(0.001)`.then())
    const transaction = one.begin(async (tx) => {
      const [row] = await tx<{ xid: string }[]>`select pg_current_xact_id()::text as xid, pg_sleep(0.05)`
      return row?.xid
    })
    const outside = async () => {
      const [row] = await one<{ xid: string }[]>`select pg_current_xact_id()::text as xid`
      return row?.xid
    }
    const [inside, ...others] = await Promise.all([transaction, outside(), outside(), ...reads])
    expect(inside).toBeString()
    expect(others.slice(0, 2)).not.toContain(inside)
    const [backend] = await database.sql`select a.state from pg_stat_activity a where a.pid = ${pid}`
    expect({ before, oneByOne, state: backend?.state }).toEqual({ before, oneByOne, state: 'idle' })
    await one.end()
  }
})

test('one by one, no statement waits behind a slow one while another connection is free', async () => {
  const pool = open(2, database.url, true)
  await Promise.all([pool`select pg_sleep(0.05)`, pool`select pg_sleep(0.05)`])
  const ended: string[] = []
  const holder = open(1)
  await holder`select pg_advisory_lock(1)`
  const slow = pool`select pg_advisory_lock(1)`.then(() => ended.push('slow'))
  await Promise.all(Array.from({ length: 20 }, () => pool`select 1`.then(() => ended.push('short'))))
  await holder.end()
  await slow
  expect(ended.indexOf('slow')).toBe(20)
  await pool.end()
})

test('a transaction whose session ends runs nothing in the next one', async () => {
  const one = open(1)
  await database.sql`create table written (note text)`
  const written = Promise.withResolvers<string>()
  const work = one.begin(async (tx) => {
    const pid = await pidOf(tx)
    const failed = tx`select pg_sleep(30)`.then(
      () => 'answered',
      () => 'failed',
    )
    await terminate(pid)
    expect(await failed).toBe('failed')
    // the connection has its next session
    await answered(one)
    tx`insert into written (note) values ('outside of any transaction')`.then(
      () => written.resolve('answered'),
      () => written.resolve('failed'),
    )
  })
  expect(await work.catch((error) => error.code)).toMatch(/CONNECTION_CLOSED|57P01/)
  expect(await written.promise).toBe('failed')
  expect(await one`select w.note from written w`).toHaveLength(0)
  await one.end()
})

test('a transaction that waits for something else than the database ends with its session', async () => {
  const one = open(1)
  const work = one.begin(async (tx) => {
    const pid = await pidOf(tx)
    await terminate(pid)
    await new Promise(() => {})
  })
  expect(await work.catch((error) => error.code)).toMatch(/CONNECTION_CLOSED|57P01/)
  expect(await one`select 1 as n`).toHaveLength(1)
  await one.end()
})

test('what is sent while a connection breaks rejects, and the next session answers', async () => {
  const proxy = await losingProxy()
  const one = open(1, proxy.url)
  for (let round = 0; round < 20; round += 1) {
    await answered(one)
    const again: Promise<unknown>[] = []
    const asked = one`select pg_sleep(30)`.catch(() => {
      // a caller that tries again at once does this
      again.push(one`select 2 as n`.then())
    })
    await eventually(
      () =>
        database.sql`select 1 from pg_stat_activity a where a.application_name = 'test-driver' and a.wait_event = 'PgSleep'`,
      (rows) => rows.length > 0,
    )
    proxy.lose(round % 2 === 0 ? 'reset' : 'close')
    await asked
    await Promise.allSettled(again)
    await database.sql`select pg_terminate_backend(a.pid) from pg_stat_activity a where a.datname = current_database() and a.wait_event = 'PgSleep'`
  }
  await answered(one)
  await one.end({ timeout: 1 })
  proxy.close()
})

for (const how of ['reset', 'close'] as const) {
  test(`a copy and a cursor whose connection is lost (${how}) reject, and the next session answers`, async () => {
    const proxy = await losingProxy()
    const one = open(1, proxy.url)
    await one`create table if not exists copied (n integer)`
    const copying = one.begin(async (tx) => {
      const stream = await tx`copy copied (n) from stdin`.writable()
      stream.on('error', () => {})
      stream.write('1\n')
      proxy.lose(how)
      await new Promise((resolve) => stream.on('close', resolve))
    })
    expect(await copying.catch((error) => error.code)).toMatch(/CONNECTION_CLOSED|ECONNRESET/)
    await answered(one)
    const ended = Promise.withResolvers<void>()
    const reading = one.begin(async (tx) => {
      try {
        for await (const _rows of tx`select n from generate_series(1, 100) n`.cursor(10)) {
          proxy.lose(how)
          await answered(one)
          throw new Error('the reader cannot go on')
        }
      } finally {
        ended.resolve()
      }
    })
    expect(await reading.catch((error) => error.code)).toMatch(/CONNECTION_CLOSED|ECONNRESET/)
    await ended.promise
    await answered(one)
    expect(await one`select c.n from copied c`).toHaveLength(0)
    await one`drop table copied`
    await one.end({ timeout: 1 })
    proxy.close()
  })
}

test('a connection that is lost while it asks for the types of arrays fails what waits for it, and nothing else', async () => {
  const asked = Promise.withResolvers<void>()
  for (const how of ['reset', 'silence'] as const) {
    const proxy = await losingProxy((bytes, client) => {
      if (!bytes.includes('typarray')) return true
      if (how === 'reset') client.resetAndDestroy()
      else asked.resolve()
      return false
    })
    const one = open(1, proxy.url)
    const failed = one`select 1`.then(
      () => 'answered',
      ({ code }) => code,
    )
    // a pool that is replaced since the database is silent
    if (how === 'silence') await asked.promise.then(() => one.end({ timeout: 0 }))
    expect(await failed).toBe(how === 'reset' ? 'ECONNRESET' : 'CONNECTION_DESTROYED')
    await one.end({ timeout: 0 })
    proxy.close()
  }
})

test('rows that came before an error are not those of the next statement', async () => {
  const one = open(1)
  const failing = () => one`select 1 / (3 - n) from generate_series(1, 5) n`
  const next = async () => [...(await one`select 7 as n`)]
  await expect(failing().execute()).rejects.toThrow('division by zero')
  expect(await next()).toEqual([{ n: 7 }])
  const [failed, behind] = await Promise.allSettled([failing(), next()])
  expect(failed.status).toBe('rejected')
  expect(behind).toEqual({ status: 'fulfilled', value: [{ n: 7 }] })
  await one.end()
})

test('a statement that is planned again has the parameters that were given', async () => {
  const one = open(1)
  await database.sql`create table changing as select 1 as n`
  const asked = async () => [...(await one`select c.n, ${true}::boolean as flag from changing c`)]
  expect(await asked()).toEqual([{ n: 1, flag: true }])
  await database.sql`alter table changing alter n type text`
  expect(await asked()).toEqual([{ n: '1', flag: true }])
  await one.end()
})

test('a server without TLS is named where TLS is demanded', async () => {
  let greetings = 0
  const server = createServer((socket) =>
    socket.on('data', () => {
      greetings += 1
      socket.write('N')
    }),
  )
  const port = await listening(server)
  const sql = open(1, `postgres://u:p@127.0.0.1:${port}/d?sslmode=require`)
  expect(await sql`select 1`.catch((error) => error.message)).toContain('does not support TLS')
  expect(greetings).toBe(1)
  await sql.end({ timeout: 1 })
  server.close()
})
