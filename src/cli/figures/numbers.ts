// Writes numbers, money and times as the terminal shows them.

import { plural } from '../../base/text.ts'

const CENTS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
const MICROS = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 6,
})
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
const WHOLE = new Intl.NumberFormat('en-US')

/** US dollars: to the cent, below a cent with all of the six decimals that an amount may have. */
export const money = (dollars: number): string =>
  (dollars > 0 && dollars < 0.01 ? MICROS : CENTS).format(dollars)

/** A number of many digits in short: 1.2M. */
export const compact = (number: number): string => COMPACT.format(number)

export const whole = (number: number): string => WHOLE.format(number)

export const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)}%`

/** An instant to the minute; UTC. */
export const minute = (timestamp: string): string => timestamp.slice(0, 16).replace('T', ' ')

/** `1 session`, `1,234 sessions`. */
export const counted = (number: number, one: string): string => plural(whole(number), one)
