import { addDays, addMonths, dateOf, daysBetween, monthOf } from '../dates.ts'
import { MONEY_DECIMALS, roundedQuotient, SCORE_DECIMALS, unscaled } from '../decimals.ts'
import { derivedId } from '../ids.ts'
import type { Budget } from './model.ts'

const ALERT_THRESHOLD_PERCENT = 80
const DAY_MS = 86_400_000

/** A day's cost in micro-dollars. */
export interface DayCost {
  date: string
  cost: bigint
}

/**
 * How the month of `now` stands against its limit. `days` are the month's days with sessions, ascending; `since` is the
 * month of the budget record in force. Projections go on at the month's pace so far: cost / time passed × month's
 * length, no less than a day counted as passed. The limit is exceeded by more than itself, not by reaching it.
 */
export function budgetStatus(since: string, limit: bigint, days: readonly DayCost[], now: Date): Budget {
  const start = monthOf(dateOf(now))
  const next = addMonths(start, 1)
  const cost = days.reduce((sum, day) => sum + day.cost, 0n)
  const passedMs = BigInt(Math.max(DAY_MS, now.getTime() - Date.parse(start)))
  const monthMs = BigInt(daysBetween(start, next) * DAY_MS)
  const projected = roundedQuotient(cost * monthMs, passedMs)
  const percent = roundedQuotient(cost * 10_000n, limit)
  const warning = cost * 100n >= limit * BigInt(ALERT_THRESHOLD_PERCENT)
  return {
    id: derivedId('budget', since),
    scope: 'organization',
    period: 'monthly',
    period_start: start,
    period_end: addDays(next, -1),
    limit: unscaled(limit, MONEY_DECIMALS),
    current_cost: unscaled(cost, MONEY_DECIMALS),
    remaining: cost > limit ? 0 : unscaled(limit - cost, MONEY_DECIMALS),
    percent_used: unscaled(percent, SCORE_DECIMALS),
    alert_threshold: ALERT_THRESHOLD_PERCENT,
    status: cost > limit ? 'exceeded' : warning ? 'warning' : 'ok',
    projected_cost: unscaled(projected, MONEY_DECIMALS),
    projected_exceed_date: exceedDate(start, next, limit, cost, days, passedMs),
    currency: 'USD',
  }
}

function exceedDate(
  start: string,
  next: string,
  limit: bigint,
  cost: bigint,
  days: readonly DayCost[],
  passedMs: bigint,
): string | null {
  let sum = 0n
  for (const day of days) {
    sum += day.cost
    if (sum > limit) return day.date
  }
  if (cost === 0n) return null
  const date = dateOf(new Date(Date.parse(start) + Number((limit * passedMs) / cost)))
  return date < next ? date : null
}
