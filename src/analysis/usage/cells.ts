// Sums the calls of a session by day, model and price, before they become facts.

import { MONEY_DECIMALS, scaled } from '../../base/decimals.ts'
import { PRICED_KINDS, WEB_SEARCH_COST } from '../scoring/prices.ts'
import {
  COST_KINDS,
  type FacetPart,
  type FactKey,
  type FactTokens,
  type FactTurn,
  type FactTurnTokens,
  type UsageFact,
} from './model.ts'

/** Compares like PostgreSQL's collation "C", by the bytes of UTF-8. */
export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const KEYS = ['day', 'utc_day', 'model', 'price', 'vendor', 'paid_by'] as const

export interface Counts {
  calls: number
  prompts: number
  /** A total beyond the calls is among them. */
  isUsed: boolean
  /** In the order of `PRICED_KINDS`. */
  tokens: number[]
  /** The cost of its calls, in micro-dollars. */
  weight: bigint
  /** Tokens of its calls, and of those without a cost. */
  counted: number
  unpriced: number
  /** Costs of its calls by kind, in picodollars. */
  kinds: bigint[]
  /** List prices of its calls without a cost, likewise; `isListed`: each has one. */
  listed: bigint[]
  isListed: boolean
}

export const newCounts = (): Counts => ({
  ...{ calls: 0, prompts: 0, isUsed: false, weight: 0n, counted: 0, unpriced: 0, isListed: true },
  tokens: PRICED_KINDS.map(() => 0),
  kinds: COST_KINDS.map(() => 0n),
  listed: COST_KINDS.map(() => 0n),
})

export type Part = Counts & Pick<FacetPart, 'values' | 'turns' | 'main_turns' | 'firsts' | 'model_firsts'>

/** A fact while it is made. */
export interface Cell extends Counts, Omit<UsageFact, keyof FactTokens | 'parts'> {
  /** Their key is their values. */
  parts: Map<string, Part>
}

export const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)
export const sumOfAll = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((sum, amount) => sum + amount, 0n)

export const byKind = ({
  input,
  output,
  cache_read,
  cache_creation,
  cache_creation_1h = 0,
}: FactTurnTokens): number[] => {
  const hour = Math.min(cache_creation, cache_creation_1h)
  return [input, output, cache_read, cache_creation - hour, hour]
}

type Days = Pick<FactKey, 'day' | 'utc_day'>

/** The cells of a session. `usual`: the rest of the key of what no call tells of. */
export function createCells(usual: Pick<FactKey, 'price' | 'vendor' | 'paid_by'>) {
  const cells = new Map<string, Cell>()
  const cellOf = (key: FactKey): Cell =>
    cells.getOrInsertComputed(KEYS.map((name) => key[name]).join('\n'), () => ({
      ...key,
      ...newCounts(),
      ...{ is_main: false, sessions: 0, turns: 0, main_turns: 0, unpriced_tokens: 0 },
      ...noResults(),
      parts: new Map<string, Part>(),
      costs: COST_KINDS.map(() => 0n),
    }))
  const list = (): Cell[] => [...cells.values()].sort(byKey)
  /** The first one of a day and model; made where there is none. */
  const firstOf = ({ day, utc_day }: Days, model: string): Cell =>
    list().find((cell) => cell.day === day && cell.utc_day === utc_day && cell.model === model) ??
    cellOf({ day, utc_day, model, ...usual })
  return { cellOf, firstOf, list }
}

function byKey(a: FactKey, b: FactKey): number {
  for (const name of KEYS) {
    const order = a[name] === b[name] ? 0 : byBytes(a[name], b[name])
    if (order !== 0) return order
  }
  return 0
}

type Results = Pick<UsageFact, 'tool_results' | 'tool_errors'>
export const noResults = (): Results => ({ tool_results: 0, tool_errors: 0 })

/** Adds what tools gave back. */
export function addResults(sums: Results, calls: FactTurn['tool_calls'] = []): void {
  for (const { ok } of calls) {
    if (ok === null) continue
    sums.tool_results += 1
    if (!ok) sums.tool_errors += 1
  }
}

/** Adds a call, or a total beyond the calls, to its cell or part. `list`: what its tokens cost by the list. */
export function addCall(
  cell: Counts,
  { tokens, cost }: FactTurn,
  list: readonly bigint[] | undefined,
  isBeyond: boolean,
): void {
  if (isBeyond) cell.isUsed = true
  else cell.calls += 1
  const micros = cost === null ? 0n : scaled(cost, MONEY_DECIMALS)
  cell.weight += micros
  const counts = tokens === null ? [] : byKind(tokens)
  for (const [index, count] of counts.entries()) cell.tokens[index] = (cell.tokens[index] ?? 0) + count
  cell.counted += sumOf(counts)
  if (cost === null) {
    cell.unpriced += sumOf(counts)
    cell.isListed &&= list !== undefined || sumOf(counts) === 0
    addAll(cell.listed, list ?? [])
  }
  if (micros === 0n) return
  const weights = [...(list ?? usualCosts(counts)), 0n]
  const listed = sumOfAll(weights)
  const paid = micros * PICO_PER_MICRO
  // searches are the only part of a call's cost that is not of tokens, and cost the same each
  const searches = list === undefined ? 0n : searchesIn(paid - listed)
  if (listed === 0n || searches > 0n) weights[OTHER] = listed === 0n ? paid : searches * WEB_SEARCH_COST
  addAll(cell.kinds, weights)
}

function addAll(sums: bigint[], amounts: readonly bigint[]): void {
  for (const [index, amount] of amounts.entries()) sums[index] = (sums[index] ?? 0n) + amount
}

export const OTHER = COST_KINDS.length - 1
const PICO_PER_MICRO = 1_000_000n

/** The number of searches that cost this, to the micro-dollar; 0 where no number does. */
function searchesIn(rest: bigint): bigint {
  if (rest < WEB_SEARCH_COST / 2n) return 0n
  const count = (rest + WEB_SEARCH_COST / 2n) / WEB_SEARCH_COST
  const beside = rest - count * WEB_SEARCH_COST
  return beside <= PICO_PER_MICRO && beside >= -PICO_PER_MICRO ? count : 0n
}

/** The prices of kinds of tokens in proportion to each other at most vendors: for models without a known price. */
const USUAL = [20n, 100n, 2n, 25n, 40n]

export const usualCosts = (counts: readonly number[]): bigint[] =>
  USUAL.map((share, index) => BigInt(counts[index] ?? 0) * share)
