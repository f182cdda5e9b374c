import type { Breakdown } from '../../cost/breakdown-model.ts'
import type { CostSummary } from '../../cost/model.ts'
import { PeriodChart } from '../charts/period-chart.tsx'
import { pathOf, useApi } from '../client/api.ts'
import { syncCommand } from '../client/base.ts'
import { daysOfPeriod, type Granularity, lengthOf } from '../client/days.ts'
import { formatCompact, formatDollars, formatDollarTick, formatShare, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { useMembers } from '../client/lists.ts'
import type { PageProps } from '../client/page-props.ts'
import { setQuery } from '../client/router.ts'
import { Csv } from '../parts/csv.tsx'
import { Fact } from '../parts/fact.tsx'
import { Choice, Field } from '../parts/field.tsx'
import { Chooser, Filters, rangeOf } from '../parts/filters.tsx'
import { Empty, NoMatch, Show } from '../parts/show.tsx'
import { Pager, Table } from '../parts/table.tsx'
import { KEY_NAMES, KEYS, type Key, NONE, type Sums, stackGranularity, useStack } from './breakdown.ts'
import { Change, columnsOf } from './cost-columns.tsx'

const PER_PAGE = 50

/** Shows the cost by any key that the API sums by. */
export function CostPage({ route: { query } }: PageProps) {
  const by = KEYS.find((key) => key === query.get('by')) ?? 'project'
  const andBy = KEYS.find((key) => key === query.get('and_by') && key !== by)
  const range = rangeOf(query)
  const filters = Object.fromEntries(KEYS.map((key) => [key, query.get(key) ?? undefined]))
  const dates = { date_from: range.from, date_to: range.to }
  const granularity = stackGranularity(range)
  const members = useMembers(by === 'member' || andBy === 'member')
  const stack = useStack(by, granularity, range, filters)
  const sort = query.get('sort') ?? 'cost'
  const order = query.get('order') ?? 'desc'
  const list = {
    by,
    and_by: andBy,
    ...filters,
    ...dates,
    compare: 'previous',
    sort,
    order,
    page: query.get('page') ?? undefined,
    per_page: PER_PAGE,
  }
  const breakdown = useApi<Breakdown>('/cost/breakdown', list)
  const summary = useApi<CostSummary>('/cost', { project: filters.project, ...dates })
  const budget = summary.state === 'ready' ? summary.value.current_budget : null
  const nameOf = (key: string | null) => (key === null ? NONE : (members.get(key)?.name ?? key))
  /** An address says more than an id in the field of the filter. */
  const filterOf = (key: string) => members.get(key)?.email ?? key
  const kept = { ...filters, from: query.get('from') ?? undefined, to: query.get('to') ?? undefined }
  /** This page with one key only, and that by the next key that is not narrowed yet. */
  const narrowed = (key: Key, value: string) => {
    const next = KEYS.find((other) => other !== key && filters[other] === undefined) ?? key
    return linkTo('cost', { ...kept, [key]: filterOf(value), by: key === by ? next : by })
  }
  return (
    <>
      <Filters query={query}>
        <Chooser name="member" label="Member" query={query} />
        <Chooser name="model" label="Model" query={query} />
        <Chooser name="agent" label="Agent" query={query} />
        <Chooser name="branch" label="Branch" query={query} />
        {filters.ticket !== undefined && (
          <Field label="Ticket" value={filters.ticket} onChange={(ticket) => setQuery({ ticket })} />
        )}
        <Choice
          label="By"
          value={by}
          options={KEYS.map((key) => [key, KEY_NAMES[key]] as const)}
          onChange={(value) => setQuery({ by: value })}
        />
        <Choice
          label="and by"
          value={andBy ?? ''}
          options={[
            ['', 'nothing else'],
            ...KEYS.filter((key) => key !== by).map((key) => [key, KEY_NAMES[key]] as const),
          ]}
          onChange={(value) => setQuery({ and_by: value })}
        />
        {KEYS.some((key) => filters[key] !== undefined) && (
          <a class="button" href={linkTo('cost', { by, from: kept.from, to: kept.to })}>
            Drop the filters
          </a>
        )}
      </Filters>
      {breakdown.state !== 'failed' && breakdown.value !== undefined && (
        <Totals total={breakdown.value.total} budget={budget} />
      )}
      <Show loaded={stack} what="the cost of each period">
        {({ periods, series }) =>
          series.length === 0 ? (
            <NoMatch page="cost" query={query} noun="sessions">
              <Empty command={syncCommand()}>
                No sessions in the last 30 days. To send those that coding agents left on a disk:
              </Empty>
            </NoMatch>
          ) : (
            <>
              <PeriodChart
                title={`Cost by ${granularity} and ${by}`}
                description={`A bar for each ${granularity}, stacked by ${by}: US dollars of the sessions that began in it.`}
                periods={periods}
                series={series.map(({ key, name, values, isRest = false }) => ({
                  isRest,
                  name: members.get(name)?.name ?? name,
                  values,
                  href: key == null ? undefined : narrowed(by, key),
                }))}
                format={formatDollars}
                formatTick={formatDollarTick}
                linkOf={(period) =>
                  linkTo('cost', {
                    ...Object.fromEntries(query),
                    page: undefined,
                    ...daysOfPeriod(period, granularity, range),
                  })
                }
                limit={budget === null ? undefined : limitOf(budget, granularity)}
              />
              <p class="note">
                What a session costs counts on the day on which it began (UTC). A bar narrows the page to its
                days, a name to what it names.
              </p>
            </>
          )
        }
      </Show>
      <Show loaded={breakdown} what="the breakdown">
        {({ data, pagination }) =>
          pagination.total === 0 ? null : (
            <>
              <Table
                caption={`Cost by ${by}${andBy === undefined ? '' : ` and ${andBy}`}`}
                columns={columnsOf({
                  by,
                  andBy,
                  nameOf,
                  narrowed,
                  sessionsOf: ({ key, and_key }) =>
                    linkTo('sessions', {
                      ...kept,
                      ...range,
                      ...(key === null ? {} : { [by]: filterOf(key) }),
                      ...(andBy === undefined || and_key == null ? {} : { [andBy]: filterOf(and_key) }),
                    }),
                })}
                rows={data}
                keyOf={({ key, and_key }) => `${key ?? NONE} ${and_key ?? ''}`}
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

type Budget = NonNullable<CostSummary['current_budget']>

/** The month's limit, as even parts of it for shorter periods. */
function limitOf({ limit, period_start, period_end }: Budget, granularity: Granularity) {
  if (granularity === 'month') return { name: 'Budget', value: limit }
  const ofDay = limit / lengthOf({ from: period_start, to: period_end })
  return {
    name: `Budget in a ${granularity}`,
    value: granularity === 'week' ? ofDay * 7 : ofDay,
  }
}

interface TotalsProps {
  total: Sums
  budget: Budget | null
}

function Totals({ total, budget }: TotalsProps) {
  if (total.sessions === 0) return null
  const { input, output, cache_read, cache_creation } = total.tokens
  const read = input + cache_read + cache_creation
  return (
    <dl class="totals">
      <Fact name="Cost">{formatDollars(total.cost)}</Fact>
      <Fact name="Against the range before">
        <Change now={total.cost} before={total.previous?.cost} />
      </Fact>
      <Fact name="Sessions">{formatWhole(total.sessions)}</Fact>
      <Fact name="Turns">{formatWhole(total.turns)}</Fact>
      <Fact name="Tokens in">{formatCompact(read)}</Fact>
      <Fact name="Tokens out">{formatCompact(output)}</Fact>
      <Fact name="Read from cache">{read === 0 ? '–' : formatShare(cache_read / read)}</Fact>
      {total.unpriced_tokens > 0 && (
        <Fact name="Without a known price">{formatCompact(total.unpriced_tokens)} tokens</Fact>
      )}
      {budget !== null && (
        <Fact name="Budget of the month">
          {formatDollars(budget.current_cost)} of {formatDollars(budget.limit)}
          <Exceeding budget={budget} />
        </Fact>
      )}
    </dl>
  )
}

/** When the month's limit was or will be passed. */
function Exceeding({ budget }: { budget: Budget }) {
  const { status, projected_cost, projected_exceed_date: day } = budget
  if (day === null) return null
  return (
    <strong class="bad">
      {status === 'exceeded'
        ? `, passed on ${day}`
        : `, forecast ${formatDollars(projected_cost)}: passed on ${day}`}
    </strong>
  )
}
