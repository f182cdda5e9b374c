import { MONEY_DECIMALS, scaled } from '../../base/decimals.ts'
import type { BudgetPage } from '../../features/budgets/model.ts'
import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import { forecastOf, usedOf } from '../../features/cost/forecast.ts'
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
  /** The forecast of the running month. */
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
    const [first, last] = [monthOf(range.from), monthOf(range.to)]
    const source = await (Object.keys(scope).length === 0
      ? ofOrganization({ from: first.from, to: last.to }, signal)
      : ofScope(scope, signal))
    const month = first.from === last.from ? first : monthOf(today())
    const limit = month.from < first.from || month.from > last.from ? null : source.limitOf(month.from)
    const days = limit === null ? [] : await source.daysOf(month)
    return { limitOf: source.limitOf, month: limit === null ? undefined : budgetOf(limit, month, days) }
  })
  return loaded.state === 'ready' ? loaded.value : undefined
}

/** Limits, and the cost of each day with sessions in a month. */
interface Source extends Pick<Budgets, 'limitOf'> {
  daysOf: (month: Range) => Promise<Day[]>
}
interface Day {
  day: string
  cost: number
}

async function ofOrganization({ from, to }: Range, signal: AbortSignal): Promise<Source> {
  const path = pathOf('/cost/trend', { date_from: from, date_to: to })
  const { data } = await getJson<CostTrend>(path, { signal })
  const limits = new Map(data.map(({ period, budget }) => [period, budget]))
  return {
    limitOf: (month) => limits.get(month) ?? null,
    daysOf: async (month) =>
      data.flatMap(({ period: day, cost }) => (day >= month.from && day <= month.to ? { day, cost } : [])),
  }
}

async function ofScope(scope: Query, signal: AbortSignal): Promise<Source> {
  const { data } = await getJson<BudgetPage>(pathOf('/budgets', { ...scope, per_page: 100 }), { signal })
  return {
    // the newest is the first
    limitOf: (month) => data.find((one) => `${one.month}-01` <= month)?.limit ?? null,
    async daysOf({ from, to }) {
      const query = { ...scope, by: 'day', sort: 'key', order: 'asc', per_page: 31 }
      const path = pathOf('/cost/breakdown', { ...query, date_from: from, date_to: to })
      const days = await getJson<Breakdown>(path, { signal })
      return days.data.map(({ key, cost }) => ({ day: key ?? '', cost }))
    },
  }
}

const units = (dollars: number) => scaled(dollars, MONEY_DECIMALS)
const sumOf = (days: readonly Day[]) => units(days.reduce((sum, { cost }) => sum + cost, 0))

function budgetOf(limit: number, month: Range, days: readonly Day[]): MonthBudget {
  const now = today()
  const spent = {
    before: sumOf(days.filter(({ day }) => day < now)),
    today: sumOf(days.filter(({ day }) => day === now)),
  }
  const forecast = month.from === monthOf(now).from ? forecastOf(spent, new Date()) : undefined
  const exceededOn = days.find((_, index) => sumOf(days.slice(0, index + 1)) > units(limit))?.day
  return {
    ...{ month, ...usedOf(units(limit), spent.before + spent.today) },
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

/** Shows what was spent of a month's limit, and when that was or will be passed, with its name. */
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
