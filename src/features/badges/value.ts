// Computes the value, text and color of a badge from sums, without a database.

import { addMonths, daysBetween, monthOf } from '../../base/dates.ts'
import { roundedQuotient } from '../../base/decimals.ts'
import type { Badge, BadgeKind, BadgeLook } from './model.ts'

const GREY = 'grey'
const LIGHT_GREY = 'lightgrey'
export const DEFAULT_THRESHOLDS: NonNullable<BadgeLook['thresholds']> = [80, 50]
export const DEFAULT_COLORS: NonNullable<BadgeLook['colors']> = ['brightgreen', 'yellow', 'red']

/** Percent of the budget up to which the efficiency is 100, and from which it is 0. */
const FULL_PERCENT = 80n
const NONE_PERCENT = 200n
/** Least common multiple of 28, 29, 30 and 31: a month's limit times this is divisible by the number of its days. */
const DAY_PARTS = 377_580n

/** A monthly budget in force from `month` on (its first day); `limit` in micro-dollars. */
interface Limit {
  month: string
  limit: bigint
}

/** The badge of an organization that is unknown or does not show its badges. */
export const unknownBadge = (kind: BadgeKind): Badge => ({ label: kind, message: 'unknown', color: GREY })

/** The image for a request with a bad parameter, of any organization. */
export const invalidBadge = (kind: BadgeKind): Badge => ({ label: kind, message: 'invalid', color: GREY })

/** The badge of a value from 0 to 100, or `n/a` for undefined, with the organization's appearance. */
export function badgeOf(kind: BadgeKind, value: number | undefined, look: BadgeLook): Badge {
  const label = look.labels?.[kind] ?? kind
  if (value === undefined) return { label, message: 'n/a', color: LIGHT_GREY }
  const [good, fair] = look.thresholds ?? DEFAULT_THRESHOLDS
  const [goodColor, fairColor, poorColor] = look.colors ?? DEFAULT_COLORS
  const color = value >= good ? goodColor : value >= fair ? fairColor : poorColor
  return { label, message: String(value), color }
}

/** The mean of `sessions` scores with a sum of `sum` hundredths, rounded to an integer; undefined without sessions. */
export function meanValue(sum: bigint, sessions: bigint): number | undefined {
  return sessions === 0n ? undefined : Number(roundedQuotient(sum, sessions * 100n))
}

/**
 * Cost efficiency, an integer from 0 to 100: `cost` micro-dollars compared with the budget of `days`. The budget of a day
 * is the limit of its month divided by the days of the month; the first limit also applies to the days before it. 100 up
 * to 80 % of the budget, then falling linearly to 0 at 200 %; undefined without a limit.
 */
export function efficiency(cost: bigint, days: readonly string[], limits: readonly Limit[]) {
  const [first] = limits
  if (first === undefined) return undefined
  let budget = 0n
  for (const day of days) {
    const month = monthOf(day)
    const { limit } = limits.findLast((candidate) => candidate.month <= month) ?? first
    budget += (limit * DAY_PARTS) / BigInt(daysBetween(month, addMonths(month, 1)))
  }
  const spent = cost * DAY_PARTS * 100n
  if (spent <= budget * FULL_PERCENT) return 100
  if (spent >= budget * NONE_PERCENT) return 0
  const left = budget * NONE_PERCENT - spent
  return Number(roundedQuotient(left * 100n, budget * (NONE_PERCENT - FULL_PERCENT)))
}
