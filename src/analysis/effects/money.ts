// Says how much money the effect of a change is, and of which parts.

import { type LogCause, logPartsOf, roundedParts, WORK_KINDS, type Work } from '../scoring/change-parts.ts'
import { BASE, QUANTITY, SUM, type Sums, valueAt } from './sums.ts'

export const PARTS = [
  ...(['price', 'calls_per_prompt', 'model_mix'] as const),
  ...WORK_KINDS.map((kind) => `${kind}_per_call` as const),
] satisfies LogCause[]
export type Part = (typeof PARTS)[number]

/** US dollars. */
export interface Money {
  compared: number
  extra: number
  /** Null: no end. */
  low: number | null
  high: number | null
  parts: Record<Part, number>
}

/** A difference of two sums with its weight in θ. */
export interface Weighted {
  before: Sums
  after: Sums
  weight: number
}

const dollars = (micros: number): number => Math.round(micros) / 1e6 + 0

const workOf = (sums: Sums): Work => ({
  prompts: valueAt(sums, SUM.prompts),
  calls: valueAt(sums, SUM.calls),
  cost: valueAt(sums, SUM.cost),
  quantity: sums.subarray(QUANTITY, BASE),
  base: sums.subarray(BASE),
})

/** The parts of ln(cost per prompt after / before), or of cost per call; what has no causes within is the price's. */
function partsOf({ before, after }: Weighted, perCall: boolean): Record<Part, number> {
  const logs = logPartsOf(workOf(before), workOf(after))
  const none = Object.fromEntries(PARTS.map((part) => [part, 0])) as Record<Part, number>
  if (logs !== undefined) {
    // base is in picodollars, cost in micro-dollars: the factor cancels out
    const { prompts: _, ...parts } = logs
    return { ...parts, ...(perCall && { calls_per_prompt: 0 }) }
  }
  const of = perCall ? SUM.calls : SUM.prompts
  const mean = (sums: Sums) => valueAt(sums, SUM.cost) / valueAt(sums, of)
  return { ...none, price: Math.log(mean(after)) - Math.log(mean(before)) }
}

/** Returns what an effect θ on cost made of `compared` (micro-dollars, after the change), with parts that add up to `extra`. */
export function moneyOf(
  compared: number,
  { theta, low, high }: { theta: number; low: number; high: number },
  differences: readonly Weighted[],
  perCall: boolean,
): Money {
  const extraOf = (value: number) => compared * -Math.expm1(-value)
  const factor = theta === 0 ? compared : extraOf(theta) / theta
  const amounts = Object.fromEntries(PARTS.map((part) => [part, 0])) as Record<Part, number>
  for (const difference of differences) {
    const parts = partsOf(difference, perCall)
    for (const part of PARTS) amounts[part] += difference.weight * parts[part]
  }
  for (const part of PARTS) amounts[part] *= factor
  const extra = Math.round(extraOf(theta))
  const rounded = roundedParts(amounts, extra)
  const end = (value: number) => (Number.isFinite(value) ? dollars(extraOf(value)) : null)
  return {
    ...{ compared: dollars(compared), extra: dollars(extra), low: end(low), high: end(high) },
    parts: Object.fromEntries(PARTS.map((part) => [part, dollars(rounded[part])])) as Money['parts'],
  }
}
