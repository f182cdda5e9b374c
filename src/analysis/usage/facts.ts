import { largestRemainder } from '../scoring/largest-remainder.ts'
import type { Pricer } from '../scoring/prices.ts'
import { addCall, createCells } from './cells.ts'
import { divideCost, divideTokens } from './divide.ts'
import { type FactKey, type FactSession, STANDARD, UNKNOWN_PAYER, type UsageFact, vendorOf } from './model.ts'

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
export function usageFacts(session: FactSession, { dayOf, pricer }: FactOptions): UsageFact[] {
  const { created_at, detail } = session
  const main = detail.model ?? ''
  const usual = {
    price: STANDARD,
    vendor: detail.vendor ?? vendorOf(detail.source),
    paid_by: detail.paid_by ?? UNKNOWN_PAYER,
  }
  const daysOf = (instant: string) => ({ day: dayOf(instant), utc_day: instant.slice(0, 10) })
  const first = daysOf(created_at)
  const { cellOf, firstOf, list } = createCells(usual)
  const models = new Set([main, ...detail.models])
  const turnsByDay = new Map<string, { day: string; utc_day: string; turns: number }>()
  /** Keys of prompts before their next call, but their days. */
  let waiting: { day: string; utc_day: string }[] = []
  let last: Omit<FactKey, 'day' | 'utc_day'> = { ...usual, model: main }
  for (const turn of detail.turn_records) {
    const isBeyond = turn.role === 'unattributed'
    const time = daysOf((isBeyond ? detail.ended_at : turn.started_at) ?? created_at)
    models.add(turn.model ?? main)
    if (!isBeyond)
      turnsByDay.getOrInsertComputed(`${time.day} ${time.utc_day}`, () => ({ ...time, turns: 0 })).turns += 1
    if (turn.role === 'user') waiting.push(time)
    if (turn.tokens === null && turn.cost === null) continue
    const model = turn.model ?? main
    const at = turn.started_at ?? created_at
    const tier = turn.tier
    const price =
      turn.tokens === null
        ? undefined
        : pricer.divided({ model, tokens: turn.tokens, at, tier, aggregated: isBeyond })
    const words = [...(tier === undefined ? [] : tier.split(' ')), ...(price?.terms ?? [])]
    last = {
      model,
      price: words.length === 0 ? STANDARD : [...new Set(words)].sort().join(' '),
      vendor: turn.vendor ?? usual.vendor,
      paid_by: turn.paid_by ?? usual.paid_by,
    }
    if (!isBeyond) {
      for (const prompt of waiting) cellOf({ ...last, ...prompt }).prompts += 1
      waiting = []
    }
    addCall(cellOf({ ...last, ...time }), turn, price?.costs, isBeyond)
  }
  for (const prompt of waiting) cellOf({ ...last, ...prompt }).prompts += 1
  const mainCell = firstOf(first, main)
  mainCell.is_main = true
  for (const model of models) firstOf(first, model).sessions = 1
  divideTurns(session.turns, [...turnsByDay.values()], (days, turns) => {
    for (const model of models) {
      const cell = firstOf(days ?? first, model)
      cell.turns += turns
      if (model === main) cell.main_turns += turns
    }
  })
  const ended = daysOf(detail.ended_at ?? created_at)
  divideTokens(list(), mainCell, detail.tokens, (model) => firstOf(ended, model))
  const facts = list()
  divideCost(facts, mainCell, session, pricer)
  return facts.map(({ tokens: [input = 0, output = 0, cache_read = 0, write = 0, hour = 0], ...cell }) => {
    const { weight: _w, counted: _c, unpriced: _u, kinds: _k, listed: _l, isListed: _i, ...fact } = cell
    return { ...fact, input, output, cache_read, cache_creation: write + hour, cache_creation_1h: hour }
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
