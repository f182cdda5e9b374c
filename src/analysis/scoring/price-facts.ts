// Prices that @pydantic/genai-prices 0.1.8 lacks or has wrong, in US dollars per million tokens. They win over the
// library's for the same name. A row has the names that it holds for, the page of the source, the day on which the page said so, and the
// day from which it holds. The price of another day is a row of its own; a row goes when the library has it.

/** A price for prompts of more than `above` tokens, or for all. */
interface FactTier {
  above: number
  input: number
  output: number
  cacheRead: number
}

export interface Source {
  source: string
  /** The day on which the source was read. */
  asOf: string
}

interface Terms {
  /** RFC 3339, UTC; without it the row holds from the beginning. */
  from?: string
  /** Twice the price at the vendor's peak hours: on each day, or not on Saturdays and Sundays. */
  peak?: 'daily' | 'weekdays'
  /** A cache write costs 1.25 times the input price, one for an hour twice; else it costs as much as input. */
  chargesWrites?: boolean
}

/** Sorted by `above`; the first is for the smallest prompts. */
type Tiers = readonly [FactTier, ...FactTier[]]

/** `sameAs`: another name of this model, which has a price of its own. */
export type PriceFact = Source &
  Terms & { names: readonly string[] } & ({ tiers: Tiers } | { sameAs: string })

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
const GPT_6_2 = { source: 'https://developers.openai.com/api/docs/models/gpt-6.2-sol', asOf: '2026-11-29' }
const MODELS_DEV = { source: 'https://models.dev', asOf: '2026-07-24' }
const GEMINI = { source: 'https://ai.google.dev/gemini-api/docs/changelog', asOf: '2026-10-13' }
const MISTRAL = { source: 'https://mistral.ai/pricing', asOf: '2026-08-06' }
const DEEPSEEK = { source: 'https://api-docs.deepseek.com/quick_start/pricing', asOf: '2026-07-24' }
const DEEPSEEK_V4 = { source: 'https://api-docs.deepseek.com/news/news260424', asOf: '2026-11-29' }
const DEEPSEEK_PEAK = { source: 'https://api-docs.deepseek.com/quick_start/pricing', asOf: '2026-11-29' }
const MOONSHOT = { source: 'https://platform.moonshot.ai/docs/pricing', asOf: '2026-08-06' }
const ZAI = { source: 'https://docs.z.ai/guides/overview/pricing', asOf: '2026-08-20' }
const ALIBABA = { source: 'https://www.alibabacloud.com/help/en/model-studio/models', asOf: '2026-08-19' }

/** The names are apart by blanks. */
const priced = (source: Source, names: string, tiers: Tiers, terms: Terms = {}): PriceFact => ({
  ...{ ...source, names: names.split(' '), tiers, ...terms },
})
const alias = (source: Source, names: string, sameAs: string, terms: Terms = {}): PriceFact => ({
  ...{ ...source, names: names.split(' '), sameAs, ...terms },
})

/** Cache writes at their own price. */
const WRITES: Terms = { chargesWrites: true }
const from = (day: string): Terms => ({ from: `${day}T00:00:00.000Z` })

/** DeepSeek's first peak hours, and its first weekend without them; both begin at midnight in Beijing. */
const PEAK: Terms = { from: '2026-08-16T16:00:00.000Z', peak: 'daily' }
const WEEKDAY_PEAK: Terms = { from: '2026-08-22T16:00:00.000Z', peak: 'weekdays' }

/** A name may have several rows: the last one that has begun holds. */
const FACTS: readonly PriceFact[] = [
  priced(ANTHROPIC, 'claude-sonnet-5-5', flat(2, 10, 0.2), WRITES),
  priced(ANTHROPIC, 'claude-sonnet-5-5', flat(2, 10, 0.1), { ...WRITES, ...from('2026-10-07') }),
  priced(ANTHROPIC, 'claude-haiku-5-5', [tier(0, 0.1, 0.5, 0.01), tier(100_000, 0.5, 2.5, 0.05)], WRITES),
  priced(ANTHROPIC, 'claude-mythos-5-1', flat(10, 50, 0.25), WRITES),

  priced(OPENAI, 'gpt-6.1-sol gpt-6-1-sol', [tier(0, 2, 10, 0.1), tier(272_000, 4, 15, 0.2)], WRITES),
  priced(GPT_6_2, 'gpt-6.2-sol gpt-6-2-sol', [tier(0, 2, 10, 0.1), tier(272_000, 4, 15, 0.2)], WRITES),
  priced(
    OPENAI,
    'gpt-5.4-pro gpt-5.4-pro-2026-03-05 gpt-5-4-pro gpt-5-4-pro-2026-03-05 gpt-5.5-pro gpt-5.5-pro-2026-04-23 gpt-5-5-pro gpt-5-5-pro-2026-04-23',
    [tier(0, 30, 180, 3), tier(272_000, 60, 270, 6)],
  ),
  priced(OPENAI, 'gpt-5-codex-mini', flat(0.25, 2, 0.025)),
  alias(MODELS_DEV, 'gpt-5.3-codex-spark', 'gpt-5.3-codex'),

  priced(
    {
      source: 'https://blog.google/innovation-and-ai/models-and-research/gemini-models/gemini-4-argon/',
      asOf: '2026-10-13',
    },
    'gemini-4-argon',
    flat(2, 10, 0.1),
  ),
  alias(GEMINI, 'gemini-3-flash', 'gemini-3-flash-preview'),
  alias(GEMINI, 'gemini-3-pro', 'gemini-3-pro-preview'),
  alias(GEMINI, 'gemini-3.1-pro', 'gemini-3.1-pro-preview'),
  alias(GEMINI, 'gemini-3.1-pro-preview-customtools', 'gemini-3.1-pro-preview'),
  alias(GEMINI, 'gemini-2.5-pro-preview-05-06 gemini-2.5-pro-preview-06-05', 'gemini-2.5-pro'),
  alias(
    GEMINI,
    'gemini-2.5-flash-lite-preview-06-17 gemini-2.5-flash-lite-preview-09-2025',
    'gemini-2.5-flash-lite',
  ),
  alias(GEMINI, 'gemini-2.0-flash-001', 'gemini-2.0-flash'),
  alias(GEMINI, 'gemini-2.0-flash-lite-001', 'gemini-2.0-flash-lite'),
  // the changelog has the move of January; after it the name follows the newest Flash model from its first day
  alias(GEMINI, 'gemini-flash-latest', 'gemini-2.5-flash'),
  alias(GEMINI, 'gemini-flash-latest', 'gemini-3-flash-preview', from('2026-01-21')),
  alias(GEMINI, 'gemini-flash-latest', 'gemini-3.5-flash', from('2026-05-19')),
  alias(GEMINI, 'gemini-flash-latest', 'gemini-3.6-flash', from('2026-07-21')),
  alias(GEMINI, 'gemini-pro-latest', 'gemini-2.5-pro'),
  alias(GEMINI, 'gemini-pro-latest', 'gemini-3-pro-preview', from('2026-01-21')),

  alias(MISTRAL, 'codestral-latest codestral-2', 'codestral-2508'),
  priced(MISTRAL, 'codestral-2405', flat(1, 3)),
  priced(MISTRAL, 'codestral-mamba open-codestral-mamba', flat(0.25, 0.25)),
  alias(MISTRAL, 'devstral devstral-medium', 'devstral-2512'),
  priced(MISTRAL, 'devstral-medium-2507', flat(0.4, 2)),
  alias(MISTRAL, 'magistral-medium-2506 magistral-medium-2509 magistral-medium-1-2-2509', 'magistral-medium'),
  alias(MISTRAL, 'magistral-small-2506 magistral-small-2509 magistral-small-1-2-2509', 'magistral-small'),
  priced(MISTRAL, 'mistral-large-2402', flat(4, 12)),
  alias(MISTRAL, 'mistral-large-3', 'mistral-large-2512'),
  alias(MISTRAL, 'mistral-large-latest', 'mistral-large-2512', from('2025-12-02')),
  // the library has Medium 3.5's price
  alias(MISTRAL, 'mistral-medium-3', 'mistral-medium-2505'),
  alias(MISTRAL, 'mistral-medium-3-1 mistral-medium-3-1-2508', 'mistral-medium-2508'),
  alias(MISTRAL, 'mistral-medium-2604', 'mistral-medium-3-5'),
  priced(MISTRAL, 'mistral-small mistral-small-2506 mistral-small-3-2-2506', flat(0.1, 0.3)),
  alias(MISTRAL, 'ministral-3-3b-2512 ministral-3b-latest', 'ministral-3b-2512'),
  alias(MISTRAL, 'ministral-3-8b-2512', 'ministral-8b-2512'),
  alias(MISTRAL, 'ministral-3-14b-2512 ministral-14b-latest', 'ministral-14b-2512'),
  alias(MISTRAL, 'open-mistral-nemo-2407 mistral-nemo-2407', 'open-mistral-nemo'),
  priced(MISTRAL, 'open-mixtral-8x22b', flat(2, 6)),
  alias(MISTRAL, 'pixtral-12b-2409', 'pixtral-12b'),

  // the end of prices by the time of day, then that of V3.2-Exp
  priced(DEEPSEEK, 'deepseek-chat deepseek-reasoner', flat(0.56, 1.68, 0.07), {
    from: '2025-09-05T16:00:00.000Z',
  }),
  priced(DEEPSEEK, 'deepseek-chat deepseek-reasoner', flat(0.28, 0.42, 0.028), from('2025-09-29')),
  alias(DEEPSEEK_V4, 'deepseek-chat deepseek-reasoner', 'deepseek-v4-flash', from('2026-04-24')),
  // the library has the peak hours without their first day and without weekends, and not V4.1 Flash
  priced(DEEPSEEK_V4, 'deepseek-v4-flash', flat(0.14, 0.28, 0.0028)),
  priced(DEEPSEEK_PEAK, 'deepseek-v4-flash', flat(0.22, 0.66, 0.007), PEAK),
  priced(DEEPSEEK_PEAK, 'deepseek-v4-flash', flat(0.22, 0.66, 0.007), WEEKDAY_PEAK),
  priced(DEEPSEEK_PEAK, 'deepseek-v4-flash', flat(0.15, 0.6, 0.003), {
    ...WEEKDAY_PEAK,
    from: '2026-09-10T04:00:00.000Z',
  }),
  alias(DEEPSEEK_PEAK, 'deepseek-flash deepseek-v4-flash-vision-exp', 'deepseek-v4-flash'),
  priced(DEEPSEEK_V4, 'deepseek-v4-pro', flat(0.435, 0.87, 0.003625)),
  priced(DEEPSEEK_PEAK, 'deepseek-v4-pro', flat(0.66, 1.98, 0.022), PEAK),
  priced(DEEPSEEK_PEAK, 'deepseek-v4-pro', flat(0.66, 1.98, 0.022), WEEKDAY_PEAK),
  priced(DEEPSEEK, 'deepseek-v3.2 deepseek-v3.2-exp', flat(0.28, 0.42, 0.028)),
  priced(DEEPSEEK, 'deepseek-v3', flat(0.27, 1.1, 0.07)),

  alias(MOONSHOT, 'kimi-k2', 'kimi-k2-0905-preview'),
  priced(MOONSHOT, 'kimi-latest kimi-latest-128k', flat(2, 5, 0.15)),
  priced(MOONSHOT, 'kimi-latest-32k', flat(1, 3, 0.15)),
  priced(MOONSHOT, 'kimi-latest-8k', flat(0.2, 2, 0.15)),
  priced(MOONSHOT, 'kimi-thinking-preview', flat(0.6, 2.5, 0.15)),
  alias(MOONSHOT, 'moonshot-v1-auto moonshot-v1-128k-0430', 'moonshot-v1-128k'),
  alias(MOONSHOT, 'moonshot-v1-32k-0430', 'moonshot-v1-32k'),
  alias(MOONSHOT, 'moonshot-v1-8k-0430', 'moonshot-v1-8k'),

  // the library has the prices of the Chinese site
  priced(ZAI, 'glm-4.5 glm-4.6 glm-4.7', flat(0.6, 2.2, 0.11)),
  priced(ZAI, 'glm-4.5-air', flat(0.2, 1.1, 0.03)),
  priced(ZAI, 'glm-5', flat(1, 3.2, 0.2)),
  priced(ZAI, 'glm-5.1', flat(1.4, 4.4, 0.26)),

  priced(ALIBABA, 'qwen-coder', flat(0.3, 1.5)),
  priced(ALIBABA, 'qwen-flash', [tier(0, 0.05, 0.4), tier(256_000, 0.25, 2)]),
  priced(ALIBABA, 'qwen-max', flat(1.6, 6.4)),
  priced(ALIBABA, 'qwen-plus', [tier(0, 0.4, 1.2), tier(256_000, 1.2, 3.6)]),
  priced(ALIBABA, 'qwen-turbo', flat(0.05, 0.2)),
  priced(ALIBABA, 'qwen3-coder qwen3-coder-480b-a35b-instruct', [
    tier(0, 1.5, 7.5),
    tier(32_000, 2.7, 13.5),
    tier(128_000, 4.5, 22.5),
  ]),
  priced(ALIBABA, 'qwen3-coder-flash', [
    tier(0, 0.3, 1.5, 0.08),
    tier(32_000, 0.5, 2.5, 0.12),
    tier(128_000, 0.8, 4, 0.2),
    tier(256_000, 1.6, 9.6, 0.4),
  ]),
  priced(ALIBABA, 'qwen3-coder-plus', [
    tier(0, 1, 5, 0.1),
    tier(32_000, 1.8, 9, 0.18),
    tier(128_000, 3, 15, 0.3),
    tier(256_000, 6, 60, 0.6),
  ]),
  priced(ALIBABA, 'qwen3-max qwen3-max-preview', [
    tier(0, 1.2, 6),
    tier(32_000, 2.4, 12),
    tier(128_000, 3, 15),
  ]),
  priced(ALIBABA, 'qwen3-next-80b-a3b-instruct qwen3-next-80b-a3b-thinking', flat(0.15, 1.2)),
  priced(ALIBABA, 'qwen3-vl-235b-a22b-instruct', flat(0.4, 1.6)),
  priced(ALIBABA, 'qwen3-vl-235b-a22b-thinking', flat(0.4, 4)),
  priced(ALIBABA, 'qwen3-vl-32b-instruct', flat(0.16, 0.64)),
  priced(ALIBABA, 'qwen3-vl-32b-thinking', flat(0.16, 2.87)),
  priced(ALIBABA, 'qwen3-vl-plus', [tier(0, 0.2, 1.6), tier(32_000, 0.3, 2.4), tier(128_000, 0.6, 4.8)]),
  priced(ALIBABA, 'qwen3.5-plus', [tier(0, 0.4, 2.4), tier(256_000, 0.5, 3)]),
  priced(ALIBABA, 'qwen3.7-max', flat(2.5, 7.5, 0.5)),
  priced(ALIBABA, 'qwen3.7-plus', [tier(0, 0.4, 1.6, 0.08), tier(256_000, 1.2, 4.8, 0.24)]),
  priced(ALIBABA, 'qwq-plus', flat(0.8, 2.4)),
]

const byName = new Map<string, PriceFact[]>()
for (const fact of FACTS) for (const name of fact.names) byName.set(name, [...(byName.get(name) ?? []), fact])

export const FACT_NAMES: readonly string[] = [...byName.keys()]
/** The rows of a name, in lower case, in the order of their days. */
export const factsOf = (name: string): readonly PriceFact[] => byName.get(name) ?? []

/** DeepSeek's peak hours (DEEPSEEK_PEAK): 9 to 12 and 14 to 18 in Beijing, where they have the weekday of UTC. */
export function isPeak(days: 'daily' | 'weekdays', at: string): boolean {
  const time = new Date(at)
  const hour = time.getUTCHours()
  const isDay = days === 'daily' || time.getUTCDay() % 6 !== 0
  return isDay && ((hour >= 1 && hour < 4) || (hour >= 6 && hour < 10))
}
