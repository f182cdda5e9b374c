import type { ModelTotal, SessionFragments, TurnFragment } from '../records/fragments.ts'
import type { Tokens } from '../records/session.ts'
import { type Pricer, tieredName, WEB_SEARCH_COST } from '../scoring/prices.ts'
import { matchTotals, SAME_AMOUNT, statedTotals, sumOf, sumTotals, unattributedTotals } from './totals.ts'

/** A turn record beside those of the turns: a sum over several calls. */
export interface SummedTurn {
  role: 'assistant' | 'unattributed'
  model: string | null
  tokens: Tokens
  /** Picodollars; null where no price is known. */
  cost: bigint | null
}

/** The costs of a session's turns, in picodollars. */
export interface PricedTurns {
  /** The costs by the turn's id; a turn without tokens, or whose price is not known, has none. */
  costs: Map<string, bigint>
  /** The sums of the turns after the first `maxTurns`, by model, then what the agent states beyond all calls, by model. */
  summed: SummedTurn[]
  tokens: Tokens
  total: bigint
  /** Every cost is the agent's. */
  isReported: boolean
  /** Models without a known price, sorted. */
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

/**
 * Prices each API message: its reported cost, else what the client that read it estimates, so that the session costs the
 * same wherever its parts are merged, else the price of its model at its time. `turns` are those of `parts`, in
 * order. What the agent states beyond the sum of the calls is added, so that the session costs what the agent billed; of a
 * fork only single runs count, since totals of the whole include the session that it was forked from.
 */
export function priceTurns(
  parts: SessionFragments,
  turns: readonly TurnFragment[],
  { pricer, maxTurns, mainModel }: { pricer: Pricer; maxTurns: number; mainModel: string | null },
): PricedTurns {
  const from = parts.times.from ?? parts.fileTimes.from ?? ''
  const searches = new Map<string, number>()
  for (const call of parts.calls)
    if (call.turn !== null && call.searches > 0)
      searches.set(call.turn, (searches.get(call.turn) ?? 0) + call.searches)
  const costs = new Map<string, bigint>()
  const beyondLimit: ModelTotal[] = []
  const counted: ModelTotal[] = []
  const unpriced = new Map<string, number>()
  let estimates = 0
  for (const [index, turn] of turns.entries()) {
    const { model, tokens } = turn
    if (tokens === null) continue
    const estimate = () => {
      const known =
        turn.estimate === null ? priceOf(pricer, turn, tokens, turn.at ?? from) : BigInt(turn.estimate)
      const found = BigInt(turn.searches + (searches.get(turn.id) ?? 0)) * WEB_SEARCH_COST
      return known === undefined ? null : known + found
    }
    if (turn.cost === null) estimates += 1
    const cost = turn.cost === null ? estimate() : BigInt(turn.cost)
    const name = tieredName(model ?? 'unknown', turn.tier)
    if (cost === null) unpriced.set(name, (unpriced.get(name) ?? 0) + sumOf(tokens))
    const total = { model, tokens, cost: cost === null ? null : String(cost) }
    counted.push(total)
    if (index >= maxTurns) beyondLimit.push(total)
    else if (cost !== null) costs.set(turn.id, cost)
  }
  const stated = statedTotals(parts.runs, parts.isFork ? null : parts.whole)
  const calls = sumTotals(counted.map(withCost))
  const rest = unattributedTotals(stated, calls)
  const summed = [
    // turns with a price are summed apart from those without one: a cost of null is unknown
    ...[beyondLimit.filter(({ cost }) => cost !== null), beyondLimit.filter(({ cost }) => cost === null)]
      .flatMap(sumTotals)
      .map((total) => summedTurn('assistant', total, total.cost)),
    ...rest.map(({ model: named, tokens, cost }) => {
      const model = named ?? mainModel
      const known = cost ?? priceOf(pricer, { model }, tokens, parts.times.to ?? from, true)
      if (known === undefined)
        unpriced.set(model ?? 'unknown', (unpriced.get(model ?? 'unknown') ?? 0) + sumOf(tokens))
      if (cost === null) estimates += 1
      return summedTurn('unattributed', { model, tokens }, known === undefined ? null : String(known))
    }),
  ]
  // the agent states a price of these tokens
  for (const { total: priced, calls: own } of matchTotals(stated, calls)) {
    const used = own.reduce((sum, { tokens }) => sum + sumOf(tokens), 0)
    if (priced.model !== null && priced.cost !== null && sumOf(priced.tokens) >= used)
      for (const name of unpriced.keys())
        if (own.some(({ model }) => `${name} (`.startsWith(`${model ?? 'unknown'} (`))) unpriced.delete(name)
  }
  const all = [...counted.map(({ tokens }) => tokens), ...rest.map(({ tokens }) => tokens)]
  const sum = (index: number) => all.reduce((total, tokens) => total + (tokens[index] ?? 0), 0)
  const isStated = stated.length > 0 && stated.every(({ cost }) => cost !== null)
  const statedCost = stated.reduce((total, { cost }) => total + BigInt(cost ?? 0), 0n)
  const restCost = summed.reduce(
    (total, turn) => (turn.role === 'unattributed' ? total + (turn.cost ?? 0n) : total),
    0n,
  )
  const total = counted.reduce((known, { cost }) => known + BigInt(cost ?? 0), restCost)
  return {
    costs,
    summed,
    tokens: { input: sum(0), output: sum(1), cache_read: sum(2), cache_creation: sum(3) },
    total,
    isReported: all.length > 0 && (estimates === 0 || (isStated && isSameAmount(total, statedCost))),
    unpriced: [...unpriced.keys()].sort(),
    unpricedTokens: [...unpriced.values()].reduce((known, count) => known + count, 0),
  }
}

const isSameAmount = (a: bigint, b: bigint): boolean => (a > b ? a - b : b - a) < SAME_AMOUNT

const withCost = (total: ModelTotal): ModelTotal => ({ ...total, cost: total.cost ?? '0' })

const summedTurn = (
  role: SummedTurn['role'],
  { model, tokens: [input, output, cache_read, cache_creation] }: Pick<ModelTotal, 'model' | 'tokens'>,
  cost: string | null,
): SummedTurn => ({
  role,
  model,
  tokens: { input, output, cache_read, cache_creation },
  cost: cost === null ? null : BigInt(cost),
})

/** Undefined when tokens were used and the model has no known price in its tier. */
function priceOf(
  pricer: Pricer,
  { model, tier }: Pick<TurnFragment, 'model' | 'tier'>,
  [input, output, cache_read, cache_creation, cache_creation_1h]: ModelTotal['tokens'],
  at: string,
  aggregated = false,
): bigint | undefined {
  const tokens = { input, output, cache_read, cache_creation, cache_creation_1h }
  const cost = model === null ? undefined : pricer.cost({ model, tokens, at, tier, aggregated })
  return input + output + cache_read + cache_creation > 0 ? cost : (cost ?? 0n)
}
