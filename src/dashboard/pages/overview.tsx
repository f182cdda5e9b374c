import type { CostSummary, CostTrend } from '../../cost/model.ts'
import type { QualityOverview } from '../../quality/model.ts'
import type { Heatmap, SecurityOverview } from '../../security/model.ts'
import type { TeamOverview } from '../../team/model.ts'
import { PeriodChart } from '../charts/period-chart.tsx'
import { useApi } from '../client/api.ts'
import { syncCommand } from '../client/base.ts'
import { lastDays, lengthOf, periodsOf, rangeBefore } from '../client/days.ts'
import {
  countOf,
  formatCompact,
  formatDollars,
  formatDollarTick,
  formatNumber,
  formatWhole,
} from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { Bar } from '../parts/bar.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { Tile } from '../parts/tile.tsx'
import { Attention } from './attention.tsx'
import { useMemberCount } from './breakdown.ts'

const DAYS = 30

/** The figures of the last 30 days, each beside the 30 before, and the month's cost against its budget. */
export function OverviewPage({ who }: PageProps) {
  const now = lastDays(DAYS)
  const before = rangeBefore(now)
  const trend = useApi<CostTrend>('/cost/trend', { date_from: before.from, date_to: now.to })
  const summary = useApi<CostSummary>('/cost')
  return (
    <>
      <Attention summary={summary} who={who} />
      <div class="tiles">
        <CostTile trend={trend} summary={summary} />
        <SessionsTile trend={trend} />
        <MembersTile />
        <QualityTile />
        <SecurityTile />
        <FindingsTile />
      </div>
      <Show loaded={trend} what="the cost of each day">
        {({ data }) =>
          data.every(({ sessions }) => sessions === 0) ? (
            <Empty command={syncCommand()}>
              No sessions in the last {DAYS * 2} days. Send those that coding agents left on a disk:
            </Empty>
          ) : (
            <PeriodChart
              title={`Cost of each day, last ${DAYS} days`}
              description="A bar for each UTC day: the cost of the sessions that began on it, in US dollars."
              periods={data.slice(-DAYS).map(({ period }) => period)}
              series={[{ name: 'Cost', values: data.slice(-DAYS).map(({ cost }) => cost) }]}
              format={formatDollars}
              formatTick={formatDollarTick}
            />
          )
        }
      </Show>
    </>
  )
}

type Trend = ReturnType<typeof useApi<CostTrend>>
type Day = CostTrend['data'][number]

/** The values of the last 30 days, and the sums of them and of the 30 days before. */
function halves(data: readonly Day[], pick: (day: Day) => number) {
  const values = data.map(pick)
  const sum = (part: readonly number[]) => part.reduce((total, value) => total + value, 0)
  return { days: values.slice(-DAYS), now: sum(values.slice(-DAYS)), before: sum(values.slice(0, -DAYS)) }
}

type Summary = ReturnType<typeof useApi<CostSummary>>

function CostTile({ trend, summary }: { trend: Trend; summary: Summary }) {
  return (
    <Show loaded={summary} what="cost">
      {({ current_month, current_budget, unpriced_tokens }) => (
        <Tile
          name="Cost this month"
          href={linkTo('cost')}
          value={formatDollars(current_month)}
          {...spanOf(trend, ({ cost }) => cost)}
          note={
            <>
              {current_budget === null ? (
                'No budget is set'
              ) : (
                <>
                  <Bar
                    fraction={current_budget.percent_used / 100}
                    kind={KIND_OF_STATUS[current_budget.status]}
                  />{' '}
                  {`${formatNumber(current_budget.percent_used)} % of ${formatDollars(current_budget.limit)}, forecast ${formatDollars(current_budget.projected_cost)}`}
                </>
              )}
              {unpriced_tokens > 0 &&
                `, ${formatCompact(unpriced_tokens)} tokens of models without a known price`}
            </>
          }
        />
      )}
    </Show>
  )
}

const KIND_OF_STATUS = { ok: 'good', warning: 'fair', exceeded: 'bad' } as const

function spanOf(trend: Trend, pick: (day: Day) => number) {
  if (trend.state !== 'ready') return {}
  const { days, now, before } = halves(trend.value.data, pick)
  return { days, change: { now, before } }
}

function SessionsTile({ trend }: { trend: Trend }) {
  return (
    <Show loaded={trend} what="sessions">
      {({ data }) => {
        const { days, now, before } = halves(data, ({ sessions }) => sessions)
        return (
          <Tile
            name="Sessions"
            href={linkTo('sessions')}
            value={formatWhole(now)}
            days={days}
            change={{ now, before }}
          />
        )
      }}
    </Show>
  )
}

function MembersTile() {
  const range = lastDays(DAYS)
  const now = useMemberCount(range)
  const before = useMemberCount(rangeBefore(range))
  const team = useApi<TeamOverview>('/team')
  return (
    <Show loaded={now} what="members">
      {(count) => (
        <Tile
          name="People with sessions"
          href={linkTo('team')}
          value={formatWhole(count)}
          {...(before.state === 'ready' ? { change: { now: count, before: before.value } } : {})}
          note={
            team.state === 'ready'
              ? `${countOf(team.value.members.length, 'member')}, ${team.value.activity_summary.active_members_last_7d} active in 7 days`
              : undefined
          }
        />
      )}
    </Show>
  )
}

function QualityTile() {
  const range = lastDays(DAYS)
  const earlier = rangeBefore(range)
  const now = useApi<QualityOverview>('/quality', { date_from: range.from, date_to: range.to })
  const before = useApi<QualityOverview>('/quality', { date_from: earlier.from, date_to: earlier.to })
  return (
    <Show loaded={now} what="quality">
      {({ average_score, total_sessions, scores_by_date, trend }) => {
        const scores = new Map(scores_by_date.map(({ date, score }) => [date, score]))
        return (
          <Tile
            name="Quality"
            href={linkTo('quality')}
            value={total_sessions === 0 ? '–' : formatNumber(average_score)}
            days={periodsOf(range, 'day').map((day) => scores.get(day) ?? 0)}
            {...(before.state === 'ready'
              ? { change: { now: average_score, before: before.value.average_score, isGoodUp: true } }
              : {})}
            note={`Mean of 0 to 100 in ${lengthOf(range)} days; trend ${trend}`}
          />
        )
      }}
    </Show>
  )
}

function SecurityTile() {
  const range = lastDays(DAYS)
  const earlier = rangeBefore(range)
  const now = useApi<SecurityOverview>('/security', { date_from: range.from, date_to: range.to })
  const before = useApi<SecurityOverview>('/security', { date_from: earlier.from, date_to: earlier.to })
  return (
    <Show loaded={now} what="security">
      {({ summary }) => (
        <Tile
          name="Security"
          href={linkTo('security')}
          value={summary.total_sessions === 0 ? '–' : formatNumber(summary.avg_score)}
          {...(before.state === 'ready'
            ? { change: { now: summary.avg_score, before: before.value.summary.avg_score, isGoodUp: true } }
            : {})}
          note={`Mean of 0 to 100; lowest ${formatNumber(summary.min_score)}`}
        />
      )}
    </Show>
  )
}

function FindingsTile() {
  const range = lastDays(DAYS)
  const earlier = rangeBefore(range)
  const withFindings = { has_findings: 'true', per_page: 1 }
  const now = useApi<{ pagination: { total: number } }>('/sessions', {
    ...withFindings,
    date_from: range.from,
    date_to: range.to,
  })
  const before = useApi<{ pagination: { total: number } }>('/sessions', {
    ...withFindings,
    date_from: earlier.from,
    date_to: earlier.to,
  })
  const heatmap = useApi<Heatmap>('/security/heatmap', {
    date_from: range.from,
    date_to: range.to,
    per_page: 1,
  })
  return (
    <Show loaded={now} what="findings">
      {({ pagination: { total } }) => (
        <Tile
          name="Sessions with findings"
          href={linkTo('sessions', { has_findings: 'true' })}
          value={formatWhole(total)}
          {...(before.state === 'ready'
            ? { change: { now: total, before: before.value.pagination.total, isGoodUp: false } }
            : {})}
          note={
            heatmap.state === 'ready'
              ? `${countOf(heatmap.value.summary.files, 'file')} with open findings, ${formatWhole(heatmap.value.summary.files_above_threshold)} of them above ${heatmap.value.summary.threshold}`
              : undefined
          }
        />
      )}
    </Show>
  )
}
