// Makes units of stored work: members or repositories with their sums by week, for the measuring of changes.

import { PICO_PER_MICRO } from '../scoring/base-prices.ts'
import { ALL_SUMS, addTo, BASE, QUANTITY, type Sums, type Unit } from './sums.ts'

export interface UnitWork {
  unit: string
  project: string
  week: number
  sums: Sums
}

/** The cost of tokens by kind at `prices`, in picodollars; what was paid where it differs by rounding only or has no price. */
export function baseOf(
  prices: readonly number[] | undefined,
  tokens: readonly number[],
  costs: readonly number[],
  calls: number,
): number[] {
  const paid = tokens.map((_, kind) => (costs[kind] ?? 0) * PICO_PER_MICRO)
  if (prices === undefined) return paid
  const base = tokens.map((count, kind) => count * (prices[kind] ?? 0))
  const difference = base.reduce((sum, cost, kind) => sum + cost - (paid[kind] ?? 0), 0)
  return Math.abs(difference) <= calls * PICO_PER_MICRO ? paid : base
}

/**
 * All sums of a row: `tokens` by kind, `base` what they cost at the prices of one day, in picodollars, `other` the cost without
 * tokens, in micro-dollars, which is its own quantity.
 */
export function workSums(
  sums: readonly number[],
  tokens: readonly number[],
  base: readonly number[],
  other: number,
): Sums {
  const all = new Float64Array(ALL_SUMS)
  all.set(sums)
  all.set([...tokens, other * PICO_PER_MICRO], QUANTITY)
  all.set([...base, other * PICO_PER_MICRO], BASE)
  return all
}

/** Units with their work by project and week. `rows` are in an order that depends on nothing but what they are. */
export function unitsOf(
  rows: readonly UnitWork[],
  adopted: ReadonlyMap<string, number>,
  teamOf: (unit: string) => string | null,
): Unit[] {
  const units = new Map<string, Map<string, Map<number, Sums>>>()
  // who changed and has not worked is one, too
  for (const unit of adopted.keys()) units.set(unit, new Map())
  for (const { unit, project, week, sums } of rows) {
    const projects = units.getOrInsertComputed(unit, () => new Map())
    const weeks = projects.getOrInsertComputed(project, () => new Map<number, Sums>())
    const weekCell = weeks.get(week)
    if (weekCell === undefined) weeks.set(week, sums)
    else addTo(weekCell, sums)
  }
  const byName = <Value>([a]: [string, Value], [b]: [string, Value]) => (a < b ? -1 : a > b ? 1 : 0)
  return [...units].sort(byName).map(([id, projects]) => ({
    id,
    cells: [...projects].sort(byName).map(([project, weeks]) => ({ project, weeks })),
    adopted: adopted.get(id) ?? null,
    team: teamOf(id),
  }))
}
