// Divides a session into the facts that are stored and summed: its use of each day, model and price.

import type { Pricer } from '../scoring/prices.ts'
import { addCall, addResults, byKind, type Cell, createCells, noResults, type Part, sumOf } from './cells.ts'
import { divideCost, divideTokens } from './divide.ts'
import { largestRemainder } from './largest-remainder.ts'
import {
  type FactKey,
  type FactSession,
  type FactTurn,
  STANDARD,
  UNKNOWN_PAYER,
  type UsageFact,
  vendorOf,
} from './model.ts'
import { addTurns, dividedParts, facetPart, facetValues, isNoted, markFirsts, tierFacetOf } from './parts.ts'

type Days = Pick<FactKey, 'day' | 'utc_day'>
type DayTurns = Days & { turns: number; byValues: Map<string, { values: string[]; turns: number }> }

const hasUsage = ({ tokens, cost }: FactTurn): boolean =>
  (cost ?? 0) > 0 || (tokens !== null && sumOf(byKind(tokens)) > 0)

interface FactOptions {
  /** The day of an instant in the organization's time zone. */
  dayOf: (instant: string) => string
  pricer: Pricer
}

/**
 * The facts of a session, which add up to it. A call counts on its own day. What has no time counts on the day of
 * `created_at`, and a total beyond the calls on that of `ended_at`. The session's cost is divided in proportion to the calls'
 * costs, else to their list prices or tokens, by the largest remainder, the earlier day first; then in each fact among its kinds in proportion
 * to list prices. Each kind of tokens is divided in proportion to that of the calls; where the session has more, the rest is
 * one beyond the calls. Where there is nothing to go by, the whole is that of the session's `model` on its first day.
 */
export function usageFacts(
  session: FactSession,
  options: FactOptions,
  hasParts = isNoted(session.detail) || session.detail.turn_records.some(isNoted),
): UsageFact[] {
  const { dayOf, pricer } = options
  const { created_at, detail } = session
  const main = detail.model ?? ''
  const usual = {
    price: STANDARD,
    vendor: detail.vendor ?? vendorOf(detail.source),
    paid_by: detail.paid_by ?? UNKNOWN_PAYER,
  }
  const daysOf = (instant: string) => ({ day: dayOf(instant), utc_day: instant.slice(0, 10) })
  const first = daysOf(created_at)
  const { source } = detail
  const usualValues = facetValues(detail, source, usual)
  const inParts = (cell: Cell, values: string[], add: (part: Part) => void) => {
    if (hasParts) add(facetPart(cell, values))
  }
  const { cellOf, firstOf, list } = createCells(usual)
  const models = new Set([main, ...detail.models])
  const turnsByDay = new Map<string, DayTurns>()
  const countTurn = (days: Days, values: string[]) => {
    const day = turnsByDay.getOrInsertComputed(`${days.day} ${days.utc_day}`, () => ({
      ...days,
      ...{ turns: 0, byValues: new Map() },
    }))
    day.turns += 1
    if (!hasParts) return
    const group = day.byValues.getOrInsertComputed(values.join('\n'), () => ({ values, turns: 0 }))
    group.turns += 1
  }
  /** Days of prompts before their next call; `isOwn`: they have values of their own. */
  let waiting: { days: Days; isOwn: boolean }[] = []
  const takeWaiting = () => {
    for (const { days, isOwn } of waiting) {
      const cell = cellOf({ ...last, ...days })
      cell.prompts += 1
      inParts(cell, lastValues, (part) => {
        part.prompts += 1
      })
      if (!isOwn) countTurn(days, lastValues)
    }
    waiting = []
  }
  let last: Omit<FactKey, keyof Days> = { ...usual, model: main }
  let lastValues = usualValues
  /** Results of tools before the first call. */
  const early = noResults()
  let latest: Pick<Cell, 'tool_results' | 'tool_errors'> = early
  for (const turn of detail.turn_records) {
    const isBeyond = turn.role === 'unattributed'
    const time = daysOf((isBeyond ? detail.ended_at : turn.started_at) ?? created_at)
    models.add(turn.model ?? main)
    const isPrompt = turn.role === 'user'
    // some clients note tokens on every turn: a prompt without any is no call
    const isCall = isPrompt ? hasUsage(turn) : turn.tokens !== null || turn.cost !== null
    const model = turn.model ?? main
    const at = turn.started_at ?? created_at
    const tier = turn.tier
    const price =
      turn.tokens === null
        ? undefined
        : pricer.divided({ model, tokens: turn.tokens, at, tier, aggregated: isBeyond })
    const words = [...(tier === undefined ? [] : tier.split(' ')), ...(price?.terms ?? [])]
    const key = {
      model,
      price: words.length === 0 ? STANDARD : [...new Set(words)].sort().join(' '),
      vendor: turn.vendor ?? usual.vendor,
      paid_by: turn.paid_by ?? usual.paid_by,
    }
    const values = hasParts ? facetValues(turn, source, isCall ? key : undefined, usualValues) : usualValues
    const isOwn = isNoted(turn) || !isPrompt
    if (isPrompt) waiting.push({ days: time, isOwn })
    if (isOwn && !isBeyond) countTurn(time, values)
    if (!isCall) {
      addResults(latest, turn.tool_calls)
      continue
    }
    last = key
    lastValues = values
    if (!isBeyond) takeWaiting()
    const cell = cellOf({ ...last, ...time })
    addCall(cell, turn, price?.costs, isBeyond)
    inParts(cell, values, (part) => addCall(part, turn, price?.costs, isBeyond))
    addResults(cell, turn.tool_calls)
    latest = cell
  }
  takeWaiting()
  const mainCell = firstOf(first, main)
  mainCell.is_main = true
  const hasToolCalls = detail.turn_records.some(({ tool_calls = [] }) => tool_calls.length > 0)
  const uses = hasToolCalls ? [] : (detail.tools_used ?? [])
  mainCell.tool_results += early.tool_results + uses.reduce((sum, { calls }) => sum + calls, 0)
  mainCell.tool_errors +=
    early.tool_errors + uses.reduce((sum, { calls, errors }) => sum + Math.min(calls, errors), 0)
  for (const model of models) firstOf(first, model).sessions = 1
  divideTurns(session.turns, [...turnsByDay.values()], (days, turns) => {
    for (const model of models) {
      const cell = firstOf(days ?? first, model)
      const isMain = model === main ? 1 : 0
      cell.turns += turns
      cell.main_turns += isMain * turns
      if (hasParts) addTurns(cell, turns, days?.byValues, usualValues, isMain)
    }
  })
  const ended = daysOf(detail.ended_at ?? created_at)
  divideTokens(list(), mainCell, detail.tokens, (model) => firstOf(ended, model))
  const facts = list()
  if (!hasParts && facts.some(({ price }) => tierFacetOf(price) !== STANDARD))
    return usageFacts(session, options, true)
  divideCost(facts, mainCell, session, pricer)
  if (hasParts) {
    markFirsts(mainCell, facts, usualValues, 'firsts')
    for (const model of models) {
      const cells = facts.filter((cell) => cell.model === model)
      markFirsts(firstOf(first, model), cells, usualValues, 'model_firsts')
    }
  }
  return facts.map((made) => {
    const { tokens, ...cell } = made
    const [input = 0, output = 0, cache_read = 0, write = 0, hour = 0] = tokens
    const parts = hasParts ? dividedParts(made, usualValues) : []
    const {
      weight: _w,
      counted: _c,
      unpriced: _u,
      kinds: _k,
      listed: _l,
      isListed: _i,
      isUsed: _s,
      ...fact
    } = cell
    return {
      ...fact,
      parts,
      input,
      output,
      cache_read,
      cache_creation: write + hour,
      cache_creation_1h: hour,
    }
  })
}

/** Gives the session's turns to the days of its turn records; where there is none, to the first. */
function divideTurns<Days extends { turns: number }>(
  total: number,
  days: readonly Days[],
  give: (day: Days | undefined, turns: number) => void,
): void {
  if (days.length === 0) give(undefined, total)
  const weights = days.map(({ turns }) => BigInt(turns))
  const parts = days.length === 0 ? [] : largestRemainder(BigInt(total), weights)
  for (const [index, day] of days.entries()) give(day, Number(parts[index]))
}
