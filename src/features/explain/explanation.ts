// Composes the explanation of a range's cost: its causes, and what happened in these days.

import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { createBasePrices, type PriceHistory } from '../../analysis/scoring/base-prices.ts'
import { addDays, dayOf, daysBefore, FIRST_DATE, hourOf, isDate } from '../../base/dates.ts'
import type { Sql } from '../../database/client.ts'
import { listNotes } from '../notes/queries.ts'
import { PRIVATE, rangeOfDays } from '../usage/model.ts'
import { OTHERS, rangeBefore } from '../usage/sums.ts'
import { explain } from './explain.ts'
import { budgetFact, firstUseFact, noteFact, priceFacts } from './facts.ts'
import type { ExplainQuery, Explanation } from './model.ts'
import { type Days, findBudgetDays, findFirstUses, findUsed } from './queries.ts'

/** Days without an end of the range: yesterday's 30. */
const USUAL_DAYS = 30

/** The range that is asked for; without its ends the last 30 whole days. */
function rangeOf({ date_from, date_to }: Partial<Days>, today: string): Days {
  const yesterday = addDays(today, -1)
  const to = date_to ?? (date_from !== undefined && date_from > yesterday ? date_from : yesterday)
  return { date_from: date_from ?? daysBefore(to, USUAL_DAYS - 1), date_to: to }
}

/** The same day of the year before; 28 February for the 29th, FIRST_DATE in the first year. */
function yearBefore(day: string): string {
  const year = String(Number(day.slice(0, 4)) - 1).padStart(4, '0')
  return [`${year}${day.slice(4)}`, `${year}-02-28`].find(isDate) ?? FIRST_DATE
}

function comparedWith(against: string, range: Days): Days {
  if (against === 'previous') return rangeBefore(range)
  if (against !== 'year') return rangeOfDays(against)
  return { date_from: yearBefore(range.date_from), date_to: yearBefore(range.date_to) }
}

const shown = ({ date_from, date_to }: Days) => ({ from: date_from, to: date_to })

interface Asked {
  prices: PriceHistory
  now: Date
  zone: string
  onlyMember: VisibleMember | null
}

/** The change of cost against another range, by its causes, with the facts of these days. */
export async function getExplanation(
  sql: Sql,
  orgId: string,
  query: ExplainQuery,
  { prices, now, zone, onlyMember }: Asked,
): Promise<Explanation> {
  const after = rangeOf(query, dayOf(now, zone))
  const before = comparedWith(query.against ?? 'previous', after)
  const [used, uses, budgets, notes] = await Promise.all([
    findUsed(sql, orgId, query, { before, after }, onlyMember),
    findFirstUses(sql, orgId, after, onlyMember),
    findBudgetDays(sql, orgId, query, after, onlyMember),
    listNotes(sql, orgId, { ...after, project: query.project, team: query.team }),
  ])
  const [first] = [before.date_from, after.date_from].sort()
  const day = hourOf(first ?? after.date_from, 0, zone).toISOString()
  const { page, per_page } = query
  // models of others are not told to who sees only their own figures
  const isSeen = onlyMember === null || PRIVATE.includes(query.by)
  const visible = used.filter((each) => isSeen && each.isAfter && each.used.some(([key]) => key !== OTHERS))
  const models = [...new Set(visible.map(({ model }) => model))].sort()
  const facts = [
    ...uses.map(firstUseFact),
    ...priceFacts(prices, models, after, zone),
    ...budgets.map(budgetFact),
    ...notes.map(noteFact),
  ]
  const { pagination, ...explained } = explain(used, createBasePrices(prices, day), {
    ...{ range: shown(after), against: shown(before), page, per_page },
  })
  facts.sort((a, b) => (a.day === b.day ? 0 : a.day < b.day ? -1 : 1))
  return { ...explained, facts, pagination }
}
