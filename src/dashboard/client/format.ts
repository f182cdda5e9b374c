// These functions write values. Days are UTC, as in the API; times are in the browser's zone by `Time` of parts/time.tsx.

const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })
const decimal = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
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
/** `12.3M`. */
export const formatCompact = (value: number): string => compact.format(value)
/** Writes dollars; an amount below a cent has all of its six decimals. */
export const formatDollars = (value: number): string =>
  value !== 0 && Math.abs(value) < 0.01 ? small.format(value) : cents.format(value)
/** Writes dollars of a turn, of which many cost about a cent: `$0.0231`. */
export const formatParts = (value: number): string => parts.format(value)
/** Writes dollars short enough for an axis: `$2.5K`. */
export const formatDollarTick = (value: number): string =>
  (value !== 0 && value < 0.01 ? small : value < 1_000 ? short : shorter).format(value)
/** Writes a fraction of 0 to 1 as a percentage: `12.5%`, `7.0%`. */
export const formatShare = (value: number): string => `${decimal.format(value * 100)}%`
/** Writes a number of hundredths, 0 to 100, as a percentage. */
export const formatPercent = (value: number): string => `${decimal.format(value)}%`
/** Writes a change with its sign: `+12.5%`, `−3.0%`. */
export const signed = (value: number, format: (value: number) => string): string =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${format(Math.abs(value))}`
/** Writes the change of a mean score: `+1.2 points`. */
export const formatPoints = (now: number, before: number): string =>
  signed(Math.round((now - before) * 10) / 10, (points) => `${formatScore(points)} points`)
/** Writes a time in UTC: `2026-01-31 12:34`. */
export const formatTime = (timestamp: string, hasSeconds = false): string =>
  timestamp.slice(0, hasSeconds ? 19 : 16).replace('T', ' ')

const dayMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' })
/** Names periods by their first days; those that are months without a day: `2026-01`. */
export const namesOf = (periods: readonly string[]): readonly string[] =>
  periods.length > 1 && periods.every((period) => /^\d{4}-\d\d-01$/.test(period))
    ? periods.map((period) => period.slice(0, 7))
    : periods

/** `3 August`, with the year where it is another than today's. */
export const formatDay = (day: string): string =>
  dayMonth.format(new Date(day)) +
  (day.slice(0, 4) === String(new Date().getUTCFullYear()) ? '' : ` ${day.slice(0, 4)}`)

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

/** `3 sessions`, `1 session`. */
export const countOf = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${formatWhole(count)} ${count === 1 ? noun : nouns}`
