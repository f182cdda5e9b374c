// Checks, reads and counts dates, times and spans of days. Dates are days as `YYYY-MM-DD`, of UTC or of a time zone that is
// named; timestamps are RFC 3339 with an offset; a time that is given is either, or without offset, seconds or fraction. `Date`
// alone cannot check them: it reads 2026-02-30 as 2 March.

import { memoize } from './memoize.ts'

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})[Tt ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/
const TIME_GIVEN =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(?::(\d{2}(?:\.\d{1,9})?))?(?:([Zz])|([+-]\d{2})(?::?(\d{2}))?)?)?$/
const FIRST_INSTANT_MS = Date.parse('0001-01-01T00:00:00Z')
const END_OF_INSTANTS_MS = Date.UTC(10_000, 0, 1)
export const DAY_MS = 86_400_000

/** True for a real day of the years 1 to 9999 in the form YYYY-MM-DD. */
export function isDate(text: string): boolean {
  const match = DATE.exec(text)
  if (match === null) return false
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  return year > 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** True for an RFC 3339 timestamp with an offset whose UTC instant lies in the years 1970 to 9999. */
export const isTimestamp = (text: string): boolean => isNormalized(text) || instantOf(text) >= 0

/** A time that is given as an RFC 3339 timestamp: UTC where it has no offset, midnight where it is a date; else the text. */
function timestampIn(text: string): string {
  const [, date, minute = '00:00', second = '00', utc = 'Z', hours, minutes = '00'] =
    TIME_GIVEN.exec(text) ?? []
  return date === undefined
    ? text
    : `${date}T${minute}:${second}${hours === undefined ? utc : `${hours}:${minutes}`}`
}

/** True for a date, or a date and a time with or without seconds, fraction and offset, of the years 1970 to 9999 in UTC. */
export const isTime = (text: string): boolean => isTimestamp(text) || isTimestamp(timestampIn(text))

/** The same for the years 1 to 9999. */
export const isInstant = (text: string): boolean => instantOf(timestampIn(text)) >= FIRST_INSTANT_MS

/** Milliseconds since 1970; NaN for a text that is no timestamp or lies after the year 9999. */
function instantOf(text: string): number {
  const [, date = ''] = TIMESTAMP.exec(text) ?? []
  const ms = isDate(date) ? millisOf(text) : Number.NaN
  return ms < END_OF_INSTANTS_MS ? ms : Number.NaN
}

const millisOf = (time: string): number => Date.parse(timestampIn(time).toUpperCase())

const NORMALIZED = /^(?:19[7-9]|[2-9]\d\d)\d-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
/** A day that each month has. */
const USUAL_DAY = /^.{5}(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T/

/** True for a timestamp that `normalizeTimestamp` returns as it is. */
export const isNormalized = (text: string): boolean =>
  NORMALIZED.test(text) && (USUAL_DAY.test(text) || isDate(text.slice(0, 10)))

/** A time as `2026-01-31T12:34:56.789Z`; digits beyond milliseconds are cut. The text must pass `isTime`. */
export const normalizeTimestamp = (text: string): string =>
  isNormalized(text) ? text : new Date(millisOf(text)).toISOString()

const FRACTION = /\.(\d+)/

/** A time as microseconds since 1970; further digits are cut. The text must pass `isTime`. `Date` gives whole seconds only. */
export function microsOf(text: string): bigint {
  const fraction = FRACTION.exec(text)?.[1] ?? ''
  const seconds = Math.floor(millisOf(text) / 1_000)
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0').slice(0, 6))
}

/** The last instant of the four-digit years, in microseconds since 1970. */
export const LAST_MICROS = microsOf('9999-12-31T23:59:59.999999Z')

/** Microseconds since 1970 as `2026-01-31T12:34:56.789123Z`. */
export function timestampOf(micros: bigint): string {
  const seconds = new Date(Number(micros / 1_000_000n) * 1_000).toISOString().slice(0, 19)
  return `${seconds}.${String(micros % 1_000_000n).padStart(6, '0')}Z`
}

/** The last day of the four-digit years; no range ends later. */
export const LAST_DATE = '9999-12-31'

/** The first day of the four-digit years; no range begins earlier. */
export const FIRST_DATE = '0001-01-01'

/** The day this number of days before, or FIRST_DATE. */
export function daysBefore(date: string, count: number): string {
  const earlier = addDays(date, -count)
  return isDate(earlier) ? earlier : FIRST_DATE
}

/** Whether a date of `addDays` or `addMonths` is after LAST_DATE: ISO 8601 writes those with a sign. */
export const isPastLastDate = (date: string): boolean => date.startsWith('+')

/** The UTC day of an instant. */
export const dateOf = (instant: Date | string): string =>
  (typeof instant === 'string' ? new Date(instant) : instant).toISOString().slice(0, 10)

/** Whether a text is the name of a time zone of IANA, or an alias of one; an offset such as +01:00 is none. */
export function isTimeZone(name: string): boolean {
  try {
    // Intl takes a name in any case; the programs that read it from us may not
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions()
    return /^[A-Z]/.test(name) && timeZone === name
  } catch {
    return false
  }
}

/** `hourOf` of a text such as `2026-10-25T00 Europe/Berlin`, in milliseconds; NaN for a day that no month has. */
const hourMs = memoize((text) => {
  const zone = text.slice(14)
  const utcMs = Date.parse(`${text.slice(0, 13)}:00Z`)
  // nothing is older than 1970, and the clocks of earlier centuries had odd offsets
  if (zone === UTC || !(utcMs >= -DAY_MS)) return utcMs
  const hour = Temporal.Instant.fromEpochMilliseconds(utcMs).toZonedDateTimeISO(UTC).toPlainDateTime()
  const first = hour.toZonedDateTime(zone, { disambiguation: 'earlier' })
  // a clock that skips the hour has not reached it at `first`, but when it changes
  const reached = first.toPlainDateTime().equals(hour) ? first : first.getTimeZoneTransition('next')
  return reached?.epochMilliseconds ?? utcMs
}, 20_000)

/** The zone of an organization that has chosen none. */
export const UTC = 'UTC'

/** The first instant of the day at which the zone's clock has reached the hour; one that is skipped begins with the next. */
export const hourOf = (day: string, hour: number, zone: string): Date =>
  new Date(hourMs(`${day}T${String(hour).padStart(2, '0')} ${zone}`))

export function dayOf(instant: Date | string, zone: string): string {
  const utcDay = dateOf(instant)
  if (zone === UTC) return utcDay
  const ms = typeof instant === 'string' ? Date.parse(instant) : instant.getTime()
  const isFrom = (day: string) => ms >= hourMs(`${day}T00 ${zone}`)
  const next = addDays(utcDay, 1)
  // the last day has no end
  if (utcDay < LAST_DATE && isFrom(next)) return next
  return isFrom(utcDay) ? utcDay : addDays(utcDay, -1)
}

/** The first instant of `2026-10-25 Europe/Berlin`, a day of a zone. */
const startOfDay = memoize((text) => hourOf(text.slice(0, 10), 0, text.slice(11)).toISOString(), 20_000)

/** The instants of a range of days of a time zone, both ends included; a bound that is undefined does not limit. */
export function instantsOf(from: string | undefined, to: string | undefined, zone: string) {
  const startOf = (day: string | undefined) => (day === undefined ? undefined : startOfDay(`${day} ${zone}`))
  return { from: startOf(from), before: startOf(daysOf(from, to).before) }
}

export const addDays = (date: string, days: number): string =>
  dateOf(new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS))

/** Days from Monday, 29 December 1969, to `date`. */
export function dayNumber(date: string): number {
  // a date without a time is one of UTC
  return Date.parse(date) / DAY_MS + 3
}

export const daysBetween = (from: string, to: string): number => dayNumber(to) - dayNumber(from)

const nextDay = memoize((date) => addDays(date, 1))
const nextMonth = memoize((date) => addMonths(date, 1))

export const monthOf = (date: string): string => `${date.slice(0, 7)}-01`

export function addMonths(date: string, months: number): string {
  // Date.UTC would not do: it reads the years 0 to 99 as 1900 to 1999
  const first = new Date(0)
  first.setUTCFullYear(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1 + months, 1)
  return dateOf(first)
}

export const mondayOf = (date: string): string =>
  addDays(date, -((new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7))

/** Rollup rows of one grain with `from` <= bucket < `before`; a bound that is undefined does not limit. */
export interface Span {
  grain: 'day' | 'month'
  from?: string | undefined
  before?: string | undefined
}

export const daysOf = (from: string | undefined, to: string | undefined): Span => ({
  grain: 'day',
  from,
  // LAST_DATE has no next day
  before: to === undefined || to >= LAST_DATE ? undefined : nextDay(to),
})

/** The rollup rows that cover a range of days, both included, each day once: whole months, and single days at the ends. */
export function spansOf(from: string | undefined, to: string | undefined): Span[] {
  const { before } = daysOf(from, to)
  const firstMonth = from === undefined || from === monthOf(from) ? from : nextMonth(from)
  const endMonth = before === undefined ? undefined : monthOf(before)
  const noWholeMonth =
    firstMonth !== undefined &&
    (isPastLastDate(firstMonth) || (endMonth !== undefined && firstMonth >= endMonth))
  if (noWholeMonth) return [{ grain: 'day', from, before }]
  const spans: Span[] = [{ grain: 'month', from: firstMonth, before: endMonth }]
  if (from !== firstMonth) spans.push({ grain: 'day', from, before: firstMonth })
  if (before !== endMonth) spans.push({ grain: 'day', from: endMonth, before })
  return spans
}

/** Most days of a month have passed from this day on. */
const LATE_DAY = 17

/** Rollup rows of a range of days, those of `subtracted` taken from `added`: at each end at most half of a month's days. */
export function shortSpansOf(from: string | undefined, to: string | undefined) {
  const { before } = daysOf(from, to)
  const direct = spansOf(from, to)
  // without a whole month there may be nothing to subtract from
  if (!direct.some(({ grain }) => grain === 'month')) return { added: direct, subtracted: [] }
  const isLate = (date: string) => Number(date.slice(8)) >= LATE_DAY
  const added: Span[] = []
  const subtracted: Span[] = []
  let first = from
  let end = before
  if (from !== undefined && from !== monthOf(from)) {
    first = isLate(from) ? addMonths(from, 1) : monthOf(from)
    if (isLate(from)) added.push({ grain: 'day', from, before: first })
    else subtracted.push({ grain: 'day', from: first, before: from })
  }
  if (before !== undefined && before !== monthOf(before)) {
    end = isLate(before) ? addMonths(before, 1) : monthOf(before)
    // no range ends after LAST_DATE: that month has no next
    if (isPastLastDate(end)) end = undefined
    if (isLate(before)) subtracted.push({ grain: 'day', from: before, before: end })
    else added.push({ grain: 'day', from: end, before })
  }
  added.push({ grain: 'month', from: first, before: end })
  return { added, subtracted }
}

/** Lengths of the buckets of a series. */
export const GRANULARITIES = ['day', 'week', 'month'] as const

/** PostgreSQL's `to_char` writes a timestamp at UTC with this pattern as the API gives timestamps. */
export const TIME_PATTERN = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'

/** The same pattern with microseconds. */
export const TIME_PATTERN_US = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
