import type { Breakdown } from '../../cost/breakdown-model.ts'
import type { CostSummary } from '../../cost/model.ts'
import { PeriodChart } from '../charts/period-chart.tsx'
import { pathOf, type Query, useApi } from '../client/api.ts'
import { syncCommand } from '../client/base.ts'
import { granularityOf } from '../client/days.ts'
import { formatCompact, formatDollars, formatDollarTick, formatShare, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { setQuery } from '../client/router.ts'
import { Bar } from '../parts/bar.tsx'
import { Csv } from '../parts/csv.tsx'
import { Choice, Field } from '../parts/field.tsx'
import { Chooser, Filters, rangeOf } from '../parts/filters.tsx'
import { Empty, NoMatch, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'
import { KEYS, type Key, NONE, type Sums, useMemberNames, useStack } from './breakdown.ts'

const PER_PAGE = 50
const NAMES: Record<Key, string> = {
  project: 'Project',
  member: 'Member',
  model: 'Model',
  agent: 'Agent',
  branch: 'Branch',
  ticket: 'Ticket',
}

/** What was spent, by anything that the API sums by. */
export function CostPage({ route: { query } }: PageProps) {
  const by = KEYS.find((key) => key === query.get('by')) ?? 'project'
  const range = rangeOf(query)
  const filters = {
    project: query.get('project') ?? undefined,
    model: query.get('model') ?? undefined,
    agent: query.get('agent') ?? undefined,
    member: query.get('member') ?? undefined,
    branch: query.get('branch') ?? undefined,
    ticket: query.get('ticket') ?? undefined,
  }
  const granularity = granularityOf(range)
  const names = useMemberNames(by === 'member')
  const stack = useStack(by, granularity, range, filters)
  const sort = query.get('sort') ?? 'cost'
  const order = query.get('order') ?? 'desc'
  const list = {
    by,
    ...filters,
    date_from: range.from,
    date_to: range.to,
    compare: 'previous',
    sort,
    order,
    page: query.get('page') ?? undefined,
    per_page: PER_PAGE,
  }
  const breakdown = useApi<Breakdown>('/cost/breakdown', list)
  const summary = useApi<CostSummary>('/cost', {
    project: filters.project,
    date_from: range.from,
    date_to: range.to,
  })
  return (
    <>
      <Filters query={query}>
        <Chooser name="model" label="Model" path="/models" query={query} />
        <Chooser name="agent" label="Agent" path="/agents" query={query} />
        <Field
          label="Member"
          placeholder="all"
          value={query.get('member') ?? ''}
          onChange={(member) => setQuery({ member })}
        />
        <Field
          label="Branch"
          placeholder="all"
          value={query.get('branch') ?? ''}
          onChange={(branch) => setQuery({ branch })}
        />
        <Choice
          label="By"
          value={by}
          options={KEYS.map((key) => [key, NAMES[key]] as const)}
          onChange={(value) => setQuery({ by: value })}
        />
      </Filters>
      <Show loaded={stack} what="the cost of each period">
        {({ periods, series, total }) =>
          total.sessions === 0 ? (
            <NoMatch page="cost" query={query} noun="sessions">
              <Empty command={syncCommand()}>
                No sessions in the last 30 days. To send those that coding agents left on a disk:
              </Empty>
            </NoMatch>
          ) : (
            <>
              <Totals
                total={total}
                before={breakdown.state === 'ready' ? breakdown.value.total.previous?.cost : undefined}
                summary={summary.state === 'ready' ? summary.value : undefined}
              />
              <PeriodChart
                title={`Cost by ${granularity} and ${by}`}
                description={`A bar for each ${granularity}, stacked by ${by}: US dollars of the sessions that began in it.`}
                periods={periods}
                series={series.map(({ name, values }) => ({ name: names.get(name) ?? name, values }))}
                format={formatDollars}
                formatTick={formatDollarTick}
              />
              <p class="note">What a session costs counts on the day on which it began (UTC).</p>
            </>
          )
        }
      </Show>
      <Show loaded={breakdown} what="the breakdown">
        {({ data, pagination }) =>
          pagination.total === 0 ? null : (
            <>
              <Table
                caption={`Cost by ${by}`}
                columns={columnsOf(by, { ...filters, from: range.from, to: range.to }, names)}
                rows={data}
                keyOf={({ key }) => key ?? NONE}
                sorting={{
                  by: sort,
                  order,
                  change: (next, direction) => setQuery({ sort: next, order: direction }),
                }}
              />
              <Pager pagination={pagination} page="cost" query={query} noun={`${by} rows`} />
              <Csv path={pathOf('/cost/breakdown', list)} name={`cost-by-${by}`} />
            </>
          )
        }
      </Show>
    </>
  )
}

interface TotalsProps {
  total: Sums
  /** Cost of the equally long range before. */
  before: number | undefined
  summary: CostSummary | undefined
}

function Totals({ total, before, summary }: TotalsProps) {
  const { input, output, cache_read, cache_creation } = total.tokens
  const read = input + cache_read + cache_creation
  return (
    <dl class="totals">
      <Total name="Cost">{formatDollars(total.cost)}</Total>
      <Total name="Against the range before">
        <Change now={total.cost} before={before} />
      </Total>
      <Total name="Sessions">{formatWhole(total.sessions)}</Total>
      <Total name="Turns">{formatWhole(total.turns)}</Total>
      <Total name="Tokens in">{formatCompact(read)}</Total>
      <Total name="Tokens out">{formatCompact(output)}</Total>
      <Total name="Read from cache">{read === 0 ? '–' : formatShare(cache_read / read)}</Total>
      {total.unpriced_tokens > 0 && (
        <Total name="Without a known price">{formatCompact(total.unpriced_tokens)} tokens</Total>
      )}
      {summary?.current_budget != null && (
        <Total name="Budget of the month">
          {formatDollars(summary.current_budget.current_cost)} of{' '}
          {formatDollars(summary.current_budget.limit)}
          <Exceeding budget={summary.current_budget} />
        </Total>
      )}
    </dl>
  )
}

type Budget = NonNullable<CostSummary['current_budget']>

/** When the month's limit was or will be passed. */
export function Exceeding({ budget }: { budget: Budget }) {
  const { status, projected_cost, projected_exceed_date: day, limit } = budget
  if (status === 'exceeded') return <strong class="bad"> passed</strong>
  if (day === null || projected_cost <= limit) return null
  return (
    <strong class="bad">{` forecast ${formatDollars(projected_cost)}: passed on ${day.slice(0, 10)}`}</strong>
  )
}

function Total({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** The change of a cost against the equally long range before. */
function Change({ now, before }: { now: number; before: number | undefined }) {
  if (before === undefined) return null
  if (before === 0) return <>new</>
  const difference = now - before
  const sign = difference > 0 ? '+' : difference < 0 ? '−' : ''
  return (
    <span title={`${formatDollars(before)} in the equally long range before`}>
      {sign}
      {`${formatDollars(Math.abs(difference))} (${sign}${formatShare(Math.abs(difference) / before)})`}
    </span>
  )
}

/** `filters` are kept by the links to the sessions. */
function columnsOf(
  by: Key,
  filters: Query,
  names: ReadonlyMap<string | null, string>,
): Column<Breakdown['data'][number]>[] {
  return [
    {
      name: NAMES[by],
      sort: 'key',
      cell: ({ key }) =>
        key === null ? (
          NONE
        ) : (
          <a href={linkTo('sessions', { ...filters, [by]: key })}>
            <bdi>{names.get(key) ?? key}</bdi>
          </a>
        ),
    },
    { name: 'Cost', sort: 'cost', isNumber: true, cell: ({ cost }) => formatDollars(cost) },
    {
      name: 'Change',
      isNumber: true,
      cell: ({ cost, previous }) => <Change now={cost} before={previous?.cost} />,
    },
    {
      name: 'Share',
      isNumber: true,
      cell: ({ share }) => (
        <>
          {formatShare(share)} <Bar fraction={share} />
        </>
      ),
    },
    { name: 'Sessions', sort: 'sessions', isNumber: true, cell: ({ sessions }) => formatWhole(sessions) },
    { name: 'Turns', isNumber: true, cell: ({ turns }) => formatWhole(turns) },
    {
      name: 'Tokens',
      sort: 'tokens',
      isNumber: true,
      cell: ({ tokens }) =>
        formatCompact(tokens.input + tokens.output + tokens.cache_read + tokens.cache_creation),
    },
    {
      name: 'From cache',
      isNumber: true,
      cell: ({ tokens: { input, cache_read, cache_creation } }) => {
        const read = input + cache_read + cache_creation
        return read === 0 ? '–' : formatShare(cache_read / read)
      },
    },
  ]
}
