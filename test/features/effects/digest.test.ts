import { expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { once } from '../../../src/base/memoize.ts'
import type { Effect } from '../../../src/features/effects/model.ts'
import { asker, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { startWorld } from '../alerts/world.ts'
import { CHANGE, MEMBERS, mondayOf, WEEKS, type World, worldOf } from './world.ts'

// A digest tells of what was found since the digest before, once.

const database = await testsDatabase()
const pricer = once(() => loadPricer())
const at = (week: number, time: string) => `${mondayOf(week)}T${time}Z`
const noisy = (member: number, week: number) =>
  ((member * 7919 + week * 104_729 + member * week * 1_301) % 997) / 997

async function digestOf(world: World) {
  const { records } = worldOf(world, noisy)
  const start = at(WEEKS, '08:00:00')
  const own = await startWorld({ ...database, sql: database.sql }, { start })
  // the clock of the alerts belongs to a server without prices
  const priced = asker(testApp(database.sql, { pricer, now: () => new Date(start) }), own.key)
  for (let from = 0; from < records.length; from += 100) {
    const { status } = await priced('POST', '/v1/sync', { records: records.slice(from, from + 100) })
    expect(status).toBe(200)
  }
  const id = await own.add('digests', { name: 'Week', weekday: 'monday', hour: 9 })
  await own.look(at(WEEKS, '09:00:15'))
  // the next look comes some seconds earlier in its minute
  await own.look(at(WEEKS + 1, '09:00:01'))
  const told = await own.told(id)
  const { body } = await own.ask('GET', '/v1/effects')
  return { effects: told.map((one) => one.body.data.effects), list: body.data as unknown as Effect[], told }
}

const reads: World['reads'] = ({ hasChanged }) => (hasChanged ? 1.3 : 1)

test('a digest tells of a change that is seen, once, and names nobody', async () => {
  const { effects, list, told } = await digestOf({
    changesIn: (member) => (member < MEMBERS / 2 ? CHANGE : undefined),
    reads,
  })
  const [{ id } = { id: '' }] = list
  expect(effects).toEqual([[{ id, name: 'claude-code 2.1.330', verdict: 'seen', effect: 0.104341 }], []])
  expect(told[0]?.text).not.toMatch(/user_\d|Person|@example/)
})

test('a digest does not tell of what is not seen', async () => {
  const { effects, list } = await digestOf({
    changesIn: (member) => (member < MEMBERS / 2 ? CHANGE : undefined),
  })
  expect(list[0]?.verdict).toBe('not_seen')
  expect(effects).toEqual([[], []])
})
