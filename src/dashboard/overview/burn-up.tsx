import type { Attention } from '../../features/attention/model.ts'
import type { Budget, CostSummary } from '../../features/cost/model.ts'
import { LineChart } from '../charts/line-chart.tsx'
import { monthOf, periodsOf, today } from '../client/days.ts'
import { formatDollars, formatDollarTick, formatPercent } from '../client/format.ts'
import { linkTo } from '../client/links.ts'

interface BurnUpProps {
  /** Its periods are days, those of the month among them. */
  summary: CostSummary
  /** The budgets of the reader and their team. */
  mine: Attention['mine']
  /** Whether the reader may set a budget. */
  mayChange: boolean
}

/** The month's cost, day by day, with its forecast and the budget. */
export function BurnUp({ summary, mine, mayChange }: BurnUpProps) {
  const { current_budget: budget, current_month, by_period } = summary
  const month = monthOf(today())
  const days = periodsOf(month, 'day')
  const now = days.indexOf(today())
  const costs = new Map(by_period.map(({ period, cost }) => [period, cost]))
  const sumTo = (last: number) => days.slice(0, last + 1).reduce((sum, day) => sum + (costs.get(day) ?? 0), 0)
  const total = sumTo(now)
  const spent = days.map((_, index) => (index > now ? null : sumTo(index)))
  /** The pace so far goes on. */
  const ahead = ({ projected_cost: end }: NonNullable<typeof budget>) =>
    days.map((_, index) =>
      index < now || days.length === now + 1
        ? null
        : total + ((end - total) * (index - now)) / (days.length - 1 - now),
    )
  const name = new Date(month.from).toLocaleString('en', { month: 'long', timeZone: 'UTC' })
  return (
    <LineChart
      title={`Spent in ${name}`}
      description="The cost of the month’s sessions up to each UTC day, in US dollars, with the forecast and the budget."
      periods={days}
      lines={[
        { name: 'Spent', values: spent, kind: 'line' },
        ...(budget === null
          ? []
          : [
              { name: 'Forecast', values: ahead(budget), kind: 'ahead' as const },
              { name: 'Budget', values: days.map(() => budget.limit), kind: 'limit' as const },
            ]),
      ]}
      format={formatDollars}
      formatTick={formatDollarTick}
      height={200}
    >
      <p class="value">{formatDollars(current_month)}</p>
      {budget === null ? (
        <p class="note">
          No budget is set. {mayChange && <a href={linkTo('settings', {}, 'budget')}>Set one</a>}
        </p>
      ) : (
        <p>
          <UsedPart {...budget} />;{' '}
          {budget.status === 'exceeded' ? (
            <strong class="bad">passed on {budget.projected_exceed_date}</strong>
          ) : budget.projected_exceed_date !== null ? (
            <>
              forecast {formatDollars(budget.projected_cost)}:{' '}
              <strong class="bad">passed on {budget.projected_exceed_date}</strong>
            </>
          ) : (
            <>
              forecast {formatDollars(budget.projected_cost)}, <strong class="good">within the budget</strong>
            </>
          )}
        </p>
      )}
      {mine.map((one) => (
        <p key={one.name}>
          Your {one.scope.team === undefined ? 'own budget' : `team ${one.name}`}:{' '}
          {formatDollars(one.current_cost)}, <UsedPart {...one} />
        </p>
      ))}
    </LineChart>
  )
}

const TONES = { ok: '', warning: 'fair', exceeded: 'bad' } as const

const UsedPart = ({ percent_used, limit, status }: Attention['mine'][number] | Budget) => (
  <span class={TONES[status]}>
    {formatPercent(percent_used)} of {formatDollars(limit)}
  </span>
)
