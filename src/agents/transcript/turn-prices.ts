import { type Pricer, WEB_SEARCH_COST } from '../../scoring/prices.ts'
import { addTokens, noTokens } from './source-file.ts'
import type { MessageTokens, ReportedTotals, Transcript, Turn } from './transcript-model.ts'

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
  /** Tokens of these models. */
  unpricedTokens: number
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
    unpricedTokens: 0,
  }
  const unpriced = new Set<string>()
  const { totals: withoutMessages, isAllCovered } = totalsWithoutMessages(transcript, turns)
  const closing = new Map<string, ClosingTurn>()
  const noteUnpriced = (model: string, tokens: MessageTokens) => {
    unpriced.add(model)
    priced.unpricedTokens += countOf(tokens)
  }
  for (const [index, turn] of turns.entries()) {
    const tokens = turn.message?.tokens ?? null
    if (turn.message === null || tokens === null) continue
    if (isAllCovered || (transcript.covered.has(turn) && transcript.reported.length > 0)) {
      priced.countedInClosing.add(turn)
      continue
    }
    const { model, cost: reported } = turn.message
    const estimate = priceOf(pricer, model, tokens, turn.at ?? transcript.firstAt ?? '', false)
    const searches = BigInt(turn.message.searches + turn.searches) * WEB_SEARCH_COST
    const cost = reported ?? (estimate === undefined ? undefined : estimate + searches)
    if (reported === null) priced.isReported = false
    if (cost === undefined) noteUnpriced(model ?? 'unknown', tokens)
    addTokens(priced.tokens, tokens)
    priced.total += cost ?? 0n
    if (index >= maxTurns) addClosing(closing, model, tokens, cost ?? null)
    else if (cost !== undefined) priced.costs.set(turn, cost)
  }
  for (const { model, tokens, cost: reported } of [...transcript.reported, ...withoutMessages]) {
    const cost = reported ?? priceOf(pricer, model, tokens, transcript.lastAt ?? '', true)
    if (reported === null) priced.isReported = false
    if (cost === undefined) noteUnpriced(model, tokens)
    addTokens(priced.tokens, tokens)
    priced.total += cost ?? 0n
    addClosing(closing, model, tokens, cost ?? null)
  }
  priced.closing = [...closing.values()]
  priced.isReported &&= priced.costs.size + priced.closing.length > 0
  priced.unpriced = [...unpriced].sort()
  return priced
}

const countOf = ({ input, output, cache_read, cache_creation }: MessageTokens): number =>
  input + output + cache_read + cache_creation

const promptOf = ({ input, cache_read, cache_creation }: MessageTokens): number =>
  input + cache_read + cache_creation

/**
 * The totals of runs whose log has no messages. Where a transcript has the messages of the one run, its totals, which are
 * exact, stand for all of them; of several runs nothing tells which messages are whose, and the messages count.
 */
function totalsWithoutMessages(
  { withoutMessages, reported }: Transcript,
  turns: readonly Turn[],
): { totals: ReportedTotals[]; isAllCovered: boolean } {
  const sum = turns.reduce((all, { message }) => all + (message?.tokens ? promptOf(message.tokens) : 0), 0)
  const totals = withoutMessages.flat()
  if (sum === 0) return { totals, isAllCovered: false }
  const isWhole =
    withoutMessages.length === 1 &&
    reported.length === 0 &&
    totals.reduce((all, { tokens }) => all + promptOf(tokens), 0) >= sum
  return isWhole ? { totals, isAllCovered: true } : { totals: [], isAllCovered: false }
}

/** Undefined when tokens were used and the model has no known price. */
function priceOf(
  pricer: Pricer,
  model: string | null,
  tokens: MessageTokens,
  at: string,
  aggregated: boolean,
): bigint | undefined {
  const used = countOf(tokens) > 0
  const cost = model === null ? undefined : pricer.cost({ model, tokens, at, aggregated })
  return used ? cost : (cost ?? 0n)
}

function addClosing(
  closing: Map<string, ClosingTurn>,
  model: string | null,
  tokens: MessageTokens,
  cost: bigint | null,
): void {
  // what has a price apart from what has none: a cost of null is unknown
  const key = `${cost === null} ${model ?? ''}`
  const sum = closing.get(key) ?? { model, tokens: noTokens(), cost: null }
  addTokens(sum.tokens, tokens)
  if (cost !== null) sum.cost = (sum.cost ?? 0n) + cost
  closing.set(key, sum)
}
