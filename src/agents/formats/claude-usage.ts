import type { ModelTotal } from '../../records/session-parts.ts'
import { countOf, isObject, objectOf, textOf } from '../transcript/json-fields.ts'
import { reportedCost } from '../transcript/source-file.ts'
import type { MessageTokens } from '../transcript/transcript-model.ts'

// Reads how Claude Code states the use of a model, in its transcripts and in the output of `claude -p`.

/** The model name of messages that the program wrote without an API call. */
export const SYNTHETIC = '<synthetic>'

/** The tokens of a `usage` object of Anthropic's Messages API; null for anything else. */
export function claudeTokens(usage: unknown): MessageTokens | null {
  if (!isObject(usage)) return null
  const creation = objectOf(usage.cache_creation)
  const hour = countOf(creation.ephemeral_1h_input_tokens)
  return {
    input: countOf(usage.input_tokens),
    output: countOf(usage.output_tokens),
    cache_read: countOf(usage.cache_read_input_tokens),
    cache_creation:
      countOf(usage.cache_creation_input_tokens) || countOf(creation.ephemeral_5m_input_tokens) + hour,
    cache_creation_1h: hour,
    reasoning: 0,
  }
}

/** Without the mark of a large context, which is not a part of the model's name. */
export const modelOf = (name: unknown): string | null => textOf(name)?.replace(/\[1m\]$/, '') ?? null

/** Totals by model of a `modelUsage` object. `isGuess`: their costs are not known. */
export function claudeTotals(modelUsage: unknown, isGuess = false): ModelTotal[] {
  return Object.entries(objectOf(modelUsage)).flatMap(([name, usage]) => {
    if (!isObject(usage) || name === SYNTHETIC) return []
    const tokens: ModelTotal['tokens'] = [
      countOf(usage.inputTokens),
      countOf(usage.outputTokens),
      countOf(usage.cacheReadInputTokens),
      countOf(usage.cacheCreationInputTokens),
      countOf(usage.cacheCreationEphemeral1hInputTokens),
    ]
    const cost = isGuess || usage.costBasis === 'unknown' ? null : costOf(usage.costUSD)
    return [{ model: modelOf(name), tokens, cost }]
  })
}

/** A stated cost in picodollars; null for none. */
export function costOf(dollars: unknown): string | null {
  const cost = dollars === 0 ? 0n : reportedCost(dollars)
  return cost === null ? null : String(cost)
}

/** Web searches of a `usage` object, which are billed beside its tokens. */
export const searchesOf = (usage: unknown): number =>
  countOf(objectOf(objectOf(usage).server_tool_use).web_search_requests)
