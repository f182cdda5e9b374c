import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createOrganization } from '../../../src/accounts/organizations/queries.ts'
import { createReconnectingPool } from '../../../src/database/pools/reconnecting-pool.ts'
import { claim } from '../../../src/webhooks/outbox/claim.ts'
import { countBeat, insertWorker, isAnyAlive } from '../../../src/webhooks/outbox/workers.ts'
import { startPresence } from '../../../src/webhooks/worker/presence.ts'
import { eventually } from '../../support/cli.ts'
import { silent as log, type TestDatabase, testDatabase } from '../../support/postgres.ts'
import { silentProxy } from '../../support/silent-proxy.ts'
import { addDeliveries, addEndpoint, good, LIMITS, settleAll } from '../../support/webhook-rows.ts'

let database: TestDatabase
const ends: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  database = await testDatabase()
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})
afterAll(() => database.drop())

/** A worker's presence, over connections to `url`. */
async function worker(url = database.url) {
  const pool = createReconnectingPool({ url }, { max: 1, applicationName: 'test', keepOpen: true }, 2_000)
  let changes = 0
  const onChange = () => {
    changes += 1
  }
  const presence = startPresence({ pool, onChange, log })
  await presence.started
  ends.push(async () => {
    await presence.close()
    await pool.end(1)
  })
  return { ...presence, pool, changes: () => changes }
}

async function proxy(options: { asPooler?: boolean } = {}) {
  const made = await silentProxy(database.url, options)
  ends.push(async () => made.close())
  return made
}

let made = 0
async function organization(): Promise<string> {
  made += 1
  const slug = `presence-${made}`
  const { id } = await createOrganization(database.sql, { slug, name: slug, plan: 'cloud_team' })
  await addDeliveries(database.sql, id, await addEndpoint(database.sql, id), 1)
  return id
}

const claimBy = (orgId: string, id: string | null) => claim(database.sql, orgId, LIMITS, new Map(), id)
const rows = async () =>
  await database.sql<{ id: string; beats: string | null }[]>`select w.id, w.beats from webhook_workers w`
/** Longer than a worker without a sign of life keeps its row. */
const LONG_MS = 3_000

test('a row is there until the worker closes it, and two workers leave each other alone', async () => {
  const first = await worker()
  const second = await worker()
  const both = [first.id(), second.id()].sort()
  expect((await rows()).map(({ id }) => id).sort()).toEqual(both as string[])
  expect((await rows()).map(({ beats }) => beats)).toEqual([null, null])
  await Bun.sleep(LONG_MS)
  expect((await rows()).map(({ id }) => id).sort()).toEqual(both as string[])
  await first.close()
  expect((await rows()).map(({ id }) => id)).toEqual([second.id() ?? ''])
}, 60_000)

test('when a session ends, another worker claims what it had in flight, and its results are refused', async () => {
  const between = await proxy()
  const first = await worker(between.url)
  const second = await worker()
  const orgId = await organization()
  const lost = await claimBy(orgId, first.id())
  expect(lost).toHaveLength(1)
  expect(await claimBy(orgId, second.id())).toEqual([])
  const before = second.changes()
  between.close()
  await eventually(
    async () => second.changes(),
    (changes) => changes > before,
  )
  const rescued = await claimBy(orgId, second.id())
  expect(rescued.map(({ attempt }) => attempt)).toEqual([2])
  expect(await settleAll(database.sql, orgId, lost, good())).toEqual([])
  await eventually(
    async () => first.id(),
    (id) => id === null,
  )
  expect(await settleAll(database.sql, orgId, rescued, good())).toHaveLength(1)
}, 60_000)

test('a worker whose process is silent keeps what it has in flight while it has its session', async () => {
  const between = await proxy()
  const first = await worker(between.url)
  const second = await worker()
  const orgId = await organization()
  expect(await claimBy(orgId, first.id())).toHaveLength(1)
  between.fallSilent()
  await Bun.sleep(LONG_MS)
  expect(await claimBy(orgId, second.id())).toEqual([])
  between.goOn()
}, 60_000)

test('a worker that lost its session takes the lock and its row again', async () => {
  const first = await worker()
  const id = first.id()
  await first.pool.run((sql) => sql`select pg_terminate_backend(pg_backend_pid())`).catch(() => {})
  await eventually(
    async () => first.id(),
    (now) => now === null,
  )
  await eventually(
    async () => first.id(),
    (now) => now === id,
  )
  const second = await worker()
  await Bun.sleep(LONG_MS)
  expect((await rows()).map((row) => row.id).sort()).toEqual([id, second.id()].sort() as string[])
}, 60_000)

test('behind a pooler a worker counts heartbeats; it has ended when they stop', async () => {
  const between = await proxy({ asPooler: true })
  const first = await worker(between.url)
  const second = await worker()
  await eventually(rows, (all) => all.some(({ id, beats }) => id === first.id() && Number(beats) >= 2))
  await Bun.sleep(LONG_MS)
  const orgId = await organization()
  const lost = await claimBy(orgId, first.id())
  expect(lost).toHaveLength(1)
  expect(await claimBy(orgId, second.id())).toEqual([])
  const before = second.changes()
  between.fallSilent()
  await eventually(
    async () => second.changes(),
    (changes) => changes > before,
  )
  expect((await claimBy(orgId, second.id())).map(({ attempt }) => attempt)).toEqual([2])
  expect(await settleAll(database.sql, orgId, lost, good())).toEqual([])
  // it goes on: it has its row again and may claim
  between.goOn()
  await eventually(rows, (all) => all.some(({ id, beats }) => id === first.id() && beats !== null))
}, 60_000)

test('whether any worker runs is seen by its lock, behind a pooler by its heartbeats', async () => {
  // these workers were killed
  await insertWorker(database.sql, 'killed')
  await countBeat(database.sql, 'killed behind a pooler')
  expect(await isAnyAlive(database.sql)).toBe(false)
  const direct = await worker()
  expect(await isAnyAlive(database.sql)).toBe(true)
  await direct.close()
  expect(await isAnyAlive(database.sql)).toBe(false)
  await worker((await proxy({ asPooler: true })).url)
  expect(await isAnyAlive(database.sql)).toBe(true)
})
