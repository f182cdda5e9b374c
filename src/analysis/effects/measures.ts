// The measures by which the effect of a change is estimated, and their differences and effects.

import { SUM, type Sums, valueAt } from './sums.ts'

/** A measure is a mean: `total` divided by `of`. */
interface Measure {
  total: number
  of: number
  /** Whether effects are ratios, whose logarithm is averaged; else differences. */
  isRatio: boolean
  /** A unit with this much of `of` (the harmonic sum of before and after) has half of the greatest weight. */
  half: number
}

export const MEASURES = {
  cost_per_prompt: { total: SUM.cost, of: SUM.prompts, isRatio: true, half: 50 },
  cost_per_call: { total: SUM.cost, of: SUM.calls, isRatio: true, half: 400 },
  failed_tool_share: { total: SUM.errors, of: SUM.results, isRatio: false, half: 400 },
  quality: { total: SUM.quality, of: SUM.sessions, isRatio: false, half: 20 },
} as const satisfies Record<string, Measure>
export type MeasureName = keyof typeof MEASURES

/** The difference between two sums, and its weight; undefined where one has nothing to divide by. */
export function differenceOf(
  name: MeasureName,
  before: Sums,
  after: Sums,
): { d: number; h: number } | undefined {
  const { total, of, isRatio } = MEASURES[name]
  const [n0, n1] = [valueAt(before, of), valueAt(after, of)]
  if (n0 <= 0 || n1 <= 0) return undefined
  const scale = total === SUM.quality ? 100 : 1
  const [m0, m1] = [valueAt(before, total) / scale / n0, valueAt(after, total) / scale / n1]
  return { d: isRatio ? Math.log(m1) - Math.log(m0) : m1 - m0, h: (n0 * n1) / (n0 + n1) }
}

/** The effect of a θ: a share for a ratio, else the difference itself. */
export const effectOf = (name: MeasureName, theta: number): number =>
  MEASURES[name].isRatio ? Math.expm1(theta) : theta
