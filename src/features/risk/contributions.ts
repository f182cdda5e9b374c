import type { Component, RiskContributions } from '../../analysis/records/risk.ts'
import { SCORE_DECIMALS, scaled } from '../../base/decimals.ts'

/** One measure adds this to a score: the measured `value` gives `points`. */
export type Contribution = RiskContributions[Component][number]

/** A score of 0 to 100 with 2 decimals, and its contributions, whose points add up to it exactly. */
export interface ScoreComponent {
  score: number
  contributions: Contribution[]
}

const MAX_SCORE = 100
/** Changed lines from which more of them add nothing. */
export const MOST_LINES = 1_000
const VALUE_DECIMALS = 4

/** Hundredths, half away from zero, without the negative zero. */
const hundredths = (points: number): number =>
  Math.sign(points) * Number(scaled(Math.abs(points), SCORE_DECIMALS)) + 0

/** The share of its points that a change of `lines` lines has, 0 to 1: ln(1 + lines)/ln(1 + 1,000). Small changes break less. */
export const extentOf = (lines: number): number => Math.min(1, Math.log1p(lines) / Math.log1p(MOST_LINES))

/** The sum of the points, 100 at most: what is above, and the rounding of points, is taken off or added. */
export function componentOf(measured: readonly Contribution[]): ScoreComponent {
  const sum = measured.reduce((total, item) => total + item.points, 0)
  const items = [...measured]
  if (sum > MAX_SCORE) items.push({ name: 'limit', value: MAX_SCORE, points: MAX_SCORE - sum })
  const score = hundredths(Math.min(MAX_SCORE, Math.max(0, sum)))
  const points = items.map((item) => hundredths(item.points))
  const largest = points.reduce((best, value, index) => {
    return Math.abs(value) > Math.abs(points[best] ?? 0) ? index : best
  }, 0)
  const rest = score - points.reduce((total, value) => total + value, 0)
  return {
    score: score / 100,
    contributions: items.map(({ name, value }, index) => ({
      name,
      value: Number(value.toFixed(VALUE_DECIMALS)),
      points: ((points[index] ?? 0) + (index === largest ? rest : 0)) / 100,
    })),
  }
}
