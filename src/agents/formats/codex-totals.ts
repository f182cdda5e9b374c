import { countOf, isObject } from '../transcript/json-fields.ts'
import { tokensOfCall } from '../transcript/source-file.ts'
import type { MessageTokens } from '../transcript/transcript-model.ts'

/** Codex's counts of tokens: `input` includes `cached` and `cacheWrite`, `output` includes `reasoning`. */
export interface Totals {
  input: number
  cached: number
  /** Written by newer versions only. */
  cacheWrite: number
  output: number
  reasoning: number
}

/** The counts of a `usage` object; null for anything else. */
export function totalsOf(usage: unknown): Totals | null {
  if (!isObject(usage)) return null
  return {
    input: countOf(usage.input_tokens),
    cached: countOf(usage.cached_input_tokens),
    cacheWrite: countOf(usage.cache_write_input_tokens),
    output: countOf(usage.output_tokens),
    reasoning: countOf(usage.reasoning_output_tokens),
  }
}

/** Equal totals have the same key. */
export const totalsKey = (totals: Totals): string => Object.values(totals).join(' ')

/** The differences of consecutive totals sum up to the agent's total. Null where a total falls: it started again. */
export function growth(before: Totals | null, now: Totals | null): Totals | null {
  if (now === null || before === null) return now
  const grown = {
    input: now.input - before.input,
    cached: now.cached - before.cached,
    cacheWrite: now.cacheWrite - before.cacheWrite,
    output: now.output - before.output,
    reasoning: now.reasoning - before.reasoning,
  }
  return Object.values(grown).some((count) => count < 0) ? null : grown
}

export function tokensOf({ input, cached, cacheWrite, output, reasoning }: Totals): MessageTokens {
  const read = Math.min(input, cached)
  return tokensOfCall({ input, output, read, written: Math.min(input - read, cacheWrite), reasoning }, true)
}
