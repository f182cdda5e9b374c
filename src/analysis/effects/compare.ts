// Estimates the effect of a change, by those who changed and those who had not (docs/effects.md). All sums are made in the order of
// weeks, then of units and projects by id: the same work gives the same bytes.

import { differenceOf, MEASURES, type MeasureName } from './measures.ts'
import { studentQuantile } from './student.ts'
import { cellSum, hasWorkIn, QUANTITY, SUM, type Sums, type Unit, valueAt } from './sums.ts'

/** Weeks before a change that are compared; a unit must have worked in the first half. */
export const BEFORE = 8
const MIN_PROMPTS = 10

/** The weeks, ascending and before `end`, at which what is compared at these dates begins or ends: between two of them nothing tells weeks apart. */
export function cutsOf(dates: readonly number[], after: number, end: number): number[] {
  const cuts = dates.flatMap((at) => [at - BEFORE, at - BEFORE / 2, at, at + 1, at + after + 1])
  return [...new Set(cuts.map((cut) => Math.min(cut, end)))].sort((a, b) => a - b)
}

/** Two sums of a cell that are compared, and the cell's part of a unit's weight. */
export interface Compared {
  before: Sums
  after: Sums
  h: number
}

/** A unit at a date: the mean difference of its cells, and its weight. */
export interface Difference {
  unit: Unit
  d: number
  w: number
  h: number
  cells: readonly Compared[]
}

export interface Dated {
  measure: MeasureName
  /** Weeks after the change that are compared. */
  after: number
  /** Length of the sums. */
  length?: number
}

export function differenceAt(
  unit: Unit,
  week: number,
  { measure, after, length = QUANTITY }: Dated,
): Difference | undefined {
  if (!hasWorkIn(unit, week - BEFORE, week - BEFORE / 2 - 1)) return undefined
  const cells: (Compared & { d: number })[] = []
  for (const cell of unit.cells) {
    const sums = {
      before: cellSum(cell, week - BEFORE, week - 1, length),
      after: cellSum(cell, week + 1, week + after, length),
    }
    const isUsed = Object.values(sums).every(
      (side) => valueAt(side, SUM.prompts) >= MIN_PROMPTS && valueAt(side, SUM.cost) > 0,
    )
    const difference = isUsed ? differenceOf(measure, sums.before, sums.after) : undefined
    if (difference !== undefined) cells.push({ ...sums, ...difference })
  }
  if (cells.length === 0) return undefined
  const h = cells.reduce((all, cell) => all + cell.h, 0)
  const d = cells.reduce((all, cell) => all + cell.h * cell.d, 0) / h
  return { unit, d, w: h / (h + MEASURES[measure].half), h, cells }
}

/** A unit of a cohort: one that changed in its week, or one that had not. */
interface Entry extends Difference {
  isChanged: boolean
  week: number
  cluster: string
}
type Cohort = Entry[]

const weightOf = (cohort: Cohort, isChanged: boolean, skipped: string | undefined) => {
  let [count, w, wd] = [0, 0, 0]
  for (const entry of cohort) {
    if (entry.isChanged !== isChanged || entry.cluster === skipped) continue
    count += 1
    w += entry.w
    wd += entry.w * entry.d
  }
  return { count, w, mean: wd / w }
}

/** A cohort's effect and its weight; undefined with fewer than 1 that changed or 2 others. */
function cohortEffect(cohort: Cohort, skipped?: string) {
  const changed = weightOf(cohort, true, skipped)
  const others = weightOf(cohort, false, skipped)
  if (changed.count < 1 || others.count < 2) return undefined
  const v = (changed.w * others.w) / (changed.w + others.w)
  return { v, theta: changed.mean - others.mean, changed: changed.w, others: others.w }
}

/** θ of all cohorts without a cluster; NaN where no cohort is left. */
function thetaOf(cohorts: readonly Cohort[], skipped?: string): number {
  let [sum, weight] = [0, 0]
  for (const cohort of cohorts) {
    const effect = cohortEffect(cohort, skipped)
    if (effect === undefined) continue
    sum += effect.v * effect.theta
    weight += effect.v
  }
  return sum / weight
}

/** The share of the variance of adoption that lies between groups (one-way analysis of variance); NaN for less than two groups. */
export function intraClassCorrelation(groups: readonly (readonly number[])[]): number {
  const n = groups.reduce((all, group) => all + group.length, 0)
  const k = groups.length
  const sum = (group: readonly number[]) => group.reduce((all, value) => all + value, 0)
  const mean = groups.reduce((all, group) => all + sum(group), 0) / n
  let [between, within, squares] = [0, 0, 0]
  for (const group of groups) {
    const groupMean = sum(group) / group.length
    between += group.length * (groupMean - mean) ** 2
    within += group.reduce((all, value) => all + (value - groupMean) ** 2, 0)
    squares += group.length ** 2
  }
  const [b, w] = [between / (k - 1), within / (n - k)]
  return (b - w) / (b + ((n - squares / n) / (k - 1) - 1) * w)
}

/** The project in which a unit had most prompts in the weeks before, the first of equals. */
function mainProject(unit: Unit, week: number): string {
  let [main, most] = ['', -1]
  for (const cell of unit.cells) {
    const prompts = valueAt(cellSum(cell, week - BEFORE, week - 1, QUANTITY), SUM.prompts)
    if (prompts > most) [main, most] = [cell.project, prompts]
  }
  return main
}

export type ClusterKind = 'member' | 'team' | 'repository'

/** Groups units by team, or by main project without teams, where adoption goes by it; else each is one. Sets their clusters. */
function cluster(cohorts: readonly Cohort[], kind: 'member' | 'repository', hasTeams: boolean): ClusterKind {
  const units = new Map<string, { group: string; changed: number }>()
  for (const entry of cohorts.flat()) {
    const { unit, week, isChanged } = entry
    const groupOf = () => {
      // who has no team is a group of one
      if (hasTeams) return unit.team === null ? `\0${unit.id}` : unit.team
      return mainProject(unit, week)
    }
    const tally = units.getOrInsertComputed(unit.id, () => ({ group: groupOf(), changed: 0 }))
    if (isChanged) tally.changed = 1
  }
  const groups = new Map<string, number[]>()
  for (const { group, changed } of units.values()) groups.getOrInsertComputed(group, () => []).push(changed)
  const isGrouped = kind === 'member' && intraClassCorrelation([...groups.values()]) > 0.1
  for (const entry of cohorts.flat())
    entry.cluster = (isGrouped ? units.get(entry.unit.id)?.group : undefined) ?? entry.unit.id
  return isGrouped ? (hasTeams ? 'team' : 'repository') : kind
}

/** The variance of θ by one side, leaving out each of its clusters, and its degrees of freedom. */
function sideVariance(cohorts: readonly Cohort[], theta: number, weights: ReadonlyMap<string, number>) {
  let [squares, lambda2, lambda4] = [0, 0, 0]
  for (const [name, weight] of weights) {
    squares += (thetaOf(cohorts, name) - theta) ** 2
    lambda2 += weight ** 2
    lambda4 += weight ** 4
  }
  const m = weights.size
  const variance = m === 0 ? 0 : ((m - 1) / m) * squares
  return { variance, df: Math.max(m === 0 ? 0 : lambda2 ** 2 / lambda4 - 1, 0.5) }
}

export interface Interval {
  theta: number
  low: number
  high: number
  /** The smallest effect that would have been seen four times of five. */
  visible: number
  df: number
}

export interface Comparison extends Interval {
  changed: ReadonlySet<string>
  others: ReadonlySet<string>
  clusters: { by: ClusterKind; changed: number; others: number }
  /** Each compared cell with its weight in θ: the sum of weight × difference is θ. */
  cells: readonly (Compared & { isChanged: boolean; weight: number })[]
}

export interface Compare extends Dated {
  units: readonly Unit[]
  unit: 'member' | 'repository'
  /** Weeks of adoption that are looked at, ascending. */
  weeks: readonly number[]
  /** Weeks before the change at which a comparison that must find nothing is made; 0: at the change. */
  shift: number
  /** The probability below the upper end of the interval. */
  quantile: number
}

function cohortAt(week: number, { units, shift, ...dated }: Compare): Cohort {
  const cohort: Cohort = []
  for (const unit of units) {
    const { adopted } = unit
    const isChanged = adopted === week
    const isOther = adopted === null || adopted > week + (shift > 0 ? 0 : dated.after)
    if (!isChanged && !isOther) continue
    const difference = differenceAt(unit, week - shift, dated)
    if (difference !== undefined)
      cohort.push({ ...difference, isChanged, week: week - shift, cluster: unit.id })
  }
  return cohort
}

const idsOf = (entries: readonly Entry[], isChanged: boolean, key: (entry: Entry) => string) =>
  new Set(entries.filter((entry) => entry.isChanged === isChanged).map(key))

/** Compares those who changed with those who had not. θ is NaN where there is nothing to compare. */
export function compare(question: Compare): Comparison {
  const { units, unit, weeks, quantile } = question
  const all = weeks.map((week) => cohortAt(week, question))
  const usable = all.filter((cohort) => cohortEffect(cohort) !== undefined)
  const cohorts = usable.length > 0 ? usable : all
  const by = cluster(
    cohorts,
    unit,
    units.some(({ team }) => team !== null),
  )
  const entries = cohorts.flat()
  const changedClusters = idsOf(entries, true, (entry) => entry.cluster)
  const otherClusters = idsOf(entries, false, (entry) => entry.cluster)
  const theta = thetaOf(usable)
  const effects = usable.map((cohort) => cohortEffect(cohort))
  const total = effects.reduce((sum, effect) => sum + (effect?.v ?? 0), 0)
  const lambda = new Map<string, number>()
  const cells: Comparison['cells'][number][] = []
  for (const [index, cohort] of usable.entries()) {
    const effect = effects[index]
    if (effect === undefined) continue
    for (const entry of cohort) {
      const side = entry.isChanged ? entry.w / effect.changed : -entry.w / effect.others
      const weight = (effect.v / total) * side
      lambda.set(entry.cluster, (lambda.get(entry.cluster) ?? 0) + weight)
      const { isChanged } = entry
      for (const cell of entry.cells) cells.push({ ...cell, isChanged, weight: (weight * cell.h) / entry.h })
    }
  }
  const onlyOthers = [...lambda].filter(([name]) => !changedClusters.has(name))
  const sides =
    onlyOthers.length < 2
      ? [[...lambda]]
      : [[...lambda].filter(([name]) => changedClusters.has(name)), onlyOthers]
  const variances = sides.map((side) => sideVariance(usable, theta, new Map(side)))
  return {
    ...intervalOf(theta, variances, quantile),
    changed: idsOf(entries, true, (entry) => entry.unit.id),
    others: idsOf(entries, false, (entry) => entry.unit.id),
    clusters: { by, changed: changedClusters.size, others: otherClusters.size },
    cells,
  }
}

function intervalOf(
  theta: number,
  variances: readonly { variance: number; df: number }[],
  quantile: number,
): Interval {
  const variance = variances.reduce((sum, side) => sum + side.variance, 0)
  const spread = variances.reduce((sum, side) => sum + side.variance ** 2 / side.df, 0)
  // without any variance the degrees of freedom are those of the smaller side
  const df = Math.max(1, spread > 0 ? variance ** 2 / spread : Math.min(...variances.map((side) => side.df)))
  if (Number.isNaN(variance)) return { theta, low: Number.NaN, high: Number.NaN, visible: Number.NaN, df: 0 }
  const se = Math.sqrt(variance)
  const t = studentQuantile(quantile, df)
  return {
    theta,
    low: theta - t * se,
    high: theta + t * se,
    visible: (t + studentQuantile(0.8, df)) * se,
    df,
  }
}
