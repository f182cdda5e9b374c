// Shows the days of the overview: yesterday, the month, each day of the range.

import type { CostTrend } from '../../features/cost/model.ts'
import { PeriodChart } from '../charts/period-chart.tsx'
import { addDays, monthOf, periodsOf, type Range, today } from '../client/days.ts'
import {
  formatDay,
  formatDollars,
  formatLongDay,
  formatMonth,
  formatShare,
  formatTimes,
  formatWeekdayName,
  inRange,
} from '../client/format.ts'
import { keptOf, linkTo } from '../client/links.ts'
import { besideUsual, type CostOn, usualOf } from '../client/ranges.ts'
import { budgetOf, limitLine, type MonthBudget } from '../pages/shown-budgets.ts'
import { Answer } from '../parts/show.tsx'
import { useSinceLastLook } from './last-look.ts'

/** A day that cost this many times the usual stands out. */
const HIGH = 1.5
/** Dollars of a usual day, below which no multiple of it is said. */
const USUAL_AT_LEAST = 1

export type Days = ReadonlyMap<string, CostTrend['data'][number]>

const costOf =
  (days: Days): CostOn =>
  (day) =>
    days.get(day)?.cost ?? 0

/** The organization's budget of this month. */
export function monthBudget(days: Days): MonthBudget | undefined {
  const month = monthOf(today())
  const limit =
    days.get(today())?.budget ?? [...days.values()].findLast(({ period }) => period >= month.from)?.budget
  return limit == null ? undefined : budgetOf(limit, month, [...days.values()])
}

interface MorningProps {
  days: Days
  budget: MonthBudget | undefined
  organization: string
  critical: number
}

/** Yesterday against its weekday, the month's end, and what happened since the last look. */
export function Morning({ days, budget, organization, critical }: MorningProps) {
  const yesterday = addDays(today(), -1)
  const costOn = costOf(days)
  const [cost, usual] = [costOn(yesterday), usualOf(costOn, yesterday)]
  const weekday = formatWeekdayName(yesterday)
  const times = usual === 0 ? undefined : cost / usual
  const against =
    times === undefined || (times >= HIGH && usual < USUAL_AT_LEAST)
      ? ''
      : times >= HIGH
        ? `, ${formatTimes(times).slice(1)} times a usual ${weekday} (${formatDollars(usual)})`
        : times <= 1 / HIGH
          ? `, less than a usual ${weekday} (${formatDollars(usual)})`
          : `, usual for a ${weekday}`
  const look = Object.fromEntries(
    [...days.values()].map(({ period, cost, sessions }) => [period, [cost, sessions] as const]),
  )
  const since = useSinceLastLook(organization, { days: look, critical })
  return (
    <>
      <p class="note">{formatLongDay(today())}</p>
      <Answer soft={since}>
        Yesterday cost {formatDollars(cost)}
        {against}. {budget === undefined ? '' : saidOfMonth(budget)}
      </Answer>
    </>
  )
}

function saidOfMonth({ month, limit, forecast, exceedsOn, status, current_cost }: MonthBudget): string {
  const name = formatMonth(month.from)
  if (status === 'exceeded')
    return `${name} is ${formatDollars(current_cost - limit)} above its budget of ${formatDollars(limit)}.`
  if (forecast === undefined || exceedsOn === null)
    return `${name} stays within its budget of ${formatDollars(limit)}: ${formatDollars(forecast ?? current_cost)} is expected.`
  const when =
    exceedsOn === today()
      ? 'today'
      : exceedsOn === addDays(today(), 1)
        ? 'tomorrow'
        : `on ${formatDay(exceedsOn)}`
  return `${name} will pass its budget ${when}, by about ${formatDollars(forecast - limit)}.`
}

interface EachDayProps {
  days: Days
  range: Range
  budget: MonthBudget | undefined
  query: URLSearchParams
  mayChange: boolean
  /** Whether it is all of the organization. */
  isWhole: boolean
}

/** The cost of each day of the range, with today so far. */
export function EachDay({ days, range, budget, query, mayChange, isWhole }: EachDayProps) {
  // today stands beside days that end yesterday
  const isPast = range.to < addDays(today(), -1)
  const periods = periodsOf({ from: range.from, to: isPast ? range.to : today() }, 'day')
  const limits = isWhole
    ? limitLine(
        { limitOf: (month) => days.get([...days.keys()].find((day) => day >= month) ?? '')?.budget ?? null },
        periods,
        'day',
      )
    : undefined
  const costOn = costOf(days)
  const mean = periods.reduce((sum, day) => sum + costOn(day), 0) / periods.length
  const isHigh = (day: string) => {
    const usual = usualOf(costOn, day)
    return day !== today() && usual > 0 && costOn(day) >= Math.max(mean, HIGH * usual)
  }
  return (
    <PeriodChart
      title="Cost of each day"
      description="A bar for each day: US dollars. Today is hatched: it is not over. Orange is 1.5 times its usual weekday or more."
      periods={periods}
      series={[{ name: 'Cost', values: periods.map(costOn) }]}
      also={[besideUsual(costOn, periods)]}
      isHigh={isHigh}
      limit={limits}
      unfinished={today()}
      linkOf={(day) => linkTo('cost', { ...keptOf(query), range: undefined, from: day, to: day })}
    >
      {isPast ? (
        <p class="value">
          {formatDollars(periods.reduce((sum, day) => sum + costOn(day), 0))} <small>{inRange(range)}</small>
        </p>
      ) : budget === undefined ? (
        isWhole && (
          <p class="note">No budget is set. {mayChange && <a href={linkTo('budgets')}>Set one</a>}</p>
        )
      ) : (
        <>
          <p class="value">
            {formatDollars(budget.current_cost)}{' '}
            <small>
              in {formatMonth(budget.month.from)}, {formatShare(budget.current_cost / budget.limit)} of{' '}
              {formatDollars(budget.limit)}
              {budget.current_cost < budget.limit &&
                `, ${formatDollars(budget.limit - budget.current_cost)} left`}
            </small>
          </p>
          {budget.forecast !== undefined && (
            <p class="note">
              {formatMonth(budget.month.from)}’s forecast from whole days: {formatDollars(budget.forecast)}
              {budget.forecast > budget.limit ? (
                <strong class="bad">
                  , {formatDollars(budget.forecast - budget.limit)} above the budget
                </strong>
              ) : budget.status === 'warning' ? (
                <strong class="fair">, within the budget, of which most is spent</strong>
              ) : (
                ', within the budget'
              )}
            </p>
          )}
        </>
      )}
      {periods.some(isHigh) && (
        <p class="legend note">
          <span class="more">▲</span> at least {HIGH} times a usual day of its weekday
        </p>
      )}
    </PeriodChart>
  )
}
