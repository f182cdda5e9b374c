import { expect, test } from 'bun:test'
import { measureChange } from '../../../src/analysis/effects/measure-change.ts'
import { type UnitWork, unitsOf, workSums } from '../../../src/analysis/effects/units.ts'
import { loadPricer, priceRecord } from '../../../src/analysis/scoring/prices.ts'
import { DAY_MS } from '../../../src/base/dates.ts'
import { DAYS, demoChanges, demoMembers, SEED } from '../../../src/server/seed/demo-team.ts'
import { generateWork } from '../../../src/server/seed/demo-work.ts'

const pricer = await loadPricer()
// the week of 29 December 1969 is the first one
const weekOf = (at: number) => Math.floor((Math.floor(at / DAY_MS) + 3) / 7)

/** The figures of the demo's recorded changes, and the number of its sessions, where it is started at an instant. */
function figuresAt(now: Date) {
  const { sessions } = generateWork({ days: DAYS, seed: SEED, now })
  const work = sessions.map((session): UnitWork => {
    const turns = session.turn_records ?? []
    const prompts = turns.filter(({ role }) => role === 'user').length
    const cost = Math.round(priceRecord(pricer, session).cost * 1e6)
    const sums = [1, prompts, turns.length - prompts, 0, 0, 0, cost]
    return {
      ...{ unit: session.user_email ?? '', project: session.project_name ?? '' },
      week: weekOf(Date.parse(session.created_at)),
      sums: workSums(sums, [], [], cost),
    }
  })
  const teams = new Map(demoMembers(now).map(({ email, team }) => [email, team ?? null]))
  const changes = demoChanges(now).map(({ day, members }) => {
    const week = weekOf(Date.parse(day))
    const adopted = new Map(members.map((member) => [member, week]))
    return measureChange({
      units: unitsOf(work, adopted, (unit) => teams.get(unit) ?? null),
      ...{ unit: 'member', measure: 'cost_per_prompt', after: 4 },
      ...{ first: Math.min(...work.map((one) => one.week)), now: weekOf(now.getTime()) },
      members: () => teams.size,
    })
  })
  return { changes, sessions: sessions.length }
}

test('the demo has a change that is seen to have paid and one that is not seen, on whatever day it is started', () => {
  const first = Date.parse('2026-01-01T00:00:01Z')
  // each day of the week, each quarter of a day, in all months
  const starts = Array.from({ length: 28 }, (_, nth) => new Date(first + nth * 13.25 * DAY_MS))
  starts.push(new Date('2026-12-31T23:59:59Z'), new Date('2028-02-29T12:00:00Z'))
  for (const now of starts) {
    const { changes, sessions } = figuresAt(now)
    const figures = changes.map(({ verdict, effect, changed }) => ({ at: now, verdict, effect, changed }))
    expect(figures).toMatchObject([
      { verdict: 'seen', changed: 5 },
      { verdict: 'not_seen', changed: 5 },
    ])
    expect(figures[0]?.effect).toBeWithin(-0.7, -0.35)
    expect(sessions).toBe(1_472)
  }
})
