import { addDays, addMonths, dateOf, monthOf } from '../../base/dates.ts'
import { MONEY_DECIMALS, unscaled } from '../../base/decimals.ts'
import { type BudgetScope, budgetIdOf } from '../usage/scope-queries.ts'
import { ALERT_THRESHOLD_PERCENT, forecastOf, type Spent, usedOf } from './forecast.ts'
import type { Budget } from './model.ts'

/**
 * The budget of the month of `now`. `since`: the month of the budget record in force; `limit` in micro-dollars; `exceededOn`:
 * the day on which the month's cost exceeded it, null if it did not.
 */
export function budgetStatus(
  scope: BudgetScope,
  since: string,
  limit: bigint,
  { exceededOn, ...spent }: Spent & { exceededOn: string | null },
  now: Date,
): Budget {
  const start = monthOf(dateOf(now))
  const cost = spent.before + spent.today
  const forecast = forecastOf(spent, now)
  return {
    id: budgetIdOf(scope, since),
    scope: scope.scope === 'project' ? 'project' : 'organization',
    period: 'monthly',
    period_start: start,
    period_end: addDays(addMonths(start, 1), -1),
    remaining: cost > limit ? 0 : unscaled(limit - cost, MONEY_DECIMALS),
    ...usedOf(limit, cost),
    alert_threshold: ALERT_THRESHOLD_PERCENT,
    projected_cost: forecast.cost,
    projected_exceed_date: exceededOn ?? forecast.exceedsOn(limit),
    currency: 'USD',
  }
}
