import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ISql } from '../../src/db/client.ts'
import { createRenewable, createSilenceWatch, type RenewablePool } from '../../src/db/reconnecting-pool.ts'
import { createLog } from '../../src/log.ts'
import { eventually } from '../support/cli.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { silentProxy } from '../support/silent-proxy.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(async () => {
  await database.drop()
})

test('what a silent pool was asked fails, and the next question has an answer', async () => {
  const proxy = await silentProxy(database.url)
  const pool = createRenewable({ url: proxy.url }, { max: 1, applicationName: 'test' }, 200)
  const one = () => pool.sql<{ one: number }[]>`select 1 as one`
  expect([...(await one())]).toEqual([{ one: 1 }])
  proxy.forget()
  // a query is sent when somebody waits for it
  const asked = one().then(
    () => 'answered',
    () => 'failed',
  )
  await expect(pool.ask((sql) => sql`select 1`)).rejects.toThrow('no answer in 200 ms')
  expect(await asked).toBe('failed')
  expect([...(await one())]).toEqual([{ one: 1 }])
  await pool.end(1)
  proxy.close()
})

test('a pool whose connections are all at work is not taken for a silent one', async () => {
  const { sql } = database
  const proxy = await silentProxy(database.url)
  const lines: string[] = []
  const pool = createRenewable({ url: proxy.url }, { max: 2, applicationName: 'test-work' })
  const seenAtWork: boolean[] = []
  const watched: RenewablePool = {
    ...pool,
    async isAtWork() {
      const isAtWork = await pool.isAtWork()
      seenAtWork.push(isAtWork)
      return isAtWork
    },
  }
  const look = createSilenceWatch(
    [watched],
    createLog('warn', 'json', (line) => lines.push(line)),
    { limitMs: 200, giveUpMs: 800 },
  )
  const lookOften = () => Promise.all(Array.from({ length: 6 }, look))
  const work = (on: ISql) =>
    on<{ state: string }[]>`select 'worked' as state from pg_advisory_xact_lock_shared(7)`
  const workTwice = () =>
    [work(pool.sql), pool.sql.begin(async (tx) => await work(tx))].map(async (working) => await working)
  const blocked = () => sql<{ count: number }[]>`
    select count(*)::int as count
    from pg_stat_activity a
    where a.application_name like 'test-work %' and a.wait_event_type = 'Lock'`
  /** Holds the statements of `workTwice` at work until \`meanwhile\` is over. */
  const whileAtWork = async (meanwhile: () => Promise<void>) => {
    let working: ReturnType<typeof workTwice> = []
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(7)`
      working = workTwice()
      await eventually(blocked, ([row]) => row?.count === 2)
      await meanwhile()
    })
    return await Promise.allSettled(working)
  }

  const worked = await whileAtWork(async () => {
    expect(await lookOften()).not.toContain(true)
    await eventually(
      async () => seenAtWork,
      (seen) => seen.length > 0,
    )
  })
  expect(worked.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  expect([seenAtWork, lines]).toEqual([[true], []])
  await eventually(look, (isThere) => isThere)

  // the server finishes the statements, and their results are lost
  const [lost] = await Promise.all([
    whileAtWork(async () => proxy.forget()),
    eventually(
      async () => (await lookOften()) && lines.length,
      (count) => count > 0,
    ),
  ])
  expect(lines.join()).toContain('the database is silent')
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await eventually(look, (isThere) => isThere)
  await pool.end(1)
  proxy.close()
}, 40_000)
