// Reads the price tier of a call and gives its factor: a call may cost more or less than the list price, for faster or slower
// service, and by the place where the model runs. Agents name the tier in `speed`, `service_tier` and `inference_geo` of a
// usage. A tier without a row for the model has no known price.

import { isAtLeast, lookUpNames } from './model-names.ts'
import type { Source } from './price-facts.ts'

/** A part of the list price: the first by the second. */
export type Factor = readonly [bigint, bigint]

interface TierFact extends Source {
  tier: string
  /** Names of models, or a form of names. */
  models: readonly string[] | RegExp
  share: Factor
}

const fact = (source: Source, tier: string, share: Factor, models: string | RegExp): TierFact => ({
  ...{ ...source, tier, share, models: typeof models === 'string' ? models.split(' ') : models },
})

const ANTHROPIC_FAST = {
  source: 'https://platform.claude.com/docs/en/build-with-claude/fast-mode#pricing',
  asOf: '2026-11-26',
}
const ANTHROPIC = { source: 'https://platform.claude.com/docs/en/about-claude/pricing', asOf: '2026-11-26' }
const OPENAI = { source: 'https://developers.openai.com/api/docs/pricing', asOf: '2026-11-26' }
const OPENAI_FAST = { source: 'https://openai.com/api-fast-mode', asOf: '2026-11-26' }
const GPT_6_2 = { source: 'https://developers.openai.com/api/docs/models/gpt-6.2-sol', asOf: '2026-11-29' }
/** The page has no older models any more. */
const OPENAI_PRIORITY = { source: 'https://openai.com/api-priority-processing', asOf: '2026-11-26' }
const LITELLM = { source: 'https://github.com/BerriAI/litellm', asOf: '2026-07-24' }

const FACTS: readonly TierFact[] = [
  fact(ANTHROPIC_FAST, 'fast', [6n, 1n], 'claude-opus-4-6 claude-opus-4-7'),
  fact(ANTHROPIC_FAST, 'fast', [2n, 1n], 'claude-opus-4-8 claude-opus-5 claude-opus-5-5'),
  fact(ANTHROPIC, 'batch', [1n, 2n], /^claude-/),
  fact(OPENAI, 'batch', [1n, 2n], /^(?:gpt-|o\d)/),
  fact(OPENAI, 'flex', [1n, 2n], /^(?:gpt-[5-9]|o3$|o4-mini$)/),
  fact(OPENAI_FAST, 'priority', [2n, 1n], 'gpt-5.6 gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna'),
  fact(GPT_6_2, 'priority', [2n, 1n], 'gpt-6.2-sol gpt-6-2-sol'),
  fact(OPENAI_PRIORITY, 'priority', [5n, 2n], 'gpt-5.5'),
  fact(
    OPENAI_PRIORITY,
    'priority',
    [2n, 1n],
    'gpt-5.4 gpt-5.4-mini gpt-5.2 gpt-5.1 gpt-5 gpt-5.1-codex gpt-5-codex gpt-4.1-nano',
  ),
  fact(LITELLM, 'priority', [2n, 1n], 'gpt-5.3-codex gpt-5.3-codex-spark gpt-5.2-codex gpt-5.1-codex-max'),
  fact(OPENAI_PRIORITY, 'priority', [9n, 5n], 'gpt-5-mini'),
  fact(LITELLM, 'priority', [9n, 5n], 'gpt-5.1-codex-mini'),
  fact(OPENAI_PRIORITY, 'priority', [7n, 4n], 'gpt-4.1 gpt-4.1-mini o3'),
  fact(OPENAI_PRIORITY, 'priority', [20n, 11n], 'o4-mini'),
  fact(LITELLM, 'priority', [17n, 10n], 'gpt-4o'),
  fact(LITELLM, 'priority', [5n, 3n], 'gpt-4o-mini'),
]

const TIER = /^[a-z][a-z0-9_-]{1,29}$/
/** Names for the list price. */
const STANDARD = /^(?:auto|default|standard|standard_only|normal|on_demand|not_available|global|none)$/

/** The tier of a usage by `speed`, `service_tier` and `inference_geo` as agents write them; null at the list price. */
export function tierOf(...stated: readonly unknown[]): string | null {
  const names = stated.map((each) => String(each ?? '').toLowerCase())
  const tiers = names.filter((name) => TIER.test(name) && !STANDARD.test(name))
  return tiers.length === 0 ? null : [...new Set(tiers)].sort().join(' ')
}

/** The part of the list price that a call of the model costs in its tiers; undefined where a tier has no known price. */
export function factorOf(model: string, tiers: string): Factor | undefined {
  const names = lookUpNames(model)
  const plainest = names.at(-1) ?? model
  let [over, under]: Factor = [1n, 1n]
  for (const tier of tiers.split(' ')) {
    const share = tier === 'us' ? usFactor(plainest) : tierRow(names, tier)?.share
    if (share === undefined) return undefined
    over *= share[0]
    under *= share[1]
  }
  return [over, under]
}

/** Anthropic charges 10 % more for the United States only from Claude 4.6 on (ANTHROPIC, "Data residency"); earlier models cannot. */
const usFactor = (name: string): Factor | undefined =>
  name.startsWith('claude-') ? [isAtLeast(name, 4, 6) ? 11n : 10n, 10n] : undefined

function tierRow(names: readonly string[], tier: string): TierFact | undefined {
  // OpenAI's name for it since July 2026, and that of Codex
  const tiers = tier === 'fast' ? ['fast', 'priority'] : [tier]
  return FACTS.find(
    ({ tier: its, models }) =>
      tiers.includes(its) &&
      names.some((name) => (models instanceof RegExp ? models.test(name) : models.includes(name))),
  )
}
