// Loads the figures of the last 90 days by day, with which past-firings.ts says when an alert would have fired.

import { WINDOWS_BEFORE, windowAt } from '../../features/alerts/evaluate.ts'
import type { Watched } from '../../features/alerts/model.ts'
import type { CostTrend } from '../../features/cost/model.ts'
import type { QualityTrend } from '../../features/quality/model.ts'
import { getJson, pathOf, request } from '../client/api.ts'
import { lastDays } from '../client/days.ts'
import type { DaySum } from './past-firings.ts'

export const HISTORY_DAYS = 90
/** More keys than these are not tried: those that cost most are. */
export const MAX_KEYS = 50
const OTHERS = '(others)'

/** Loads the parts of the days in the alert's figure; null where no route has them. */
export async function loadSums(
  { metric, scope, each, window, times }: Watched,
  signal: AbortSignal,
): Promise<DaySum[] | null> {
  const { from, to: date_to } = lastDays(HISTORY_DAYS)
  const before = times === undefined ? 0 : WINDOWS_BEFORE
  const dates = { date_from: windowAt(window, from, -before), date_to }
  const scopes = [...Object.keys(scope), each].filter((name) => name !== null)
  if (metric === 'average_quality' && scopes.every((name) => name === 'project') && each === null) {
    const { data } = await getJson<QualityTrend>(pathOf('/quality/trend', { ...scope, ...dates }), { signal })
    return data.map(({ date, score, sessions }) => ({ day: date, key: '', sum: score * sessions, sessions }))
  }
  if (metric === 'budget_percent' && scopes.length === 0) {
    const { data } = await getJson<CostTrend>(pathOf('/cost/trend', dates), { signal })
    if (data.some(({ budget }) => budget === null)) return null
    return data.map(({ period, cost, budget, sessions }) => ({
      ...{ day: period, key: '', sum: (100 * cost) / (budget ?? 1), sessions },
    }))
  }
  if (metric !== 'cost' && metric !== 'forecast' && metric !== 'unpriced_tokens') return null
  const query = { by: 'day', ...scope, ...dates, sort: 'key', order: 'asc', per_page: 'all' }
  const path = pathOf('/cost/breakdown', { ...query, ...(each !== null && { and_by: each, top: MAX_KEYS }) })
  const file = await request(path, { accept: 'text/csv', signal })
  return daySums(await file.text(), metric === 'unpriced_tokens')
}

/** Reads a breakdown by day, and by a second key, as CSV. */
function daySums(csv: string, isOfTokens: boolean): DaySum[] {
  const [head = [], ...rows] = csv.split('\r\n').map((line) => line.split(','))
  // numbers are the last columns, and have no comma
  const fromEnd = (name: string) => head.indexOf(name) - head.length
  const [first, sum] = [fromEnd('sessions'), fromEnd(isOfTokens ? 'unpriced_tokens' : 'cost')]
  return rows
    .slice(0, -1)
    .map(([day = '', ...cells]) => ({
      day,
      // a comma in a name is in quotes
      key: cells.slice(0, first).join(',').replace(/^"|"$/g, '').replaceAll('""', '"'),
      sum: Number(cells.at(sum)),
      sessions: Number(cells.at(first)),
    }))
    .filter(({ key }) => key !== OTHERS)
}
