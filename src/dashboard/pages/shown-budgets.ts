// Loads the cost of days with the budgets of exactly what a page shows, and foresees when a limit is passed.

import { MONEY_DECIMALS, scaled } from '../../base/decimals.ts'
import { forecastOf, type Spent, usedOf } from '../../features/budgets/forecast.ts'
import type { BudgetPage } from '../../features/budgets/model.ts'
import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import type { Budget, CostTrend } from '../../features/cost/model.ts'
import { getJson, type Loaded, pathOf, useLoaded } from '../client/api.ts'
import {
  addDays,
  datesIn,
  daysOfPeriod,
  type Granularity,
  lengthOf,
  monthOf,
  periodsOf,
  type Range,
  today,
} from '../client/days.ts'
import { NONE, type Query } from '../client/links.ts'
import { type CostOn, USUAL_DAYS } from '../client/ranges.ts'

const SCOPES: readonly string[] = ['project', 'member', 'team']

/** The scope of the budgets that are of what the filters leave: none of the organization; undefined where no budget is of that. */
function scopeOf(filters: Query): Query | undefined {
  const [one, ...others] = Object.entries(filters).filter(([, value]) => value !== undefined)
  if (one === undefined) return {}
  return others.length === 0 && SCOPES.includes(one[0]) && one[1] !== NONE ? { [one[0]]: one[1] } : undefined
}

export interface MonthBudget extends Pick<Budget, 'limit' | 'current_cost' | 'status'> {
  month: Range
  forecast?: number
  exceedsOn: string | null
}

interface Days {
  /** Says the cost of a day of the range, or of the four weeks before where the periods are days. */
  costOn: CostOn
  /** The limit in force in a month, which its first day names. */
  limitOf: (month: string) => number | null
  /** The budget of the range's only month, else of the running month where the range reaches into it. */
  month: MonthBudget | undefined
  /** That month, where what the filters leave could have a budget and has none. */
  without: Range | undefined
}

/**
 * Loads what each day cost of what the filters leave, with its budgets in the range's months; undefined where neither is
 * asked for. `isByDay`: the days are compared with usual ones.
 */
export function useDays(
  filters: Query,
  range: Range,
  isByDay: boolean,
  isDeveloper: boolean,
): Loaded<Days | undefined> {
  const scope = scopeOf(filters)
  // a developer may see only their own part of a team's cost
  const hasBudgets = scope !== undefined && !(isDeveloper && scope.team !== undefined)
  const key = JSON.stringify(['days', filters, range, isByDay, hasBudgets])
  return useLoaded(key, async (signal) => {
    if (range.from > range.to || !(hasBudgets || isByDay)) return undefined
    const [first, last] = [monthOf(range.from), monthOf(range.to)]
    const month = first.from === last.from ? first : monthOf(today())
    const isShown = hasBudgets && month.from >= first.from && month.from <= last.from
    const ranges = [
      ...(isShown ? [month] : []),
      ...(isByDay ? [{ from: addDays(range.from, -USUAL_DAYS), to: range.to }] : []),
      ...(hasBudgets && Object.keys(scope).length === 0 ? [{ from: first.from, to: last.to }] : []),
    ]
    const [from = ''] = ranges.map(({ from }) => from).sort()
    const [to = ''] = ranges
      .map(({ to }) => to)
      .sort()
      .reverse()
    const { limitOf, days, used } = await (hasBudgets && Object.keys(scope).length === 0
      ? ofOrganization({ from, to }, signal)
      : ofFilters(filters, hasBudgets ? scope : undefined, { from, to }, { month, isByDay }, signal))
    const costs = new Map(days.map(({ period, cost }) => [period, cost]))
    const limit = isShown ? limitOf(month.from) : null
    const ofMonth = days.filter(({ period }) => period >= month.from && period <= month.to)
    return {
      limitOf,
      costOn: (day) => costs.get(day) ?? 0,
      month: limit === null ? undefined : (used ?? budgetOf(limit, month, ofMonth)),
      without: isShown && limit === null && Object.keys(scope).length > 0 ? month : undefined,
    }
  })
}

type Day = Pick<CostTrend['data'][number], 'period' | 'cost'>

async function ofOrganization(range: Range, signal: AbortSignal) {
  const path = pathOf('/cost/trend', datesIn(range))
  const { data } = await getJson<CostTrend>(path, { signal })
  const limits = new Map(data.map(({ period, budget }) => [period, budget]))
  return { limitOf: (month: string) => limits.get(month) ?? null, days: data, used: undefined }
}

/** The days are asked for where they are shown, or where one of them is the day on which a limit was passed. */
async function ofFilters(
  filters: Query,
  scope: Query | undefined,
  range: Range,
  { month, isByDay }: { month: Range; isByDay: boolean },
  signal: AbortSignal,
) {
  const query = { ...filters, by: 'day', sort: 'key', order: 'asc', per_page: 100, ...datesIn(range) }
  const used = month.from <= today() && { include: 'used', month: month.from.slice(0, 7) }
  const readDays = () => getJson<Breakdown>(pathOf('/cost/breakdown', query), { signal })
  const [limits, shown] = await Promise.all([
    scope && getJson<BudgetPage>(pathOf('/budgets', { ...scope, ...used, per_page: 100 }), { signal }),
    isByDay ? readDays() : undefined,
  ])
  const inForce = limits?.data.find((one) => one.used)
  const isPassed = inForce?.used?.status === 'exceeded'
  const costs = shown ?? (isPassed && range.from !== '' ? await readDays() : undefined)
  return {
    used: costs === undefined && inForce?.used ? monthOfUsed(inForce.limit, inForce.used, month) : undefined,
    // the newest is the first
    limitOf: (month: string) => limits?.data.find((one) => `${one.month}-01` <= month)?.limit ?? null,
    days: (costs?.data ?? []).map(({ key, cost }): Day => ({ period: key ?? '', cost })),
  }
}

type Used = NonNullable<BudgetPage['data'][number]['used']>

const monthOfUsed = (limit: number, used: Used, month: Range): MonthBudget => ({
  ...{ month, limit, current_cost: used.current_cost, status: used.status },
  ...(month.from === monthOf(today()).from && { forecast: used.projected_cost }),
  exceedsOn: used.projected_exceed_date,
})

const units = (dollars: number) => scaled(dollars, MONEY_DECIMALS)
/** The cost from a day to another, both included. */
export const costIn = (days: readonly Day[], from: string, to: string) =>
  days.reduce((sum, { period, cost }) => (period < from || period > to ? sum : sum + cost), 0)
/** The cost since a day: before another day, and on it. */
export const spentSince = (days: readonly Day[], from: string, day: string): Spent => ({
  before: units(costIn(days, from, addDays(day, -1))),
  today: units(costIn(days, day, day)),
})

export function budgetOf(limit: number, month: Range, days: readonly Day[]): MonthBudget {
  const now = today()
  const spent = spentSince(days, month.from, now)
  const forecast = month.from === monthOf(now).from ? forecastOf(spent, now) : undefined
  const exceededOn = days.find(({ period }) => units(costIn(days, month.from, period)) > units(limit))?.period
  return {
    ...{ month, ...usedOf(units(limit), spent.before + spent.today) },
    ...(forecast && { forecast: forecast.cost }),
    exceedsOn: exceededOn ?? forecast?.exceedsOn(units(limit)) ?? null,
  }
}

/** The limit as a line over the periods: even parts of each month's for shorter ones. */
export function limitLine(
  { limitOf }: Pick<Days, 'limitOf'>,
  periods: readonly string[],
  granularity: Granularity,
) {
  const values = periods.map((period) => {
    const days = periodsOf(
      daysOfPeriod(period, granularity, { from: period, to: addDays(period, 31) }),
      'day',
    )
    const limits = days.map((day) => limitOf(monthOf(day).from))
    return limits.includes(null)
      ? null
      : days.reduce((sum, day, index) => sum + (limits[index] ?? 0) / lengthOf(monthOf(day)), 0)
  })
  if (values.every((value) => value === null)) return undefined
  return { name: granularity === 'month' ? 'Budget' : `Budget in a ${granularity}`, values }
}
