import { tierOf } from '../scoring/price-tiers.ts'
import { picodollarsOf } from '../scoring/prices.ts'
import type { Attributes } from './model.ts'

// Reads the facts that a record may state of a session from its attributes.

/** Input, output, cache read, cache creation; undefined where the agent does not say. */
type Counts = readonly [number | undefined, number | undefined, number | undefined, number | undefined]

/** A call of a model's API. */
export interface Usage {
  kind: 'usage'
  /** Names the call within its session. */
  key: string
  /** The API's own id of the call, which transcripts have too. */
  request: string | null
  model: string | null
  /** The tiers of its price; null for the list price. */
  tier: string | null
  tokens: Counts
  /** The part of cache creation that is kept for an hour. */
  hourTokens: number
  /** Picodollars; null where the agent states none. */
  cost: bigint | null
}

export interface ToolResult {
  kind: 'tool'
  key: string
  name: string | null
  ok: boolean | null
}

export interface Prompt {
  kind: 'prompt'
  key: string
}

/** A record of a session of which nothing but its time is kept. */
export interface Seen {
  kind: 'seen'
}

export type Fact = Usage | ToolResult | Prompt | Seen

/** The reason for which a record was refused. */
export interface Refusal {
  refused: string
}

/** More than any call uses. */
const MAX_TOKENS = 1e9
const MAX_COST_USD = 1e6

/** Names of attributes, of which those with a number are added up. */
interface UsageForm {
  /** The API's id of the call; null where the agent states none. */
  key: string | null
  input: readonly string[]
  output: readonly string[]
  cacheRead: readonly string[]
  cacheCreation: readonly string[]
  /** Whether the input includes what was read from the cache and written to it. */
  isInputWhole: boolean
}

/** A call's tokens and cost, as far as they can be read, or why they cannot be. */
export function usage(attributes: Attributes, form: UsageForm): Usage | Refusal {
  const problems: string[] = []
  const count = (names: readonly string[]): number | undefined => {
    let sum: number | undefined
    for (const name of names) {
      const value = numberOf(attributes, name)
      if (value === undefined) continue
      if (!isCount(value)) problems.push(name)
      sum = (sum ?? 0) + value
    }
    return sum
  }
  const whole = count(form.input)
  const output = count(form.output)
  const cacheRead = count(form.cacheRead)
  const cacheCreation = count(form.cacheCreation)
  // without what it is a part of, it says nothing
  const hourTokens = cacheCreation === undefined ? 0 : (count(['cache_creation_1h_tokens']) ?? 0)
  const dollars = numberOf(attributes, 'cost_usd')
  if (dollars !== undefined && !(dollars >= 0 && dollars <= MAX_COST_USD)) problems.push('cost_usd')
  const input =
    whole === undefined || !form.isInputWhole ? whole : whole - (cacheRead ?? 0) - (cacheCreation ?? 0)
  if ((input ?? 0) < 0) problems.push(...form.input)
  if (hourTokens > (cacheCreation ?? 0)) problems.push('cache_creation_1h_tokens')
  if (problems.length > 0) return { refused: `usage with an impossible ${problems[0]}` }
  const model = textOf(
    attributes,
    ...['gen_ai.response.model', 'ai.response.model', 'model', 'gen_ai.request.model', 'ai.model.id'],
  )
  return {
    kind: 'usage',
    // without an id, the call is told by its place and its counts
    key: form.key ?? `${placeOf(attributes)} ${model} ${whole} ${output} ${cacheRead}`,
    request: form.key,
    tier: tierOf(
      textOf(attributes, 'speed'),
      textOf(attributes, ...TIERS),
      textOf(attributes, 'inference_geo'),
    ),
    model: model?.replace(/\[1m\]$/, '') || null,
    tokens: [input, output, cacheRead, cacheCreation],
    hourTokens,
    cost: dollars === undefined ? null : picodollarsOf(dollars),
  }
}

/** Names of the tier of the service: what was given counts rather than what was asked for. */
const TIERS = [
  ...['service_tier', 'openai.response.service_tier', 'gen_ai.openai.response.service_tier'],
  ...['openai.request.service_tier', 'gen_ai.openai.request.service_tier'],
]

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS

export function tool(attributes: Attributes, isError: boolean): ToolResult {
  const success = String(attributes.get('success'))
  const name = textOf(attributes, 'tool_name', 'function_name', 'gen_ai.tool.name', 'ai.toolCall.name')
  const id = textOf(attributes, 'tool_use_id', 'call_id', 'gen_ai.tool.call.id', 'ai.toolCall.id')
  const stated = success === 'true' ? true : success === 'false' ? false : null
  return {
    kind: 'tool',
    key: id ?? `${placeOf(attributes)} ${name}`,
    name,
    // a log without a result says nothing of it; a span that did not fail succeeded
    ok: isError ? false : (stated ?? (attributes.has('span.id') ? true : null)),
  }
}

export const prompt = (attributes: Attributes): Prompt => ({
  kind: 'prompt',
  key: textOf(attributes, 'prompt.id') ?? placeOf(attributes),
})

/** A span's id, else the time of an event: the decoders give each record one of both. */
const placeOf = (attributes: Attributes): string => textOf(attributes, 'span.id', 'event.timestamp') ?? ''

/** The first of these attributes that is a text with characters. */
export function textOf(attributes: Attributes, ...names: string[]): string | null {
  for (const name of names) {
    const value = attributes.get(name)
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

/** The first of these attributes that is a number, as a list; none when none is. */
export const numbered = (attributes: Attributes, ...names: string[]): string[] =>
  names.filter((name) => numberOf(attributes, name) !== undefined).slice(0, 1)

/** A number, or a text of one; undefined for anything else: an attribute that cannot be read is none. */
function numberOf(attributes: Attributes, name: string): number | undefined {
  const value = attributes.get(name)
  const isText = typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value)
  const number = isText ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
