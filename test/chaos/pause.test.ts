import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadavg } from 'node:os'
import type { Sql } from '../../src/database/client.ts'
import { eventually, PROGRAM, scratchFolder } from '../support/cli.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
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

// An instance that is stopped for longer than its leases, as a suspended machine is, and then goes on.

const DONE_MS = 60_000
const REFUSED = 'results came after the end of their lease and were refused'
/** Fewer than the slots that one organization gets. */
const SESSIONS = 10

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

/** All that a result could change. */
const stateOf = async (sql: Sql, orgId: string) => ({
  deliveries: [
    ...(await sql`
      select
        d.id, d.status, d.attempts, d.last_status_code, d.completed_at, q.attempts as begun, q.failures, q.lost,
        q.leased, q.due_at
      from webhook_deliveries d
      left join webhook_queue q on q.org_id = d.org_id and q.delivery_id = d.id
      where d.org_id = ${orgId}
      order by d.id`),
  ],
  attempts: [
    ...(await sql`
      select a.delivery_id, a.number, a.started_at, a.duration_ms, a.status_code, a.error
      from webhook_attempts a
      where a.org_id = ${orgId}
      order by a.delivery_id, a.number`),
  ],
  health: [
    ...(await sql`
      select h.endpoint_id, h.consecutive_failures, h.last_success_at, h.last_failure_at, h.last_status_code
      from webhook_health h
      where h.org_id = ${orgId}`),
  ],
})

test('what a stopped instance had in flight another delivers, and its late results change nothing', async () => {
  const { sql, url: DATABASE_URL } = database
  const env = (name: string): Environment => ({
    ...SETTINGS,
    // time enough to have all of them in flight before the first gives up
    WEBHOOK_TIMEOUT_MS: '5000',
    DATABASE_URL,
    DATA_DIR: `${scratch.path}/${name}`,
  })
  const answers: (() => void)[] = []
  const receiver = await startReceiver((_request, response) => {
    answers.push(() => response.writeHead(204).end())
  })
  const first = await startInstance(PROGRAM, env('first'))
  const tenant = await makeTenant(PROGRAM, env('first'))
  await addEndpointByApi(first.url, tenant, receiver.url)
  const acknowledged = new Set(await syncSessions(first.url, tenant, SESSIONS))
  expect(acknowledged.size).toBe(SESSIONS)
  await eventually(
    async () => receiver.open(),
    (open) => open === SESSIONS,
    DONE_MS,
  )
  first.signal('SIGSTOP')
  receiver.answer(answersSoon)
  for (const answer of answers) answer()

  const second = await startInstance(PROGRAM, env('second'))
  for (const id of await syncSessions(second.url, tenant, SESSIONS)) acknowledged.add(id)
  await untilAllDone(sql, tenant.orgId, DONE_MS)
  const before = await stateOf(sql, tenant.orgId)

  first.signal('SIGCONT')
  await eventually(
    async () => first.log(),
    (log) => log.includes(REFUSED),
    DONE_MS,
  )
  expect(await stateOf(sql, tenant.orgId)).toEqual(before)
  // It goes on: the thread is the same, and what it is given is delivered. A client sends again what was not
  // acknowledged: timers that passed during the stop may have ended a connection of the first instance.
  const later = await eventually(
    () => syncSessions(first.url, tenant, SESSIONS),
    (ids) => ids.length > 0,
    DONE_MS,
  )
  for (const id of later) acknowledged.add(id)
  expect(acknowledged.size).toBe(3 * SESSIONS)
  await untilAllDone(sql, tenant.orgId, DONE_MS)
  expect(await first.end()).toBe(0)
  expect(await second.end()).toBe(0)
  expect(first.log()).not.toContain('worker thread')
  const refused = first
    .log()
    .split('\n')
    .flatMap((line) => (line.includes(REFUSED) ? [(JSON.parse(line) as { count: number }).count] : []))
  // the attempts below tell how many; one of them may have ended otherwise
  const told = refused.reduce((sum, count) => sum + count, 0)
  expect(told).toBeGreaterThan(0)
  expect(told).toBeLessThanOrEqual(SESSIONS)

  const outcome = await account(sql, tenant.orgId, receiver.received, acknowledged)
  const { rescues, ...figures } = outcome
  process.stderr.write(`${JSON.stringify({ name: 'stopped', ...figures, load: loadavg() })}\n`)
  expect(outcome).toMatchObject({
    lost: [],
    duplicates: SESSIONS,
    lostAttempts: SESSIONS,
    failedAttempts: 0,
  })
  receiver.close()
}, 540_000)
