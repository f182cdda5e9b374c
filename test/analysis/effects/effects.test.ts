import { describe, expect, test } from 'bun:test'
import { armOf, testDraw } from '../../../src/analysis/effects/assigned-arms.ts'
import { compare, intraClassCorrelation } from '../../../src/analysis/effects/compare.ts'
import { measureAssigned, measureChange } from '../../../src/analysis/effects/measure-change.ts'
import { studentQuantile } from '../../../src/analysis/effects/student.ts'
import { ALL_SUMS, BASE, QUANTITY, type Unit } from '../../../src/analysis/effects/sums.ts'
import { plainComparison, plainQuantile, type Row } from './plain.ts'

// The arithmetic of effects, beside another implementation of it and figures by hand.

/** Numbers from 0 to 1, the same for a seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

const START = 2_900

/** Members of whom some change in one of several weeks, in up to three projects each. */
function worldOf(seed: number, members: number, weeks: readonly (number | null)[]) {
  const random = randomOf(seed)
  const rows: Row[] = []
  const adopted = new Map<string, number>()
  for (let member = 0; member < members; member++) {
    const unit = `user_${member}`
    const week = weeks[Math.floor(random() * weeks.length)] ?? null
    if (week !== null) adopted.set(unit, week)
    const level = random()
    for (let project = 0; project <= Math.floor(random() * 3); project++) {
      for (let at = START; at < START + 30; at++) {
        if (random() < 0.1) continue
        const prompts = Math.floor(random() * 40)
        const cost = Math.round(prompts * 1e6 * (0.2 + level + random()))
        rows.push({ unit, project: `project ${project}`, week: at, prompts, cost })
      }
    }
  }
  return { rows, adopted }
}

function unitsOf(rows: readonly Row[], adopted: ReadonlyMap<string, number>): Unit[] {
  const sums = ({ prompts, cost }: Row) => {
    const all = new Float64Array(ALL_SUMS)
    all.set([1, prompts, prompts * 3, 0, 0, 0, cost])
    all.set([cost], QUANTITY)
    all.set([cost * 1e6], BASE)
    return all
  }
  return [...Map.groupBy(rows, ({ unit }) => unit)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, own]) => ({
      id,
      cells: [...Map.groupBy(own, ({ project }) => project)]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([project, of]) => ({ project, weeks: new Map(of.map((row) => [row.week, sums(row)])) })),
      adopted: adopted.get(id) ?? null,
      team: null,
    }))
}

const six = (value: number | null) => (value === null ? null : value.toFixed(6))

describe('Student’s t', () => {
  test.each([
    [0.975, 1, 12.706204736],
    [0.975, 2, 4.30265273],
    [0.975, 30, 2.042272456],
    [0.9875, 10, 2.633766916],
    [0.8, 5, 0.91954378],
  ])('of probability %p and %p degrees of freedom is %p', (p, df, value) => {
    expect(studentQuantile(p, df)).toBeCloseTo(value, 8)
  })
  test.each([2.5, 3.3, 7.25, 13.9, 57.1])('of %p degrees of freedom is that of an integration', (df) => {
    for (const p of [0.8, 0.975, 0.9875]) expect(studentQuantile(p, df)).toBeCloseTo(plainQuantile(p, df), 8)
  })
})

describe('a comparison', () => {
  const cases = [
    { name: 'one week', weeks: [START + 16, null] },
    { name: 'several weeks', weeks: [START + 14, START + 16, START + 22, null, null] },
    { name: 'all in turn', weeks: [START + 13, START + 17, START + 20, START + 24] },
  ]
  for (const { name, weeks } of cases) {
    test(`with those who had not changed, of ${name}, is that of the other implementation`, () => {
      for (let seed = 1; seed <= 4; seed++) {
        const { rows, adopted } = worldOf(seed * 97, 14, weeks)
        for (const after of [4, 8] as const) {
          const quantile = after === 4 ? 0.975 : 0.9875
          const last = START + 30
          const cohorts = [...new Set(adopted.values())]
            .filter((week) => week + after < last)
            .sort((a, b) => a - b)
          if (cohorts.length === 0) continue
          const asked = {
            measure: 'cost_per_prompt',
            unit: 'member',
            weeks: cohorts,
            after,
            quantile,
          } as const
          for (const shift of [0, after + 1]) {
            const units = unitsOf(rows, adopted)
            const ours = compare({ ...asked, units, shift })
            if (ours.clusters.by !== 'member' || Number.isNaN(ours.theta)) continue
            const plain = plainComparison({
              ...{ rows, weeks: cohorts, adopted, after, shift, p: quantile },
              clusterOf: (unit) => unit,
            })
            expect(six(ours.theta)).toBe(six(plain.theta))
            if (Number.isNaN(plain.low) || ours.df < 2) continue
            expect([six(Math.expm1(ours.low)), six(Math.expm1(ours.high))]).toEqual([
              six(plain.low),
              six(plain.high),
            ])
            expect(six(Math.expm1(ours.visible))).toBe(six(plain.rise))
            expect([ours.changed.size, ours.others.size]).toEqual([plain.changed, plain.others])
          }
        }
      }
    })
  }

  test('is the same for rows in any order', () => {
    const { rows, adopted } = worldOf(5, 16, [START + 16, null])
    const ask = (units: readonly Unit[]) =>
      JSON.stringify(
        measureChange({
          ...{ units, unit: 'member', measure: 'cost_per_prompt', after: 4 },
          ...{ first: START, now: START + 30, members: () => 16 },
        }),
      )
    expect(ask(unitsOf(rows.toReversed(), adopted))).toBe(ask(unitsOf(rows, adopted)))
  })

  test('of repositories shows figures only where five members worked on those that are compared', () => {
    const { rows, adopted } = worldOf(5, 16, [START + 16, null])
    const ask = (members: (units: ReadonlySet<string>) => number) =>
      measureChange({
        ...{ units: unitsOf(rows, adopted), unit: 'repository', measure: 'cost_per_prompt', after: 4 },
        ...{ first: START, now: START + 30, members },
      })
    const { changed, others, effect } = ask(() => 5)
    expect(effect).not.toBeNull()
    expect(ask(({ size }) => size + 4 - changed - others)).toMatchObject({ verdict: 'too_few', effect: null })
  })
})

describe('where all changed at once', () => {
  const WEEK = START + 36
  /** Six members who do 20 prompts a week, in all at the same cost for each. */
  const units = (costOf: (week: number) => number): Unit[] =>
    unitsOf(
      Array.from({ length: 6 }, (_, member) => `user_${member}`).flatMap((unit) =>
        Array.from({ length: 41 }, (_, nth) => ({
          ...{ unit, project: 'web', week: START + nth, prompts: 20 },
          cost: Math.round(20e6 * costOf(START + nth)),
        })),
      ),
      new Map(Array.from({ length: 6 }, (_, member) => [`user_${member}`, WEEK])),
    )
  const ask = (costOf: (week: number) => number, first = START) =>
    measureChange({
      ...{ units: units(costOf), unit: 'member', measure: 'cost_per_prompt', after: 4 },
      ...{ first, now: START + 41, members: () => 6 },
    })
  const wave = (week: number) => 1 + 0.05 * ((week * 7) % 5)

  test('the change is held against the own past, by hand', () => {
    const cost = (week: number) => wave(week) * (week > WEEK ? 1.5 : 1)
    const mean = (from: number, to: number) => {
      const weeks = Array.from({ length: to - from + 1 }, (_, nth) => Math.round(20e6 * cost(from + nth)))
      return weeks.reduce((sum, one) => sum + one, 0) / weeks.length
    }
    const at = (week: number) => Math.log(mean(week + 1, week + 4) / mean(week - 8, week - 1))
    // 36 − 5 − 4 · 4 = 15, whose weeks before begin at 7; one at 11 begins at 3; none at 7
    const past = [5, 9, 13, 17, 21, 25].map((before) => at(WEEK - before))
    const middle = past.reduce((sum, one) => sum + one, 0) / past.length
    const s = Math.sqrt(past.reduce((sum, one) => sum + (one - middle) ** 2, 0) / (past.length - 1))
    const theta = at(WEEK) - middle
    const far = plainQuantile(0.975, past.length - 1) * s * Math.sqrt(1 + 1 / past.length)
    expect(ask(cost)).toMatchObject({
      ...{ evidence: 'own_past', verdict: 'moved', changed: 6, others: 0, money: null, placebo: null },
      effect: Number((Math.exp(theta) - 1).toFixed(6)),
      low: Number((Math.exp(theta - far) - 1).toFixed(6)),
      high: Number((Math.exp(theta + far) - 1).toFixed(6)),
    })
  })

  test('without one it has not moved, and with less than five earlier dates it is unchecked', () => {
    expect(ask(wave)).toMatchObject({ evidence: 'own_past', verdict: 'not_seen' })
    expect(ask(wave, START + 8)).toMatchObject({ verdict: 'unchecked', effect: null, changed: 6 })
  })
})

test('the intra-class correlation is 1 where groups change as a whole, and undefined of one group', () => {
  const team = (value: number) => [value, value]
  expect(intraClassCorrelation([team(1), team(0), team(1), team(0)])).toBe(1)
  expect(intraClassCorrelation([[1, 0, 1]])).toBeNaN()
  // 0 between, 1/2 within: (1/3 − 1) / (1/3 + 1)
  expect(
    intraClassCorrelation(
      [
        [1, 0],
        [0, 1],
        [1, 1],
        [0, 0],
      ].slice(0, 2),
    ),
  ).toBe(-1)
})

describe('days that are drawn', () => {
  const id = 'eff_drawn'
  test('come in pairs, one of each arm, by the bits of a hash', () => {
    const bits = new Bun.CryptoHasher('sha256').update(`${id}\n0\nuser_1\n0`).digest()
    for (const day of [0, 2, 17, 140, 510]) {
      const pair = day >> 1
      const bit = ((bits[(pair & 255) >> 3] ?? 0) >> (pair & 7)) & 1
      expect(armOf(id, 'user_1', day & ~1)).toBe(bit as 0 | 1)
      expect(armOf(id, 'user_1', day | 1)).toBe((1 - bit) as 0 | 1)
    }
    const second = new Bun.CryptoHasher('sha256').update(`${id}\n0\nuser_1\n1`).digest()
    expect(armOf(id, 'user_1', 512)).toBe(((second[0] ?? 0) & 1) as 0 | 1)
  })

  const members = (effect: number) => {
    const random = randomOf(7)
    return Array.from({ length: 8 }, (_, index) => {
      const member = `user_${index}`
      const days = new Map<number, Float64Array>()
      for (let day = 0; day < 28; day++) {
        const sums = new Float64Array(ALL_SUMS)
        const factor = armOf(id, member, day) === 1 ? effect : 1
        const cost = Math.round(20e6 * (0.7 + 0.6 * random()) * factor)
        sums.set([2, 20, 60, 0, 0, 0, cost])
        sums.set([cost], QUANTITY)
        sums.set([cost * 1e6], BASE)
        days.set(day, sums)
      }
      return { id: member, days }
    })
  }

  test('show an effect that is there, with a range around it', () => {
    const found = measureAssigned(id, members(1.4), 'cost_per_prompt', true)
    expect(found).toMatchObject({ evidence: 'assigned', verdict: 'seen', changed: 8, others: 8, p: 0.0005 })
    expect(found.low).toBeLessThan(0.4)
    expect(found.high).toBeGreaterThan(0.4)
    const parts = Object.values(found.money?.parts ?? {}).map((dollars) => Math.round(dollars * 1e6))
    expect(parts.reduce((all, part) => all + part, 0)).toBe(Math.round((found.money?.extra ?? 0) * 1e6))
  })

  test('have a range that ends where p is .05', () => {
    const { theta, low, high, p } = testDraw(id, members(1), 'cost_per_prompt')
    expect(p).toBeGreaterThan(0.05)
    expect(low).toBeLessThan(0)
    expect(high).toBeGreaterThan(0)
    for (const [end, sign] of [
      [low, -1],
      [high, 1],
    ] as const) {
      const shifted = (tau: number) =>
        testDraw(
          id,
          members(1).map(({ id: member, days }) => ({
            id: member,
            days: new Map(
              [...days].map(([day, sums]) => {
                const factor = armOf(id, member, day) === 1 ? Math.exp(-tau) : 1
                return [day, sums.map((value, at) => (at === 6 ? value * factor : value))] as const
              }),
            ),
          })),
          'cost_per_prompt',
        ).p
      expect(shifted(end - sign * 1e-6)).toBeGreaterThan(0.05)
      expect(shifted(end + sign * 1e-6)).toBeLessThanOrEqual(0.05)
    }
    expect(theta).toBeGreaterThan(low)
  })

  test('wait for their end, and for five members', () => {
    expect(measureAssigned(id, members(1), 'cost_per_prompt', false)).toMatchObject({
      verdict: 'too_early',
      p: null,
    })
    expect(measureAssigned(id, members(1).slice(4), 'cost_per_prompt', true)).toMatchObject({
      ...{ verdict: 'too_few', effect: null, money: null },
    })
  })
})
