// Prices tokens at the prices of one day, for change-parts.ts: what would have been paid had no price changed since.

import { DAY_MS } from '../../base/dates.ts'
import type { PriceOverrides } from '../../base/model-prices.ts'
import { createLookUp } from './price-lookup.ts'
import { loadPricer, PRICED_KINDS, type Pricer } from './prices.ts'

const HOUR_MS = 3_600_000
/** Tokens of one kind: more than any size of a prompt from which on it is long. */
const MANY = 1_000_000_000
const TOKENS = {
  input: MANY,
  output: MANY,
  cache_read: MANY,
  cache_creation: 2 * MANY,
  cache_creation_1h: MANY,
}

export interface PriceHistory extends Pick<Pricer, 'divided'> {
  /** The instants at which a price of the model began to hold, oldest first; none where it is always the same. */
  changesOf: (model: string) => string[]
}

export async function loadPriceHistory(overrides: PriceOverrides = {}): Promise<PriceHistory> {
  const { changesOf } = createLookUp(await import('@pydantic/genai-prices'))
  const { divided } = await loadPricer(overrides)
  return { divided, changesOf: (model) => (Object.hasOwn(overrides, model) ? [] : changesOf(model)) }
}

export const PICO_PER_MICRO = 1_000_000

/** Picodollars for a token of each of PRICED_KINDS; undefined: no price is known. */
export type BasePrices = readonly number[] | undefined

/** A model's prices by its terms on a day, or its first; of peak hours the last of four days: a weekend has none. */
export function createBasePrices({ divided, changesOf }: PriceHistory, day: string) {
  const byKey = new Map<string, BasePrices>()
  const start = Date.parse(day)
  const priceAt = (model: string, terms: readonly string[], ms: number) => {
    const tiers = terms.filter((term) => !['standard', 'long', 'peak'].includes(term))
    return divided({
      ...{ model, tokens: TOKENS, at: new Date(ms).toISOString(), aggregated: !terms.includes('long') },
      tier: tiers.length === 0 ? null : tiers.join(' '),
    })
  }
  const find = (model: string, terms: readonly string[]): BasePrices => {
    const isPeak = terms.includes('peak')
    const later = changesOf(model).flatMap((change) => (change > day ? [Date.parse(change)] : []))
    const begin = [start, ...later].find((ms) => priceAt(model, terms, ms) !== undefined)
    if (begin === undefined) return undefined
    let current = priceAt(model, terms, begin)
    const isWanted = () => current?.terms.includes('peak') === isPeak
    for (let ms = begin + DAY_MS - HOUR_MS; !isWanted() && ms > begin - 3 * DAY_MS; ms -= HOUR_MS)
      current = priceAt(model, terms, ms)
    return (isWanted() ? current : priceAt(model, terms, begin))?.costs.map((cost) =>
      Number(cost / BigInt(MANY)),
    )
  }
  return (model: string, price: string): BasePrices => {
    const key = `${model}\n${price}`
    if (!byKey.has(key)) byKey.set(key, find(model, price.split(' ')))
    return byKey.get(key)
  }
}

/**
 * In place of prices that are not known: what the first range that paid for tokens of a kind paid for each. Of a range the tokens of each
 * of PRICED_KINDS, and their costs in micro-dollars.
 */
export const paidPrices = (ranges: readonly (readonly number[])[]): number[] =>
  PRICED_KINDS.map((_, kind) => {
    const [price = 0] = ranges.flatMap((sums) => {
      const [tokens = 0, cost = 0] = [sums[kind], sums[kind + PRICED_KINDS.length]]
      return tokens > 0 && cost > 0 ? [(cost * PICO_PER_MICRO) / tokens] : []
    })
    return price
  })
