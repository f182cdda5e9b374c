import { expect, test } from 'bun:test'
import { connect as connectSocket, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { createLog } from '../../src/base/log.ts'
import type { ISql } from '../../src/database/client.ts'
import {
  createConnectionMonitor,
  createReconnectingPool,
  type ReconnectingPool,
} from '../../src/database/pools/reconnecting-pool.ts'
import { eventually, until } from '../support/cli.ts'
import { listening } from '../support/ports.ts'
import { testsDatabase } from '../support/postgres.ts'
import { certificate } from '../support/raw-receiver.ts'
import { silentProxy } from '../support/silent-proxy.ts'

const database = await testsDatabase()

test('statements over half-open connections fail, and the next statement succeeds', async () => {
  const proxy = await silentProxy(database.url)
  const pool = createReconnectingPool({ url: proxy.url }, { max: 1, applicationName: 'test' }, 200)
  const one = () => pool.sql<{ one: number }[]>`select 1 as one`
  expect([...(await one())]).toEqual([{ one: 1 }])
  proxy.forget()
  // a query is sent when it is awaited
  const asked = one().then(
    () => 'answered',
    () => 'failed',
  )
  await expect(pool.run((sql) => sql`select 1`)).rejects.toThrow('no answer in 200 ms')
  expect(await asked).toBe('failed')
  expect([...(await one())]).toEqual([{ one: 1 }])
  await pool.end(1)
  proxy.close()
})

/** Passes what comes over `client` to the database, and back. */
function passOn(client: Socket): void {
  const upstream = new URL(database.url)
  const socketDir = upstream.searchParams.get('host')
  const behind =
    socketDir === null
      ? connectSocket(Number(upstream.port || 5432), upstream.hostname)
      : connectSocket(`${socketDir}/.s.PGSQL.5432`)
  client.pipe(behind).pipe(client)
  client.on('error', () => behind.destroy())
  behind.on('error', () => client.destroy())
}

test.each(['plain', 'TLS'])('connections are replaced for all that use the pool: %s', async (how) => {
  const server = how === 'plain' ? createServer(passOn) : createTlsServer(await certificate('valid'), passOn)
  const url = new URL(database.url)
  url.searchParams.delete('host')
  url.host = `127.0.0.1:${await listening(server)}`
  url.searchParams.set('sslmode', how === 'plain' ? 'disable' : 'verify-full')
  if (how === 'TLS') {
    url.searchParams.set('sslnegotiation', 'direct')
    url.searchParams.set('sslrootcert', join(import.meta.dir, '../fixtures/tls/authority.pem'))
  }
  const pool = createReconnectingPool({ url: url.href }, { max: 2, applicationName: `test ${how}` })
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'answered',
      ({ code }) => code,
    )
  const begun = Promise.withResolvers<void>()
  const transaction = pool.sql.begin(async (tx) => {
    await tx`select 1`
    begun.resolve()
    await new Promise(() => {})
  })
  await begun.promise
  const sleeping = pool.sql`select pg_sleep(30)`.execute()
  await eventually(
    () =>
      database.sql`select from pg_stat_activity a where a.application_name like ${`test ${how} %`} and a.wait_event = 'PgSleep'`,
    ({ count }) => count === 1,
  )
  pool.reconnect()
  expect([await codeOf(transaction), await codeOf(sleeping)]).toEqual([
    'CONNECTION_CLOSED',
    'CONNECTION_CLOSED',
  ])
  expect([...(await pool.sql`select 2 as two`)]).toEqual([{ two: 2 }])
  await pool.end(1)
  server.close()
})

test('a server that closes connections without a word, and a socket that is not there, are errors', async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.end()
  })
  const urls = [
    `postgres://u@127.0.0.1:${await listening(server)}/d`,
    'postgres://u@localhost/d?host=/no/such/folder',
  ]
  const codes = await Promise.all(
    urls.map(async (url) => {
      const pool = createReconnectingPool({ url }, { max: 1, applicationName: 'test' })
      const code = await pool.sql`select 1`.catch((error) => error.code)
      await pool.end(1)
      return code
    }),
  )
  expect({ codes, connections }).toEqual({ codes: ['ECONNRESET', 'ENOENT'], connections: 1 })
  server.close()
})

test('a pool whose connections are all busy does not reconnect', async () => {
  const { sql } = database
  const proxy = await silentProxy(database.url)
  const lines: string[] = []
  const pool = createReconnectingPool({ url: proxy.url }, { max: 2, applicationName: 'test-work' })
  const seenBusy: boolean[] = []
  const watched: ReconnectingPool = {
    ...pool,
    async isBusy() {
      const isBusy = await pool.isBusy()
      seenBusy.push(isBusy)
      return isBusy
    },
  }
  const ping = createConnectionMonitor(
    [watched],
    createLog('warn', 'json', (line) => lines.push(line)),
    { limitMs: 200, giveUpMs: 800 },
  )
  const pingOften = () => Promise.all(Array.from({ length: 6 }, ping))
  const work = (on: ISql) =>
    on<{ state: string }[]>`select 'worked' as state from pg_advisory_xact_lock_shared(7)`
  const workTwice = () =>
    [work(pool.sql), pool.sql.begin(async (tx) => await work(tx))].map(async (working) => await working)
  const blocked = () => sql<{ count: number }[]>`
    select count(*)::int as count
    from pg_stat_activity a
    where a.application_name like 'test-work %' and a.wait_event_type = 'Lock'`
  /** Holds the statements of `workTwice` busy until `meanwhile` is over. */
  const whileBusy = async (meanwhile: () => Promise<void>) => {
    let working: ReturnType<typeof workTwice> = []
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(7)`
      working = workTwice()
      await eventually(blocked, ([row]) => row?.count === 2)
      await meanwhile()
    })
    return await Promise.allSettled(working)
  }

  const worked = await whileBusy(async () => {
    expect(await pingOften()).not.toContain(true)
    await until(() => seenBusy.length > 0)
  })
  expect(worked.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  expect([seenBusy, lines]).toEqual([[true], []])
  await eventually(ping, (isThere) => isThere)

  // the server finishes the statements, and their results are lost
  const [lost] = await Promise.all([
    whileBusy(async () => proxy.forget()),
    eventually(
      async () => (await pingOften()) && lines.length,
      (count) => count > 0,
    ),
  ])
  expect(lines.join()).toContain('the database is silent')
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await eventually(ping, (isThere) => isThere)
  await pool.end(1)
  proxy.close()
}, 120_000)
