import { MONEY_DECIMALS, roundedQuotient, scaled, unscaled } from '../decimals.ts'
import type { ModelPrices, PriceOverrides } from '../model-prices.ts'
import type { SessionRecord, Tokens } from '../records/session.ts'

/** Tokens of one API message. `input` is without the cache, `output` with reasoning, `cache_creation_1h` a part of `cache_creation`. */
export interface PricedTokens extends Partial<Tokens> {
  cache_creation_1h?: number
}

export interface PricedUsage {
  model: string
  tokens: PricedTokens
  /** RFC 3339: prices are dated. */
  at: string
  /** A sum over several API messages: no long-prompt tier can be told from it, the base price is taken. */
  aggregated?: boolean
}

export interface Pricer {
  /** Picodollars (1e-12 US dollars), exact; undefined for a model without a known price. */
  cost(question: PricedUsage): bigint | undefined
}

/** USD per million tokens at 1e-6 dollars equal picodollars per token: a price times a million is an integer. */
const PRICE_DECIMALS = 6
const PICO_DECIMALS = 12
/** Anthropic's factors on the input price where no cache price is known; others charge the input price for a cache write. */
const CACHE_WRITE_FACTOR = 1.25
const CACHE_WRITE_1H_FACTOR = 2
/** At most so many looked-up prices are kept: models × minutes. */
const MAX_CACHED = 5_000

type Price = number | { base: number; tiers: readonly { start: number; price: number }[] } | undefined
interface PriceRow {
  input: Price
  output: Price
  cacheRead: Price
  cacheWrite: Price
  cacheWrite1h: Price
}

type CalcPrice = typeof import('@pydantic/genai-prices')['calcPrice']

/**
 * A pricer over the prices of @pydantic/genai-prices (dated, tiered by prompt size) and the operator's own, which win for
 * the exact model name. The library (20 MB of memory) is loaded here, not with this module.
 */
export async function loadPricer(overrides: PriceOverrides = {}): Promise<Pricer> {
  const { calcPrice } = await import('@pydantic/genai-prices')
  const known = new Map<string, PriceRow | null>()
  const rowOf = (model: string, at: string): PriceRow | null => {
    if (Object.hasOwn(overrides, model)) return overrideRow(overrides[model])
    // prices change by day, some providers' by time of day: one look-up a minute
    const key = `${at.slice(0, 16)} ${model}`
    const cached = known.get(key)
    if (cached !== undefined) return cached
    if (known.size >= MAX_CACHED) known.clear()
    const row = lookUp(calcPrice, model, at)
    known.set(key, row)
    return row
  }
  return {
    cost({ model, tokens, at, aggregated = false }) {
      const row = rowOf(model, at)
      return row === null ? undefined : costOf(row, tokens, aggregated)
    },
  }
}

/** `anthropic/claude-x`, `us.anthropic.claude-x-v1:0` and `claude-x[1m]` are known by the plain name. */
function namesOf(model: string): string[] {
  const last = model.slice(model.lastIndexOf('/') + 1)
  const plain = last
    .replace(/^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|meta|mistral)\./, '')
    .replace(/-v\d+(?::\d+)?$/, '')
    .replace(/\[[^\]]*\]$/, '')
    .replace(/:[a-z]+$/, '')
  return [...new Set([model, last, plain])]
}

function lookUp(calcPrice: CalcPrice, model: string, at: string): PriceRow | null {
  for (const name of namesOf(model)) {
    const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, name, { timestamp: new Date(at) })
    if (!found) continue
    const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok, cache_write_1h_mtok } =
      found.model_price
    const writesAtPremium = found.provider.id === 'anthropic' || name.startsWith('claude')
    return {
      input: input_mtok,
      output: output_mtok,
      cacheRead: cache_read_mtok ?? input_mtok,
      cacheWrite: cache_write_mtok ?? times(input_mtok, writesAtPremium ? CACHE_WRITE_FACTOR : 1),
      cacheWrite1h: cache_write_1h_mtok ?? times(input_mtok, CACHE_WRITE_1H_FACTOR),
    }
  }
  return null
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

function costOf(row: PriceRow, tokens: PricedTokens, aggregated: boolean): bigint {
  const { input = 0, output = 0, cache_read = 0, cache_creation = 0 } = tokens
  const hour = Math.min(cache_creation, tokens.cache_creation_1h ?? 0)
  // vendors choose the tier by the size of the whole prompt, and it holds for every token of the message
  const prompt = aggregated ? 0 : input + cache_read + cache_creation
  const part = (count: number, price: Price): bigint =>
    BigInt(count) * scaled(priceAt(price, prompt), PRICE_DECIMALS)
  return (
    part(input, row.input) +
    part(output, row.output) +
    part(cache_read, row.cacheRead) +
    part(cache_creation - hour, row.cacheWrite) +
    part(hour, row.cacheWrite1h)
  )
}

function priceAt(price: Price, prompt: number): number {
  if (price === undefined) return 0
  if (typeof price === 'number') return price
  return price.tiers.reduce((found, tier) => (prompt > tier.start ? tier.price : found), price.base)
}

/** Picodollars as US dollars of 6 decimals, rounded half up. */
export function dollarsOf(pico: bigint): number {
  return unscaled(roundedQuotient(pico, 10n ** BigInt(PICO_DECIMALS - MONEY_DECIMALS)), MONEY_DECIMALS)
}

/** US dollars as an agent reports them, in picodollars. */
export function picoOf(dollars: number): bigint {
  return scaled(dollars, PICO_DECIMALS)
}

/**
 * The cost in US dollars of a session sent through the API without one: its turns with tokens, each by its model; where
 * no turn has tokens, the session's totals by its `model`. A turn's own `cost` wins over its estimate. `unpriced` names the
 * models without a known price (`unknown` where none is given), sorted.
 */
export function priceRecord(pricer: Pricer, record: SessionRecord): { cost: number; unpriced: string[] } {
  const unpriced = new Set<string>()
  const price = (
    model: string | null | undefined,
    tokens: Partial<Tokens>,
    at: string,
    aggregated: boolean,
  ): bigint => {
    const cost = model ? pricer.cost({ model, tokens, at, aggregated }) : undefined
    if (cost === undefined && Object.values(tokens).some((count) => count > 0))
      unpriced.add(model || 'unknown')
    return cost ?? 0n
  }
  const sessionModel = record.model ?? record.models?.[0]
  const turns = (record.turn_records ?? []).filter((turn) => turn.tokens || turn.cost != null)
  let total = 0n
  for (const turn of turns) {
    if (turn.cost != null) total += picoOf(turn.cost)
    else if (turn.tokens)
      total += price(turn.model ?? sessionModel, turn.tokens, turn.started_at ?? record.created_at, false)
  }
  if (turns.length === 0 && record.tokens) total = price(sessionModel, record.tokens, record.created_at, true)
  return { cost: dollarsOf(total), unpriced: [...unpriced].sort() }
}
