import { addMonths, daysBetween, monthOf } from '../dates.ts'
import { roundedQuotient } from '../decimals.ts'
import type { Badge, BadgeKind, BadgeLook } from './model.ts'

// The value of a badge, computed from sums. Pure.

const GREY = 'grey'
const LIGHT_GREY = 'lightgrey'
const DEFAULT_THRESHOLDS: NonNullable<BadgeLook['thresholds']> = [80, 50]
const DEFAULT_COLORS: NonNullable<BadgeLook['colors']> = ['brightgreen', 'yellow', 'red']

/** Percent of the budget up to which spending is fully efficient, and from which it is not at all. */
const FULL_PERCENT = 80n
const NONE_PERCENT = 200n
/** Least common multiple of 28, 29, 30 and 31: a month's limit divides into this many parts a day without a remainder. */
const DAY_PARTS = 377_580n

/** A budget from its month on: `month` is its first day, `limit` in micro-dollars. */
export interface Limit {
  month: string
  limit: bigint
}

/** The badge of an organization that is unknown or does not show its badges. */
export const unknownBadge = (kind: BadgeKind): Badge => ({ label: kind, message: 'unknown', color: GREY })

/** The badge of a value from 0 to 100, in the organization's looks; undefined: there is none. */
export function badgeOf(kind: BadgeKind, value: number | undefined, look: BadgeLook): Badge {
  const label = look.labels?.[kind] ?? kind
  if (value === undefined) return { label, message: 'n/a', color: LIGHT_GREY }
  const [good, fair] = look.thresholds ?? DEFAULT_THRESHOLDS
  const [goodColor, fairColor, poorColor] = look.colors ?? DEFAULT_COLORS
  const color = value >= good ? goodColor : value >= fair ? fairColor : poorColor
  return { label, message: String(value), color }
}

/** Mean of `sessions` scores that sum up to `sum` hundredths, as a whole number; undefined without sessions. */
export function meanValue(sum: bigint, sessions: bigint): number | undefined {
  return sessions === 0n ? undefined : Number(roundedQuotient(sum, sessions * 100n))
}

/**
 * Cost efficiency, 0 to 100, as a whole number: `cost` micro-dollars spent on `days` against the budget for them.
 * Each day's budget is its month's limit divided by the month's days; days before the first limit are held to the
 * first. 100 up to 80 % of the budget, falling linearly to 0 at 200 %. undefined without a limit.
 */
export function efficiency(
  cost: bigint,
  days: readonly string[],
  limits: readonly Limit[],
): number | undefined {
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
