import { useState } from 'preact/hooks'
import type { CostSummary } from '../../cost/model.ts'
import type { QualityTrend } from '../../quality/model.ts'
import type { SessionListItem } from '../../sessions/model.ts'
import type { Endpoint } from '../../webhooks/model.ts'
import { PeriodChart } from '../charts/period-chart.tsx'
import { getJson, type Loaded, type Page, useApi, useLoaded } from '../client/api.ts'
import { syncCommand } from '../client/base.ts'
import { addDays, lastDays, periodsOf, rangeBefore } from '../client/days.ts'
import {
  countOf,
  formatCompact,
  formatDollars,
  formatPercent,
  formatScore,
  formatWhole,
} from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { Bar } from '../parts/bar.tsx'
import { Connect } from '../parts/connect.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { Tile } from '../parts/tile.tsx'
import { usePeopleCount } from './breakdown.ts'

const DAYS = 30

/** The overview, or how the first sessions come, until they are there. */
export function OverviewPage(props: PageProps) {
  const [looks, setLooks] = useState(0)
  const newest = useApi<Page<SessionListItem>>('/sessions', { per_page: 1 }, looks)
  if (newest.state === 'ready' && newest.value.pagination.total === 0)
    return <Connect onSessions={() => setLooks(looks + 1)} />
  const day = newest.state === 'ready' ? newest.value.data[0]?.created_at.slice(0, 10) : undefined
  return <Overview {...props} newest={day} />
}

/**
 * The figures of the last 30 days, each beside the 30 before, and the month's cost against its budget. `newest`: the day of the
 * newest session.
 */
function Overview({ who, newest }: PageProps & { newest: string | undefined }) {
  const now = lastDays(DAYS)
  const both = { date_from: rangeBefore(now).from, date_to: now.to }
  const cost = useApi<CostSummary>('/cost', { ...both, group_by: 'day' })
  const quality = useApi<QualityTrend>('/quality/trend', { ...both, granularity: 'day' })
  const critical = useApi<Page<unknown>>('/findings', {
    severity: 'critical',
    status: 'open',
    date_from: now.from,
    date_to: now.to,
    per_page: 1,
  })
  const people = usePeopleCount(now)
  const days = periodsOf({ from: both.date_from, to: both.date_to }, 'day')
  const costs = (summary: CostSummary) =>
    valuesOf(days, summary.by_period, ({ period, cost }) => [period, cost])
  return (
    <>
      <Attention cost={cost} critical={critical} who={who} />
      <div class="tiles">
        <Show loaded={cost} what="cost">
          {(summary) => <CostTile summary={summary} days={costs(summary)} />}
        </Show>
        <Show loaded={quality} what="sessions">
          {({ data }) => (
            <Tile
              name={`Sessions, ${DAYS} days`}
              href={linkTo('sessions')}
              {...spanOf(valuesOf(days, data, ({ date, sessions }) => [date, sessions]))}
              format={formatWhole}
            />
          )}
        </Show>
        <Show loaded={people} what="people">
          {(count) => (
            <Tile
              name="People with sessions"
              href={linkTo('team')}
              now={count}
              format={formatWhole}
              note={`In the last ${DAYS} days`}
            />
          )}
        </Show>
        <Show loaded={quality} what="quality">
          {({ data }) => <QualityTile days={days} data={data} />}
        </Show>
        <Show loaded={critical} what="findings">
          {({ pagination: { total } }) => (
            <Tile
              name="Critical findings"
              href={linkTo('findings', { severity: 'critical' })}
              now={total}
              format={formatWhole}
              note={`Open, of the last ${DAYS} days`}
            />
          )}
        </Show>
      </div>
      <Show loaded={cost} what="the cost of each day">
        {(summary) =>
          summary.by_period.length === 0 ? (
            <Empty command={syncCommand()}>
              No sessions in the last {DAYS * 2} days
              {newest !== undefined && (
                <>
                  ; the newest is of{' '}
                  <a href={linkTo('cost', { from: addDays(newest, 1 - DAYS), to: newest })}>{newest}</a>
                </>
              )}
              . Send those that coding agents left on a disk:
            </Empty>
          ) : (
            <PeriodChart
              title={`Cost of each day, last ${DAYS} days`}
              description="A bar for each UTC day: the cost of the sessions that began on it, in US dollars."
              periods={days.slice(-DAYS)}
              series={[{ name: 'Cost', values: costs(summary).slice(-DAYS) }]}
              linkOf={(day) => linkTo('cost', { from: day, to: day })}
            />
          )
        }
      </Show>
    </>
  )
}

/** The value of each day, 0 where none is known. */
function valuesOf<Item>(
  days: readonly string[],
  items: readonly Item[],
  pick: (item: Item) => [day: string, value: number],
): number[] {
  const values = new Map(items.map(pick))
  return days.map((day) => values.get(day) ?? 0)
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** The last 30 days, their sum and that of the 30 before. */
const spanOf = (values: readonly number[]) => ({
  days: values.slice(-DAYS),
  now: sum(values.slice(-DAYS)),
  before: sum(values.slice(0, -DAYS)),
})

const KIND_OF_STATUS = { ok: 'good', warning: 'fair', exceeded: 'bad' } as const

function CostTile({ summary, days }: { summary: CostSummary; days: readonly number[] }) {
  const { current_budget: budget, current_month } = summary
  return (
    <Tile
      name={`Cost, ${DAYS} days`}
      href={linkTo('cost')}
      {...spanOf(days)}
      format={formatDollars}
      note={
        <>
          {formatDollars(current_month)} this month
          {budget === null ? (
            '; no budget is set'
          ) : (
            <>
              , {formatPercent(budget.percent_used)} of {formatDollars(budget.limit)}
              <br />
              <Bar fraction={budget.percent_used / 100} kind={KIND_OF_STATUS[budget.status]} /> forecast{' '}
              {formatDollars(budget.projected_cost)}
            </>
          )}
        </>
      }
    />
  )
}

function QualityTile({ days, data }: { days: readonly string[]; data: QualityTrend['data'] }) {
  const first = days[DAYS] ?? ''
  const mean = (points: QualityTrend['data']) =>
    sum(points.map(({ score, sessions }) => score * sessions)) / sum(points.map(({ sessions }) => sessions))
  const [now, before] = [
    mean(data.filter(({ date }) => date >= first)),
    mean(data.filter(({ date }) => date < first)),
  ]
  return (
    <Tile
      name={`Quality, ${DAYS} days`}
      href={linkTo('quality')}
      days={valuesOf(days.slice(-DAYS), data, ({ date, score }) => [date, score])}
      now={now}
      before={before}
      isGoodUp
      format={formatScore}
      note="Mean score of the sessions, 0 to 100"
    />
  )
}

interface AttentionProps {
  cost: Loaded<CostSummary>
  /** Open critical findings of the last days. */
  critical: Loaded<Page<unknown>>
  who: PageProps['who']
}

/** Shows what needs attention, each a link; nothing if nothing does. */
function Attention({ cost, critical, who }: AttentionProps) {
  const mayRead = who.scopes.includes('webhooks')
  const endpoints = useLoaded(`endpoints ${mayRead}`, async (signal) =>
    mayRead ? (await getJson<{ data: Endpoint[] }>('/webhooks', { signal })).data : [],
  )
  const budget = cost.state === 'ready' ? cost.value.current_budget : null
  const unpriced = cost.state === 'ready' ? cost.value.unpriced_tokens : 0
  const total = critical.state === 'ready' ? critical.value.pagination.total : 0
  const failing = (endpoints.state === 'ready' ? endpoints.value : []).filter(
    ({ health }) => health.consecutive_failures > 0,
  )
  const items: [text: string, href: string][] = []
  if (budget != null && budget.projected_exceed_date !== null) {
    const text =
      budget.status === 'exceeded'
        ? `The month’s budget of ${formatDollars(budget.limit)} was passed on ${budget.projected_exceed_date}`
        : `The forecast of ${formatDollars(budget.projected_cost)} passes the budget of ${formatDollars(budget.limit)} on ${budget.projected_exceed_date}`
    items.push([text, linkTo('cost')])
  }
  if (total > 0) {
    items.push([
      `${countOf(total, 'open critical finding')} in ${DAYS} days`,
      linkTo('findings', { severity: 'critical' }),
    ])
  }
  for (const { id, url, health } of failing) {
    const times = countOf(health.consecutive_failures, 'time')
    items.push([`${new URL(url).host} failed ${times} in a row`, linkTo('webhooks', {}, id)])
  }
  if (unpriced > 0) {
    const text = `${formatCompact(unpriced)} tokens of models without a known price`
    items.push([text, linkTo('cost', { by: 'model' })])
  }
  if (items.length === 0) return null
  return (
    <section class="attention" aria-label="Needs attention">
      <h2>Needs attention</h2>
      <ul>
        {items.map(([text, href]) => (
          <li key={text}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ul>
    </section>
  )
}
