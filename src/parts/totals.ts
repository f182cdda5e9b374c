import type { ModelTotal, RunPart } from '../records/session-parts.ts'
import { compareText } from '../text.ts'

// Totals that an agent states for a run or for the whole session, beside the calls that are known one by one.

type Totals = ModelTotal[]
type Counts = ModelTotal['tokens']

const NO_TOKENS: Counts = [0, 0, 0, 0, 0]
/** Half a micro-dollar, in picodollars: amounts that differ by less are the same in another notation. */
export const SAME_AMOUNT = 500_000n

const add = (a: Counts, b: Counts): Counts => a.map((count, index) => count + (b[index] ?? 0)) as Counts
const sumOf = ([input, output, cacheRead, cacheCreation]: Counts): number =>
  input + output + cacheRead + cacheCreation
const costOf = (totals: Totals): bigint => totals.reduce((sum, { cost }) => sum + BigInt(cost ?? 0), 0n)
const tokensOf = (totals: Totals): number => totals.reduce((sum, { tokens }) => sum + sumOf(tokens), 0)

/** The totals with more tokens, then of the higher cost; null when both are. */
export function largerTotals(a: Totals | null, b: Totals | null): Totals | null {
  if (a === null || b === null) return a ?? b
  if (tokensOf(a) !== tokensOf(b)) return tokensOf(a) > tokensOf(b) ? a : b
  if (costOf(a) !== costOf(b)) return costOf(a) > costOf(b) ? a : b
  return compareText(JSON.stringify(a), JSON.stringify(b)) <= 0 ? a : b
}

/** Adds totals of the same model; a sum has a cost when all of its parts have one. */
export function sumTotals(totals: readonly ModelTotal[]): Totals {
  const sums = new Map<string | null, ModelTotal>()
  for (const { model, tokens, cost } of totals) {
    const known = sums.get(model)
    const sum =
      known === undefined ? cost : known.cost === null || cost === null ? null : plus(known.cost, cost)
    sums.set(model, { model, tokens: add(known?.tokens ?? NO_TOKENS, tokens), cost: sum })
  }
  return [...sums.values()].sort((a, b) => compareText(a.model ?? '', b.model ?? ''))
}

const plus = (a: string, b: string): string => String(BigInt(a) + BigInt(b))

/** Returns the agent's own totals: the sum of its runs, or those of the whole session if they are larger. */
export function statedTotals(runs: readonly RunPart[], whole: Totals | null): Totals {
  const inOthers = new Set(runs.flatMap(({ over }) => over))
  const own = runs.filter(({ id }) => !inOthers.has(id)).flatMap(({ totals }) => totals)
  return largerTotals(sumTotals(own), whole) ?? []
}

/**
 * Returns the part of the stated totals beyond the calls that are known, by model: `counted` has the sums of these
 * calls. A total without a model is compared with all calls. A cost is null when the agent states none.
 */
export function unattributedTotals(stated: Totals, counted: Totals): Totals {
  const byModel = new Map(counted.map((each) => [each.model, [each]]))
  return stated.flatMap(({ model, tokens, cost }) => {
    const calls = model === null ? counted : (byModel.get(model) ?? [])
    const known = calls.reduce((sum, each) => add(sum, each.tokens), NO_TOKENS)
    const isMore = sumOf(tokens) > sumOf(known)
    const rest = isMore
      ? (tokens.map((count, index) => Math.max(0, count - (known[index] ?? 0))) as Counts)
      : NO_TOKENS
    const more = cost === null ? null : BigInt(cost) - costOf(calls)
    const hasCost = more !== null && more >= SAME_AMOUNT
    if (!isMore && !hasCost) return []
    return [{ model, tokens: rest, cost: more === null ? null : String(hasCost ? more : 0n) }]
  })
}
