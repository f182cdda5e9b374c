// Writes numbers, money, shares, changes, days, times and counts as texts. Days are those of the API; times are in the
// browser's zone by `Time` of parts/values.tsx.

import { plural } from '../../base/text.ts'
import type { Endpoint } from '../../webhooks/model.ts'

const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })
const decimal = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat('en-US', {
  ...{ notation: 'compact', minimumFractionDigits: 1, maximumFractionDigits: 1 },
})
const dollars = (options: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', ...options })
const cents = dollars({})
const small = dollars({ maximumFractionDigits: 6 })
const parts = dollars({ minimumFractionDigits: 4 })
const short = dollars({ trailingZeroDisplay: 'stripIfInteger' })
const shorter = dollars({ notation: 'compact', maximumFractionDigits: 2 })

export const formatNumber = (value: number): string => number.format(value)
/** Writes a score or its points: `79.3`. */
export const formatScore = (value: number): string => decimal.format(value).replace('-', '−')
export const formatWhole = (value: number): string => whole.format(value)
/** `34.0M`; whole below a thousand. */
export const formatCompact = (value: number): string =>
  value < 1_000 ? whole.format(value) : compact.format(value)
/** The `n`-fold: `×1.5`, `×861`. */
export const formatTimes = (value: number): string =>
  value > 0 && value < 0.05 ? '<×0.1' : `×${value < 10 ? decimal.format(value) : whole.format(value)}`
export const formatDollars = (value: number): string =>
  value !== 0 && Math.abs(value) < 0.005 ? '<$0.01' : cents.format(value).replace('-', '−')
/** Writes dollars of a turn, of which many cost about a cent: `$0.0231`. */
export const formatParts = (value: number): string => parts.format(value)
/** Writes dollars short enough for an axis: `$2.5K`. */
export const formatDollarTick = (value: number): string =>
  (value !== 0 && value < 1 ? small : value < 1_000 ? short : shorter).format(value)
/** Writes a fraction of 0 to 1 as a percentage: `12.5%`, `7.0%`. */
export const formatShare = (value: number): string => `${decimal.format(value * 100)}%`
/** Writes a number of hundredths, 0 to 100, as a percentage. */
export const formatPercent = (value: number): string => `${decimal.format(value)}%`
/** Writes a change with its sign: `+12.5%`, `−3.0%`; without it what is below a cent. */
export const signed = (value: number, format: (value: number) => string): string =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${format(Math.abs(value))}`.replace(/^[+−]</, '<')
/** Writes a change by its part of what was before, a large one by its multiple: `+12.5%`, `×60`. */
export const formatGrowth = (now: number, before: number): string =>
  now >= 10 * before ? formatTimes(now / before) : signed((now - before) / before, formatShare)
/** Writes the change of a mean score: `+1.2 points`. */
export const formatPoints = (now: number, before: number): string =>
  signed(Math.round((now - before) * 10) / 10, (points) => `${formatScore(points)} points`)
/** Writes a time in UTC: `2026-01-31 12:34`. */
export const formatTime = (timestamp: string, hasSeconds = false): string =>
  timestamp.slice(0, hasSeconds ? 19 : 16).replace('T', ' ')

const local = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short' })
/** `2026-01-31 12:34` in the browser's zone. */
export const localTime = (at: string): string => local.format(new Date(at))

const english = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', ...options })
  return (day: string): string => format.format(new Date(day))
}
const shortMonth = english({ month: 'short' })
const longMonth = english({ month: 'long' })
const shortWeekday = english({ weekday: 'short' })
/** `Thursday`. */
export const formatWeekdayName = english({ weekday: 'long' })
const dayOfMonth = (day: string): number => Number(day.slice(8, 10))

/** ` 2025` where it is another than this year. */
const otherYear = (day: string): string =>
  day.slice(0, 4) === String(new Date().getUTCFullYear()) ? '' : ` ${day.slice(0, 4)}`
/** `29 Nov`, with the year where it is another than today's. */
export const formatDay = (day: string): string => `${dayOfMonth(day)} ${shortMonth(day)}${otherYear(day)}`
/** `Thu 26 Nov`. */
export const formatWeekday = (day: string): string => `${shortWeekday(day)} ${formatDay(day)}`
/** `Sunday 29 November`. */
export const formatLongDay = (day: string): string =>
  `${formatWeekdayName(day)} ${dayOfMonth(day)} ${longMonth(day)}`
/** `November`, with the year where it is another than today's. */
export const formatMonth = (day: string): string => longMonth(day) + otherYear(day)
/** `22–28 Nov`, `30 Oct – 3 Nov`, `November` for a whole month. */
export function formatRange({ from, to }: { from: string; to: string }): string {
  if (from === to) return formatDay(from)
  const isMonth = from.endsWith('-01') && new Date(Date.parse(to) + 86_400_000).getUTCDate() === 1
  if (from.slice(0, 7) !== to.slice(0, 7)) return `${formatDay(from)} – ${formatDay(to)}`
  return isMonth ? formatMonth(from) : `${dayOfMonth(from)}–${formatDay(to)}`
}

/** `in November`, `from 1 to 20 Nov`, `from 30 Oct to 3 Nov`, `on 3 Nov`. */
export function inRange(range: { from: string; to: string }): string {
  const { from, to } = range
  if (from === to) return `on ${formatDay(from)}`
  if (!/^\d/.test(formatRange(range))) return `in ${formatRange(range)}`
  return `from ${from.slice(0, 7) === to.slice(0, 7) ? dayOfMonth(from) : formatDay(from)} to ${formatDay(to)}`
}

/** Names periods by their first days; those that are months without a day: `Jan 2026`. */
export const periodNames = (periods: readonly string[]): readonly string[] =>
  periods.length > 1 && periods.every((period) => /^\d{4}-\d\d-01$/.test(period))
    ? periods.map((period) => `${shortMonth(period)} ${period.slice(0, 4)}`)
    : periods.map((period) => (/^\d{4}-\d\d-\d\d$/.test(period) ? formatDay(period) : period))

const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const

/** `2.5 h`. */
export function formatDuration(seconds: number): string {
  const unit = UNITS.find(([size]) => seconds >= size)
  return unit === undefined
    ? `${formatNumber(seconds)} s`
    : `${number.format(Math.round((seconds / unit[0]) * 10) / 10)} ${unit[1]}`
}

/** `Project`. */
export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** The plural of what costs are broken down by. */
export const pluralOf = (by: string): string => (by.endsWith('ch') ? `${by}es` : `${by}s`)

/** `3 sessions`, `1 session`. */
export const countOf = (count: number, noun: string, nouns = `${noun}s`): string =>
  plural(formatWhole(count), noun, nouns)

/** `3 branches`, `1 branch`: of the plural. */
export const countIn = (count: number, nouns: string): string =>
  countOf(count, nouns.replace(/ies$/, 'y').replace(/(ch)es$|s$/, '$1'), nouns)

/** `4 times in a row, the last answer 500: the receiver itself failed`: the failures of a webhook. */
export function timesFailed({ consecutive_failures, last_status_code: code }: Endpoint['health']): string {
  const times = `${countOf(consecutive_failures, 'time')} in a row`
  if (code === null) return `${times}, without an answer`
  const meaning =
    code >= 500
      ? ': the receiver itself failed'
      : code >= 400
        ? ': the receiver refused it'
        : code >= 300
          ? ': redirects are not followed'
          : ''
  return `${times}, the last answer ${code}${meaning}`
}

/** `Ada, Ben and 3 others`: `most` names, and one more that would be the only other one. */
export function someOf(names: readonly string[], most: number): string {
  const shown = names.length > most + 1 ? most : names.length
  return `${names.slice(0, shown).join(', ')}${names.length > shown ? ` and ${names.length - shown} others` : ''}`
}

const DAY_MS = 86_400_000
/** Whole days since a time. */
export const daysAgo = (at: string): number => Math.max(0, Math.floor((Date.now() - Date.parse(at)) / DAY_MS))

/** `66.2 GB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  return `${power === 0 ? bytes : decimal.format(bytes / 1000 ** power)} ${['B', 'kB', 'MB', 'GB', 'TB'][power]}`
}
