import { expect, test } from 'bun:test'
import { createWriteQueue, WRITES } from '../../../src/http/queues/gate.ts'
import { client, jsonPost, newOrg, testApp } from '../../support/api.ts'
import { atEnd } from '../../support/at-end.ts'
import { holdOrganization, testsDatabase } from '../../support/postgres.ts'

// One organization's writers wait for each other; nobody else waits for them.

const WRITERS = 2

const database = await testsDatabase()
const writes = database.pool(WRITERS)
atEnd(() => writes.end())
const blocked = await newOrg(database.sql)
const other = await newOrg(database.sql)

const post = (ask: ReturnType<typeof client>, id: string) =>
  ask(
    '/v1/sync',
    jsonPost({
      records: [{ type: 'session', id: `sess_${id}`, project_name: 'p', created_at: '2026-01-01T00:00:00Z' }],
    }),
  )

test('while one organization is locked, others read and write, and its own writers go on afterwards', async () => {
  const app = testApp(database.sql, { writes })
  const asBlocked = client(app, blocked.key)
  const asOther = client(app, other.key)
  const release = await holdOrganization(database.sql, blocked.orgId)
  const waiting = Array.from({ length: 12 }, (_, index) => post(asBlocked, `blocked${index}`))
  expect((await post(asOther, 'free')).status).toBe(200)
  expect((await asOther('/v1/sessions')).status).toBe(200)
  expect((await asBlocked('/v1/sessions')).status).toBe(200)
  expect((await client(app)('/health')).status).toBe(200)
  await release()
  const statuses = (await Promise.all(waiting)).map((response) => response.status)
  expect(statuses).toEqual(statuses.map(() => 200))
})

test('a write whose turn does not come is refused, and those behind it are made', async () => {
  const { enqueueWrite } = createWriteQueue({ ...WRITES.changes, waitMs: 50 })
  const release = Promise.withResolvers<void>()
  const first = enqueueWrite('org_a', () => release.promise)
  const made: string[] = []
  const late = enqueueWrite('org_a', async () => made.push('late'))
  await enqueueWrite('org_b', async () => made.push('other'))
  await expect(late).rejects.toMatchObject({ code: 'BUSY', options: { retryAfterS: 5 } })
  const fails = enqueueWrite('org_a', () => Promise.reject(new Error('failed')))
  const next = enqueueWrite('org_a', async () => made.push('next'))
  release.resolve()
  await first
  await expect(fails).rejects.toThrow('failed')
  await next
  expect(made).toEqual(['other', 'next'])
})

test('more than 10,000 records is 413, as lines too', async () => {
  const ask = client(testApp(database.sql, { writes }), other.key)
  const lines = '{"type":"budget","month":"2026-01","limit":1}\n'.repeat(10_001)
  const headers = { 'content-type': 'application/x-ndjson' }
  const answer = await ask('/v1/sync', { method: 'POST', headers, body: lines })
  expect(answer.status).toBe(413)
  expect(await answer.json()).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'records' }] })
})
