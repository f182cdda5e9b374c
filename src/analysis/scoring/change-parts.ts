// Computes the causes of a change of cost between two ranges, by the additive decomposition of Sato and Vartia: exact, whatever the
// order of the ranges, in logarithms (`logPartsOf`, linear: means of them are the parts of a mean) and in money (`partsOf`).
//
// How to use it. Sum what was used in a range to a `Work`: the calls, and for each kind of tokens their quantity and `base`,
// which is what they cost at the prices of one day, the same for both ranges (base-prices.ts). Sums come first, as integers
// or in a fixed order: the result does not depend on the order of rows. Then
//   - `logPartsOf(before, after)` for the logarithms of the change of cost; the parts of cost per prompt are all but `prompts`.
//     Costs without tokens may be the kind `other`, whose quantity is its base;
//   - `roundedParts(parts, total)` for money from these: amounts that add up to about `total` become integers that do exactly;
//   - `partsOf(before, after)` for the change of one key in micro-dollars, with what cannot be divided apart.

export const WORK_KINDS = [
  'input',
  'output',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'other',
] as const
export type WorkKind = (typeof WORK_KINDS)[number]

/** An amount of each of WORK_KINDS; nothing of `other` where it is left out. */
export type Amounts = ArrayLike<number>

export interface Work {
  prompts: number
  calls: number
  /** Micro-dollars that were paid. */
  cost: number
  /** Tokens of each kind. */
  quantity: Amounts
  /** The same at the prices of one day, in any unit of money. */
  base: Amounts
}

export const LOG_CAUSES = [
  'prompts',
  'calls_per_prompt',
  'model_mix',
  ...WORK_KINDS.map((kind) => `${kind}_per_call` as const),
  'price',
] as const
export type LogCause = (typeof LOG_CAUSES)[number]
export type LogParts = Record<LogCause, number>

/** The causes of a change in money, in the order in which they are shown where they are of one size. */
export const CAUSES = [
  'prompts',
  'calls_per_prompt',
  'model_mix',
  'input_per_call',
  'output_per_call',
  'cache_read_per_call',
  'cache_write_per_call',
  'price',
  'undivided',
] as const
export type Cause = (typeof CAUSES)[number]
export type ChangeParts = Record<Cause, number>

const sumOf = (amounts: Amounts): number => Array.from(amounts).reduce((sum, amount) => sum + amount, 0)

/** The logarithmic mean; both are above 0. */
function meanOf(a: number, b: number): number {
  if (a === b) return a
  // the quotient of two that are close has lost what makes them different
  const isClose = Math.abs(a - b) < b / 2
  return (a - b) / (isClose ? Math.log1p((a - b) / b) : Math.log(a / b))
}

/**
 * The parts of ln(cost after / cost before). Undefined where one side has no prompts, calls or cost, or both have no kind of
 * tokens with a price in common: such a change has no causes within.
 */
export function logPartsOf(before: Work, after: Work): LogParts | undefined {
  const sides = [before, after]
  if (sides.some(({ prompts, calls, cost }) => prompts === 0 || calls === 0 || cost <= 0)) return undefined
  const [all0, all1] = [sumOf(before.base), sumOf(after.base)]
  const kinds = WORK_KINDS.map((kind, at) => {
    const [quantity0 = 0, quantity1 = 0] = [before.quantity[at], after.quantity[at]]
    const [base0 = 0, base1 = 0] = [before.base[at], after.base[at]]
    const isCommon = quantity0 > 0 && quantity1 > 0 && base0 > 0 && base1 > 0
    const mean = isCommon ? meanOf(base0 / all0, base1 / all1) : undefined
    return { kind, quantity0, quantity1, base0, base1, mean }
  })
  const sum = kinds.reduce((total, { mean = 0 }) => total + mean, 0)
  if (sum === 0) return undefined
  let mix = 0
  const perCall = kinds.map(({ kind, quantity0, quantity1, base0, base1, mean }) => {
    // a kind that comes or goes
    if (mean === undefined) return [`${kind}_per_call`, (base1 / all1 - base0 / all0) / sum]
    const weight = mean / sum
    mix += weight * Math.log((base1 * quantity0) / (base0 * quantity1))
    return [`${kind}_per_call`, weight * Math.log((quantity1 * before.calls) / (quantity0 * after.calls))]
  })
  return {
    ...(Object.fromEntries(perCall) as Record<`${WorkKind}_per_call`, number>),
    // products come first: 0 where they are equal
    prompts: Math.log(after.prompts / before.prompts),
    calls_per_prompt: Math.log((after.calls * before.prompts) / (before.calls * after.prompts)),
    model_mix: mix,
    price: Math.log((after.cost * all0) / (before.cost * all1)),
  }
}

/** Amounts as integers that add up to `total`, as the given ones do but for rounding: by the largest remainder, ties to the first. */
export function roundedParts<Name extends string>(
  amounts: Readonly<Record<Name, number>>,
  total: number,
): Record<Name, number> {
  const names = Object.keys(amounts) as Name[]
  const parts: Record<Name, number> = { ...amounts }
  for (const name of names) parts[name] = Math.floor(amounts[name])
  const remainder = (name: Name): number => amounts[name] - parts[name]
  const largest = names.toSorted((a, b) => remainder(b) - remainder(a))
  let rest = names.reduce((left, name) => left - parts[name], total)
  // logarithms of large amounts may be off by more than one
  const unit = Math.sign(rest)
  for (let at = 0; Math.abs(rest) >= 1; at = (at + 1) % largest.length) {
    const name = largest.at(unit > 0 ? at : -1 - at)
    if (name === undefined) break
    parts[name] += unit
    rest -= unit
  }
  return parts
}

/** The work of a key, and beside its `cost` what was paid without tokens or calls, in micro-dollars: no amount is `other`. */
export interface KeyWork extends Work {
  undivided: number
  /** Its cost is that of its base, but for the rounding of each call: no price is different. */
  isAtBase: boolean
}

/** The parts of a key's change of cost, which add up to it, in micro-dollars: all is prompts where causes are not defined. */
export function partsOf(before: KeyWork, after: KeyWork): ChangeParts {
  const undivided = after.undivided - before.undivided
  const change = after.cost - before.cost
  const none = Object.fromEntries(CAUSES.map((cause) => [cause, 0])) as ChangeParts
  const logs = logPartsOf(before, after)
  if (logs === undefined) return { ...none, prompts: change, undivided }
  const mean = meanOf(after.cost, before.cost)
  const { cache_write_5m_per_call, cache_write_1h_per_call, other_per_call: _other, ...others } = logs
  const amounts = { ...others, cache_write_per_call: cache_write_5m_per_call + cache_write_1h_per_call }
  const isAtBase = before.isAtBase && after.isAtBase
  const inMoney = CAUSES.flatMap((cause): [Cause, number][] =>
    cause === 'undivided' ? [] : [[cause, cause === 'price' && isAtBase ? 0 : amounts[cause] * mean]],
  )
  if (isAtBase) {
    // rounding leaves something, which would be that of a price: the largest part gets it
    const largest = inMoney.reduce((most, part) => (Math.abs(part[1]) > Math.abs(most[1]) ? part : most))
    largest[1] += inMoney.reduce((rest, [, amount]) => rest - amount, change)
  }
  return { ...none, ...roundedParts(Object.fromEntries(inMoney), change), undivided }
}
