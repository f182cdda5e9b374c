import { afterAll, beforeAll, expect, test } from 'bun:test'
import { bodyOf } from '../../support/api.ts'
import { PROGRAM, scratchFolder } from '../../support/cli.ts'
import { holdOrganization, untilWriterWaits } from '../../support/held-organization.ts'
import { type TestDatabase, testDatabase } from '../../support/postgres.ts'
import { given } from '../../support/risk-records.ts'
import {
  type Instance,
  killInstances,
  makeTenant,
  startInstance,
  type Tenant,
} from '../../support/webhook-load.ts'

// A server from source, as `bun run dev` starts it: its intake is in a thread, and its responses are checked.

const scratch = scratchFolder()
let database: TestDatabase
let server: Instance
let own: Tenant
beforeAll(async () => {
  database = await testDatabase()
  const settings = {
    ...{ PATH: '/usr/bin:/bin', PORT: '0', LOG_LEVEL: 'error', DATA_DIR: scratch.path },
    DATABASE_URL: database.url,
  }
  server = await startInstance(PROGRAM, settings)
  own = await makeTenant(PROGRAM, settings)
}, 180_000)
afterAll(async () => {
  await killInstances()
  await database.drop()
  scratch.remove()
})

const sync = (records: readonly unknown[], signal?: AbortSignal) =>
  fetch(`${server.url}/v1/sync`, {
    method: 'POST',
    headers: { ...own.headers, 'content-type': 'application/x-ndjson' },
    body: records.map((record) => JSON.stringify(record)).join('\n'),
    ...(signal === undefined ? {} : { signal }),
  })
const sessions = (name: string, count: number, content: string) =>
  Array.from({ length: count }, (_, index) => ({
    type: 'session',
    id: `sess_${name}${index}`,
    project_name: 'p',
    created_at: '2026-01-01T00:00:00Z',
    turn_records: [{ content }],
  }))

test('what the thread writes, the server reads', async () => {
  const synced = await sync([given()])
  expect([synced.status, await bodyOf(synced)]).toMatchObject([200, { received: 1, created: 1 }])
  const list = await fetch(`${server.url}/v1/risk`, { headers: own.headers })
  expect([list.status, (await bodyOf(list)).pagination.total]).toEqual([200, 1])
})

test('a request whose client has left is not stored', async () => {
  const release = await holdOrganization(database.sql, own.orgId)
  const first = sync(sessions('first', 3, 'word'))
  await untilWriterWaits(database.sql)
  // the next waits until the first is written, however fast it is prepared
  const client = new AbortController()
  const left = sync(sessions('left', 5_000, 'word '.repeat(1_000)), client.signal)
  setTimeout(() => client.abort(), 400)
  await expect(left).rejects.toThrow()
  await release()
  expect((await first).status).toBe(200)
  // large too: it waits until the one that was left has ended
  expect((await sync(sessions('stays', 3, 'word '.repeat(150_000)))).status).toBe(200)
  const list = await fetch(`${server.url}/v1/sessions`, { headers: own.headers })
  expect((await bodyOf(list)).pagination.total).toBe(6)
}, 180_000)
