import { MONEY_DECIMALS, roundedQuotient, scaled, unscaled } from '../decimals.ts'
import type { ModelPrices, PriceOverrides } from '../model-prices.ts'
import type { SessionRecord, Tokens } from '../records/session.ts'
import { hasOwnPrices, knownNamesOf, type OwnTier, ownPrices } from './own-prices.ts'

/**
 * Tokens of one API message: `input` excludes cached tokens, `output` includes reasoning, `cache_creation` includes
 * `cache_creation_1h`.
 */
export interface PricedTokens extends Partial<Tokens> {
  cache_creation_1h?: number
}

interface PricedUsage {
  model: string
  tokens: PricedTokens
  /** RFC 3339: prices change over time. */
  at: string
  /** A sum over several API messages: the base price applies, since the size of each prompt is unknown. */
  aggregated?: boolean
}

export interface Pricer {
  /** Picodollars (1e-12 US dollars), exact; undefined for a model without a known price. */
  cost(usage: PricedUsage): bigint | undefined
}

/** Decimals of a price in US dollars per million tokens. Scaled by 1e6 it is an integer of picodollars per token. */
const PRICE_DECIMALS = 6
const PICO_DECIMALS = 12
/** Anthropic's cache write prices relative to the input price, for models without a known cache price. */
const CACHE_WRITE_FACTOR = 1.25
const CACHE_WRITE_1H_FACTOR = 2
/** Picodollars for one web search: Anthropic's 10 US dollars per 1,000. */
export const WEB_SEARCH_COST = 10n ** 10n
/** Cached prices, each of a model at a minute. */
const MAX_CACHED = 5_000

type Price<Unit = number> =
  | Unit
  | { base: Unit; tiers: readonly { start: number; price: Unit }[] }
  | undefined
/** `Unit`: US dollars per million tokens, or as an integer (bigint) picodollars per token. */
interface PriceRow<Unit = number> {
  input: Price<Unit>
  output: Price<Unit>
  cacheRead: Price<Unit>
  cacheWrite: Price<Unit>
  cacheWrite1h: Price<Unit>
}

type CalcPrice = typeof import('@pydantic/genai-prices')['calcPrice']

/**
 * A pricer with the prices of @pydantic/genai-prices (by date and, where the vendor has tiers, by prompt size) and those
 * that it lacks (own-prices.ts); `overrides` replace the prices of the model with exactly this name. Loads the library (20 MB of memory) on the first call.
 */
export async function loadPricer(overrides: PriceOverrides = {}): Promise<Pricer> {
  const { calcPrice } = await import('@pydantic/genai-prices')
  // a look-up leaves some kilobytes of garbage, and takes 70 µs
  const known = new Map<string, PriceRow<bigint> | null>()
  const keep = (key: string, row: PriceRow | null): PriceRow<bigint> | null => {
    if (known.size >= MAX_CACHED) known.clear()
    const kept = row === null ? null : scaledRow(row)
    known.set(key, kept)
    return kept
  }
  const rowOf = (model: string, at: string): PriceRow<bigint> | null => {
    // no minute begins with a blank
    const always = ` ${model}`
    // some providers' prices depend on the time of day: one look-up per minute
    const minute = `${at.slice(0, 16)} ${model}`
    const cached = known.get(always) ?? known.get(minute)
    if (cached !== undefined) return cached
    if (Object.hasOwn(overrides, model)) return keep(always, overrideRow(overrides[model]))
    const { row, isFixed } = lookUp(calcPrice, model, at)
    return keep(isFixed ? always : minute, row)
  }
  return {
    cost({ model, tokens, at, aggregated = false }) {
      const row = rowOf(model, at)
      return row === null ? undefined : costOf(row, tokens, aggregated)
    },
  }
}

/**
 * The names to look up: `anthropic/claude-x`, `us.anthropic.claude-x-v1:0` and `claude-x[1m]` are also looked up as
 * `claude-x`, and each under the other names of `knownNamesOf`.
 */
function namesOf(model: string): string[] {
  const last = model.slice(model.lastIndexOf('/') + 1)
  const plain = last
    .replace(/^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|meta|mistral)\./, '')
    .replace(/-v\d+(?::\d+)?$/, '')
    .replace(/\[[^\]]*\]$/, '')
    .replace(/:[a-z]+$/, '')
  return [...new Set([model, last, plain].flatMap(knownNamesOf))]
}

/** The prices of the model at a time; `isFixed`: they are the same at any time. */
function lookUp(calcPrice: CalcPrice, model: string, at: string): { row: PriceRow | null; isFixed: boolean } {
  const time = new Date(at)
  for (const name of namesOf(model)) {
    const own = ownPrices(name, time.toISOString())
    if (own !== undefined) return { row: ownRow(own), isFixed: false }
    const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, name, { timestamp: time })
    if (!found) continue
    const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok, cache_write_1h_mtok } =
      found.model_price
    const hasWriteSurcharge = found.provider.id === 'anthropic' || name.startsWith('claude')
    const row = {
      input: input_mtok,
      output: output_mtok,
      cacheRead: cache_read_mtok ?? input_mtok,
      cacheWrite: cache_write_mtok ?? times(input_mtok, hasWriteSurcharge ? CACHE_WRITE_FACTOR : 1),
      cacheWrite1h: cache_write_1h_mtok ?? times(input_mtok, CACHE_WRITE_1H_FACTOR),
    }
    return { row, isFixed: !Array.isArray(found.model.prices) && !namesOf(model).some(hasOwnPrices) }
  }
  return { row: null, isFixed: false }
}

function ownRow(tiers: readonly [OwnTier, ...OwnTier[]]): PriceRow {
  const [first, ...others] = tiers
  const of = (kind: 'input' | 'output' | 'cacheRead'): Price => ({
    base: first[kind],
    tiers: others.map((tier) => ({ start: tier.above, price: tier[kind] })),
  })
  const input = of('input')
  return { input, output: of('output'), cacheRead: of('cacheRead'), cacheWrite: input, cacheWrite1h: input }
}

function overrideRow(prices: ModelPrices | undefined): PriceRow | null {
  if (prices === undefined) return null
  return {
    input: prices.input,
    output: prices.output,
    cacheRead: prices.cache_read ?? prices.input,
    cacheWrite: prices.cache_write ?? prices.input,
    cacheWrite1h: prices.cache_write === undefined ? prices.input : prices.input * CACHE_WRITE_1H_FACTOR,
  }
}

function times(price: Price, factor: number): Price {
  if (price === undefined) return undefined
  if (typeof price === 'number') return price * factor
  return {
    base: price.base * factor,
    tiers: price.tiers.map((tier) => ({ start: tier.start, price: tier.price * factor })),
  }
}

function scaledRow(row: PriceRow): PriceRow<bigint> {
  const scale = (price: Price): Price<bigint> => {
    if (price === undefined) return undefined
    if (typeof price === 'number') return scaled(price, PRICE_DECIMALS)
    return {
      base: scaled(price.base, PRICE_DECIMALS),
      tiers: price.tiers.map((tier) => ({ start: tier.start, price: scaled(tier.price, PRICE_DECIMALS) })),
    }
  }
  return {
    input: scale(row.input),
    output: scale(row.output),
    cacheRead: scale(row.cacheRead),
    cacheWrite: scale(row.cacheWrite),
    cacheWrite1h: scale(row.cacheWrite1h),
  }
}

function costOf(row: PriceRow<bigint>, tokens: PricedTokens, aggregated: boolean): bigint {
  const { input = 0, output = 0, cache_read = 0, cache_creation = 0 } = tokens
  const hour = Math.min(cache_creation, tokens.cache_creation_1h ?? 0)
  // the size of the whole prompt selects the tier for all tokens of the message
  const prompt = aggregated ? 0 : input + cache_read + cache_creation
  const part = (count: number, price: Price<bigint>): bigint => BigInt(count) * priceAt(price, prompt)
  return (
    part(input, row.input) +
    part(output, row.output) +
    part(cache_read, row.cacheRead) +
    part(cache_creation - hour, row.cacheWrite) +
    part(hour, row.cacheWrite1h)
  )
}

function priceAt(price: Price<bigint>, prompt: number): bigint {
  if (price === undefined) return 0n
  if (typeof price === 'bigint') return price
  return price.tiers.reduce((found, tier) => (prompt > tier.start ? tier.price : found), price.base)
}

/** Picodollars as US dollars with 6 decimals, rounded half up. */
export function dollarsOf(pico: bigint): number {
  return unscaled(roundedQuotient(pico, 10n ** BigInt(PICO_DECIMALS - MONEY_DECIMALS)), MONEY_DECIMALS)
}

/** US dollars as picodollars. */
export function picodollarsOf(dollars: number): bigint {
  return scaled(dollars, PICO_DECIMALS)
}

/** What a session record costs. */
export interface PricedRecord {
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
  const { estimated_cost: given = null, turn_records, tokens: sum, created_at } = record
  const turns = turn_records ?? []
  const said = record.unpriced_tokens ?? 0
  const turnCosts = turns.map((turn) => turn.cost ?? null)
  if (given !== null && (record.cost_source !== 'estimated' || said === 0))
    return { cost: given, turnCosts, unpricedTokens: said, unpriced: [] }
  const sessionModel = record.model ?? record.models?.[0]
  const unpriced = new Set<string>()
  let [estimated, pricedTokens, unpricedTokens] = [0n, 0, 0]
  const price = (usage: Omit<PricedUsage, 'model'> & { model: string | null | undefined }) => {
    const { model, tokens } = usage
    const count = countOf(tokens)
    const cost = (model ? pricer.cost({ ...usage, model }) : undefined) ?? (count === 0 ? 0n : undefined)
    if (cost === undefined) {
      unpriced.add(model || 'unknown')
      unpricedTokens += count
      return null
    }
    estimated += cost
    pricedTokens += count
    return dollarsOf(cost)
  }
  for (const [index, { model, tokens, cost, started_at }] of turns.entries()) {
    if (cost == null && tokens)
      turnCosts[index] = price({ model: model ?? sessionModel, tokens, at: started_at ?? created_at })
  }
  const hasPrices = turns.some((turn) => turn.tokens || turn.cost != null)
  if (!hasPrices && sum && (given === null || said === countOf(sum)))
    price({ model: sessionModel, tokens: sum, at: created_at, aggregated: true })
  const known =
    given === null
      ? turns.reduce((all, { cost }) => all + picodollarsOf(cost ?? 0), 0n)
      : picodollarsOf(given)
  return {
    cost: dollarsOf(known + estimated),
    turnCosts,
    unpricedTokens: given === null ? unpricedTokens : Math.max(0, said - pricedTokens),
    unpriced: [...unpriced].sort(),
  }
}

const countOf = ({ input = 0, output = 0, cache_read = 0, cache_creation = 0 }: Partial<Tokens>): number =>
  input + output + cache_read + cache_creation
