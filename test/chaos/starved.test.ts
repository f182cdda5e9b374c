import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadavg } from 'node:os'
import { eventually, PROGRAM, scratchFolder } from '../support/cli.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import { silentProxy } from '../support/silent-proxy.ts'
import { account, untilAllDone } from '../support/webhook-account.ts'
import {
  addEndpointByApi,
  answersSoon,
  type Environment,
  killInstances,
  makeTenant,
  SETTINGS,
  startInstance,
  syncSessions,
} from '../support/webhook-load.ts'
import { addDeliveries } from '../support/webhook-rows.ts'

// A server whose connections to the database are silent, and one without file descriptors.

const DONE_MS = 60_000

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

const bodyOf = (session: string) => JSON.stringify({ data: { session_id: session } })
const report = (figures: object) =>
  process.stderr.write(`${JSON.stringify({ ...figures, load: loadavg() })}\n`)

test('connections to the database that are half open are given up, and deliveries go on by new ones', async () => {
  const { sql } = database
  const direct: Environment = { ...SETTINGS, DATABASE_URL: database.url, DATA_DIR: `${scratch.path}/silent` }
  const proxy = await silentProxy(database.url)
  const instance = await startInstance(PROGRAM, { ...direct, DATABASE_URL: proxy.url })
  const tenant = await makeTenant(PROGRAM, direct)
  const answers: (() => void)[] = []
  const receiver = await startReceiver((_request, response) => {
    answers.push(() => response.writeHead(204).end())
  })
  const endpoint = await addEndpointByApi(instance.url, tenant, receiver.url)
  const inFlight = await syncSessions(instance.url, tenant, 10)
  await eventually(
    async () => receiver.open(),
    (open) => open === inFlight.length && open > 0,
    DONE_MS,
  )
  // their results find no database that answers
  proxy.forget()
  const start = performance.now()
  receiver.answer(answersSoon)
  for (const answer of answers) answer()
  await addDeliveries(sql, tenant.orgId, endpoint, 50, bodyOf('later'))
  await eventually(
    async () => instance.log(),
    (log) => /the database is silent|the database gave no answer/.test(log),
    DONE_MS,
  )
  const noticedMs = Math.round(performance.now() - start)
  await untilAllDone(sql, tenant.orgId, DONE_MS)
  const doneMs = Math.round(performance.now() - start)
  // a silence that ends before it is noticed
  proxy.fallSilent()
  await addDeliveries(sql, tenant.orgId, endpoint, 50, bodyOf('last'))
  await eventually(
    async () => proxy.held(),
    (bytes) => bytes > 0,
    DONE_MS,
  )
  proxy.goOn()
  await untilAllDone(sql, tenant.orgId, DONE_MS)
  const { rescues, ...outcome } = await account(
    sql,
    tenant.orgId,
    receiver.received,
    new Set([...inFlight, 'later', 'last']),
  )
  report({ name: 'half open', noticedMs, doneMs, ...outcome })
  expect(outcome).toMatchObject({ lost: [], deliveries: 110, failedAttempts: 0 })
  expect(outcome.duplicates).toBeLessThanOrEqual(outcome.lostAttempts)
  await instance.end()
  proxy.close()
  receiver.close()
}, 360_000)

test('without file descriptors deliveries are postponed, their attempts not counted, and all arrive', async () => {
  const { sql, url: DATABASE_URL } = database
  const env: Environment = {
    ...SETTINGS,
    DATABASE_URL,
    DATA_DIR: `${scratch.path}/descriptors`,
    WEBHOOK_CONCURRENCY: '300',
    WEBHOOK_TIMEOUT_MS: '10000',
  }
  const limited = ['/bin/sh', '-c', 'ulimit -n 160 && exec "$@"', 'sh']
  const instance = await startInstance(PROGRAM, env, limited)
  const tenant = await makeTenant(PROGRAM, env)
  const answers: (() => void)[] = []
  const receiver = await startReceiver((_request, response) => {
    answers.push(() => response.writeHead(204).end())
  })
  const endpoint = await addEndpointByApi(instance.url, tenant, receiver.url)
  await addDeliveries(sql, tenant.orgId, endpoint, 400, bodyOf('one'))
  await eventually(
    async () => instance.log(),
    (log) => log.includes('no sockets or file descriptors left'),
    DONE_MS,
  )
  const mostOpen = receiver.mostOpen()
  receiver.answer(answersSoon)
  for (const answer of answers) answer()
  await untilAllDone(sql, tenant.orgId, DONE_MS)
  const { rescues, ...outcome } = await account(sql, tenant.orgId, receiver.received, new Set(['one']))
  report({ name: 'descriptors', mostOpen, ...outcome })
  expect(outcome).toMatchObject({ lost: [], deliveries: 400, lostAttempts: 0 })
  // a busy machine may answer late, but nothing failed for want of a socket
  const failures = await sql`
    select a.error
    from webhook_attempts a
    where a.org_id = ${tenant.orgId}
      and a.error not like 'timeout: no answer%'`
  expect([...failures]).toEqual([])
  expect((await fetch(`${instance.url}/health`)).status).toBe(200)
  expect(await instance.end()).toBe(0)
  receiver.close()
}, 360_000)
