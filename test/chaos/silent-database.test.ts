import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually, PROGRAM, runJson, scratchFolder } from '../support/cli.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { silentProxy } from '../support/silent-proxy.ts'
import { killInstances, SETTINGS, startInstance } from '../support/webhook-load.ts'

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

test('the API answers again when its connections to the database were forgotten', async () => {
  const proxy = await silentProxy(database.url)
  const env = { ...SETTINGS, DATA_DIR: scratch.path }
  const instance = await startInstance(PROGRAM, { ...env, DATABASE_URL: proxy.url })
  const direct = { ...env, DATABASE_URL: database.url }
  await runJson(['org', 'create', '--slug', 'half', '--name', 'Half', '--plan', 'cloud_team'], direct)
  const { key } = await runJson(
    ['key', 'create', '--org', 'half', '--name', 'k', '--scopes', 'read,write'],
    direct,
  )
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  /** 0 for a request that got no response: on a half-open connection beside one that works it waits for 30 s. */
  const statusOf = (path: string, init: RequestInit = {}) =>
    fetch(`${instance.url}${path}`, { headers, ...init }).then(
      ({ status }) => status,
      () => 0,
    )
  const read = () => statusOf('/v1/sessions')
  const body = JSON.stringify({ records: [{ type: 'budget', month: '2026-01', limit: 5 }] })
  const write = () => statusOf('/v1/sync', { method: 'POST', body })
  expect([await read(), await write()]).toEqual([200, 200])
  proxy.forget()
  await eventually(read, (status) => status === 200, 60_000)
  await eventually(write, (status) => status === 200, 60_000)
  expect(instance.log()).toContain('the database is silent')
  await instance.end()
  proxy.close()
}, 450_000)
