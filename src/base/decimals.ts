// Exact decimal arithmetic for money and scores on the doubles of JSON: a number counts as the shortest decimal that denotes
// it, which is what was sent. It is scaled to an integer and rounded half up.

/** `value` × 10^decimals as an integer, half up. The value must be finite and not negative. */
export function scaled(value: number, decimals: number): bigint {
  const units = Math.round(value * 10 ** decimals)
  // no two decimals with up to 15 digits are the same double
  if (units < 1e15 && units / 10 ** decimals === value) return BigInt(units)
  const [mantissa = '0', exponent = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const digits = BigInt(whole + fraction)
  const shift = Number(exponent) - fraction.length + decimals
  if (shift >= 0) return digits * 10n ** BigInt(shift)
  const divisor = 10n ** BigInt(-shift)
  return (2n * digits + divisor) / (2n * divisor)
}

/** An integer of units of 10^-decimals as the nearest double: 4431277n micro-dollars are 4.431277. */
export function unscaled(units: bigint, decimals: number): number {
  // the quotient of two exact doubles is rounded once, like the decimal text
  const exact = -MAX_EXACT <= units && units <= MAX_EXACT
  return exact ? Number(units) / 10 ** decimals : Number(decimalText(units, decimals))
}

const MAX_EXACT = BigInt(Number.MAX_SAFE_INTEGER)

/** The text of a numeric column as an integer of units of its last decimal: `4.431277` is 4431277n. */
export const unitsOf = (numeric: string): bigint => BigInt(numeric.replace('.', ''))

/** An integer of units of 10^-decimals as text, for SQL: `4.431277`. */
export function decimalText(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : ''
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/** The integer quotient rounded half up; both must not be negative, the divisor above 0. */
export const roundedQuotient = (dividend: bigint, divisor: bigint): bigint =>
  (2n * dividend + divisor) / (2n * divisor)

export const MONEY_DECIMALS = 6
export const SCORE_DECIMALS = 2

/** Micro-dollars, an integer as text, as US dollars; a double is exact to 15 digits. */
export const dollarsOf = (micros: string): number =>
  micros.length < 16 ? Number(micros) / 10 ** MONEY_DECIMALS : unscaled(BigInt(micros), MONEY_DECIMALS)
