import { expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { rebuildTables } from '../../../src/database/derived-tables.ts'
import { USAGE_ROLLUPS } from '../../../src/features/usage/rollup.ts'
import { walkUsage } from '../../../src/server/deliveries/usage-walk.ts'
import { silent, testsDatabase } from '../../support/postgres.ts'
import { asOrganization } from '../../support/rls.ts'
import { startWorld } from '../alerts/world.ts'

// An upgrade moves what was spent to the days of the calls: nothing is told of it, and what is spent later is told as ever.

const database = await testsDatabase()

const turn = (started_at: string, cost: number) => ({ role: 'assistant', model: 'm', started_at, cost })

test('no alert and no event tells of what a walk moves', async () => {
  const world = await startWorld(database, { start: '2026-04-01T12:00:00Z' })
  const { orgId } = world
  // one of 10 dollars is spent in March
  await world.work([
    {
      ...{ cost: 10, created_at: '2026-03-31T23:50:00Z' },
      turn_records: [turn('2026-03-31T23:50:00Z', 1), turn('2026-04-01T00:10:00Z', 9)],
    },
  ])
  // the usage as it was before it was by day
  await asOrganization(orgId, () =>
    database.sql.begin(async (tx) => {
      await tx`
        update session_usage
        set day = first_day
        where org_id = ${orgId}`
      await rebuildTables(tx, orgId, USAGE_ROLLUPS)
      await tx`
        insert into usage_walks (org_id, session_id)
        values (${orgId}, '')`
    }),
  )
  const daily = await world.add('alerts', { name: 'day', metric: 'cost', window: 'day', above: 5 })
  const monthly = await world.add('alerts', {
    name: 'month',
    metric: 'cost',
    window: 'month',
    each: 'project',
    above: 5,
  })
  await world.ask('PUT', '/v1/budgets/2026-04', { limit: 5 })
  await world.look('2026-04-01T12:01:00Z')
  await walkUsage(database.sql, () => loadPricer(), silent, new Date('2026-04-01T12:02:00Z'), 60_000)
  expect((await world.ask('GET', '/v1/cost')).body).toMatchObject({ current_month: 9, total_cost: 10 })
  await world.look('2026-04-01T12:02:00Z')
  await world.work([{ cost: 0.5 }])
  await world.look('2026-04-01T12:03:00Z')
  const events = async () =>
    (
      await database.sql<{ event: string }[]>`
      select v.event
      from webhook_events v
      where v.org_id = ${orgId}
        and v.event in ('alert.fired', 'cost.budget_exceeded')`
    ).map(({ event }) => event)
  expect([await world.told(daily), await world.told(monthly), await events()]).toEqual([[], [], []])
  await world.look('2026-04-02T00:01:00Z')
  await world.work([{ cost: 6 }])
  await world.look('2026-04-02T12:00:00Z')
  expect((await world.told(daily)).map(({ event }) => event)).toEqual(['alert.resolved', 'alert.fired'])
})
