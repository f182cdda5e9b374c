// Adds, compares and subtracts totals that an agent states for a run or a session, beside the calls that are known.

import { compareText } from '../../base/text.ts'
import type { ModelTotal, RunFragment } from '../records/fragments.ts'
import { plainNameOf } from '../scoring/model-names.ts'

type Totals = ModelTotal[]
type Counts = ModelTotal['tokens']

const NO_TOKENS: Counts = [0, 0, 0, 0, 0]
/** Half a micro-dollar, in picodollars: amounts that differ by less are the same in another notation. */
export const SAME_AMOUNT = 500_000n

const add = (a: Counts, b: Counts): Counts => a.map((count, index) => count + (b[index] ?? 0)) as Counts
/** Sums all kinds: the part of the cache that is kept for an hour is in another one. */
export const countSum = ([input, output, cacheRead, cacheCreation]: Counts): number =>
  input + output + cacheRead + cacheCreation
const costSum = (totals: Totals): bigint => totals.reduce((sum, { cost }) => sum + BigInt(cost ?? 0), 0n)
const tokenSum = (totals: Totals): number => totals.reduce((sum, { tokens }) => sum + countSum(tokens), 0)

/** The totals with more tokens, then of the higher cost; null when both are. */
export function largerTotals(a: Totals | null, b: Totals | null): Totals | null {
  if (a === null || b === null) return a ?? b
  if (tokenSum(a) !== tokenSum(b)) return tokenSum(a) > tokenSum(b) ? a : b
  if (costSum(a) !== costSum(b)) return costSum(a) > costSum(b) ? a : b
  return compareText(JSON.stringify(a), JSON.stringify(b)) <= 0 ? a : b
}

/** Adds totals of the same model; a sum has a cost when all of its parts have one. */
export function sumTotals(totals: readonly ModelTotal[]): Totals {
  const sums = new Map<string | null, ModelTotal>()
  for (const total of totals) {
    const sum = sums.get(total.model)
    sums.set(total.model, sum === undefined ? total : together(sum, total))
  }
  return [...sums.values()].sort((a, b) => compareText(a.model ?? '', b.model ?? ''))
}

const together = (a: ModelTotal, b: ModelTotal): ModelTotal => ({
  ...a,
  tokens: add(a.tokens, b.tokens),
  cost: a.cost === null || b.cost === null ? null : String(BigInt(a.cost) + BigInt(b.cost)),
})

/** Returns the agent's own totals: the sum of its runs, or those of the whole session if they are larger. */
export function statedTotals(runs: readonly RunFragment[], whole: Totals | null): Totals {
  const inOthers = new Set(runs.flatMap(({ over }) => over))
  const sessionTotals = runs.filter(({ id }) => !inOthers.has(id)).flatMap(({ totals }) => totals)
  return largerTotals(sumTotals(sessionTotals), whole) ?? []
}

/** A total that the agent states, and the calls that it is of. */
export interface MatchedTotal {
  total: ModelTotal
  calls: Totals
}

/**
 * Finds the calls that each stated total is of: `counted` has the sums of these calls, by model. A model may have several
 * names, so that the plainest are compared. A total without a model is of all calls. Calls that no total names are those
 * of a total that names none: of an alias, or of a profile at Bedrock; of several the smallest that has room for them, else
 * the largest.
 */
export function matchTotals(stated: Totals, counted: Totals): MatchedTotal[] {
  const byName = new Map<string, MatchedTotal>()
  const matched: MatchedTotal[] = []
  for (const total of stated) {
    const name = total.model === null ? null : plainNameOf(total.model)
    const sameName = name === null ? undefined : byName.get(name)
    if (sameName !== undefined)
      sameName.total = { ...together(sameName.total, total), model: sameName.total.model }
    else {
      const calls = name === null ? counted : counted.filter(({ model }) => isNamed(model, name))
      const match = { total, calls }
      matched.push(match)
      if (name !== null) byName.set(name, match)
    }
  }
  const open = matched.filter(({ calls, total }) => calls.length === 0 && total.model !== null)
  open.sort((a, b) => countSum(a.total.tokens) - countSum(b.total.tokens))
  const rest = counted.filter(({ model }) => model === null || !byName.has(plainNameOf(model)))
  for (const call of rest.toSorted((a, b) => countSum(b.tokens) - countSum(a.tokens))) {
    const hasRoom = ({ total, calls }: MatchedTotal) =>
      KINDS.every((kind) => tokensOfKind([...calls, call], kind) <= (total.tokens[kind] ?? 0))
    const match = open.find(hasRoom) ?? open.at(-1)
    match?.calls.push(call)
  }
  return matched
}

/** All but the part of the cache that is kept for an hour, which few totals state. */
export const KINDS = [0, 1, 2, 3]
const isNamed = (model: string | null, name: string): boolean => model !== null && plainNameOf(model) === name
export const tokensOfKind = (totals: readonly ModelTotal[], kind: number): number =>
  totals.reduce((sum, { tokens }) => sum + (tokens[kind] ?? 0), 0)

/** The tokens of a stated total beyond its calls; none where these have as many. */
export function restOf({ total: { tokens }, calls }: MatchedTotal): Counts {
  const counted = calls.reduce((sum, each) => add(sum, each.tokens), NO_TOKENS)
  if (countSum(tokens) <= countSum(counted)) return NO_TOKENS
  return tokens.map((count, index) => Math.max(0, count - (counted[index] ?? 0))) as Counts
}

/** The tokens of the stated totals beyond the calls that are known, by model: `counted` has the sums of these calls. */
export const unattributedTotals = (stated: Totals, counted: Totals): Pick<ModelTotal, 'model' | 'tokens'>[] =>
  matchTotals(stated, counted).map((match) => ({
    // the calls' name of the model, so that it has one in its session
    model: match.total.model === null ? null : (match.calls[0]?.model ?? match.total.model),
    tokens: restOf(match),
  }))
