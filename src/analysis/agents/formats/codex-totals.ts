import { countOf, isObject } from '../transcript/json.ts'
import { tokensOfCall } from '../transcript/source-file.ts'
import type { MessageTokens } from '../transcript/transcript-model.ts'

/** Codex's counts of tokens, of which this file makes the usage of each call; in the order of `COUNTS`: the input includes both counts of the cache, the output the reasoning. */
export type Totals = readonly number[]

/** The second of the cache is written by newer versions only. */
const COUNTS = [
  ...['input_tokens', 'cached_input_tokens', 'cache_write_input_tokens'],
  ...['output_tokens', 'reasoning_output_tokens'],
]

export const totalsOf = (usage: unknown): Totals | null =>
  isObject(usage) ? COUNTS.map((name) => countOf(usage[name])) : null

export const totalsKey = (totals: Totals): string => totals.join(' ')

const minus = (a: Totals, b: Totals): Totals => a.map((count, kind) => count - (b[kind] ?? 0))

/** The counts of a running total beyond those before; null where one of them is smaller: it began again. */
export function growth(before: Totals, now: Totals): Totals | null {
  const grown = minus(now, before)
  return grown.some((count) => count < 0) ? null : grown
}

/** The running total of `token_count` while a file is read. */
export interface Counter {
  total: Totals | null
  /** Keys of the usages that records had, which the total repeats later, but for those of compactions. */
  recorded: string[]
}

/** Recorded usages that wait: those that the total never repeats must not become more without an end. */
const MAX_RECORDED = 100

/** Notes the usage in a record of a call. Its own running total is another counter: it also has compactions. */
export function noteRecorded({ recorded }: Counter, usage: Totals): void {
  recorded.push(totalsKey(usage))
  if (recorded.length > MAX_RECORDED) recorded.shift()
}

/**
 * The usage that a `token_count` adds; null where it repeats the total before, or a record. A difference counts only within
 * one sum: the counter began again where its total without the `last` call, which the line has too, is below the total
 * before. The sum of a file that continues another one (`isContinued`) begins with the last call.
 */
export function usageIn(
  counter: Counter,
  { total, last, isContinued }: { total: Totals | null; last: Totals | null; isContinued: boolean },
): Totals | null {
  const { total: before, recorded } = counter
  counter.total = total ?? before
  if (total !== null && before !== null && totalsKey(total) === totalsKey(before)) return null
  const usage =
    total === null || (before === null && isContinued) ? (last ?? total) : grownBy(before, total, last)
  if (usage?.every((count) => count === 0) !== false) return null
  // the later one of two equal usages; nothing before it is repeated after it
  const index = recorded.lastIndexOf(totalsKey(last ?? usage))
  if (index === -1) return usage
  recorded.splice(0, index + 1)
  return null
}

function grownBy(before: Totals | null, total: Totals, last: Totals | null): Totals {
  if (before === null) return total
  const isSameSum = growth(before, last === null ? total : minus(total, last)) !== null
  return isSameSum ? minus(total, before) : (last ?? total)
}

export function codexTokens([input = 0, cached = 0, cacheWrite = 0, output]: Totals): MessageTokens {
  const read = Math.min(input, cached)
  return tokensOfCall({ input, output, read, written: Math.min(input - read, cacheWrite) }, true)
}
