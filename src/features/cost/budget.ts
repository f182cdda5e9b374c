import { addDays, addMonths, dateOf, daysBetween, monthOf } from '../../base/dates.ts'
import { MONEY_DECIMALS, roundedQuotient, SCORE_DECIMALS, unscaled } from '../../base/decimals.ts'
import { type BudgetScope, budgetIdOf } from '../usage/scope-queries.ts'
import type { Budget } from './model.ts'

const ALERT_THRESHOLD_PERCENT = 80

/** The month's cost so far in micro-dollars, and the day on which it exceeded the limit; null if it did not. */
interface Spent {
  cost: bigint
  exceededOn: string | null
}

/**
 * The budget of the month of `now`. `since`: the month of the budget record in force; `limit` in micro-dollars. Projections
 * extrapolate the mean cost per day, with today as a whole day, so that they do not depend on the time of day. A cost equal
 * to the limit does not exceed it.
 */
export function budgetStatus(
  scope: BudgetScope,
  since: string,
  limit: bigint,
  { cost, exceededOn }: Spent,
  now: Date,
): Budget {
  const today = dateOf(now)
  const start = monthOf(today)
  const next = addMonths(start, 1)
  const daysPassed = BigInt(daysBetween(start, today) + 1)
  const daysInMonth = BigInt(daysBetween(start, next))
  const percent = roundedQuotient(cost * 10_000n, limit)
  // at the mean per day so far, after the last day that is wholly within the limit; not in this month: its end
  const daysWithin = cost === 0n ? daysInMonth : (limit * daysPassed) / cost
  const willExceedOn = addDays(start, Math.min(Number(daysWithin), Number(daysInMonth)))
  const warning = cost * 100n >= limit * BigInt(ALERT_THRESHOLD_PERCENT)
  return {
    id: budgetIdOf(scope, since),
    scope: scope.scope === 'project' ? 'project' : 'organization',
    period: 'monthly',
    period_start: start,
    period_end: addDays(next, -1),
    limit: unscaled(limit, MONEY_DECIMALS),
    current_cost: unscaled(cost, MONEY_DECIMALS),
    remaining: cost > limit ? 0 : unscaled(limit - cost, MONEY_DECIMALS),
    percent_used: unscaled(percent, SCORE_DECIMALS),
    alert_threshold: ALERT_THRESHOLD_PERCENT,
    status: cost > limit ? 'exceeded' : warning ? 'warning' : 'ok',
    projected_cost: unscaled(roundedQuotient(cost * daysInMonth, daysPassed), MONEY_DECIMALS),
    projected_exceed_date: exceededOn ?? (willExceedOn < next ? willExceedOn : null),
    currency: 'USD',
  }
}
