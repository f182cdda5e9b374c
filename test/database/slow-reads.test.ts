import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createSlowReads } from '../../src/accounts/organizations/slow-reads.ts'
import { connect } from '../../src/database/client.ts'
import { cacheKeyOf } from '../../src/http/responses/cached-response.ts'
import { client, tenant, testApp } from '../support/api.ts'
import { eventually } from '../support/cli.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'

const unused = () => connect({ url: 'postgres://localhost/none' }, { max: 1, applicationName: 'none' })
/** Nothing is sent over them. */
const POOLS = { slow: unused(), short: unused() }

/** Reads that end when they are told to, in the order in which they began. */
function reads(connections: number) {
  let nowMs = 0
  const pools: string[] = []
  const slowReads = createSlowReads(POOLS, connections, () => nowMs)
  const run = async <Value>(orgId: string, key: string, read: () => Promise<Value>) => {
    const { sql, end } = await slowReads.begin(orgId, key)
    pools.push(sql === POOLS.slow ? 'slow' : 'short')
    let isWhole = false
    try {
      const value = await read()
      isWhole = true
      return value
    } finally {
      end(isWhole)
    }
  }
  const running: { name: string; end: () => void }[] = []
  const begin = (name: string, orgId: string, key: string) =>
    run(orgId, key, () => {
      const { promise, resolve } = Promise.withResolvers<string>()
      running.push({ name, end: () => resolve(name) })
      return promise
    })
  const names = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return running.map(({ name }) => name)
  }
  const end = (name: string) => {
    const [read] = running.splice(
      running.findIndex((each) => each.name === name),
      1,
    )
    read?.end()
  }
  /** Reads the kind once. */
  const learn = async (orgId: string, key: string, ms = 1) => {
    await run(orgId, key, async () => {
      nowMs += ms
    })
  }
  const endAll = async () => {
    for (let [first] = await names(); first !== undefined; [first] = await names()) end(first)
  }
  return { begin, names, end, endAll, learn, run, pools, load: slowReads.load }
}

const list = (values: Record<string, unknown>) => cacheKeyOf('/sessions', {}, values)

describe('slow reads', () => {
  test('of six connections one organization has five at most; short ones wait for none', async () => {
    const { begin, names, end, endAll, learn, load } = reads(6)
    await learn('b', list({ page: 1 }))
    const slow = Array.from({ length: 12 }, (_, n) => begin(`slow ${n}`, 'a', list({ ticket: n })))
    expect(await names()).toEqual(['slow 0', 'slow 1', 'slow 2', 'slow 3', 'slow 4'])
    expect(load).toEqual({ running: 5, waiting: 7 })
    const fast = Array.from({ length: 20 }, (_, n) => begin(`short ${n}`, 'b', list({ page: n })))
    expect(await names()).toHaveLength(25)
    const others = ['b', 'c'].map((orgId) => begin(`new of ${orgId}`, orgId, list({ model: 'm' })))
    expect((await names()).slice(25)).toEqual(['new of b'])
    // in turn, and not behind what waited before
    end('slow 0')
    expect((await names()).slice(24)).toEqual(['new of b', 'slow 5'])
    end('new of b')
    expect((await names()).slice(24)).toEqual(['slow 5', 'new of c'])
    await endAll()
    expect(await Promise.all([...slow, ...fast, ...others])).toHaveLength(34)
    expect(load).toEqual({ running: 0, waiting: 0 })
  })

  test('a kind is an organization, a route, its parameters and their words', async () => {
    const { begin, names, endAll, learn } = reads(1)
    await learn('a', list({ sort: 'turns', page: 1, from: '2026-01-01' }))
    const own = (onlyMember: string) => cacheKeyOf('/sessions', {}, { sort: 'turns' }, { onlyMember })
    await learn('a', own('user_1 ada@x.io'))
    const asked = [begin('blocks', 'a', 'new')]
    await names()
    for (const [name, orgId, values] of [
      ['other values', 'a', { sort: 'turns', page: 2, from: '2026-02-01' }],
      ['another word', 'a', { sort: 'cost', page: 1, from: '2026-01-01' }],
      ['another parameter', 'a', { sort: 'turns', page: 1, to: '2026-01-01' }],
      ['another organization', 'b', { sort: 'turns', page: 1, from: '2026-01-01' }],
    ] as const)
      asked.push(begin(name, orgId, list(values)))
    asked.push(begin('another member', 'a', own('user_2 bob@x.io')))
    expect(await names()).toEqual(['blocks', 'other values', 'another member'])
    await endAll()
    await Promise.all(asked)
  })

  test('what was late once is not slow, what is late again and again is, and what fails at once tells nothing', async () => {
    const { begin, names, end, endAll, learn, run, pools } = reads(1)
    await learn('a', 'once')
    await learn('a', 'often')
    await run('a', 'failing', () => Promise.reject(new Error('no database'))).catch(() => {})
    await learn('a', 'once', 400)
    for (let n = 0; n < 2; n += 1) await learn('a', 'often', 400)
    const asked = [begin('blocks', 'a', 'new')]
    await names()
    for (const key of ['once', 'often', 'failing']) asked.push(begin(key, 'a', key))
    expect(await names()).toEqual(['blocks', 'once'])
    expect(pools.slice(-2)).toEqual(['slow', 'short'])
    end('blocks')
    expect(await names()).toEqual(['once', 'often'])
    await endAll()
    await Promise.all(asked)
  })
})

describe('over HTTP', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.drop())

  for (const cacheBytes of [0, 2 ** 20]) {
    test(`a dozen slow statements of an organization leave connections to another (CACHE_BYTES=${cacheBytes})`, async () => {
      const pool = database.pool(5)
      const app = testApp(pool, { config: { databasePool: 5, cacheBytes } })
      const [slow, short] = await Promise.all([tenant(database.sql), tenant(database.sql)])
      const [askSlow, askShort] = [client(app, slow.key), client(app, short.key)]
      expect((await askShort('/v1/sessions')).status).toBe(200)
      const held = Promise.withResolvers<void>()
      const locked = Promise.withResolvers<void>()
      const lock = database.sql.begin(async (tx) => {
        await tx`lock table budgets in access exclusive mode`
        locked.resolve()
        await held.promise
      })
      await locked.promise
      const asked = Array.from({ length: 12 }, (_, n) => askSlow(`/v1/cost?date_from=2026-01-${n + 10}`))
      await eventually(
        () =>
          database.sql`select from pg_stat_activity a where a.wait_event_type = 'Lock' and a.datname = current_database()`,
        ({ count }) => count === 2,
      )
      for (let page = 1; page <= 10; page += 1)
        expect((await askShort(`/v1/sessions?page=${page}`)).status).toBe(200)
      held.resolve()
      await lock
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(12).fill(200))
      await pool.end()
    })
  }
})
