// Compares a change that all made in one week with earlier dates.

import { BEFORE, type Dated, differenceAt, type Interval } from './compare.ts'
import { studentQuantile } from './student.ts'
import type { Unit } from './sums.ts'

/** The dates before a change that it is compared with, the latest first. */
export const pastDates = (week: number, after: number): number[] =>
  Array.from({ length: 11 }, (_, nth) => week - after - 1 - nth * after)

/**
 * The effect where all changed in one week: the difference then, against those at earlier dates, at most 11. Undefined with
 * fewer than 5 of these. `first` is the first week with work.
 */
export function comparePast(
  units: readonly Unit[],
  week: number,
  first: number,
  quantile: number,
  dated: Dated,
): Interval | undefined {
  const meanAt = (at: number): number => {
    let [sum, weight] = [0, 0]
    for (const unit of units) {
      const difference = differenceAt(unit, at, dated)
      if (difference === undefined) continue
      sum += difference.w * difference.d
      weight += difference.w
    }
    return sum / weight
  }
  const past: number[] = []
  for (const at of pastDates(week, dated.after)) {
    const mean = at - BEFORE < first ? Number.NaN : meanAt(at)
    if (!Number.isNaN(mean)) past.push(mean)
  }
  const m = past.length
  if (m < 5) return undefined
  const mean = past.reduce((sum, value) => sum + value, 0) / m
  const s = Math.sqrt(past.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (m - 1))
  const se = s * Math.sqrt(1 + 1 / m)
  const theta = meanAt(week) - mean
  const t = studentQuantile(quantile, m - 1)
  return {
    ...{ theta, df: m - 1, low: theta - t * se, high: theta + t * se },
    visible: (t + studentQuantile(0.8, m - 1)) * se,
  }
}
