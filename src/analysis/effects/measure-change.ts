// Measures a change: its effect on cost and quality, how sure that is, and the verdict.

import { type AssignedMember, bothArms, testDraw } from './assigned-arms.ts'
import { BEFORE, type ClusterKind, type Comparison, compare, differenceAt, type Interval } from './compare.ts'
import { comparePast } from './earlier-dates.ts'
import { differenceOf, effectOf, MEASURES, type MeasureName } from './measures.ts'
import { type Money, moneyOf } from './money.ts'
import { FROM_START } from './notice.ts'
import { ALL_SUMS, cellSum, hasWorkIn, round6, SUM, type Unit, valueAt } from './sums.ts'

export const VERDICTS = [
  ...(['too_early', 'too_few', 'unchecked', 'withheld'] as const),
  ...(['not_seen', 'drift_possible', 'seen', 'moved'] as const),
]
export type Verdict = (typeof VERDICTS)[number]
export const EVIDENCE = ['compared', 'own_past', 'assigned'] as const

/** A side with fewer could show figures of a person. */
export const MIN_UNITS = 5
const MIN_CLUSTERS = 4
const MIN_DF = 3

export interface Figures {
  evidence: (typeof EVIDENCE)[number]
  verdict: Verdict
  changed: number
  others: number
  clusters: { by: ClusterKind; changed: number; others: number } | null
  effect: number | null
  low: number | null
  high: number | null
  visible_rise: number | null
  visible_fall: number | null
  p: number | null
  money: Money | null
  compared_share: number | null
  placebo: { effect: number; low: number; high: number } | null
}

export interface Question {
  units: readonly Unit[]
  unit: 'member' | 'repository'
  measure: MeasureName
  /** Weeks after the change: 4, or 8 for a second look. */
  after: 4 | 8
  /** The first week with work, and the one that runs. */
  first: number
  now: number
  /** The members who worked for these units in these weeks. */
  members: (units: ReadonlySet<string>) => number
}

const NONE = {
  ...{ effect: null, low: null, high: null, visible_rise: null, visible_fall: null, p: null },
  ...{ money: null, compared_share: null, placebo: null },
}

const finite = (value: number): number | null => (Number.isFinite(value) ? round6(value) : null)

/** The effect with its range, as answers give it. */
const shown = (measure: MeasureName, { theta, low, high }: Omit<Interval, 'visible' | 'df'>) => ({
  effect: round6(effectOf(measure, theta)),
  low: finite(effectOf(measure, low)),
  high: finite(effectOf(measure, high)),
})

const visible = (measure: MeasureName, value: number) => ({
  visible_rise: round6(effectOf(measure, value)),
  visible_fall: round6(MEASURES[measure].isRatio ? -Math.expm1(-value) : value),
})

/** Whether a range, as it is shown, has the value. */
const contains = ({ low, high }: { low: number | null; high: number | null }, value: number): boolean =>
  (low ?? Number.NEGATIVE_INFINITY) <= value && value <= (high ?? Number.POSITIVE_INFINITY)

/** The weeks in which units changed, ascending. */
export const adoptionWeeks = (units: readonly Unit[]): number[] =>
  [...new Set(units.flatMap(({ adopted }) => (adopted === FROM_START ? [] : (adopted ?? []))))].sort(
    (a, b) => a - b,
  )

/** Measures a change by those who changed and those who had not, else by its own past. */
export function measureChange(question: Question): Figures {
  const { units, unit, measure, after, now, first } = question
  const weeks = adoptionWeeks(units)
  const closed = weeks.filter((week) => week + after < now)
  const quantile = after === 4 ? 0.975 : 0.9875
  const dated = { measure, after, length: ALL_SUMS }
  const counted = (changed: number, others: number) => ({
    ...{ changed, others, clusters: { by: unit, changed, others } },
    ...NONE,
  })
  if (closed.length === 0) {
    const changed = units.filter(({ adopted }) => adopted !== null && adopted !== FROM_START)
    const others = units.filter((one) => one.adopted === null && isSteady(one, weeks[0] ?? now))
    const isAtOnce = weeks.length === 1 && others.length === 0
    const counts = counted(changed.length, others.length)
    const evidence = isAtOnce ? 'own_past' : 'compared'
    return { evidence, verdict: 'too_early', ...counts, clusters: isAtOnce ? null : counts.clusters }
  }
  const all = { units, unit, weeks: closed, quantile, ...dated }
  const result = compare({ ...all, shift: 0 })
  const isSmall = unit === 'repository' && question.members(result.changed.union(result.others)) < MIN_UNITS
  const [week = now, ...later] = weeks
  const priced = { after, measure: 'cost_per_prompt' } as const
  // a measure that others have nothing of does not make it everybody's change
  const hasOthers = units.some((one) => one.adopted === null && differenceAt(one, week, priced))
  if (later.length === 0 && !hasOthers) return ownPast(question, result, isSmall, week, quantile)
  const { clusters } = result
  const [changed, others] = [result.changed.size, result.others.size]
  const counts = { ...counted(changed, others), clusters }
  const isFew =
    Math.min(changed, others) < MIN_UNITS || Math.min(clusters.changed, clusters.others) < MIN_CLUSTERS
  if (isFew || isSmall || !(result.df >= MIN_DF))
    return { evidence: 'compared', verdict: 'too_few', ...counts }
  const checked = closed.filter((week) => week - after - 1 - BEFORE >= first)
  const control = compare({ ...all, weeks: checked, shift: after + 1, length: SUM.cost + 1 })
  const placebo = Number.isNaN(control.low) ? null : shown(measure, control)
  const figures = shown(measure, result)
  return {
    ...{ ...counts, ...figures, ...visible(measure, result.visible), evidence: 'compared' },
    verdict: verdictOf(figures, placebo),
    ...comparedMoney(question, closed, result),
    placebo: placebo as Figures['placebo'],
  }
}

/** Whether a unit has worked long enough, and enough, before a week to be compared. */
const isSteady = (unit: Unit, week: number): boolean =>
  hasWorkIn(unit, week - BEFORE, week - BEFORE / 2 - 1) &&
  unit.cells.some((cell) => valueAt(cellSum(cell, week - BEFORE, week - 1, ALL_SUMS), SUM.prompts) >= 10)

type Shown = ReturnType<typeof shown>

function verdictOf(figures: Shown, placebo: Shown | null): Verdict {
  if (placebo === null) return 'unchecked'
  if (!contains(placebo, 0)) return 'withheld'
  if (contains(figures, 0)) return 'not_seen'
  return contains(placebo, figures.effect) ? 'drift_possible' : 'seen'
}

function comparedMoney({ units, measure, after }: Question, closed: readonly number[], result: Comparison) {
  const ofChanged = result.cells.filter(({ isChanged }) => isChanged)
  const compared = ofChanged.reduce((sum, cell) => sum + costOf(cell.after), 0)
  let all = 0
  for (const { adopted, cells } of units) {
    if (adopted === null || !closed.includes(adopted)) continue
    for (const cell of cells) all += costOf(cellSum(cell, adopted + 1, adopted + after, SUM.cost + 1))
  }
  return {
    compared_share: round6(compared / all),
    money: MEASURES[measure].isRatio
      ? moneyOf(compared, result, result.cells, measure === 'cost_per_call')
      : null,
  }
}

function ownPast(
  { units, measure, after, first }: Question,
  result: Comparison,
  isSmall: boolean,
  week: number,
  quantile: number,
): Figures {
  const changed = result.changed.size
  const counts = { evidence: 'own_past', changed, others: 0, clusters: null, ...NONE } as const
  if (changed < MIN_UNITS || isSmall) return { ...counts, verdict: 'too_few' }
  const past = comparePast(units, week, first, quantile, { measure, after })
  if (past === undefined) return { ...counts, verdict: 'unchecked' }
  const figures = shown(measure, past)
  const compared_share = comparedShare(units, week, measure, after)
  return {
    ...{ ...counts, ...figures, ...visible(measure, past.visible), compared_share },
    verdict: contains(figures, 0) ? 'not_seen' : 'moved',
  }
}

function comparedShare(units: readonly Unit[], week: number, measure: MeasureName, after: number): number {
  let [compared, all] = [0, 0]
  for (const unit of units) {
    for (const cell of differenceAt(unit, week, { measure, after })?.cells ?? [])
      compared += costOf(cell.after)
    for (const cell of unit.cells) all += costOf(cellSum(cell, week + 1, week + after, ALL_SUMS))
  }
  return round6(compared / all)
}

const costOf = (sums: Float64Array): number => valueAt(sums, SUM.cost)

/** Measures days that were drawn, when they are over. */
export function measureAssigned(
  effectId: string,
  members: readonly AssignedMember[],
  measure: MeasureName,
  isOver: boolean,
): Figures {
  const used = bothArms(effectId, members, ALL_SUMS)
  const counts = {
    ...({ evidence: 'assigned', changed: used.length, others: used.length, clusters: null } as const),
    ...NONE,
  }
  if (members.length < MIN_UNITS) return { ...counts, verdict: 'too_few' }
  if (!isOver) return { ...counts, verdict: 'too_early' }
  if (used.length < MIN_UNITS) return { ...counts, verdict: 'too_few' }
  const drawing = testDraw(effectId, members, measure)
  const { of, half, isRatio } = MEASURES[measure]
  const cells = used.flatMap(({ arms: [before, after] }) => {
    const difference = differenceOf(measure, before, after)
    const quarter = (valueAt(before, of) + valueAt(after, of)) / 4
    return difference === undefined ? [] : [{ before, after, weight: quarter / (quarter + half) }]
  })
  const weight = cells.reduce((sum, cell) => sum + cell.weight, 0)
  const compared = used.reduce((sum, { arms }) => sum + costOf(arms[1]), 0)
  const weighted = cells.map((cell) => ({ ...cell, weight: cell.weight / weight }))
  const all = members
    .flatMap((member) => [...member.days.values()])
    .reduce((sum, day) => sum + costOf(day), 0)
  const both = used.reduce((sum, { arms }) => sum + costOf(arms[0]) + costOf(arms[1]), 0)
  return {
    ...{ ...counts, ...shown(measure, drawing), p: drawing.p },
    money: isRatio ? moneyOf(compared, drawing, weighted, measure === 'cost_per_call') : null,
    compared_share: round6(both / all),
    verdict: drawing.p <= 0.05 ? 'seen' : 'not_seen',
  }
}
