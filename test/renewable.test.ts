import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from '../src/db/client.ts'
import { createRenewable } from '../src/db/renewable.ts'
import { eventually, runJson, scratchFolder } from './cli.ts'
import { type TestDatabase, testDatabase } from './postgres.ts'
import { silentProxy } from './silent-proxy.ts'
import { FROM_SOURCE, killInstances, SETTINGS, startInstance } from './webhook-load.ts'

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

test('what a silent pool was asked fails, and the next question has an answer', async () => {
  const proxy = await silentProxy(database.url)
  const pool = createRenewable(() => connect({ url: proxy.url }, { max: 1, applicationName: 'test' }), 200)
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

test('the API answers again when its connections to the database were forgotten', async () => {
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
