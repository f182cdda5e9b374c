// Prices tokens of calls and records of sessions, at list prices or those of MODEL_PRICES.

import { normalizeTimestamp } from '../../base/dates.ts'
import { MONEY_DECIMALS, roundedQuotient, scaled, unscaled } from '../../base/decimals.ts'
import type { ModelPrices, PriceOverrides } from '../../base/model-prices.ts'
import { allTokens, type SessionRecord, type Tokens } from '../records/session.ts'
import { createLookUp, mapPrice, type Price, type PriceRow, WRITE_1H_FACTOR } from './price-lookup.ts'
import { type Factor, factorOf } from './price-tiers.ts'

/** Tokens of an API message: `input` excludes cached ones, `output` includes reasoning, `cache_creation` those of 1 hour. */
export interface PricedTokens extends Partial<Tokens> {
  cache_creation_1h?: number
}

interface PricedUsage {
  model: string
  tokens: PricedTokens
  /** RFC 3339: prices change over time. */
  at: string
  /** Its tiers, by `tierOf`; none for the list price. */
  tier?: string | null | undefined
  /** A sum over several API messages: the base price applies, since the size of each prompt is unknown. */
  aggregated?: boolean
}

export interface Pricer {
  /** Picodollars (1e-12 US dollars), exact; undefined for a model or a tier without a known price. */
  cost(usage: PricedUsage): bigint | undefined
  /** The same by kind of tokens. */
  divided(usage: PricedUsage): DividedCost | undefined
}

/** Kinds of cost that have tokens. */
export const PRICED_KINDS = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h'] as const

export interface DividedCost {
  /** In the order of `PRICED_KINDS`. */
  costs: bigint[]
  /** Beside the tiers, what the price is one of: a long prompt, the vendor's peak hours. */
  terms: ('long' | 'peak')[]
}

/** Decimals of a price in US dollars per million tokens. Scaled by 1e6 it is an integer of picodollars per token. */
const PRICE_DECIMALS = 6
const PICO_DECIMALS = 12
/** Picodollars for one web search: Anthropic's 10 US dollars per 1,000. */
export const WEB_SEARCH_COST = 10n ** 10n
const MAX_CACHED = 5_000

/** A pricer by date and prompt size; `overrides` replace a model's prices. Loads the library (20 MB) at the first call. */
export async function loadPricer(overrides: PriceOverrides = {}): Promise<Pricer> {
  const { lookUp } = createLookUp(await import('@pydantic/genai-prices'))
  // a look-up leaves some kilobytes of garbage, and takes up to 20 µs
  const byModel = new Map<string, PriceRow<bigint> | null>()
  const keep = (key: string, row: PriceRow<bigint> | null): PriceRow<bigint> | null => {
    if (byModel.size >= MAX_CACHED) byModel.clear()
    byModel.set(key, row)
    return row
  }
  const priceRow = (model: string, at: string, tier: string | null): PriceRow<bigint> | null => {
    const tiered = tieredName(model, tier)
    // no minute begins with a blank
    const always = ` ${tiered}`
    const fixed = byModel.get(always)
    if (fixed !== undefined) return fixed
    // some providers' prices depend on the time of day: one look-up per minute of UTC
    const minute = `${new Date(at).toISOString().slice(0, 16)} ${tiered}`
    const cached = byModel.get(minute)
    if (cached !== undefined) return cached
    if (Object.hasOwn(overrides, tiered)) return keep(always, overrideRow(overrides[tiered], ONE))
    const factor = tier === null ? ONE : factorOf(model, tier)
    if (factor === undefined) return keep(always, null)
    if (Object.hasOwn(overrides, model)) return keep(always, overrideRow(overrides[model], factor))
    const prices = lookUp(model, at)
    if (prices === undefined) return keep(minute, null)
    return keep(
      prices.isFixed ? always : minute,
      scaledRow(prices.row, [prices.percent * factor[0], 100n * factor[1]]),
    )
  }
  const divided: Pricer['divided'] = ({ model, tokens, at, tier = null, aggregated = false }) => {
    const [, untiered, its] = tier === null ? (TIERED.exec(model) ?? []) : []
    const row = priceRow(untiered ?? model, at, its ?? tier)
    return row === null ? undefined : dividedCost(row, tokens, aggregated)
  }
  return { divided, cost: (usage) => divided(usage)?.costs.reduce((sum, cost) => sum + cost, 0n) }
}

const ONE: Factor = [1n, 1n]

const TIERED = /^(.+) \(([a-z][a-z0-9 _-]*)\)$/
/** The name of a model in a tier, by which it is unpriced or has a price of the operator: `claude-opus-4-6 (priority)`. */
export const tieredName = (model: string, tier: string | null | undefined): string =>
  tier == null ? model : `${model} (${tier})`

function overrideRow(prices: ModelPrices | undefined, factor: Factor): PriceRow<bigint> | null {
  if (prices === undefined) return null
  const row = {
    input: prices.input,
    output: prices.output,
    cacheRead: prices.cache_read ?? prices.input,
    cacheWrite: prices.cache_write ?? prices.input,
    cacheWrite1h: prices.cache_write === undefined ? prices.input : prices.input * WRITE_1H_FACTOR,
  }
  return scaledRow(row, factor)
}

/** The given share of the prices, in picodollars per token. */
function scaledRow(row: PriceRow, [over, under]: Factor): PriceRow<bigint> {
  const scale = (price: Price): Price<bigint> =>
    mapPrice(price, (amount) => roundedQuotient(scaled(amount, PRICE_DECIMALS) * over, under))
  return {
    input: scale(row.input),
    output: scale(row.output),
    cacheRead: scale(row.cacheRead),
    cacheWrite: scale(row.cacheWrite),
    cacheWrite1h: scale(row.cacheWrite1h),
    ...(row.isPeak ? { isPeak: true } : {}),
  }
}

function dividedCost(row: PriceRow<bigint>, tokens: PricedTokens, aggregated: boolean): DividedCost {
  const { input = 0, output = 0, cache_read = 0, cache_creation = 0 } = tokens
  const hour = Math.min(cache_creation, tokens.cache_creation_1h ?? 0)
  // the size of the whole prompt selects the tier for all tokens of the message
  const prompt = aggregated ? 0 : input + cache_read + cache_creation
  const part = (count: number, price: Price<bigint>): bigint =>
    count === 0 ? 0n : BigInt(count) * priceAt(price, prompt)
  const isLong = typeof row.input === 'object' && row.input.tiers.some(({ start }) => prompt > start)
  return {
    costs: [
      part(input, row.input),
      part(output, row.output),
      part(cache_read, row.cacheRead),
      part(cache_creation - hour, row.cacheWrite),
      part(hour, row.cacheWrite1h),
    ],
    terms: [...(isLong ? ['long' as const] : []), ...(row.isPeak ? ['peak' as const] : [])],
  }
}

function priceAt(price: Price<bigint>, prompt: number): bigint {
  if (price === undefined) return 0n
  if (typeof price === 'bigint') return price
  return price.tiers.reduce((last, tier) => (prompt > tier.start ? tier.price : last), price.base)
}

/** Picodollars as US dollars with 6 decimals, rounded half up. */
export function asDollars(pico: bigint): number {
  return unscaled(roundedQuotient(pico, 10n ** BigInt(PICO_DECIMALS - MONEY_DECIMALS)), MONEY_DECIMALS)
}

export function picodollarsOf(dollars: number): bigint {
  return scaled(dollars, PICO_DECIMALS)
}

interface PricedRecord {
  /** US dollars. */
  cost: number
  /** One for each of its turns; null where it has no tokens, or its model no known price. */
  turnCosts: (number | null)[]
  /** Tokens of all four kinds that no known price applies to. */
  unpricedTokens: number
  /** The models of these tokens (`unknown` for none), sorted. */
  unpriced: string[]
}

/**
 * The cost of a session record. A given `estimated_cost` is kept, and covers all turns, but those that an estimate names
 * as `unpriced_tokens`: their cost is added where the price is known now. Without one it is the sum over its turns that
 * have a cost or tokens, else its total tokens at the price of its `model`. The `cost` of a turn takes precedence over an
 * estimate from its tokens.
 */
export function priceRecord(pricer: Pricer, record: SessionRecord): PricedRecord {
  const { estimated_cost: cost = null, turn_records, tokens, created_at } = record
  const sum = tokens ? allTokens(tokens) : undefined
  const turns = turn_records ?? []
  const said = record.unpriced_tokens ?? 0
  const turnCosts = turns.map((turn) => turn.cost ?? null)
  if (cost !== null && (record.cost_source !== 'estimated' || said === 0))
    return { cost, turnCosts, unpricedTokens: said, unpriced: [] }
  const sessionModel = record.model ?? record.models?.[0]
  const unpriced = new Set<string>()
  let [estimated, pricedTokens, unpricedTokens] = [0n, 0, 0]
  const price = (usage: Omit<PricedUsage, 'model'> & { model: string | null | undefined }) => {
    const { model, tokens, tier } = usage
    const count = countOf(tokens)
    const cost = (model ? pricer.cost({ ...usage, model }) : undefined) ?? (count === 0 ? 0n : undefined)
    if (cost === undefined) {
      unpriced.add(tieredName(model || 'unknown', tier))
      unpricedTokens += count
      return null
    }
    estimated += cost
    pricedTokens += count
    return asDollars(cost)
  }
  for (const [index, { model, tier, tokens, cost, started_at }] of turns.entries()) {
    if (cost == null && tokens)
      turnCosts[index] = price({
        model: model ?? sessionModel,
        tokens,
        tier,
        at: normalizeTimestamp(started_at ?? created_at),
      })
  }
  const hasPrices = turns.some((turn) => turn.tokens || turn.cost != null)
  if (!hasPrices && sum && (cost === null || said === countOf(sum)))
    price({ model: sessionModel, tokens: sum, at: normalizeTimestamp(created_at), aggregated: true })
  const recordPrice =
    cost === null ? turns.reduce((all, { cost }) => all + picodollarsOf(cost ?? 0), 0n) : picodollarsOf(cost)
  return {
    cost: asDollars(recordPrice + estimated),
    turnCosts,
    unpricedTokens: cost === null ? unpricedTokens : Math.max(0, said - pricedTokens),
    unpriced: [...unpriced].sort(),
  }
}

const countOf = ({ input = 0, output = 0, cache_read = 0, cache_creation = 0 }: Partial<Tokens>): number =>
  input + output + cache_read + cache_creation
