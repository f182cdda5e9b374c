// Sentences of the page `Spend` on cost, its budget and its change.

import type { Range } from '../client/days.ts'
import {
  capital,
  formatDay,
  formatDollars,
  formatGrowth,
  formatMonth,
  formatShare,
  inRange,
} from '../client/format.ts'
import { NONE, type Query } from '../client/links.ts'
import type { MonthBudget } from './shown-budgets.ts'

/** Names what the filters leave: `Team mobile`, `Checkout on branch main`, `All`. */
export function subjectOf(filters: Query, nameOf: (value: string) => string): string {
  const parts = Object.entries(filters).flatMap(([name, value]) => {
    if (value === undefined || value === '') return []
    if (value === NONE) return [`what has no ${name}`]
    return [
      name === 'project' || name === 'member' ? nameOf(String(value)) : `${name} ${nameOf(String(value))}`,
    ]
  })
  return parts.length === 0
    ? 'All work'
    : parts.map((part, index) => (index === 0 ? capital(part) : part)).join(', ')
}

/** `, 253.2% of the budget of $300.00`; of a month that is not all that is shown `Of the November budget … `. */
export function saidOfBudget(budget: MonthBudget, isAll: boolean): string {
  const { limit, current_cost, forecast, exceedsOn, status, month } = budget
  const used = `${formatShare(current_cost / limit)} of ${isAll ? 'its' : `the ${formatMonth(month.from)}`} budget of ${formatDollars(limit)}`
  const day = exceedsOn === null ? '' : formatDay(exceedsOn)
  const ahead =
    forecast === undefined || status === 'exceeded'
      ? day && `, passed on ${day}`
      : day === ''
        ? `, which will not be passed: ${formatDollars(forecast)} is expected`
        : `, which will be passed on ${day}: ${formatDollars(forecast)} is expected`
  return isAll ? `, ${used}${ahead}` : `${formatDollars(current_cost)} is spent, ${used}${ahead}. `
}

/** `; $310.20 (6.9%) more than in October`. */
export function moreOrLess(
  { now, before }: { now: number; before: number },
  days: Record<'now' | 'before', Range>,
): string {
  const difference = now - before
  const against = inRange(days.before)
  if (before === 0) return now === 0 ? '' : `; nothing ${against}`
  if (Math.abs(difference) < 0.005) return `; as much as ${against}`
  return `; ${formatDollars(Math.abs(difference))} (${formatGrowth(now, before).replace(/^[+−]/, '')}) ${difference > 0 ? 'more' : 'less'} than ${against}`
}
