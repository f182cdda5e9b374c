import { expect, test } from 'bun:test'
import { forecastOf } from '../../../src/features/budgets/forecast.ts'

const dollars = (amount: number) => BigInt(Math.round(amount * 1e6))

// November has 30 days, February 28. By hand: before + the larger of today and the mean + the mean for each day left.
test.each([
  ['on the 1st the mean is today', '2026-11-01T00:00', 0, 10, 300],
  ['today, still below the mean, counts as a whole day', '2026-11-11T00:01', 100, 0, 100 + 10 + 190],
  ['so does one that has a part of it', '2026-11-11T12:00', 100, 9.99, 300],
  ['today above the mean counts once', '2026-11-11T12:00', 100, 70, 100 + 70 + 190],
  ['on the last day nothing is left', '2026-11-30T23:59', 290, 50, 340],
  ['without cost', '2026-11-11T12:00', 0, 0, 0],
  ['after days without cost, today counts once', '2026-11-11T12:00', 0, 5, 5],
  ['to the micro-dollar', '2026-02-04T10:00', 1.000001, 0, 9.333343],
] as const)('%s', (_name, now, before, today, wanted) => {
  const spent = { before: dollars(before), today: dollars(today) }
  expect(forecastOf(spent, now.slice(0, 10)).cost).toBe(wanted)
})

// 100 until the 10th, 70 on the 11th: 170, then 10 a day to 360
test.each([
  ['is passed today', 169.999999, '2026-11-11'],
  ['is passed on the first day whose end is above it', 170, '2026-11-12'],
  ['is not passed where it is reached', 180, '2026-11-13'],
  ['is passed on the last day', 359.999999, '2026-11-30'],
  ['is not passed where it is reached on the last day', 360, null],
] as const)('a limit %s', (_name, limit, wanted) => {
  const spent = { before: dollars(100), today: dollars(70) }
  expect(forecastOf(spent, '2026-11-11').exceedsOn(dollars(limit))).toBe(wanted)
})
