import { MONEY_DECIMALS, scaled } from '../../base/decimals.ts'
import type { BudgetPage } from '../../features/budgets/model.ts'
import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import { forecastOf } from '../../features/cost/forecast.ts'
import type { Budget, CostTrend } from '../../features/cost/model.ts'
import { getJson, pathOf, useLoaded } from '../client/api.ts'
import {
  addDays,
  daysOfPeriod,
  type Granularity,
  lengthOf,
  monthOf,
  type Range,
  today,
} from '../client/days.ts'
import { formatDollars } from '../client/format.ts'
import { NONE, type Query } from '../client/links.ts'

// The budgets of exactly what a page of cost shows.

const SCOPES: readonly string[] = ['project', 'member', 'team']

/** The scope of the budgets that are of what the filters leave: none of the organization; undefined where no budget is of that. */
function scopeOf(filters: Query): Query | undefined {
  const [one, ...others] = Object.entries(filters).filter(([, value]) => value !== undefined)
  if (one === undefined) return {}
  return others.length === 0 && SCOPES.includes(one[0]) && one[1] !== NONE ? { [one[0]]: one[1] } : undefined
}

export interface MonthBudget extends Pick<Budget, 'limit' | 'current_cost' | 'status'> {
  month: Range
  /** Of the running month. */
  forecast?: number
  exceedsOn: string | null
}

interface Budgets {
  /** The limit in force in a month, which its first day names. */
  limitOf: (month: string) => number | null
  /** The budget of the range's only month, else of the running month where the range reaches into it. */
  month: MonthBudget | undefined
}

/** Loads the budgets of what the filters leave in the range's months; undefined where there are none, or the reader may not see all of that cost. */
export function useBudgets(filters: Query, range: Range, isDeveloper: boolean): Budgets | undefined {
  const scope = scopeOf(filters)
  // a developer may see only their own part of a team's cost
  const isShown = scope !== undefined && !(isDeveloper && scope.team !== undefined)
  const loaded = useLoaded(JSON.stringify(['budgets', scope, range, isShown]), async (signal) => {
    if (!isShown || range.from > range.to) return undefined
    const limitOf = await limitsOf(scope, range, signal)
    const [first, last] = [monthOf(range.from), monthOf(range.to)]
    const month = first.from === last.from ? first : monthOf(today())
    const limit = month.from < first.from || month.from > last.from ? null : limitOf(month.from)
    if (limit === null) return { limitOf, month: undefined }
    const query = { ...scope, by: 'day', sort: 'key', order: 'asc', per_page: 31 }
    const path = pathOf('/cost/breakdown', { ...query, date_from: month.from, date_to: month.to })
    return { limitOf, month: budgetOf(limit, month, await getJson<Breakdown>(path, { signal })) }
  })
  return loaded.state === 'failed' ? undefined : loaded.value
}

async function limitsOf(scope: Query, { from, to }: Range, signal: AbortSignal): Promise<Budgets['limitOf']> {
  if (Object.keys(scope).length === 0) {
    const query = { granularity: 'month', date_from: monthOf(from).from, date_to: to }
    const { data } = await getJson<CostTrend>(pathOf('/cost/trend', query), { signal })
    const limits = new Map(data.map(({ period, budget }) => [period, budget]))
    return (month) => limits.get(month) ?? null
  }
  const { data } = await getJson<BudgetPage>(pathOf('/budgets', { ...scope, per_page: 100 }), { signal })
  // the newest is the first
  return (month) => data.find((one) => `${one.month}-01` <= month)?.limit ?? null
}

const units = (dollars: number) => scaled(dollars, MONEY_DECIMALS)

function budgetOf(limit: number, month: Range, { data, total }: Breakdown): MonthBudget {
  const isRunning = month.from === monthOf(today()).from
  const spentToday = data.find(({ key }) => key === today())?.cost ?? 0
  const spent = { before: units(Math.max(0, total.cost - spentToday)), today: units(spentToday) }
  const forecast = isRunning ? forecastOf(spent, new Date()) : undefined
  const costTo = (index: number) => units(data.slice(0, index + 1).reduce((sum, { cost }) => sum + cost, 0))
  const exceededOn = data.find((_, index) => costTo(index) > units(limit))?.key
  return {
    ...{ limit, month, current_cost: total.cost },
    status: total.cost > limit ? 'exceeded' : total.cost >= 0.8 * limit ? 'warning' : 'ok',
    ...(forecast && { forecast: forecast.cost }),
    exceedsOn: exceededOn ?? forecast?.exceedsOn(units(limit)) ?? null,
  }
}

/** The limit as a line over the periods: even parts of each month's for shorter ones. */
export function limitLine({ limitOf }: Budgets, periods: readonly string[], granularity: Granularity) {
  const values = periods.map((period) => {
    const { from, to } = daysOfPeriod(period, granularity, { from: period, to: addDays(period, 31) })
    let sum = 0
    for (let month = monthOf(from); month.from <= to; month = monthOf(addDays(month.to, 1))) {
      const limit = limitOf(month.from)
      if (limit === null) return null
      const [, first = from] = [month.from, from].sort()
      const [last = to] = [month.to, to].sort()
      sum += (limit * lengthOf({ from: first, to: last })) / lengthOf(month)
    }
    return sum
  })
  if (values.every((value) => value === null)) return undefined
  return { name: granularity === 'month' ? 'Budget' : `Budget in a ${granularity}`, values }
}

const monthName = ({ from }: Range) =>
  new Date(from).toLocaleString('en', {
    ...{ month: 'long', timeZone: 'UTC' },
    ...(from.slice(0, 4) !== today().slice(0, 4) && { year: 'numeric' }),
  })

/** What was spent of a month's limit, and when that was or will be passed, with its name. */
export const budgetFact = (budget: MonthBudget) =>
  [`Budget of ${monthName(budget.month)}`, <Used key="budget" {...budget} />] as const

function Used({ current_cost, limit, status, forecast, exceedsOn }: MonthBudget) {
  const expected =
    forecast === undefined || status === 'exceeded' ? '' : `, forecast ${formatDollars(forecast)}`
  const passed = exceedsOn === null ? '' : `${expected === '' ? ',' : ':'} passed on ${exceedsOn}`
  return (
    <>
      <span class={status === 'warning' ? 'fair' : ''}>
        {formatDollars(current_cost)} of {formatDollars(limit)}
      </span>
      <span class={exceedsOn === null ? '' : 'bad'}>{`${expected}${passed}`}</span>
    </>
  )
}
