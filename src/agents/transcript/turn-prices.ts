import type { Pricer } from '../../scoring/prices.ts'
import { addTokens, noTokens } from './source-file.ts'
import type { MessageTokens, Transcript, Turn } from './transcript-model.ts'

interface ClosingTurn {
  model: string | null
  tokens: MessageTokens
  cost: bigint | null
}

/** The costs of a transcript's turns, in picodollars. */
export interface PricedTurns {
  /** Of the turns that have a price of their own. */
  costs: Map<Turn, bigint>
  /** Turns whose tokens are counted in the closing turns. */
  countedInClosing: Set<Turn>
  /** Turns added at the end of the record, one per model. */
  closing: ClosingTurn[]
  tokens: MessageTokens
  total: bigint
  isReported: boolean
  unpriced: string[]
}

/**
 * Prices each API message: its reported cost, else the price of its model at its time. Exact totals that ended a run replace
 * its messages and become closing turns; so do the sums of the turns after the first `maxTurns`.
 */
export function priceTurns(
  transcript: Transcript,
  turns: readonly Turn[],
  { pricer, maxTurns }: { pricer: Pricer; maxTurns: number },
): PricedTurns {
  const priced: PricedTurns = {
    costs: new Map(),
    countedInClosing: new Set(),
    closing: [],
    tokens: noTokens(),
    total: 0n,
    isReported: true,
    unpriced: [],
  }
  const unpriced = new Set<string>()
  const closing = new Map<string, ClosingTurn>()
  for (const [index, turn] of turns.entries()) {
    const tokens = turn.message?.tokens ?? null
    if (turn.message === null || tokens === null) continue
    if (transcript.covered.has(turn) && transcript.reported.length > 0) {
      priced.countedInClosing.add(turn)
      continue
    }
    const { model, cost: reported } = turn.message
    const cost = reported ?? priceOf(pricer, model, tokens, turn.at ?? transcript.firstAt ?? '', false)
    if (reported === null) priced.isReported = false
    if (cost === undefined) unpriced.add(model ?? 'unknown')
    addTokens(priced.tokens, tokens)
    priced.total += cost ?? 0n
    if (index >= maxTurns) addClosing(closing, model, tokens, cost ?? null)
    else if (cost !== undefined) priced.costs.set(turn, cost)
  }
  for (const { model, tokens, cost: reported } of transcript.reported) {
    const cost = reported ?? priceOf(pricer, model, tokens, transcript.lastAt ?? '', true)
    if (reported === null) priced.isReported = false
    if (cost === undefined) unpriced.add(model)
    addTokens(priced.tokens, tokens)
    priced.total += cost ?? 0n
    addClosing(closing, model, tokens, cost ?? null)
  }
  priced.closing = [...closing.values()]
  priced.isReported &&= priced.costs.size + priced.closing.length > 0
  priced.unpriced = [...unpriced].sort()
  return priced
}

/** Undefined when tokens were used and the model has no known price. */
function priceOf(
  pricer: Pricer,
  model: string | null,
  tokens: MessageTokens,
  at: string,
  aggregated: boolean,
): bigint | undefined {
  const used = tokens.input + tokens.output + tokens.cache_read + tokens.cache_creation > 0
  const cost = model === null ? undefined : pricer.cost({ model, tokens, at, aggregated })
  return used ? cost : (cost ?? 0n)
}

function addClosing(
  closing: Map<string, ClosingTurn>,
  model: string | null,
  tokens: MessageTokens,
  cost: bigint | null,
): void {
  const sum = closing.get(model ?? '') ?? { model, tokens: noTokens(), cost: null }
  addTokens(sum.tokens, tokens)
  if (cost !== null) sum.cost = (sum.cost ?? 0n) + cost
  closing.set(model ?? '', sum)
}
