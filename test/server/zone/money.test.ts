import { describe, expect, test } from 'bun:test'
import { addDays, monthOf } from '../../../src/base/dates.ts'
import { readDigest } from '../../../src/features/alerts/digest-queries.ts'
import { lookAtRules } from '../../../src/features/alerts/look-at-rules.ts'
import { silent, testsDatabase } from '../../support/postgres.ts'
import { sessionRecord } from '../../support/records.ts'
import { asOrganization } from '../../support/rls.ts'
import { addHook } from '../../support/webhook-api.ts'
import { clockOf, numbers, world, ZONES } from './world.ts'

// The server computes what was spent on each day of a time zone; here the calls are added up.

const db = await testsDatabase()
/** It is October where clocks are behind those of UTC. */
const NOW = new Date('2026-11-01T03:30:00Z')
const LIMIT = 100

const next = numbers(11)
const micros = (dollars: number) => Math.round(dollars * 1e6)
const iso = (ms: number) => new Date(ms).toISOString()
/** Sessions of up to three days with calls, around changes of clocks and before now. */
const sessions = Array.from({ length: 120 }, (_, index) => {
  const near = ['2026-04-04', '2026-04-23', '2026-10-03', '2026-10-24', '2026-10-30'][index % 5] ?? ''
  const begin = Date.parse(`${near}T00:00:00Z`) + Math.floor(next() * 30 * 3_600_000)
  const calls = Array.from({ length: 1 + (index % 6) }, () => ({
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    started_at: iso(Math.min(begin + Math.floor(next() * 40 * 3_600_000), NOW.getTime() - 60_000)),
    tokens: { input: 1_000, output: 100 },
    cost: micros(0.2 + next()) / 1e6,
    version: index % 2 === 0 ? '2.1.330' : null,
  })).toSorted((a, b) => (a.started_at < b.started_at ? -1 : 1))
  return {
    ...{ type: 'session', id: `sess_money${index}`, project_name: index % 3 === 0 ? 'web' : 'shop' },
    ...{ created_at: iso(begin), ended_at: calls.at(-1)?.started_at ?? iso(begin), source: 'claude-code' },
    estimated_cost: calls.reduce((sum, { cost }) => sum + micros(cost), 0) / 1e6,
    turn_records: calls,
  }
})
const calls = sessions.flatMap(({ turn_records }) => turn_records)
const spentIn = (isIn: (day: string) => boolean, dayOf: (at: string) => string) =>
  calls.filter(({ started_at }) => isIn(dayOf(started_at))).reduce((sum, { cost }) => sum + micros(cost), 0)

describe('what was spent', () => {
  test('is on the day of each call in the zone, to the micro-dollar, and figures of the month agree', async () => {
    const { change, get, ask, differences, slug, orgId } = await world(db, sessions, NOW)
    expect((await ask('PUT', '/v1/budgets/2026-04', { limit: LIMIT })).status).toBe(200)
    expect((await ask('PATCH', '/v1/organization', { badges: { visibility: 'public' } })).status).toBe(200)
    for (const zone of ['UTC', ...ZONES, 'UTC']) {
      if (
        ((await get('/v1/whoami')) as { organization: { time_zone: string } }).organization.time_zone !== zone
      )
        await change(zone)
      expect(await differences()).toEqual([])
      const dayOf = clockOf(zone)
      const today = dayOf(NOW)
      const month = today.slice(0, 7)
      const days = [...new Set(calls.map(({ started_at }) => dayOf(started_at)))].toSorted()
      const cost = (await get('/v1/cost?group_by=day')) as {
        total_cost: number
        current_month: number
        by_period: { period: string; cost: number }[]
        current_budget: { current_cost: number; projected_cost: number; period_start: string }
      }
      expect([zone, micros(cost.total_cost)]).toEqual([zone, spentIn(() => true, dayOf)])
      expect([
        zone,
        ...cost.by_period.filter((each) => each.cost > 0).map(({ period, cost: of }) => [period, micros(of)]),
      ]).toEqual([zone, ...days.map((day) => [day, spentIn((each) => each === day, dayOf)])])
      for (const day of ['2026-04-24', '2026-10-25'])
        expect(
          micros(
            (
              (await get(`/v1/cost/breakdown?by=model&date_from=${day}&date_to=${day}`)) as {
                total: { cost: number }
              }
            ).total.cost,
          ),
        ).toBe(spentIn((each) => each === day, dayOf))
      const ofMonth = spentIn((day) => day.startsWith(month), dayOf)
      expect([zone, micros(cost.current_month), cost.current_budget.period_start]).toEqual([
        zone,
        ofMonth,
        `${month}-01`,
      ])
      expect(micros(cost.current_budget.current_cost)).toBe(ofMonth)
      const { budgets } = (await get('/v1/budgets/mine')) as { budgets: { current_cost: number }[] }
      expect(budgets.map(({ current_cost }) => micros(current_cost))).toEqual([ofMonth])
      // a forecast has the mean of the days before today for those that are left, and the larger of it and today
      const passed = Number(today.slice(8)) - 1
      const length = Number(addDays(monthOf(addDays(`${month}-28`, 7)), -1).slice(8))
      const before = spentIn((day) => day.startsWith(month) && day < today, dayOf)
      const ofToday = spentIn((day) => day === today, dayOf)
      const mean = passed === 0 ? ofToday : before / passed
      const projected = before + Math.max(ofToday, mean) + mean * (length - passed - 1)
      expect([zone, micros(cost.current_budget.projected_cost)]).toEqual([zone, Math.round(projected)])
      const first = addDays(today, -29)
      const spent = spentIn((day) => day >= first && day <= today, dayOf) / 1e6
      let budget = 0
      for (let day = first; day <= today; day = addDays(day, 1))
        budget += LIMIT / Number(addDays(monthOf(addDays(`${day.slice(0, 7)}-28`, 7)), -1).slice(8))
      const percent =
        spent <= 0.8 * budget
          ? 100
          : spent >= 2 * budget
            ? 0
            : Math.round((100 * (2 * budget - spent)) / (1.2 * budget))
      const badge = (await get(`/api/badge/${slug}/cost.json`)) as { message: string }
      expect([zone, badge.message]).toEqual([zone, String(percent)])
      const { data } = await asOrganization(orgId, () => readDigest(db.sql, orgId, 'digest_1', today, zone))
      expect([zone, micros(data.cost), data.from]).toEqual([
        zone,
        spentIn((day) => day >= addDays(today, -7) && day < today, dayOf),
        addDays(today, -7),
      ])
    }
  })

  test('fires nothing when it moves to other days', async () => {
    const { change, ask, orgId } = await world(db, sessions, NOW)
    await addHook(ask)
    const ofToday = (zone: string) => spentIn((day) => day === clockOf(zone)(NOW), clockOf(zone)) / 1e6
    const ofMonth = (zone: string) =>
      spentIn((day) => day.startsWith(clockOf(zone)(NOW).slice(0, 7)), clockOf(zone)) / 1e6
    const west = 'America/Los_Angeles'
    // both limits are exceeded by the days of the zone only
    const above = (ofToday('UTC') + ofToday(west)) / 2
    expect(ofToday(west)).toBeGreaterThan(ofToday('UTC') + 0.01)
    const limit = (ofMonth('UTC') + ofMonth(west)) / 2
    expect((await ask('PUT', '/v1/budgets/2026-11', { limit })).status).toBe(200)
    const made = await ask('POST', '/v1/alerts', {
      name: 'Day',
      metric: 'cost',
      window: 'day',
      above,
      destinations: [{ type: 'webhook' }],
    })
    expect(made.status).toBe(201)
    const digest = await ask('POST', '/v1/digests', { name: 'Week', weekday: 'monday', hour: 8 })
    const look = () => lookAtRules({ sql: db.sql, publicUrl: null, log: silent }, NOW)
    const events = async () =>
      (
        await db.sql<
          { event: string }[]
        >`select e.event from webhook_events e where e.org_id = ${orgId} order by e.created_at`
      ).map(({ event }) => event)
    const due = async () =>
      (
        await db.sql<
          { due_at: Date }[]
        >`select r.due_at from notification_rules r where r.org_id = ${orgId} and r.id = ${digest.body.id}`
      )[0]?.due_at.toISOString()
    await look()
    const before = await events()
    expect(await due()).toBe('2026-11-02T08:00:00.000Z')
    await change(west)
    await look()
    expect((await ask('GET', `/v1/alerts/${made.body.id}`)).body).toMatchObject({ state: 'firing' })
    expect(await due()).toBe('2026-11-02T16:00:00.000Z')
    expect(await events()).toEqual(before)
    // a later session does not tell of it either
    const late = sessionRecord('sess_late', { created_at: iso(NOW.getTime() - 60_000), estimated_cost: 0.01 })
    expect((await ask('POST', '/v1/sync', { records: [late] })).status).toBe(200)
    await look()
    expect(await events()).toContain('session.completed')
    expect((await events()).filter((event) => event !== 'session.completed')).toEqual(
      before.filter((event) => event !== 'session.completed'),
    )
  })
})
