// Looks up the prices of a model at a time, by exact name: our own (price-facts.ts), else those of @pydantic/genai-prices.

import type { MatchLogic, ModelInfo, Provider } from '@pydantic/genai-prices'
import { lookUpNames, percentOf } from './model-names.ts'
import { FACT_NAMES, factsOf, isPeak, type PriceFact } from './price-facts.ts'

type Library = typeof import('@pydantic/genai-prices')

export type Price<Unit = number> =
  | Unit
  | { base: Unit; tiers: readonly { start: number; price: Unit }[] }
  | undefined
/**
 * The price of a model at a time. Vendors charge input, output, cache reads and cache writes at different rates, change
 * them on a date, and raise them for long prompts (tiers). A name without a price costs nothing, and its tokens are counted
 * as unpriced. `Unit`: US dollars per million tokens, or as an integer (bigint) picodollars per token.
 */
export interface PriceRow<Unit = number> {
  input: Price<Unit>
  output: Price<Unit>
  cacheRead: Price<Unit>
  cacheWrite: Price<Unit>
  cacheWrite1h: Price<Unit>
  /** It is that of the vendor's peak hours. */
  isPeak?: boolean
}

interface FoundPrices {
  row: PriceRow
  /** The model costs this part of the list price where it is served. */
  percent: bigint
  /** The prices are the same at any time. */
  isFixed: boolean
}

/** Cache write prices relative to the input price, for models without a known cache price. */
const WRITE_FACTOR = 1.25
export const WRITE_1H_FACTOR = 2
const PEAK_FACTOR = 2

const VENDORS = [
  ...['anthropic', 'openai', 'google', 'mistral', 'moonshotai', 'deepseek', 'x-ai', 'zai', 'zhipuai'],
  ...['minimax', 'cohere'],
]
/** Their models count where no vendor has one of the name. */
const RESELLERS = ['cursor', 'github-copilot', 'aws']

type LookUp = (model: string, at: string) => FoundPrices | undefined

export function createLookUp(library: Library): {
  lookUp: LookUp
  names: string[]
  changesOf: (model: string) => string[]
} {
  const models = knownModels(library)
  const find = (name: string, at: string): Omit<FoundPrices, 'percent'> | undefined => {
    const facts = factsOf(name)
    const fact = facts.findLast(({ from }) => from === undefined || from <= at)
    const row = fact === undefined ? libraryRow(library, models.get(name), at) : factRow(fact, at)
    return row && { ...row, isFixed: row.isFixed && facts.every(({ from }) => from === undefined) }
  }
  const factRow = (fact: PriceFact, at: string) =>
    'sameAs' in fact ? find(fact.sameAs, at) : { row: tieredRow(fact, at), isFixed: fact.peak === undefined }
  const lookUp: LookUp = (model, at) => {
    const names = lookUpNames(model)
    const time = new Date(at).toISOString()
    for (const name of names) {
      const row = find(name, time)
      if (row !== undefined) return { ...row, percent: percentOf(names) }
    }
    return undefined
  }
  const beginningsOf = (name: string): string[] => [
    ...factsOf(name).flatMap((fact) => [
      ...(fact.from === undefined ? [] : [fact.from]),
      ...('sameAs' in fact ? beginningsOf(fact.sameAs) : []),
    ]),
    ...datesIn(models.get(name)),
  ]
  const changesOf = (model: string) => [...new Set(lookUpNames(model).flatMap(beginningsOf))].sort()
  return { lookUp, names: [...new Set([...FACT_NAMES, ...models.keys()])], changesOf }
}

interface KnownModel {
  provider: Provider
  model: ModelInfo
}

/** The library's models by their exact names, in lower case. */
function knownModels({ findProvider }: Library): Map<string, KnownModel> {
  const models = new Map<string, KnownModel>()
  for (const providerId of [...VENDORS, ...RESELLERS]) {
    const provider = findProvider({ providerId })
    for (const model of provider?.models ?? []) {
      if (provider === undefined || !hasTokenPrices(model)) continue
      const isVendor = VENDORS.includes(providerId)
      if (!isVendor && lookUpNames(model.id).some((name) => models.has(name))) continue
      for (const name of [model.id, ...(isVendor ? exactNames(model.match) : [])]) {
        const key = name.toLowerCase()
        if (!models.has(key)) models.set(key, { provider, model })
      }
    }
  }
  return models
}

/** The instants from which the library has a price. */
const datesIn = (model: KnownModel | undefined): string[] =>
  (Array.isArray(model?.model.prices) ? model.model.prices : []).flatMap(({ constraint }) =>
    constraint?.type === 'start_date' ? [new Date(constraint.start_date).toISOString()] : [],
  )

/** Others are free for a subscriber, or are priced by page or hour. */
const hasTokenPrices = ({ prices }: ModelInfo): boolean =>
  (Array.isArray(prices) ? prices.map((price) => price.prices) : [prices]).every(
    ({ input_mtok, output_mtok }) => input_mtok !== undefined && output_mtok !== undefined,
  )

/** The names that a model matches exactly, and beginnings, as its name without a date. Whatever else begins so is another model. */
function exactNames(match: MatchLogic): string[] {
  if ('equals' in match) return [match.equals]
  if ('starts_with' in match) return [match.starts_with]
  if ('or' in match) return match.or.flatMap(exactNames)
  return 'and' in match ? match.and.flatMap(exactNames) : []
}

function libraryRow(
  { calcPrice }: Library,
  info: KnownModel | undefined,
  at: string,
): Omit<FoundPrices, 'percent'> | undefined {
  if (info === undefined) return undefined
  // the provider has this model only, whatever name it matches
  const model = { ...info.model, match: { starts_with: '' } }
  const provider = { ...info.provider, models: [model] }
  const price = calcPrice({ input_tokens: 0, output_tokens: 0 }, model.id, {
    provider,
    timestamp: new Date(at),
  })
  if (!price) return undefined
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok, cache_write_1h_mtok } =
    price.model_price
  const row = {
    input: input_mtok,
    output: output_mtok,
    cacheRead: cache_read_mtok ?? input_mtok,
    cacheWrite: cache_write_mtok ?? times(input_mtok, provider.id === 'anthropic' ? WRITE_FACTOR : 1),
    cacheWrite1h: cache_write_1h_mtok ?? times(input_mtok, WRITE_1H_FACTOR),
  }
  return { row, isFixed: !Array.isArray(info.model.prices) }
}

function tieredRow(fact: Extract<PriceFact, { tiers: unknown }>, at: string): PriceRow {
  const { tiers, chargesWrites = false, peak } = fact
  const [first, ...others] = tiers
  const isAtPeak = peak !== undefined && isPeak(peak, at)
  const factor = isAtPeak ? PEAK_FACTOR : 1
  const of = (kind: 'input' | 'output' | 'cacheRead'): Price => ({
    base: first[kind] * factor,
    tiers: others.map((tier) => ({ start: tier.above, price: tier[kind] * factor })),
  })
  const input = of('input')
  return {
    input,
    output: of('output'),
    cacheRead: of('cacheRead'),
    cacheWrite: times(input, chargesWrites ? WRITE_FACTOR : 1),
    cacheWrite1h: times(input, chargesWrites ? WRITE_1H_FACTOR : 1),
    ...(isAtPeak ? { isPeak: true } : {}),
  }
}

const times = (price: Price, factor: number): Price => mapPrice(price, (amount) => amount * factor)

export function mapPrice<From extends number | bigint, To>(
  price: Price<From>,
  change: (amount: From) => To,
): Price<To> {
  if (typeof price !== 'object') return price === undefined ? undefined : change(price)
  const tiers = price.tiers.map((tier) => ({ start: tier.start, price: change(tier.price) }))
  return { base: change(price.base), tiers }
}
