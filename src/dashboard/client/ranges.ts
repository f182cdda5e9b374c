// Reads the range of days that a page's address names, the days that it is compared with, and the usual weekdays of a day.

import {
  addDays,
  comparedDays,
  datesIn,
  isDay,
  isMonth,
  lastMonths,
  lengthOf,
  monthOf,
  type Range,
  rangeBefore,
  today,
  weekOf,
  wholeDays,
} from './days.ts'
import { formatRange, formatTimes, formatWeekdayName } from './format.ts'

const DEFAULT = '30d'
/** The first of all time. */
export const FIRST_DAY = '2020-01-01'

/** Ranges that have a name. Those of a number of days end yesterday. Weeks begin on Monday. */
export const NAMED_RANGES = [
  ['today', 'Today', () => ({ from: today(), to: today() })],
  ...([7, 30, 90, 365] as const).map(
    (days) => [`${days}d`, `Last ${days} whole days`, () => wholeDays(days)] as const,
  ),
  ['week', 'This week', () => ({ from: weekOf(today()), to: addDays(weekOf(today()), 6) })],
  ['last-week', 'Last week', () => rangeBefore({ from: weekOf(today()), to: addDays(weekOf(today()), 6) })],
  ['month', 'This month', () => monthOf(today())],
  ['last-month', 'Last month', () => monthOf(addDays(monthOf(today()).from, -1))],
  ['6m', 'Last 6 months', () => lastMonths(6)],
  ['all', 'All time', () => ({ from: FIRST_DAY, to: today() })],
] as const satisfies readonly (readonly [key: string, name: string, days: () => Range])[]

/** The name in the address; undefined for own days. */
export const rangeKeyOf = (query: URLSearchParams, usual = DEFAULT): string | undefined =>
  ownDays(query) === undefined
    ? (NAMED_RANGES.find(([key]) => key === query.get('range'))?.[0] ?? usual)
    : undefined

function ownDays(query: URLSearchParams): Range | undefined {
  const [from, to] = [query.get('from'), query.get('to')]
  return isDay(from) && isDay(to) ? { from, to } : undefined
}

/** The range of days that the page's address names, also one that ends before it begins; else the `usual` one. */
export function rangeOf(query: URLSearchParams, usual?: string): Range {
  const key = rangeKeyOf(query, usual)
  const [, , days] = NAMED_RANGES.find(([name]) => name === key) ?? NAMED_RANGES[2]
  return ownDays(query) ?? days()
}

/** The range as the API's filters. */
export const datesOf = (query: URLSearchParams, usual?: string) => datesIn(rangeOf(query, usual))

/** The days of the range that are over, and those that the address compares them with; undefined where none is over. */
export function comparedOf(
  query: URLSearchParams,
  usual?: string,
): Record<'now' | 'before', Range> | undefined {
  const range = rangeOf(query, usual)
  const ranges = comparedDays(range, isMonthly(query, usual))
  const against = query.get('against')
  if (ranges === undefined || against === null) return ranges
  const [from = '', to = ''] = against.split('..')
  if (isDay(from) && isDay(to)) return { now: ranges.now, before: { from, to } }
  return against === 'year' ? { now: ranges.now, before: yearBefore(ranges.now) } : ranges
}

/** The same days of the year before; 28 February for the 29th. */
const yearBefore = ({ from, to }: Range): Range => {
  const before = (day: string) => `${Number(day.slice(0, 4)) - 1}${day.slice(4)}`.replace('-02-29', '-02-28')
  return { from: before(from), to: before(to) }
}

/** The last 30 days are no month, also where they are the days of one. */
export function isMonthly(query: URLSearchParams, usual?: string): boolean {
  const key = rangeKeyOf(query, usual)
  return key === 'month' || key === 'last-month' || (key === undefined && isMonth(rangeOf(query, usual)))
}

/** `the 30 days before`, `1–29 Oct`. */
export function nameOfAgainst(query: URLSearchParams): string {
  const ranges = comparedOf(query)
  const against = query.get('against')
  if (ranges === undefined) return 'nothing: no day of it is over'
  const days = lengthOf(ranges.now)
  return against === 'year' || against?.includes('..') || isMonthly(query)
    ? formatRange(ranges.before)
    : days === 1
      ? 'the day before'
      : `the ${days} days before`
}

/** Weeks before a day whose same weekdays are its usual ones. */
const WEEKS = 4
/** Days before a range that its usual weekdays are of. */
export const USUAL_DAYS = 7 * WEEKS

export type CostOn = (day: string) => number

/** The mean of the same weekday in the four weeks before. */
export const usualOf = (costOn: CostOn, day: string): number =>
  Array.from({ length: WEEKS }, (_, week) => costOn(addDays(day, -7 * (week + 1)))).reduce(
    (sum, cost) => sum + cost,
    0,
  ) / WEEKS

/** The values of a chart say this of days that are over: `×1.4 a usual Thursday`. */
export const besideUsual = (costOn: CostOn, days: readonly string[]) => ({
  name: 'Compared',
  values: days.map((day) => {
    const usual = usualOf(costOn, day)
    return day >= today() || usual === 0
      ? '–'
      : `${formatTimes(costOn(day) / usual)} a usual ${formatWeekdayName(day)}`
  }),
})
