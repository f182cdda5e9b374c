// Prices that @pydantic/genai-prices 0.1.8 lacks or has old, in US dollars per million tokens, each with the vendor's page
// that it is published on and the day for which it is known. A row goes when the library has it; the price of another day
// is a row of its own.

/** A price for prompts of more than `above` tokens, or for all. */
export interface OwnTier {
  above: number
  input: number
  output: number
  cacheRead: number
}

interface OwnPrices {
  models: readonly string[]
  /** RFC 3339; before it the library's price holds, or an earlier row's. */
  from?: string
  /** In the order of `above`; the first is for the smallest prompts. */
  tiers: readonly [OwnTier, ...OwnTier[]]
  source: string
  asOf: string
}

const flat = (input: number, output: number, cacheRead: number): [OwnTier] => [
  { above: 0, input, output, cacheRead },
]
const DEEPSEEK = {
  models: ['deepseek-chat', 'deepseek-reasoner'],
  source: 'https://api-docs.deepseek.com/quick_start/pricing',
  asOf: '2026-07-24',
}
const ZAI = { source: 'https://docs.z.ai/guides/overview/pricing', asOf: '2026-08-20' }
const ALIBABA = { source: 'https://www.alibabacloud.com/help/en/model-studio/models', asOf: '2026-08-19' }
const OPENAI = { source: 'https://platform.openai.com/docs/pricing', asOf: '2026-07-24' }

/** Of several rows of a model the last one that has begun holds. */
const TABLE: readonly OwnPrices[] = [
  // the end of prices by the time of day, then that of V3.2-Exp
  { ...DEEPSEEK, from: '2025-09-05T16:00:00.000Z', tiers: flat(0.56, 1.68, 0.07) },
  { ...DEEPSEEK, from: '2025-09-29T00:00:00.000Z', tiers: flat(0.28, 0.42, 0.028) },
  // the library has the prices of the Chinese site
  { ...ZAI, models: ['glm-4.5', 'glm-4.6', 'glm-4.7'], tiers: flat(0.6, 2.2, 0.11) },
  { ...ZAI, models: ['glm-4.5-air'], tiers: flat(0.2, 1.1, 0.03) },
  { ...ZAI, models: ['glm-5'], tiers: flat(1, 3.2, 0.2) },
  { ...ZAI, models: ['glm-5.1', 'glm-5.2'], tiers: flat(1.4, 4.4, 0.26) },
  {
    ...ALIBABA,
    models: ['qwen3-coder-plus'],
    tiers: [
      { above: 0, input: 1, output: 5, cacheRead: 0.1 },
      { above: 32_000, input: 1.8, output: 9, cacheRead: 0.18 },
      { above: 128_000, input: 3, output: 15, cacheRead: 0.3 },
      { above: 256_000, input: 6, output: 60, cacheRead: 0.6 },
    ],
  },
  {
    ...ALIBABA,
    // it has no price for cached tokens
    models: ['qwen3-coder', 'qwen3-coder-480b-a35b-instruct'],
    tiers: [
      { above: 0, input: 1.5, output: 7.5, cacheRead: 1.5 },
      { above: 32_000, input: 2.7, output: 13.5, cacheRead: 2.7 },
      { above: 128_000, input: 4.5, output: 22.5, cacheRead: 4.5 },
    ],
  },
  { ...OPENAI, models: ['gpt-5-codex-mini'], tiers: flat(0.25, 2, 0.025) },
  { ...OPENAI, models: ['codex-mini-latest'], tiers: flat(1.5, 6, 0.375) },
]

/** Names under which agents and gateways use a model whose price is known. */
const ALIASES = new Map([
  ['gemini-3-flash', 'gemini-3-flash-preview'],
  ['gemini-3-pro', 'gemini-3-pro-preview'],
  ['gemini-3.1-pro', 'gemini-3.1-pro-preview'],
  ['kimi-k2', 'kimi-k2-0905-preview'],
])

/** `claude-4.5-sonnet` is `claude-sonnet-4.5`. */
const CLAUDE_BY_VERSION = /^claude-(\d+(?:[.-]\d{1,2})?)-(opus|sonnet|haiku)/
/** How much a model thinks costs nothing by itself: `gpt-5.1-codex-max-xhigh`, `gemini-3-pro-high`. */
const EFFORT = /-(?:thinking|minimal|low|medium|high|xhigh)$/

const byModel = new Map<string, OwnPrices[]>()
for (const prices of TABLE)
  for (const model of prices.models) byModel.set(model, [...(byModel.get(model) ?? []), prices])

/** The names that a price may be found under, in the order of their preference. */
export function knownNamesOf(model: string): string[] {
  const plain = model.toLowerCase().replace(EFFORT, '').replace(CLAUDE_BY_VERSION, 'claude-$2-$1')
  return [...new Set([ALIASES.get(model) ?? model, ALIASES.get(plain) ?? plain])]
}

/** Our own prices of the model at the time, RFC 3339; undefined where the library's hold. */
export function ownPrices(model: string, at: string): OwnPrices['tiers'] | undefined {
  return byModel.get(model.toLowerCase())?.findLast(({ from }) => from === undefined || from <= at)?.tiers
}

/** Whether we have prices of the model, at whatever time. */
export const hasOwnPrices = (model: string): boolean => byModel.has(model.toLowerCase())
