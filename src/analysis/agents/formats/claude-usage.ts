// Reads how Claude Code states the use of a model, in its transcripts and in the output of `claude -p`.

import { cloudNotes, notesFrom } from '../../records/call-notes.ts'
import type { ModelTotal } from '../../records/fragments.ts'
import { plainNameOf } from '../../scoring/model-names.ts'
import { tierOf } from '../../scoring/price-tiers.ts'
import { countOf, isObject, type Json, listOf, objectOf, textOf, valueAt } from '../transcript/json.ts'
import { reportedCost } from '../transcript/source-file.ts'
import type { ApiMessage, MessageTokens } from '../transcript/transcript-model.ts'

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
  }
}

/** The call of a model that a line of the model is of. */
export function messageOf(line: Json, { id, model, usage }: Json, number: number): ApiMessage {
  const { speed, service_tier, inference_geo } = objectOf(usage)
  return {
    id: textOf(id) ?? textOf(line.uuid) ?? `line ${number}`,
    model: modelOf(model),
    tokens: claudeTokens(usage),
    cost: reportedCost(line.costUSD),
    // web searches are billed beside the tokens
    searches: countOf(valueAt(usage, 'server_tool_use', 'web_search_requests')),
    request: textOf(line.requestId),
    tier: tierOf(speed, service_tier, inference_geo),
    notes: notesFrom({
      version: line.version,
      effort: line.effort,
      skill: line.attributionSkill,
      subagent: line.attributionAgent,
      mcp_server: line.attributionMcpServer,
      plugin: line.attributionPlugin,
      ...cloudNotes(id),
    }),
  }
}

/**
 * The calls of other models that a response made, in `iterations` of its usage: of an advisor, and of a model that refused before
 * another one answered; and those that made a summary of the context. Its own iterations are in its usage already.
 */
export function otherCalls({ id, model, notes = {} }: ApiMessage, usage: unknown): ApiMessage[] {
  const { iterations, service_tier, inference_geo } = objectOf(usage)
  return listOf(iterations).flatMap((each, index) => {
    if (!isObject(each)) return []
    const modelName = modelOf(each.model)
    const isOther = modelName !== null && plainNameOf(modelName) !== plainNameOf(model ?? '')
    if (!isOther && each.type !== 'advisor_message' && each.type !== 'compaction') return []
    const tier = tierOf(service_tier, inference_geo)
    const apiMessage = { model: modelName ?? model, tokens: claudeTokens(each), tier, notes }
    return [{ id: `${id} iteration ${index}`, ...apiMessage }]
  })
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
    const cost = isGuess || usage.costBasis === 'unknown' ? null : statedCost(usage.costUSD)
    return [{ model: modelOf(name), tokens, cost }]
  })
}

/** A stated cost in picodollars; null for none. */
export function statedCost(dollars: unknown): string | null {
  const cost = dollars === 0 ? 0n : reportedCost(dollars)
  return cost === null ? null : String(cost)
}
