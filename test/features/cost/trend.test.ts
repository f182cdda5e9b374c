import { expect, test } from 'bun:test'
import { type Limit, trendItems } from '../../../src/features/cost/trend.ts'

/** A bucket with sessions, as PostgreSQL gives it. */
const known = (period: string, cumulative: number) =>
  `{"period":"${period}","cost":1.5,"sessions":2,"cumulative_cost":${cumulative}`

/** Period, cumulative cost and budget of each bucket. */
const bucketsOf = (first: string, last: string, items: string[], limits: Limit[]) =>
  JSON.parse(`[${trendItems('day', { first, last }, items, limits)}]`).map(
    (bucket: { period: string; cumulative_cost: number; budget: number | null }) => [
      bucket.period,
      bucket.cumulative_cost,
      bucket.budget,
    ],
  )

const DAYS = ['2026-08-31', '2026-09-01', '2026-09-02']

test.each<[string, Limit[], (number | null)[]]>([
  ['none', [], [null, null, null]],
  ['one before all days', [['2026-08-01', '10']], [10, 10, 10]],
  [
    'another before all days',
    [
      ['2026-07-01', '5'],
      ['2026-08-01', '10'],
    ],
    [10, 10, 10],
  ],
  ['one within', [['2026-09-01', '10']], [null, 10, 10]],
  [
    'another within',
    [
      ['2026-08-01', '5'],
      ['2026-09-01', '10.25'],
    ],
    [5, 10.25, 10.25],
  ],
  ['one after all days', [['2026-10-01', '10']], [null, null, null]],
])('budgets: %s', (_name, limits, expected) => {
  const whole = DAYS.map((period, index) => known(period, 1.5 * (index + 1)))
  expect(bucketsOf('2026-08-31', '2026-09-02', whole, limits)).toEqual(
    DAYS.map((period, index) => [period, 1.5 * (index + 1), expected[index]]),
  )
  // the same days, the middle one without sessions
  const gap = whole.filter((_item, index) => index !== 1)
  expect(bucketsOf('2026-08-31', '2026-09-02', gap, limits)).toEqual([
    ['2026-08-31', 1.5, expected[0]],
    ['2026-09-01', 1.5, expected[1]],
    ['2026-09-02', 4.5, expected[2]],
  ])
})

test('days without sessions before, between and after those with', () => {
  expect(bucketsOf('2026-02-27', '2026-03-03', [known('2026-03-01', 1.5)], [])).toEqual([
    ['2026-02-27', 0, null],
    ['2026-02-28', 0, null],
    ['2026-03-01', 1.5, null],
    ['2026-03-02', 1.5, null],
    ['2026-03-03', 1.5, null],
  ])
  expect(bucketsOf('2026-02-27', '2026-02-27', [], [])).toEqual([['2026-02-27', 0, null]])
})
