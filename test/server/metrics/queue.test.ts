import { expect, test } from 'bun:test'
import type { Sql } from '../../../src/database/client.ts'
import { MAX_COUNTED, readQueueState } from '../../../src/webhooks/outbox/state.ts'
import { newOrg } from '../../support/api.ts'
import { explainedPool } from '../../support/explained.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { addEndpoint } from '../../support/webhook-rows.ts'

// The state of the queue is read on scrapes: at the same cost with any number of deliveries.

const database = await testsDatabase()

/** Deliveries of an endpoint, the first due `ageS` seconds ago, the others later by a millisecond each. */
const fill = (sql: Sql, orgId: string, endpoint: string, name: string, count: number, ageS: number) => sql`
  insert into webhook_queue (
    org_id, delivery_id, endpoint_id, event_id, mode, attempts, failures, lost, leased, due_at
  )
  select ${orgId}, ${`dlv_${name}`} || n, ${endpoint}, 'evt_' || n, 'scheduled', n % 2, 0, 0, false,
    now() - ${ageS} * interval '1 second' + n * interval '1 millisecond'
  from generate_series(0, ${count - 1}) n`

test('only what may be sent counts', async () => {
  const { sql } = database
  expect(await readQueueState(sql)).toEqual({ backlog: 0, oldestDueS: 0, leased: 0, failingEndpoints: 0 })
  const { orgId } = await newOrg(sql)
  const endpoint = await addEndpoint(sql, orgId)
  await fill(sql, orgId, endpoint, 'due', 10, 100)
  await fill(sql, orgId, endpoint, 'later', 5, -1_000)
  const disabled = await addEndpoint(sql, orgId)
  await sql`update webhook_endpoints e set enabled = false where e.id = ${disabled}`
  await fill(sql, orgId, disabled, 'disabled', 7, 5_000)
  const small = await newOrg(sql, { plan: 'cloud_pro' })
  const notIncluded = await addEndpoint(sql, small.orgId)
  await fill(sql, small.orgId, notIncluded, 'pro', 7, 5_000)
  await sql`update webhook_queue q set leased = true where q.delivery_id in ('dlv_due0', 'dlv_due1')`
  for (const [id, failures] of [
    [endpoint, 5],
    [disabled, 9],
  ] as const)
    await sql`
      insert into webhook_health (org_id, endpoint_id, consecutive_failures)
      values (${orgId}, ${id}, ${failures})`
  const state = await readQueueState(sql)
  expect(state).toMatchObject({ backlog: 8, leased: 2, failingEndpoints: 1 })
  expect(state.oldestDueS).toBeWithin(99, 160)
})

test('a large backlog is counted up to its limit, and no more of it is read', async () => {
  const { sql } = database
  const { orgId } = await newOrg(sql)
  const endpoints = [await addEndpoint(sql, orgId), await addEndpoint(sql, orgId)]
  const { sql: explained, work } = await explainedPool(database, true)
  const reads: number[] = []
  for (const round of ['a', 'b', 'c']) {
    for (const endpoint of endpoints) await fill(sql, orgId, endpoint, `${round}${endpoint}`, 15_000, 3_000)
    // before the statistics know the rows, and after
    if (round === 'c') await sql`analyze webhook_queue`
    work.clear()
    expect((await readQueueState(explained)).backlog).toBe(MAX_COUNTED)
    reads.push([...work.values()].reduce((sum, rows) => sum + rows, 0))
  }
  await explained.end()
  // each counted row passes some nodes of the plan
  for (const rows of reads) expect(rows).toBeWithin(MAX_COUNTED, 8 * MAX_COUNTED)
}, 180_000)
