// Computes days, ranges and periods of the organization's time zone, `YYYY-MM-DD`, both ends inclusive, as the API does.

import { addDays, addMonths, daysBetween, type GRANULARITIES, mondayOf, UTC } from '../../base/dates.ts'

export interface Range {
  from: string
  to: string
}

export { addDays, mondayOf as weekOf }

let zone = UTC
/** Gives a day by Intl: not every browser has the Temporal of the server's `dayOf`. */
let dayFormat = new Intl.DateTimeFormat('sv-SE', { timeZone: zone })
/** The time zone of the organization whose pages are shown. */
export const timeZone = (): string => zone
export function useTimeZone(of: string): void {
  zone = of
  dayFormat = new Intl.DateTimeFormat('sv-SE', { timeZone: zone })
}

export const dayOfTime = (instant: Date | string): string => dayFormat.format(new Date(instant))
export const today = (): string => dayOfTime(new Date())
/** A range as the API's filters. */
export const datesIn = ({ from, to }: Range) => ({ date_from: from, date_to: to })
/** Days in a range. */
export const lengthOf = ({ from, to }: Range): number => daysBetween(from, to) + 1
/** The last `days` days up to today. */
export const lastDays = (days: number): Range => ({ from: addDays(today(), 1 - days), to: today() })
/** The range of the same length before. */
export const rangeBefore = (range: Range): Range => ({
  from: addDays(range.from, -lengthOf(range)),
  to: addDays(range.from, -1),
})
/** The last `days` days that are over. */
export const wholeDays = (days: number): Range =>
  rangeBefore({ from: today(), to: addDays(today(), days - 1) })
export const isDay = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))

export type Granularity = (typeof GRANULARITIES)[number]

/** The finest period of which the range has at most `most`; months, however many. */
export const finestGranularity = (range: Range, most: number): Granularity =>
  // the first week may begin before the range
  lengthOf(range) <= most ? 'day' : lengthOf(range) <= (most - 1) * 7 ? 'week' : 'month'
/** Monday is 0. */
export const weekdayOf = (day: string): number => daysBetween(mondayOf(day), day)

export const monthOf = (day: string): Range => ({
  from: addMonths(day, 0),
  to: addDays(addMonths(day, 1), -1),
})

export const isMonth = ({ from, to }: Range): boolean =>
  from === monthOf(from).from && to === monthOf(from).to

/**
 * The days of a range that are over, and those that they are compared with: as many before, of a month the same days of the
 * month before; undefined where none is over.
 */
export function comparedDays(
  { from, to }: Range,
  isMonthly = isMonth({ from, to }),
): Record<'now' | 'before', Range> | undefined {
  const [end = to] = [to, addDays(today(), -1)].sort()
  const now = { from, to: end }
  if (end < from) return undefined
  if (!isMonthly) return { now, before: rangeBefore(now) }
  const last = monthOf(addDays(from, -1))
  const [until = last.to] = [last.to, addDays(last.from, lengthOf(now) - 1)].sort()
  return { now, before: { from: last.from, to: end === to ? last.to : until } }
}

/** This month up to today, with the months before: `months` of them. */
export const lastMonths = (months: number): Range => ({ from: addMonths(today(), 1 - months), to: today() })

const periodOf = (day: string, granularity: Granularity): string =>
  granularity === 'day' ? day : granularity === 'week' ? mondayOf(day) : addMonths(day, 0)

/** The period that goes on. */
export const openPeriod = (granularity: Granularity): string => periodOf(today(), granularity)

/** The first days of the range's periods, as the API names them. */
export function periodsOf(range: Range, granularity: Granularity): string[] {
  const periods = new Set<string>()
  for (let day = range.from; day <= range.to; day = addDays(day, 1)) periods.add(periodOf(day, granularity))
  return [...periods]
}

/** The days of the range that belong to a period, which its first day names. */
export function daysOfPeriod(period: string, granularity: Granularity, range: Range): Range {
  const last =
    granularity === 'day' ? period : granularity === 'week' ? addDays(period, 6) : monthOf(period).to
  const [, from = period] = [period, range.from].sort()
  const [to = last] = [last, range.to].sort()
  return { from, to }
}
