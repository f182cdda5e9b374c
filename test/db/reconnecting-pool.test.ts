import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ISql } from '../../src/db/client.ts'
import { createConnectionMonitor, createReconnectingPool } from '../../src/db/reconnecting-pool.ts'
import { createLog } from '../../src/log.ts'
import { eventually, runJson, scratchFolder } from '../support/cli.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { silentProxy } from '../support/silent-proxy.ts'
import { FROM_SOURCE, killInstances, SETTINGS, startInstance } from '../support/webhook-load.ts'

let database: TestDatabase
const scratch = scratchFolder()
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(async () => {
  await killInstances()
  await database.drop()
  scratch.remove()
})

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

test('a pool whose connections are all busy does not reconnect', async () => {
  const proxy = await silentProxy(database.url)
  const lines: string[] = []
  const pool = createReconnectingPool({ url: proxy.url }, { max: 2, applicationName: 'test' })
  const look = createConnectionMonitor(
    [pool],
    createLog('warn', 'json', (line) => lines.push(line)),
  )
  const lookOften = () => Promise.all(Array.from({ length: 6 }, look))
  const sleep = (sql: ISql) => sql<{ state: string }[]>`select 'slept' as state from pg_sleep(${6})`
  const sleepTwice = () => [sleep(pool.sql), pool.sql.begin(async (tx) => await sleep(tx))]
  const sleeping = Promise.all(sleepTwice())
  await Bun.sleep(200)
  expect(await lookOften()).not.toContain(true)
  expect((await sleeping).map(([row]) => row?.state)).toEqual(['slept', 'slept'])
  expect(lines).toEqual([])
  expect(await look()).toBe(true)
  // the statements end in the server, and their results are lost
  const lost = Promise.allSettled(sleepTwice())
  await Bun.sleep(200)
  proxy.forget()
  await eventually(
    async () => (await lookOften()) && lines.length,
    (count) => count > 0,
  )
  expect(lines.join()).toContain('the database is silent')
  expect((await lost).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await look()).toBe(true)
  await pool.end(1)
  proxy.close()
}, 40_000)

test('the API responds again after its connections to the database became half open', async () => {
  const proxy = await silentProxy(database.url)
  const env = { ...SETTINGS, DATA_DIR: scratch.path }
  const instance = await startInstance(FROM_SOURCE, { ...env, DATABASE_URL: proxy.url })
  const direct = { ...env, DATABASE_URL: database.url }
  await runJson(['org', 'create', '--slug', 'half', '--name', 'Half', '--plan', 'cloud_team'], direct)
  const { key } = await runJson(
    ['key', 'create', '--org', 'half', '--name', 'k', '--scopes', 'read,write'],
    direct,
  )
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const read = async () => (await fetch(`${instance.url}/v1/sessions`, { headers })).status
  const write = async () => {
    const body = JSON.stringify({ records: [{ type: 'budget', month: '2026-01', limit: 5 }] })
    return (await fetch(`${instance.url}/v1/sync`, { method: 'POST', headers, body })).status
  }
  expect([await read(), await write()]).toEqual([200, 200])
  proxy.forget()
  await eventually(read, (status) => status === 200, 60_000)
  await eventually(write, (status) => status === 200, 60_000)
  expect(instance.log()).toContain('the database is silent')
  await instance.end()
  proxy.close()
}, 150_000)
