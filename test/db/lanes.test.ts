import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createLanes } from '../../src/db/pools/lanes.ts'
import { createReconnectingPool, type ReconnectingPool } from '../../src/db/pools/reconnecting-pool.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'

let database: TestDatabase
let pool: ReconnectingPool
beforeAll(async () => {
  database = await testDatabase()
  pool = createReconnectingPool(
    { url: database.url },
    { max: 8, lanes: 2, applicationName: 'test-lanes', genericPlans: true },
  )
})
afterAll(async () => {
  await pool.end(5)
  await database.drop()
})

const short = async (n: number) => {
  const [row] = await pool.sql<
    { n: number; pid: number }[]
  >`select ${n}::integer as n, pg_backend_pid() as pid`
  return row
}
const slow = async (seconds: number) => {
  const [row] = await pool.sql<{ pid: number }[]>`
    select pg_backend_pid() as pid from pg_sleep(${seconds}::float8)`
  return row?.pid
}

/** Opens the connections, and repeats the statement until the average has forgotten the time that this took. */
async function warmUp(): Promise<void> {
  for (let round = 0; round < 20; round += 1)
    await Promise.all(Array.from({ length: 10 }, (_, n) => short(n)))
}

/** A statement that a busy machine holds up for 50 ms is a slow one: these are tried again. */
const AGAIN = { retry: 5 }

test('short statements share the lanes and are answered in order', AGAIN, async () => {
  await warmUp()
  const rows = await Promise.all(Array.from({ length: 100 }, (_, n) => short(n)))
  expect(rows.map((row) => row?.n)).toEqual(Array.from({ length: 100 }, (_, n) => n))
  expect(new Set(rows.map((row) => row?.pid)).size).toBe(2)
})

test('slow statements have the other connections, one each, and hold up no short one', AGAIN, async () => {
  await warmUp()
  const lanes = new Set(
    (await Promise.all(Array.from({ length: 20 }, (_, n) => short(n)))).map((row) => row?.pid),
  )
  let left = 6
  const sleeping = Array.from({ length: left }, () =>
    slow(1).finally(() => {
      left -= 1
    }),
  )
  const seen: { pid: number | undefined; left: number; load: unknown }[] = []
  for (let n = 0; n < 10; n += 1) seen.push({ pid: (await short(n))?.pid, left, load: pool.load() })
  // before anything is expected: another try begins when nothing of this one is left
  const others = new Set(await Promise.all(sleeping))
  for (const { pid } of seen) expect(lanes.has(pid)).toBe(true)
  expect(seen.at(-1)).toMatchObject({ left: 6, load: { max: 8, used: 4, waiting: 2 } })
  expect(others.size).toBeGreaterThanOrEqual(4)
  for (const pid of others) expect(lanes.has(pid)).toBe(false)
})

test(
  'a statement that comes to be slow leaves the lanes, and holds up those behind it once',
  AGAIN,
  async () => {
    const becoming = (seconds: number) =>
      pool.sql<
        { pid: number }[]
      >`select pg_backend_pid() as pid, 1 as becoming from pg_sleep(${seconds}::float8)`
    // enough for the average to forget an earlier try
    for (let n = 0; n < 20; n += 1) await becoming(0)
    // both lanes are taken
    const first = [becoming(0.5), becoming(0.5)].map(async (row) => (await row)[0]?.pid)
    await Bun.sleep(100)
    const laneless = await short(1)
    const lanes = await Promise.all(first)
    expect(lanes).not.toContain(laneless?.pid)
    expect(lanes).not.toContain((await becoming(0))[0]?.pid)
  },
)

test('an error is that of its statement alone', async () => {
  const failing = async () => await pool.sql`select 1 / ${0}::integer as never`
  await failing().catch(() => {})
  const results = await Promise.allSettled([short(1), failing(), short(2), failing(), short(3)])
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ])
})

test('of few processors and of many, slow statements run beside each other', async () => {
  for (const [pools, others, most] of [
    [1, 3, 2],
    [2, 8, 6],
    [5, 15, 11],
  ] as const) {
    const lanes = createLanes(Array(pools).fill(pool.sql), others)
    const ends: (() => void)[] = []
    let sent = 0
    for (let n = 0; n < 20; n += 1) {
      const { promise, resolve } = Promise.withResolvers<unknown>()
      ends.push(() => resolve(n))
      const statement = Object.assign(promise, { strings: [], args: [] })
      lanes.send(statement, () => {
        sent += 1
      })
    }
    expect(sent).toBe(most)
    expect(lanes.load()).toEqual({ used: most, waiting: 20 - most })
    for (const end of ends) end()
  }
})
