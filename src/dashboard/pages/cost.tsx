import type { Breakdown, BreakdownItem } from '../../features/cost/breakdown-model.ts'
import { PeriodChart } from '../charts/period-chart.tsx'
import { useApi, useAsked } from '../client/api.ts'
import { daysOfPeriod, isMonth, openPeriod, type Range, today } from '../client/days.ts'
import { formatCompact, formatDollars, formatWhole } from '../client/format.ts'
import { linkTo, NONE } from '../client/links.ts'
import { useMembers } from '../client/lists.ts'
import type { PageProps } from '../client/page-props.ts'
import { linkHere, setQuery } from '../client/router.ts'
import { Facts } from '../parts/fact.tsx'
import { Choice } from '../parts/field.tsx'
import { datesOf, Filters, pick, rangeOf, SessionChoosers, sortingOf } from '../parts/filters.tsx'
import { List } from '../parts/list.tsx'
import { NoSessions, Show } from '../parts/show.tsx'
import { KEY_OPTIONS, KEYS, type Key, stackGranularity, useChanges, useStack } from './breakdown.ts'
import { budgetFact, limitLine, type MonthBudget, useBudgets } from './budget.tsx'
import { Change, cacheShareOf, columnsOf } from './cost-columns.tsx'
import { Unpriced } from './unpriced.tsx'

/** Shows the cost by any key that the API sums by. */
export function CostPage({ route, who }: PageProps) {
  const { query } = route
  const by = KEYS.find((key) => key === query.get('by')) ?? 'project'
  const andBy = KEYS.find((key) => key === query.get('and_by') && key !== by)
  const range = rangeOf(query)
  // the last 30 days are no month, also where they are the days of one
  const isMonthly = query.get('from') !== null && isMonth(range)
  const filters = pick(query, ...KEYS)
  const dates = datesOf(query)
  const granularity = stackGranularity(range)
  const stack = useStack(by, granularity, range, filters)
  const list = {
    by,
    and_by: andBy,
    ...filters,
    ...dates,
    compare: 'previous',
    ...pick(query, 'sort', 'order', 'page'),
  }
  const breakdown = useApi<Breakdown>('/cost/breakdown', list)
  const changes = useChanges(by, andBy, range, filters, isMonthly)
  const changed = changes.state === 'ready' ? changes.value : undefined
  const budgets = useBudgets(filters, range, who.member?.role === 'developer')
  const chart = useAsked(stack, { by, granularity, range })
  const table = useAsked(breakdown, { by, andBy })
  const members = useMembers([by, andBy, chart.by, table.by, table.andBy].includes('member'))
  const hasUnpriced = breakdown.state !== 'failed' && (breakdown.value?.total.unpriced_tokens ?? 0) > 0
  const nameOf = (key: string | null) => (key === null ? NONE : (members.get(key)?.name ?? key))
  /** An address says more than an id in the field of the filter. Of what has no key what has no project or team is found. */
  const filterOf = (of: Key, key: string | null) =>
    key !== null ? (members.get(key)?.email ?? key) : of === 'project' || of === 'team' ? NONE : undefined
  const kept = { ...filters, from: query.get('from') ?? undefined, to: query.get('to') ?? undefined }
  /** This page with one key only, and that by the next key that is not narrowed yet. */
  const narrowed = (key: Key, value: string | null) => {
    const next = KEYS.find((other) => other !== key && filters[other] === undefined) ?? key
    const filter = filterOf(key, value)
    return filter && linkTo('cost', { ...kept, [key]: filter, by: key === by ? next : by })
  }
  const sessionsOf = ({ key, and_key = null }: BreakdownItem) => {
    const named = {
      ...{ [table.by]: filterOf(table.by, key) },
      ...(table.andBy && { [table.andBy]: filterOf(table.andBy, and_key) }),
    }
    return Object.values(named).includes(undefined)
      ? undefined
      : linkTo('sessions', { ...kept, ...range, ...named })
  }
  return (
    <>
      <Filters>
        <SessionChoosers />
        <Choice label="By" value={by} options={KEY_OPTIONS} onChange={(value) => setQuery({ by: value })} />
        <Choice
          label="and by"
          value={andBy ?? ''}
          options={[['', 'nothing else'], ...KEY_OPTIONS.filter(([key]) => key !== by)]}
          onChange={(value) => setQuery({ and_by: value })}
        />
        {KEYS.some((key) => filters[key] !== undefined) && (
          <a class="button" href={linkTo('cost', { by, from: kept.from, to: kept.to })}>
            Drop the filters
          </a>
        )}
      </Filters>
      {hasUnpriced && <Unpriced filters={{ ...filters, ...dates }} />}
      {breakdown.state !== 'failed' && breakdown.value !== undefined && (
        <Totals
          total={breakdown.value.total}
          budget={budgets?.month}
          against={againstOf(range, isMonthly)}
          change={changed?.total}
        />
      )}
      <Show loaded={stack} what="the cost of each period">
        {({ periods, series }) =>
          series.length === 0 ? (
            <NoSessions />
          ) : (
            <>
              <PeriodChart
                title={`Cost by ${chart.granularity} and ${chart.by}`}
                description={`A bar for each ${chart.granularity}, stacked by ${chart.by}: US dollars of the calls in it.`}
                periods={periods}
                series={series.map(({ key, name, values, isRest = false }) => ({
                  isRest,
                  name: members.get(name)?.name ?? name,
                  values,
                  href: key === undefined ? undefined : narrowed(chart.by, key),
                }))}
                linkOf={(period) =>
                  linkHere(route, {
                    page: undefined,
                    ...daysOfPeriod(period, chart.granularity, chart.range),
                  })
                }
                limit={budgets && limitLine(budgets, periods, chart.granularity)}
                unfinished={openPeriod(chart.granularity)}
              />
              <p class="note">
                A call’s cost counts on its own day, a session on the day on which it began. A bar narrows the
                page to its days, a name to what it names.
              </p>
            </>
          )
        }
      </Show>
      <List
        loaded={breakdown}
        noun={`${table.by} rows`}
        csv={{ path: '/cost/breakdown', query: list, name: `cost-by-${by}` }}
        caption={`Cost by ${table.by}${table.andBy === undefined ? '' : ` and ${table.andBy}`}`}
        columns={columnsOf({ ...table, hasUnpriced, changeOf: changed?.ofKey, nameOf, narrowed, sessionsOf })}
        keyOf={({ key, and_key }) => `${key ?? NONE} ${and_key ?? ''}`}
        sorting={sortingOf(query, 'cost')}
      />
    </>
  )
}

interface TotalsProps {
  total: Breakdown['total']
  budget: MonthBudget | undefined
  against: string
  change: { now: number; before: number } | undefined
}

/** Names the days that the whole days of the range are compared with. */
const againstOf = (range: Range, isMonthly: boolean) =>
  `Against the ${isMonthly ? 'month' : 'range'} before${range.to < today() ? '' : ', to yesterday'}`

function Totals({ total, budget, against, change }: TotalsProps) {
  if (total.sessions === 0) return null
  const { input, output, cache_read, cache_creation } = total.tokens
  return (
    <Facts
      kind="totals"
      of={[
        ['Cost', formatDollars(total.cost)],
        [against, change && <Change key="change" {...change} />],
        ['Sessions', formatWhole(total.sessions)],
        ['Turns', formatWhole(total.turns)],
        ['Tokens in', formatCompact(input + cache_read + cache_creation)],
        ['Tokens out', formatCompact(output)],
        ['Read from cache', cacheShareOf(total.tokens)],
        [
          'Without a known price',
          total.unpriced_tokens > 0 ? `${formatCompact(total.unpriced_tokens)} tokens` : undefined,
        ],
        ...(budget === undefined ? [] : [budgetFact(budget)]),
      ]}
    />
  )
}
