import type { Pricer } from '../../scoring/prices.ts'
import { addTokens, noTokens } from './reading.ts'
import type { MessageTokens, Session, Turn } from './session-model.ts'

/** The costs of a session's turns, in picodollars. */
export interface PricedTurns {
  /** By turn, those that are priced one by one. */
  costs: Map<Turn, bigint>
  /** Turns whose tokens the closing turns hold. */
  silent: Set<Turn>
  closing: { model: string | null; tokens: MessageTokens; cost: bigint | null }[]
  tokens: MessageTokens
  total: bigint
  isReported: boolean
  unpriced: string[]
}

/**
 * Prices each API message: as the agent reported it, else by its model's price at its time. Where a run ended with exact
 * totals, these stand, as closing turns, in place of its messages; so do the sums of turns beyond `maxTurns`.
 */
export function priceTurns(
  session: Session,
  turns: readonly Turn[],
  { pricer, maxTurns }: { pricer: Pricer; maxTurns: number },
): PricedTurns {
  const priced: PricedTurns = {
    costs: new Map(),
    silent: new Set(),
    closing: [],
    tokens: noTokens(),
    total: 0n,
    isReported: true,
    unpriced: [],
  }
  const unpriced = new Set<string>()
  const closing = new Map<string, { model: string | null; tokens: MessageTokens; cost: bigint | null }>()
  for (const [index, turn] of turns.entries()) {
    const tokens = turn.message?.tokens ?? null
    if (turn.message === null || tokens === null) continue
    // an exact total of the run stands in their place
    if (session.covered.has(turn) && session.reported.length > 0) {
      priced.silent.add(turn)
      continue
    }
    const { model, cost: reported } = turn.message
    const cost = reported ?? priceOf(pricer, model, tokens, turn.at ?? session.firstAt ?? '', false)
    if (reported === null) priced.isReported = false
    if (cost === undefined) unpriced.add(model ?? 'unknown')
    addTokens(priced.tokens, tokens)
    priced.total += cost ?? 0n
    if (index >= maxTurns) addClosing(closing, model, tokens, cost ?? null)
    else if (cost !== undefined) priced.costs.set(turn, cost)
  }
  for (const { model, tokens, cost: reported } of session.reported) {
    const cost = reported ?? priceOf(pricer, model, tokens, session.lastAt ?? '', true)
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

/** Undefined when tokens were used whose price is not known. */
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
  closing: Map<string, { model: string | null; tokens: MessageTokens; cost: bigint | null }>,
  model: string | null,
  tokens: MessageTokens,
  cost: bigint | null,
): void {
  const sum = closing.get(model ?? '') ?? { model, tokens: noTokens(), cost: null }
  addTokens(sum.tokens, tokens)
  if (cost !== null) sum.cost = (sum.cost ?? 0n) + cost
  closing.set(model ?? '', sum)
}
