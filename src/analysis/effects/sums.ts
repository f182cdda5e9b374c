// Sums of the work of a unit (a member, or a repository) as effects are measured from them.

import { WORK_KINDS } from '../scoring/change-parts.ts'

/** The places of sums in an array: quality in hundredths of points, cost in micro-dollars. */
export const SUM = { sessions: 0, prompts: 1, calls: 2, results: 3, errors: 4, quality: 5, cost: 6 } as const
/** They are followed by quantities by kind, and what they cost at the prices of one day, in picodollars; both of `other` are its cost. */
export const QUANTITY = 7
export const BASE = QUANTITY + WORK_KINDS.length
export const ALL_SUMS = BASE + WORK_KINDS.length

export type Sums = Float64Array

/** The work of a unit in a project by week (days since Monday, 29 December 1969, by 7). */
export interface Cell {
  project: string
  weeks: ReadonlyMap<number, Sums>
}

export interface Unit {
  id: string
  /** One for each project, ascending. */
  cells: readonly Cell[]
  /** The week in which it changed; null: it did not; 0: it had changed before its first. */
  adopted: number | null
  team: string | null
}

/** Adds as many sums as there are in the first. */
export function addTo(sum: Sums, sums: Sums): void {
  for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) + (sums[at] ?? 0)
}

export function cellSum(cell: Cell, from: number, to: number, length: number): Sums {
  const sum = new Float64Array(length)
  for (let week = from; week <= to; week++) {
    const sums = cell.weeks.get(week)
    if (sums !== undefined) addTo(sum, sums)
  }
  return sum
}

export const valueAt = (sums: Sums, at: number): number => sums[at] ?? 0

const hasWork = (sums: Sums): boolean => valueAt(sums, SUM.prompts) > 0 || valueAt(sums, SUM.calls) > 0

export const hasWorkIn = ({ cells }: Unit, from: number, to: number): boolean =>
  cells.some((cell) => hasWork(cellSum(cell, from, to, QUANTITY)))

export const round6 = (value: number): number => Math.round(value * 1e6) / 1e6 + 0
