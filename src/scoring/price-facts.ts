// Prices that @pydantic/genai-prices 0.1.8 lacks or has wrong, in US dollars per million tokens. They win over the
// library's for the same name. A row has the names that it holds for, the page of the source, the day on which the page said so, and the
// day from which it holds. The price of another day is a row of its own; a row goes when the library has it.

/** A price for prompts of more than `above` tokens, or for all. */
export interface FactTier {
  above: number
  input: number
  output: number
  cacheRead: number
}

interface Source {
  source: string
  /** The day on which the source was read. */
  asOf: string
}

interface FactBase extends Source {
  names: readonly string[]
  /** RFC 3339, UTC; without it the row holds from the beginning. */
  from?: string
}

export type PriceFact = FactBase &
  (
    | {
        /** In the order of `above`; the first is for the smallest prompts. */
        tiers: readonly [FactTier, ...FactTier[]]
        /** A cache write costs 1.25 times the input price, one for an hour twice; else it costs as much as input. */
        chargesWrites?: boolean
      }
    /** Another name of this model, which has a price of its own. */
    | { sameAs: string }
  )

const tier = (above: number, input: number, output: number, cacheRead = input): FactTier => ({
  above,
  input,
  output,
  cacheRead,
})
/** Without a price for cached tokens these are input. */
const flat = (input: number, output: number, cacheRead?: number): [FactTier] => [
  tier(0, input, output, cacheRead),
]

const ANTHROPIC = { source: 'https://platform.claude.com/docs/en/about-claude/pricing', asOf: '2026-10-24' }
const OPENAI = { source: 'https://developers.openai.com/api/docs/pricing', asOf: '2026-10-04' }
const MODELS_DEV = { source: 'https://models.dev', asOf: '2026-07-24' }
const GEMINI = { source: 'https://ai.google.dev/gemini-api/docs/changelog', asOf: '2026-10-13' }
const MISTRAL = { source: 'https://mistral.ai/pricing', asOf: '2026-08-06' }
const DEEPSEEK = { source: 'https://api-docs.deepseek.com/quick_start/pricing', asOf: '2026-07-24' }
const MOONSHOT = { source: 'https://platform.moonshot.ai/docs/pricing', asOf: '2026-08-06' }
const ZAI = { source: 'https://docs.z.ai/guides/overview/pricing', asOf: '2026-08-20' }
const ALIBABA = { source: 'https://www.alibabacloud.com/help/en/model-studio/models', asOf: '2026-08-19' }

/** Of several rows of a name the last one that has begun holds. */
const FACTS: readonly PriceFact[] = [
  { ...ANTHROPIC, names: ['claude-sonnet-5-5'], chargesWrites: true, tiers: flat(2, 10, 0.2) },
  {
    ...ANTHROPIC,
    names: ['claude-sonnet-5-5'],
    from: '2026-10-07T00:00:00.000Z',
    chargesWrites: true,
    tiers: flat(2, 10, 0.1),
  },
  {
    ...ANTHROPIC,
    names: ['claude-haiku-5-5'],
    chargesWrites: true,
    tiers: [tier(0, 0.1, 0.5, 0.01), tier(100_000, 0.5, 2.5, 0.05)],
  },
  { ...ANTHROPIC, names: ['claude-mythos-5-1'], chargesWrites: true, tiers: flat(10, 50, 0.25) },

  {
    ...OPENAI,
    names: ['gpt-6.1-sol', 'gpt-6-1-sol'],
    chargesWrites: true,
    tiers: [tier(0, 2, 10, 0.1), tier(272_000, 4, 15, 0.2)],
  },
  {
    ...OPENAI,
    names: [
      ...['gpt-5.4-pro', 'gpt-5.4-pro-2026-03-05', 'gpt-5-4-pro', 'gpt-5-4-pro-2026-03-05'],
      ...['gpt-5.5-pro', 'gpt-5.5-pro-2026-04-23', 'gpt-5-5-pro', 'gpt-5-5-pro-2026-04-23'],
    ],
    tiers: [tier(0, 30, 180, 3), tier(272_000, 60, 270, 6)],
  },
  { ...OPENAI, names: ['gpt-5-codex-mini'], tiers: flat(0.25, 2, 0.025) },
  { ...MODELS_DEV, names: ['gpt-5.3-codex-spark'], sameAs: 'gpt-5.3-codex' },

  {
    source: 'https://blog.google/innovation-and-ai/models-and-research/gemini-models/gemini-4-argon/',
    asOf: '2026-10-13',
    names: ['gemini-4-argon'],
    tiers: flat(2, 10, 0.1),
  },
  { ...GEMINI, names: ['gemini-3-flash'], sameAs: 'gemini-3-flash-preview' },
  { ...GEMINI, names: ['gemini-3-pro'], sameAs: 'gemini-3-pro-preview' },
  { ...GEMINI, names: ['gemini-3.1-pro'], sameAs: 'gemini-3.1-pro-preview' },
  {
    ...GEMINI,
    names: ['gemini-3.1-pro-preview-customtools'],
    sameAs: 'gemini-3.1-pro-preview',
  },
  {
    ...GEMINI,
    names: ['gemini-2.5-pro-preview-05-06', 'gemini-2.5-pro-preview-06-05'],
    sameAs: 'gemini-2.5-pro',
  },
  {
    ...GEMINI,
    names: ['gemini-2.5-flash-lite-preview-06-17', 'gemini-2.5-flash-lite-preview-09-2025'],
    sameAs: 'gemini-2.5-flash-lite',
  },
  { ...GEMINI, names: ['gemini-2.0-flash-001'], sameAs: 'gemini-2.0-flash' },
  { ...GEMINI, names: ['gemini-2.0-flash-lite-001'], sameAs: 'gemini-2.0-flash-lite' },
  // the changelog has the move of January; after it the name follows the newest Flash model from its first day
  { ...GEMINI, names: ['gemini-flash-latest'], sameAs: 'gemini-2.5-flash' },
  {
    ...GEMINI,
    names: ['gemini-flash-latest'],
    from: '2026-01-21T00:00:00.000Z',
    sameAs: 'gemini-3-flash-preview',
  },
  { ...GEMINI, names: ['gemini-flash-latest'], from: '2026-05-19T00:00:00.000Z', sameAs: 'gemini-3.5-flash' },
  { ...GEMINI, names: ['gemini-flash-latest'], from: '2026-07-21T00:00:00.000Z', sameAs: 'gemini-3.6-flash' },
  { ...GEMINI, names: ['gemini-pro-latest'], sameAs: 'gemini-2.5-pro' },
  {
    ...GEMINI,
    names: ['gemini-pro-latest'],
    from: '2026-01-21T00:00:00.000Z',
    sameAs: 'gemini-3-pro-preview',
  },

  { ...MISTRAL, names: ['codestral-latest', 'codestral-2'], sameAs: 'codestral-2508' },
  { ...MISTRAL, names: ['codestral-2405'], tiers: flat(1, 3) },
  { ...MISTRAL, names: ['codestral-mamba', 'open-codestral-mamba'], tiers: flat(0.25, 0.25) },
  { ...MISTRAL, names: ['devstral', 'devstral-medium'], sameAs: 'devstral-2512' },
  { ...MISTRAL, names: ['devstral-medium-2507'], tiers: flat(0.4, 2) },
  {
    ...MISTRAL,
    names: ['magistral-medium-2506', 'magistral-medium-2509', 'magistral-medium-1-2-2509'],
    sameAs: 'magistral-medium',
  },
  {
    ...MISTRAL,
    names: ['magistral-small-2506', 'magistral-small-2509', 'magistral-small-1-2-2509'],
    sameAs: 'magistral-small',
  },
  { ...MISTRAL, names: ['mistral-large-2402'], tiers: flat(4, 12) },
  { ...MISTRAL, names: ['mistral-large-3'], sameAs: 'mistral-large-2512' },
  {
    ...MISTRAL,
    names: ['mistral-large-latest'],
    from: '2025-12-02T00:00:00.000Z',
    sameAs: 'mistral-large-2512',
  },
  // the library has Medium 3.5's price
  { ...MISTRAL, names: ['mistral-medium-3'], sameAs: 'mistral-medium-2505' },
  { ...MISTRAL, names: ['mistral-medium-3-1', 'mistral-medium-3-1-2508'], sameAs: 'mistral-medium-2508' },
  { ...MISTRAL, names: ['mistral-medium-2604'], sameAs: 'mistral-medium-3-5' },
  {
    ...MISTRAL,
    names: ['mistral-small', 'mistral-small-2506', 'mistral-small-3-2-2506'],
    tiers: flat(0.1, 0.3),
  },
  { ...MISTRAL, names: ['ministral-3-3b-2512', 'ministral-3b-latest'], sameAs: 'ministral-3b-2512' },
  { ...MISTRAL, names: ['ministral-3-8b-2512'], sameAs: 'ministral-8b-2512' },
  { ...MISTRAL, names: ['ministral-3-14b-2512', 'ministral-14b-latest'], sameAs: 'ministral-14b-2512' },
  { ...MISTRAL, names: ['open-mistral-nemo-2407', 'mistral-nemo-2407'], sameAs: 'open-mistral-nemo' },
  { ...MISTRAL, names: ['open-mixtral-8x22b'], tiers: flat(2, 6) },
  { ...MISTRAL, names: ['pixtral-12b-2409'], sameAs: 'pixtral-12b' },

  // the end of prices by the time of day, then that of V3.2-Exp
  {
    ...DEEPSEEK,
    names: ['deepseek-chat', 'deepseek-reasoner'],
    from: '2025-09-05T16:00:00.000Z',
    tiers: flat(0.56, 1.68, 0.07),
  },
  {
    ...DEEPSEEK,
    names: ['deepseek-chat', 'deepseek-reasoner'],
    from: '2025-09-29T00:00:00.000Z',
    tiers: flat(0.28, 0.42, 0.028),
  },
  { ...DEEPSEEK, names: ['deepseek-v3.2', 'deepseek-v3.2-exp'], tiers: flat(0.28, 0.42, 0.028) },
  { ...DEEPSEEK, names: ['deepseek-v3'], tiers: flat(0.27, 1.1, 0.07) },

  { ...MOONSHOT, names: ['kimi-k2'], sameAs: 'kimi-k2-0905-preview' },
  { ...MOONSHOT, names: ['kimi-latest', 'kimi-latest-128k'], tiers: flat(2, 5, 0.15) },
  { ...MOONSHOT, names: ['kimi-latest-32k'], tiers: flat(1, 3, 0.15) },
  { ...MOONSHOT, names: ['kimi-latest-8k'], tiers: flat(0.2, 2, 0.15) },
  { ...MOONSHOT, names: ['kimi-thinking-preview'], tiers: flat(0.6, 2.5, 0.15) },
  { ...MOONSHOT, names: ['moonshot-v1-auto', 'moonshot-v1-128k-0430'], sameAs: 'moonshot-v1-128k' },
  { ...MOONSHOT, names: ['moonshot-v1-32k-0430'], sameAs: 'moonshot-v1-32k' },
  { ...MOONSHOT, names: ['moonshot-v1-8k-0430'], sameAs: 'moonshot-v1-8k' },

  // the library has the prices of the Chinese site
  { ...ZAI, names: ['glm-4.5', 'glm-4.6', 'glm-4.7'], tiers: flat(0.6, 2.2, 0.11) },
  { ...ZAI, names: ['glm-4.5-air'], tiers: flat(0.2, 1.1, 0.03) },
  { ...ZAI, names: ['glm-5'], tiers: flat(1, 3.2, 0.2) },
  { ...ZAI, names: ['glm-5.1'], tiers: flat(1.4, 4.4, 0.26) },

  { ...ALIBABA, names: ['qwen-coder'], tiers: flat(0.3, 1.5) },
  { ...ALIBABA, names: ['qwen-flash'], tiers: [tier(0, 0.05, 0.4), tier(256_000, 0.25, 2)] },
  { ...ALIBABA, names: ['qwen-max'], tiers: flat(1.6, 6.4) },
  { ...ALIBABA, names: ['qwen-plus'], tiers: [tier(0, 0.4, 1.2), tier(256_000, 1.2, 3.6)] },
  { ...ALIBABA, names: ['qwen-turbo'], tiers: flat(0.05, 0.2) },
  {
    ...ALIBABA,
    names: ['qwen3-coder', 'qwen3-coder-480b-a35b-instruct'],
    tiers: [tier(0, 1.5, 7.5), tier(32_000, 2.7, 13.5), tier(128_000, 4.5, 22.5)],
  },
  {
    ...ALIBABA,
    names: ['qwen3-coder-flash'],
    tiers: [
      tier(0, 0.3, 1.5, 0.08),
      tier(32_000, 0.5, 2.5, 0.12),
      tier(128_000, 0.8, 4, 0.2),
      tier(256_000, 1.6, 9.6, 0.4),
    ],
  },
  {
    ...ALIBABA,
    names: ['qwen3-coder-plus'],
    tiers: [
      tier(0, 1, 5, 0.1),
      tier(32_000, 1.8, 9, 0.18),
      tier(128_000, 3, 15, 0.3),
      tier(256_000, 6, 60, 0.6),
    ],
  },
  {
    ...ALIBABA,
    names: ['qwen3-max', 'qwen3-max-preview'],
    tiers: [tier(0, 1.2, 6), tier(32_000, 2.4, 12), tier(128_000, 3, 15)],
  },
  {
    ...ALIBABA,
    names: ['qwen3-next-80b-a3b-instruct', 'qwen3-next-80b-a3b-thinking'],
    tiers: flat(0.15, 1.2),
  },
  { ...ALIBABA, names: ['qwen3-vl-235b-a22b-instruct'], tiers: flat(0.4, 1.6) },
  { ...ALIBABA, names: ['qwen3-vl-235b-a22b-thinking'], tiers: flat(0.4, 4) },
  { ...ALIBABA, names: ['qwen3-vl-32b-instruct'], tiers: flat(0.16, 0.64) },
  { ...ALIBABA, names: ['qwen3-vl-32b-thinking'], tiers: flat(0.16, 2.87) },
  {
    ...ALIBABA,
    names: ['qwen3-vl-plus'],
    tiers: [tier(0, 0.2, 1.6), tier(32_000, 0.3, 2.4), tier(128_000, 0.6, 4.8)],
  },
  { ...ALIBABA, names: ['qwen3.5-plus'], tiers: [tier(0, 0.4, 2.4), tier(256_000, 0.5, 3)] },
  { ...ALIBABA, names: ['qwen3.7-max'], tiers: flat(2.5, 7.5, 0.5) },
  { ...ALIBABA, names: ['qwen3.7-plus'], tiers: [tier(0, 0.4, 1.6, 0.08), tier(256_000, 1.2, 4.8, 0.24)] },
  { ...ALIBABA, names: ['qwq-plus'], tiers: flat(0.8, 2.4) },
]

const byName = new Map<string, PriceFact[]>()
for (const fact of FACTS) for (const name of fact.names) byName.set(name, [...(byName.get(name) ?? []), fact])

/** The rows of a name, in lower case, in the order of their days. */
export const factsOf = (name: string): readonly PriceFact[] => byName.get(name) ?? []
