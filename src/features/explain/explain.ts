import { type BasePrices, pricedAtBase } from '../../analysis/scoring/base-prices.ts'
import {
  CAUSES,
  type Cause,
  type ChangeParts,
  type KeyWork,
  partsOf,
} from '../../analysis/scoring/change-parts.ts'
import { MONEY_DECIMALS, unscaled } from '../../base/decimals.ts'
import { compareText } from '../../base/text.ts'
import type { Explanation } from './model.ts'

// Explains a change of cost from sums of what was used, without a database.

/** The kinds of tokens and costs, in the order of the sums. */
const KINDS = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h'] as const

/** Sums of a key's use of a model under the same terms in one range; costs in micro-dollars. */
export interface UsedSums {
  key: string | null
  isAfter: boolean
  model: string
  price: string
  calls: number
  prompts: number
  tokens: readonly bigint[]
  costs: readonly bigint[]
  /** Costs without tokens, and those of sessions without calls. */
  undivided: bigint
}

type Range = { from: string; to: string }
type Sides = [before: KeyWork, after: KeyWork]
type Amounts = Record<(typeof KINDS)[number], bigint>

const NOTHING = { calls: 0, tokens: KINDS.map(() => 0n), costs: KINDS.map(() => 0n) }
const amountsOf = (of: (kind: (typeof KINDS)[number], index: number) => bigint) =>
  Object.fromEntries(KINDS.map((kind, index) => [kind, of(kind, index)])) as Amounts
const NO_WORK: KeyWork = {
  isAtBase: true,
  ...{
    prompts: 0,
    calls: 0,
    cost: 0n,
    undivided: 0n,
    quantity: amountsOf(() => 0n),
    base: amountsOf(() => 0n),
  },
}

const workOf = (
  { tokens, costs, ...counts }: UsedSums,
  { base, isPaid }: ReturnType<typeof pricedAtBase>[0],
): KeyWork => ({
  ...counts,
  isAtBase: isPaid,
  cost: sumOf(costs),
  quantity: amountsOf((_, index) => tokens[index] ?? 0n),
  base: amountsOf((_, index) => base[index] ?? 0n),
})

const joined = (one: KeyWork, other: KeyWork): KeyWork => ({
  calls: one.calls + other.calls,
  prompts: one.prompts + other.prompts,
  cost: one.cost + other.cost,
  undivided: one.undivided + other.undivided,
  isAtBase: one.isAtBase && other.isAtBase,
  quantity: amountsOf((kind) => one.quantity[kind] + other.quantity[kind]),
  base: amountsOf((kind) => one.base[kind] + other.base[kind]),
})

/** The work of each key before and after. */
function workByKey(
  rows: readonly UsedSums[],
  pricesOf: (model: string, price: string) => BasePrices,
): Map<string | null, Sides> {
  const cells = Map.groupBy(rows, ({ key, model, price }) => JSON.stringify([key, model, price]))
  const byKey = new Map<string | null, Sides>()
  for (const cell of cells.values()) {
    const [first] = cell
    if (first === undefined) continue
    const [before, after] = [false, true].map((side) => cell.find(({ isAfter }) => isAfter === side))
    const bases = pricedAtBase(pricesOf(first.model, first.price), [before ?? NOTHING, after ?? NOTHING])
    const sides = byKey.getOrInsertComputed(first.key, () => [NO_WORK, NO_WORK])
    if (before !== undefined) sides[0] = joined(sides[0], workOf(before, bases[0]))
    if (after !== undefined) sides[1] = joined(sides[1], workOf(after, bases[1]))
  }
  return byKey
}

const dollarsOf = (micros: bigint): number => unscaled(micros, MONEY_DECIMALS)
const costOf = ({ cost, undivided }: KeyWork): bigint => cost + undivided
const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)
const sizeOf = (amount: bigint): bigint => (amount < 0n ? -amount : amount)

/** A quotient with 6 decimals; null where nothing is divided by. */
const quotient = (over: number, under: number): number | null =>
  under === 0 ? null : Math.round((over / under) * 1e6) / 1e6

/** Returns what drives a cause. */
function driverOf(cause: Cause, { prompts, calls, quantity }: KeyWork): number | null {
  const perCall = (...counts: bigint[]) => quotient(Number(sumOf(counts)), calls)
  switch (cause) {
    case 'prompts':
      return prompts
    case 'calls_per_prompt':
      return quotient(calls, prompts)
    case 'input_per_call':
      return perCall(quantity.input)
    case 'output_per_call':
      return perCall(quantity.output)
    case 'cache_read_per_call':
      return perCall(quantity.cache_read)
    case 'cache_write_per_call':
      return perCall(quantity.cache_write_5m, quantity.cache_write_1h)
    default:
      return null
  }
}

/** The explanation but for its facts: each key's parts, and those of the total, which are their sums. */
export function explain(
  rows: readonly UsedSums[],
  pricesOf: (model: string, price: string) => BasePrices,
  { range, against, page, per_page }: { range: Range; against: Range; page: number; per_page: number },
): Omit<Explanation, 'facts'> {
  const keys = [...workByKey(rows, pricesOf)].map(([key, [before, after]]) => ({
    ...{ key, before: costOf(before), after: costOf(after), sides: [before, after] as const },
    ...{ change: costOf(after) - costOf(before), parts: partsOf(before, after) },
  }))
  keys.sort((a, b) => {
    const [one, other] = [sizeOf(a.change), sizeOf(b.change)]
    if (one !== other) return one > other ? -1 : 1
    return a.key === null ? 1 : b.key === null ? -1 : compareText(a.key, b.key)
  })
  const [before, after] = [0, 1].map((side) =>
    keys.reduce((work, { sides }) => joined(work, sides[side] ?? NO_WORK), NO_WORK),
  ) as Sides
  const partOf = (cause: Cause) => sumOf(keys.map(({ parts }) => parts[cause]))
  return {
    ...range,
    against,
    before: dollarsOf(costOf(before)),
    after: dollarsOf(costOf(after)),
    change: dollarsOf(costOf(after) - costOf(before)),
    parts: CAUSES.map((cause) => ({
      ...{ cause, amount: dollarsOf(partOf(cause)) },
      ...{ before: driverOf(cause, before), after: driverOf(cause, after) },
    })),
    data: keys.slice((page - 1) * per_page, page * per_page).map((each) => ({
      ...{ key: each.key, before: dollarsOf(each.before), after: dollarsOf(each.after) },
      ...{ change: dollarsOf(each.change), parts: shown(each.parts) },
    })),
    pagination: { page, per_page, total: keys.length },
  }
}

const shown = (parts: ChangeParts) =>
  Object.fromEntries(CAUSES.map((cause) => [cause, dollarsOf(parts[cause])])) as Record<Cause, number>
