// Explains a change of cost from sums of what was used, without a database.

import { type BasePrices, PICO_PER_MICRO, paidPrices } from '../../analysis/scoring/base-prices.ts'
import {
  CAUSES,
  type Cause,
  type ChangeParts,
  type KeyWork,
  partsOf,
} from '../../analysis/scoring/change-parts.ts'
import { PRICED_KINDS } from '../../analysis/scoring/prices.ts'
import { compareText } from '../../base/text.ts'
import type { Explanation } from './model.ts'

/** Sums of the use of a model under the same terms in one range, by key; costs in micro-dollars. */
export interface UsedSums {
  isAfter: boolean
  model: string
  price: string
  /**
   * The cost that is not divided, and of sessions with calls: calls, prompts, tokens of each of PRICED_KINDS, and their costs. A session
   * without calls says nothing of what drives its cost.
   */
  used: readonly (readonly [key: string | null, sums: readonly number[]])[]
}

type Range = { from: string; to: string }
type Sides = [before: Sums, after: Sums]
/** The work of a key while it is summed. */
type Sums = KeyWork & Record<'quantity' | 'base', number[]>

const noWork = (): Sums => ({
  ...{ isAtBase: true, prompts: 0, calls: 0, cost: 0, undivided: 0 },
  ...{ quantity: [0, 0, 0, 0, 0], base: [0, 0, 0, 0, 0] },
})

const KINDS = PRICED_KINDS.length
/** The index of the tokens of the first kind in the sums of `used`. */
const FIRST = 3

/** Adds in place: a breakdown by branch may have ten thousand rows. */
function add(sums: Sums, used: readonly number[], prices: readonly number[]): void {
  const calls = used[1] ?? 0
  let difference = 0
  for (let kind = 0; kind < KINDS; kind += 1) {
    const [tokens = 0, cost = 0, price = 0] = [used[FIRST + kind], used[FIRST + KINDS + kind], prices[kind]]
    sums.quantity[kind] = tokens + (sums.quantity[kind] ?? 0)
    sums.base[kind] = tokens * price + (sums.base[kind] ?? 0)
    sums.cost += cost
    difference += tokens * price - cost * PICO_PER_MICRO
  }
  sums.calls += calls
  sums.prompts += used[2] ?? 0
  sums.undivided += used[0] ?? 0
  // the price of each call was rounded
  sums.isAtBase &&= Math.abs(difference) <= calls * PICO_PER_MICRO
}

/** The work of each key before and after. */
function workByKey(
  all: readonly UsedSums[],
  pricesOf: (model: string, price: string) => BasePrices,
): Map<string | null, Sides> {
  const byKey = new Map<string | null, Sides>()
  for (const { model, price, isAfter, used } of all) {
    const prices = pricesOf(model, price)
    const isOfPrice = (other: UsedSums) => other.model === model && other.price === price
    const same = prices === undefined ? all.filter(isOfPrice).map((other) => new Map(other.used)) : []
    const paidBy = (key: string | null) => paidPrices(same.map((sums) => sums.get(key)?.slice(FIRST) ?? []))
    for (const [key, sums] of used)
      add(
        byKey.getOrInsertComputed(key, () => [noWork(), noWork()])[isAfter ? 1 : 0],
        sums,
        prices ?? paidBy(key),
      )
  }
  return byKey
}

const dollarsOf = (micros: number): number => micros / 1e6
const keyCost = ({ cost, undivided }: KeyWork): number => cost + undivided
const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0)

/** A quotient with 6 decimals; null where nothing is divided by. */
const quotient = (over: number, under: number): number | null =>
  under === 0 ? null : Math.round((over / under) * 1e6) / 1e6

function totalOf(all: readonly Sums[]): Sums {
  const total = noWork()
  for (const { calls, prompts, cost, undivided, quantity } of all) {
    total.calls += calls
    total.prompts += prompts
    total.cost += cost
    total.undivided += undivided
    total.quantity = total.quantity.map((sum, kind) => sum + (quantity[kind] ?? 0))
  }
  return total
}

/** Returns what drives a cause. */
function driverOf(cause: Cause, { prompts, calls, quantity }: Sums): number | null {
  const [input = 0, output = 0, read = 0, written = 0, hour = 0] = quantity
  switch (cause) {
    case 'prompts':
      return prompts
    case 'calls_per_prompt':
      return quotient(calls, prompts)
    case 'input_per_call':
      return quotient(input, calls)
    case 'output_per_call':
      return quotient(output, calls)
    case 'cache_read_per_call':
      return quotient(read, calls)
    case 'cache_write_per_call':
      return quotient(written + hour, calls)
    default:
      return null
  }
}

/** The explanation but for its facts: each key's parts, and those of the total, which are their sums. */
export function explain(
  all: readonly UsedSums[],
  pricesOf: (model: string, price: string) => BasePrices,
  { range, against, page, per_page }: { range: Range; against: Range; page: number; per_page: number },
): Omit<Explanation, 'facts'> {
  const keys = [...workByKey(all, pricesOf)].map(([key, [before, after]]) => ({
    ...{ key, before: keyCost(before), after: keyCost(after), sides: [before, after] as const },
    ...{ change: keyCost(after) - keyCost(before), parts: partsOf(before, after) },
  }))
  keys.sort((a, b) => {
    const larger = Math.abs(b.change) - Math.abs(a.change)
    if (larger !== 0) return larger
    return a.key === null ? 1 : b.key === null ? -1 : compareText(a.key, b.key)
  })
  const before = totalOf(keys.map(({ sides }) => sides[0]))
  const after = totalOf(keys.map(({ sides }) => sides[1]))
  const causeSum = (cause: Cause) => sumOf(keys.map(({ parts }) => parts[cause]))
  return {
    ...range,
    against,
    before: dollarsOf(keyCost(before)),
    after: dollarsOf(keyCost(after)),
    change: dollarsOf(keyCost(after) - keyCost(before)),
    parts: CAUSES.map((cause) => ({
      ...{ cause, amount: dollarsOf(causeSum(cause)) },
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
