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
type Sides = [before: Sums, after: Sums]
type Amounts = Record<(typeof KINDS)[number], bigint>
/** The work of a key while it is summed. */
type Sums = KeyWork & Record<'quantity' | 'base', Amounts>

const NOTHING = { model: '', price: '', calls: 0, tokens: KINDS.map(() => 0n), costs: KINDS.map(() => 0n) }
const noAmounts = (): Amounts => ({
  ...{ input: 0n, output: 0n, cache_read: 0n, cache_write_5m: 0n, cache_write_1h: 0n },
})
const noWork = (): Sums => ({
  ...{ isAtBase: true, prompts: 0, calls: 0, cost: 0n, undivided: 0n },
  ...{ quantity: noAmounts(), base: noAmounts() },
})

const NO_BASE = { base: [], isPaid: true }

/** Adds in place: a breakdown by branch may have ten thousand rows. */
function add(sums: Sums, more: KeyWork): void {
  sums.calls += more.calls
  sums.prompts += more.prompts
  sums.cost += more.cost
  sums.undivided += more.undivided
  sums.isAtBase &&= more.isAtBase
  for (const kind of KINDS) {
    sums.quantity[kind] += more.quantity[kind]
    sums.base[kind] += more.base[kind]
  }
}

function addUsed(
  sums: Sums,
  { calls, prompts, costs, tokens }: UsedSums,
  { base, isPaid }: ReturnType<typeof pricedAtBase>[0],
): void {
  sums.calls += calls
  sums.prompts += prompts
  sums.isAtBase &&= isPaid
  for (const cost of costs) sums.cost += cost
  for (const [index, kind] of KINDS.entries()) {
    sums.quantity[kind] += tokens[index] ?? 0n
    sums.base[kind] += base[index] ?? 0n
  }
}

/** The work of each key before and after. */
function workByKey(
  rows: readonly UsedSums[],
  pricesOf: (model: string, price: string) => BasePrices,
): Map<string | null, Sides> {
  const byKey = new Map<string | null, Sides>()
  for (const [key, own] of Map.groupBy(rows, (row) => row.key)) {
    const sides: Sides = [noWork(), noWork()]
    byKey.set(key, sides)
    for (const { isAfter, undivided } of own) sides[isAfter ? 1 : 0].undivided += undivided
    const used = own.filter(({ tokens }) => tokens.length > 0)
    // a key of one range, as most branches are, is divided no further
    if (used.every(({ isAfter }) => isAfter === used[0]?.isAfter)) {
      for (const row of used) addUsed(sides[row.isAfter ? 1 : 0], row, NO_BASE)
      continue
    }
    for (const cell of Map.groupBy(used, ({ model, price }) => `${model}\n${price}`).values()) {
      const { model, price } = cell[0] ?? NOTHING
      const ofSide = (isAfter: boolean) => cell.find((row) => row.isAfter === isAfter)
      const [before, after] = [ofSide(false), ofSide(true)]
      const bases = pricedAtBase(pricesOf(model, price), [before ?? NOTHING, after ?? NOTHING])
      if (before !== undefined) addUsed(sides[0], before, bases[0])
      if (after !== undefined) addUsed(sides[1], after, bases[1])
    }
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
  const [before, after] = [noWork(), noWork()]
  for (const { sides } of keys) {
    add(before, sides[0])
    add(after, sides[1])
  }
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
