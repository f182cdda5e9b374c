// Prices the turns of a session's parts, also those of totals that no call explains.

import type { ModelTotal, SessionFragments, TurnFragment } from '../records/fragments.ts'
import { allTokens, type Tokens } from '../records/session.ts'
import { type Pricer, tieredName, WEB_SEARCH_COST } from '../scoring/prices.ts'
import { countSum, matchTotals, restOf, SAME_AMOUNT, statedTotals, sumTotals } from './totals.ts'

/** Later turns are summed by model into closing turns, up to the schema's limit of 50,000. */
export const MAX_TURNS = 49_900

/** A turn record beside those of the turns: a sum over several calls. */
export interface SummedTurn {
  role: 'assistant' | 'unattributed'
  model: string | null
  tokens: Tokens
  /** Picodollars; null where no price is known. */
  cost: bigint | null
}

export interface PricedTurns {
  /** The costs by the turn's id; a turn without tokens, or whose price is not known, has none. */
  costs: Map<string, bigint>
  /** The sums of the turns after the first MAX_TURNS, by model, then what the agent states beyond all calls, by model. */
  summed: SummedTurn[]
  tokens: Tokens
  total: bigint
  /** Every cost is the agent's. */
  isReported: boolean
  /** The cost of all that the agent states, in picodollars; null where it states none. */
  stated: bigint | null
  unpriced: string[]
  /** Tokens of these models. */
  unpricedTokens: number
}

/** The parts with what each API message costs by these prices, where none is noted. */
export function withEstimates(parts: SessionFragments, pricer: Pricer): SessionFragments {
  const from = parts.times.from ?? parts.fileTimes.from ?? ''
  const turns = parts.turns.map((turn): TurnFragment => {
    const { tokens, at } = turn
    if (turn.estimate !== null) return turn
    const isDated = (at ?? from) !== ''
    const estimate = tokens === null || !isDated ? undefined : priceOf(pricer, turn, tokens, at ?? from)
    return { ...turn, estimate: estimate === undefined ? null : String(estimate) }
  })
  return { ...parts, turns }
}

type Counts = ModelTotal['tokens']
type Priced = { model: string | null; tier?: string | undefined }

/** A call with tokens. `cost`: picodollars; null where no price is known. */
interface PricedCall {
  index: number
  turn: TurnFragment
  model: string | null
  tokens: Counts
  cost: bigint | null
}

/**
 * Prices each API message: its reported cost, else what the client that read it estimates, so that the session costs the
 * same wherever its parts are merged, else the price of its model at its time. `turns` are those of `parts`, in order. What
 * the agent states beyond the sum of the calls is added at the same prices; the cost that it states counts where no call has
 * one. Of a fork only single runs count, since totals of the whole include the session that it was forked from.
 */
export function priceTurns(
  parts: SessionFragments,
  turns: readonly TurnFragment[],
  pricer: Pricer,
  mainModel: string | null,
): PricedTurns {
  const from = parts.times.from ?? parts.fileTimes.from ?? ''
  const calls = pricedCalls(parts, turns, pricer, from)
  const unpricedCalls = new Set(calls.filter(({ cost }) => cost === null))
  const unpriced = new Map<string, number>()
  const noteUnpriced = ({ model, tier }: Priced, tokens: Counts) => {
    const name = tieredName(model ?? 'unknown', tier)
    unpriced.set(name, (unpriced.get(name) ?? 0) + countSum(tokens))
  }
  const stated = statedTotals(parts.runs, parts.isFork ? null : parts.whole)
  const rest: SummedTurn[] = []
  let estimates = calls.filter(({ turn }) => turn.cost === null).length
  for (const match of matchTotals(stated, sumTotals(calls.map(withCost)))) {
    const { total } = match
    const models = new Set(match.calls.map(({ model }) => model))
    const ofModels = calls.filter(({ model }) => models.has(model))
    const isDivided =
      total.cost !== null && ofModels.length > 0 && ofModels.every((call) => call.cost === null)
    if (isDivided) {
      divide(BigInt(total.cost ?? 0), ofModels)
      if (countSum(total.tokens) >= ofModels.reduce((sum, { tokens }) => sum + countSum(tokens), 0))
        for (const call of ofModels) unpricedCalls.delete(call)
    }
    const tokens = restOf(match)
    const isEmpty = countSum(tokens) === 0
    // the calls' name of the model, so that it has one in its session
    const model = total.model === null ? mainModel : (ofModels[0]?.model ?? total.model)
    const tiers = new Set(ofModels.map(({ turn }) => turn.tier))
    const priced = { model, tier: tiers.size === 1 ? ofModels[0]?.turn.tier : undefined }
    const list = isEmpty ? 0n : priceOf(pricer, priced, tokens, parts.times.to ?? from, true)
    // the rest of the agent's cost counts where its calls have the agent's prices, or nothing else has a price
    const isStated =
      isDivided ||
      list === undefined ||
      ofModels.some(({ turn }) => turn.cost !== null) ||
      (isEmpty && ofModels.length === 0)
    const more = total.cost === null ? null : BigInt(total.cost) - sumOfCosts(ofModels)
    const cost = more === null || !isStated ? list : more >= SAME_AMOUNT ? more : 0n
    if (isEmpty && (cost ?? 0n) < SAME_AMOUNT) continue
    if (cost === undefined) noteUnpriced(priced, tokens)
    if (more === null || !isStated) estimates += 1
    rest.push(summedTurn('unattributed', { model, tokens }, cost ?? null))
  }
  for (const { turn, tokens } of unpricedCalls) noteUnpriced(turn, tokens)
  const all = [...calls.map(({ tokens }) => tokensByKind(tokens)), ...rest.map(({ tokens }) => tokens)]
  const sum = (kind: keyof Tokens) => all.reduce((known, tokens) => known + (tokens[kind] ?? 0), 0)
  const total = sumOfCosts([...calls, ...rest])
  const isStated = stated.length > 0 && stated.every(({ cost }) => cost !== null)
  const statedCost = stated.reduce((known, { cost }) => known + BigInt(cost ?? 0), 0n)
  const beyondLimit = calls.filter(({ index }) => index >= MAX_TURNS)
  return {
    costs: new Map(calls.flatMap(({ turn, cost }) => (cost === null ? [] : [[turn.id, cost] as const]))),
    summed: [
      // turns with a price are summed apart from those without one: a cost of null is unknown
      ...[beyondLimit.filter(({ cost }) => cost !== null), beyondLimit.filter(({ cost }) => cost === null)]
        .flatMap((some) => sumTotals(some.map(totalOfCall)))
        .map((each) => summedTurn('assistant', each, each.cost === null ? null : BigInt(each.cost))),
      ...rest,
    ],
    tokens: tokensByKind([
      ...([sum('input'), sum('output'), sum('cache_read'), sum('cache_creation')] as const),
      sum('cache_creation_1h'),
    ]),
    total,
    stated: isStated ? statedCost : null,
    isReported: all.length > 0 && (estimates === 0 || (isStated && isSameAmount(total, statedCost))),
    unpriced: [...unpriced.keys()].sort(),
    unpricedTokens: [...unpriced.values()].reduce((known, count) => known + count, 0),
  }
}

/** The calls with tokens, and what each costs. */
function pricedCalls(
  { calls }: SessionFragments,
  turns: readonly TurnFragment[],
  pricer: Pricer,
  from: string,
): PricedCall[] {
  const searches = new Map<string, number>()
  for (const call of calls)
    if (call.turn !== null && call.searches > 0)
      searches.set(call.turn, (searches.get(call.turn) ?? 0) + call.searches)
  const estimateOf = (turn: TurnFragment, tokens: Counts) => {
    const price =
      turn.estimate === null ? priceOf(pricer, turn, tokens, turn.at ?? from) : BigInt(turn.estimate)
    const searchCost = BigInt(turn.searches + (searches.get(turn.id) ?? 0)) * WEB_SEARCH_COST
    return price === undefined ? null : price + searchCost
  }
  return turns.flatMap((turn, index) => {
    const { model, tokens } = turn
    if (tokens === null) return []
    return {
      index,
      turn,
      model,
      tokens,
      cost: turn.cost === null ? estimateOf(turn, tokens) : BigInt(turn.cost),
    }
  })
}

/** Divides a cost evenly over calls, in whole micro-dollars; the first ones get what is left. */
function divide(cost: bigint, calls: readonly PricedCall[]): void {
  const [micros, rest] = [cost / MICRO, cost % MICRO]
  const count = BigInt(calls.length)
  for (const [index, call] of calls.entries())
    call.cost =
      (micros / count + (BigInt(index) < micros % count ? 1n : 0n)) * MICRO + (index === 0 ? rest : 0n)
}

const MICRO = 1_000_000n

export const tokensByKind = ([input, output, cache_read, cache_creation, hour]: Counts): Tokens =>
  allTokens({ input, output, cache_read, cache_creation, cache_creation_1h: Math.min(hour, cache_creation) })

const sumOfCosts = (items: readonly { cost: bigint | null }[]): bigint =>
  items.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n)

const totalOfCall = ({ model, tokens, cost }: PricedCall): ModelTotal => ({
  model,
  tokens,
  cost: cost === null ? null : String(cost),
})

/** Its total, with a cost. */
const withCost = (call: PricedCall): ModelTotal => totalOfCall({ ...call, cost: call.cost ?? 0n })

const isSameAmount = (a: bigint, b: bigint): boolean => (a > b ? a - b : b - a) < SAME_AMOUNT

const summedTurn = (
  role: SummedTurn['role'],
  { model, tokens }: Pick<ModelTotal, 'model' | 'tokens'>,
  cost: bigint | null,
): SummedTurn => ({ role, model, tokens: tokensByKind(tokens), cost })

/** Undefined when tokens were used and the model has no known price in its tier. */
function priceOf(
  pricer: Pricer,
  { model, tier }: Priced,
  [input, output, cache_read, cache_creation, cache_creation_1h]: Counts,
  at: string,
  aggregated = false,
): bigint | undefined {
  const tokens = { input, output, cache_read, cache_creation, cache_creation_1h }
  const cost = model === null ? undefined : pricer.cost({ model, tokens, at, tier, aggregated })
  return input + output + cache_read + cache_creation > 0 ? cost : (cost ?? 0n)
}
