// Computes what was spent of a budget and what will be, for the server and its pages.

import { addDays, addMonths, daysBetween, monthOf } from '../../base/dates.ts'
import { MONEY_DECIMALS, roundedQuotient, SCORE_DECIMALS, unscaled } from '../../base/decimals.ts'
import type { UsedBudget } from './model.ts'

export const ALERT_THRESHOLD_PERCENT = 80

/** The cost of a month before today, and today so far; micro-dollars. */
export interface Spent {
  before: bigint
  today: bigint
}

/**
 * The month's cost at its end, from whole days: what was spent until yesterday, the larger of today and the daily mean until
 * yesterday, and the mean for each day that is left. On the 1st the mean is today. `exceedsOn`: the first day whose end is
 * above a limit in micro-dollars; null if not this month.
 */
export function forecastOf({ before, today }: Spent, day: string) {
  const passed = daysBetween(monthOf(day), day)
  const left = BigInt(daysBetween(day, addMonths(day, 1)) - 1)
  // amounts are multiplied by the days of the mean, so that it is exact
  const [pace, days] = passed === 0 ? [today, 1n] : [before, BigInt(passed)]
  const tonight = before * days + (today * days > pace ? today * days : pace)
  return {
    cost: unscaled(roundedQuotient(tonight + pace * left, days), MONEY_DECIMALS),
    exceedsOn(limit: bigint): string | null {
      const room = limit * days - tonight
      if (room < 0n) return day
      const daysWithin = pace === 0n ? left : room / pace
      return daysWithin < left ? addDays(day, Number(daysWithin) + 1) : null
    },
  }
}

/** Says how much of a limit was spent, both in micro-dollars. A cost equal to the limit does not exceed it. */
export function usedOf(limit: bigint, cost: bigint): Omit<UsedBudget, 'scope'> {
  const isWarning = cost * 100n >= limit * BigInt(ALERT_THRESHOLD_PERCENT)
  return {
    limit: unscaled(limit, MONEY_DECIMALS),
    current_cost: unscaled(cost, MONEY_DECIMALS),
    percent_used: unscaled(roundedQuotient(cost * 10_000n, limit), SCORE_DECIMALS),
    status: cost > limit ? 'exceeded' : isWarning ? 'warning' : 'ok',
  }
}
