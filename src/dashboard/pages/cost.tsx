// The page `Spend`: the cost by any key that the API sums by, as a chart, in sentences and in a table.

import type { Breakdown, BreakdownItem } from '../../features/cost/breakdown-model.ts'
import { PeriodChart } from '../charts/period-chart.tsx'
import { useApi, useAsked } from '../client/api.ts'
import { daysOfPeriod, isMonth, openPeriod, today } from '../client/days.ts'
import {
  countOf,
  formatCompact,
  formatDollars,
  formatMonth,
  formatShare,
  inRange,
  pluralOf,
} from '../client/format.ts'
import { isAdmin, keptOf, linkTo, NONE, type PageProps } from '../client/links.ts'
import { nameIn, type People, useNames } from '../client/lists.ts'
import { besideUsual, comparedOf, datesOf, rangeOf } from '../client/ranges.ts'
import { linkDays, linkHere, setQuery } from '../client/router.ts'
import { Bar } from '../frame/bar.tsx'
import { Choice, pick } from '../parts/fields.tsx'
import { List } from '../parts/list.tsx'
import { NotesForm, noteFlags, noteTexts, useChartNotes } from '../parts/notes.tsx'
import { Answer, NoSessions, Ready, Show } from '../parts/show.tsx'
import { sortingOf } from '../parts/table.tsx'
import {
  CHART_REQUESTS,
  COST_KEYS,
  changesOf,
  comparedWith,
  isFacet,
  KEY_OPTIONS,
  KEYS,
  type Key,
  OTHERS,
  SHOWN,
  stackGranularity,
  useStack,
  wordOf,
} from './breakdown.ts'
import { cacheShareOf, costColumns } from './cost-columns.tsx'
import { limitLine, useDays } from './shown-budgets.ts'
import { moreOrLess, saidOfBudget, subjectOf } from './spend-words.ts'
import { Unpriced } from './unpriced.tsx'

/** Keys that a chart shows at most, after clicks on the rest. */
const MAX_SHOWN = 24

export function CostPage({ route, who }: PageProps) {
  const { query } = route
  const by = COST_KEYS.find((key) => key === query.get('by')) ?? 'project'
  const mayBeside = (key: Key) => key !== by && !(isFacet(key) && isFacet(by))
  const andBy = COST_KEYS.find((key) => key === query.get('and_by') && mayBeside(key))
  const range = rangeOf(query)
  const filters = pick(query, ...COST_KEYS)
  const dates = datesOf(query)
  const compared = comparedOf(query)
  const top = Math.min(MAX_SHOWN, Math.max(SHOWN, Number(query.get('top')) || SHOWN))
  // today is part of the range, and not of what is compared
  const isOver = compared?.now.to === range.to
  const hasNames = by === 'member' || andBy === 'member' || filters.member !== undefined
  const besides = [!isOver, Object.values(filters).some(Boolean), hasNames]
  const requests = Math.max(1, CHART_REQUESTS - besides.filter(Boolean).length)
  const granularity = stackGranularity(range, top, requests)
  const stack = useStack(by, granularity, range, filters, {
    ...{ shown: top, compare: comparedWith(compared), requests },
  })
  const list = {
    by,
    and_by: andBy,
    ...filters,
    ...dates,
    compare: comparedWith(compared),
    ...pick(query, 'sort', 'order', 'page'),
  }
  const breakdown = useApi<Breakdown>('/cost/breakdown', list)
  const sums = breakdown.value
  // the whole days of the range by themselves
  const changes = useApi<Breakdown>(isOver || compared === undefined ? undefined : '/cost/breakdown', {
    ...{ by, and_by: andBy, ...filters, date_from: compared?.now.from, date_to: compared?.now.to },
    ...{ compare: comparedWith(compared), sort: 'change', per_page: 100 },
  })
  const of = isOver ? sums : changes.value
  const changed = of?.total.previous && changesOf(of)
  const days = useDays(filters, range, granularity === 'day', who.member?.role === 'developer')
  const notes = useChartNotes(range, filters, (stack.value?.series.length ?? 0) > 0)
  const chart = useAsked(stack, { by, granularity, range })
  const table = useAsked(breakdown, { by, andBy })
  const names = useNames(hasNames || [chart.by, table.by, table.andBy].includes('member'))
  const members: People = names.value ?? new Map()
  const total = sums?.total
  const costs = days.value
  const month = costs?.month
  const subject = subjectOf(filters, (value) => nameIn(members, value))
  const withoutBudget = costs?.without && ` ${subject} has no budget for ${formatMonth(costs.without.from)}. `
  /** The last row of the table. */
  const sum = total && { ...total, key: null, share: 1 }
  // the first page has it where the most costly are the first
  const isByCost =
    query.get('page') === null && (query.get('sort') ?? 'cost') === 'cost' && query.get('order') !== 'asc'
  const most =
    isByCost && table.andBy === undefined && (sums?.pagination.total ?? 0) > 1
      ? sums?.data.find(({ key }) => key !== null)
      : undefined
  const hidden =
    isByCost && table.andBy === undefined && table.by === chart.by
      ? hiddenOf(stack.value?.series ?? [], sums)
      : undefined
  const hasUnpriced = (total?.unpriced_tokens ?? 0) > 0
  const nameOf = (key: string | null) => (key === null ? NONE : (members.get(key)?.name ?? key))
  /** An address says more than an id in the field of the filter. Of what has no key what has no project or team is found. */
  const filterOf = (of: Key, key: string | null) =>
    key !== null ? (members.get(key)?.email ?? key) : of === 'project' || of === 'team' ? NONE : undefined
  const kept = { ...keptOf(query), ...filters, against: query.get('against') ?? undefined }
  /** This page with one key only, and that by the next key that is not narrowed yet. */
  const narrowed = (key: Key, value: string | null) => {
    const next = KEYS.find((other) => other !== key && filters[other] === undefined) ?? key
    const filter = filterOf(key, value)
    return filter && linkTo('cost', { ...kept, [key]: filter, by: key === by ? next : by })
  }
  const sessionsLink = (item: BreakdownItem) => {
    const { key, and_key = null } = item
    const ofRow = item !== sum && {
      ...{ [table.by]: filterOf(table.by, key) },
      ...(table.andBy && { [table.andBy]: filterOf(table.andBy, and_key) }),
    }
    // sessions are found by what they are, not by what is written on their calls
    const isOfCalls = Object.entries({ ...filters, ...ofRow }).some(([name, value]) => isFacet(name) && value)
    return isOfCalls || Object.values(ofRow).includes(undefined)
      ? undefined
      : linkTo('sessions', { ...kept, ...ofRow })
  }
  const columns = costColumns({
    ...{
      ...table,
      hasUnpriced,
      changeOf: changed && ((item) => (item === sum ? changed.total : changed.ofKey(item))),
      nameOf,
      narrowed,
      sessionsOf: sessionsLink,
      total: sum,
    },
    largest: Math.max(0, ...(sums?.data ?? []).map(({ share }) => share)),
  })
  return (
    <>
      <Bar
        filters={COST_KEYS}
        hasAgainst
        csv={{ path: '/cost/breakdown', query: list, name: `cost-by-${by}` }}
      >
        <Choice label="By" value={by} options={KEY_OPTIONS} onChange={(value) => setQuery({ by: value })} />
        <Choice
          label="and by"
          value={andBy ?? ''}
          options={[['', 'nothing else'], ...KEY_OPTIONS.filter(([key]) => mayBeside(key))]}
          onChange={(value) => setQuery({ and_by: value })}
        />
      </Bar>
      <Ready of={[stack, breakdown, days, changes, names]}>
        {total === undefined ? (
          <Answer>Spend</Answer>
        ) : (
          <Answer
            soft={
              total.sessions === 0 ? undefined : (
                <>
                  {!isMonth(range) && withoutBudget}
                  {month !== undefined && !isMonth(range) && saidOfBudget(month, false)}
                  {countOf(total.sessions, 'session')} of these days, {countOf(total.turns, 'turn')};{' '}
                  {formatCompact(total.tokens.input + total.tokens.cache_read + total.tokens.cache_creation)}{' '}
                  tokens in, {cacheShareOf(total.tokens)} of them read from the cache,{' '}
                  {formatCompact(total.tokens.output)} out. Costs are list prices, by day (
                  {who.organization.time_zone})
                  {range.to >= today() && '; today is not over, and not compared'}.{' '}
                  {table.by === 'paid_by' &&
                    'Unknown is what no call says: Seats counts it as paid by a plan while the member has one of that vendor. '}
                  <a href={linkTo('paid')}>Did a new version or model pay?</a>
                </>
              )
            }
          >
            {subject} cost {total.cost === 0 && total.sessions === 0 ? 'nothing' : formatDollars(total.cost)}{' '}
            {inRange(range)}
            {month !== undefined && isMonth(range) && saidOfBudget(month, true)}
            {compared && changed?.total && moreOrLess(changed.total, compared)}.
            {isMonth(range) && withoutBudget}
            {most !== undefined &&
              ` The ${wordOf(table.by)} with most: ${nameOf(most.key)}, ${formatDollars(most.cost)} (${formatShare(most.share)}).`}
          </Answer>
        )}
        {hasUnpriced && <Unpriced filters={{ ...filters, ...dates }} />}
        <Show loaded={stack} what="the cost of each period">
          {({ periods, series }) =>
            series.length === 0 ? (
              <NoSessions />
            ) : (
              <PeriodChart
                title={`Cost by ${chart.granularity} and ${wordOf(chart.by)}`}
                description={`A bar for each ${chart.granularity}, stacked by ${wordOf(chart.by)}: US dollars of the calls of that time.`}
                periods={periods}
                series={series.map(({ key, name, values, isRest = false, color }) => ({
                  ...{ isRest, color, values },
                  name: members.get(name)?.name ?? name,
                  href:
                    key !== undefined
                      ? narrowed(chart.by, key)
                      : top < MAX_SHOWN
                        ? linkHere(route, { top: 2 * top })
                        : undefined,
                }))}
                linkOf={(period) => linkDays(route, daysOfPeriod(period, chart.granularity, chart.range))}
                limit={costs && limitLine(costs, periods, chart.granularity)}
                also={costs && chart.granularity === 'day' ? [besideUsual(costs.costOn, periods)] : []}
                unfinished={openPeriod(chart.granularity)}
                flags={noteFlags(noteTexts(notes, periods, chart.granularity, chart.range))}
              />
            )
          }
        </Show>
        {hidden !== undefined && (
          <p class="note">
            (others) in the chart are {formatShare(hidden.share)} of the cost
            {hidden.isOne ? ': ' : '; the largest of them '}
            {nameOf(hidden.most.key)}, {formatDollars(hidden.most.cost)}.
            {top < MAX_SHOWN && ' A click on (others) shows more.'}
          </p>
        )}
        {isAdmin(who) && <NotesForm range={range} scope={filters} />}
        <List
          loaded={breakdown}
          noun={table.andBy === undefined ? pluralOf(wordOf(table.by)) : 'rows'}
          isSaved
          caption={`Cost by ${wordOf(table.by)}${table.andBy === undefined ? '' : ` and ${wordOf(table.andBy)}`}`}
          columns={columns}
          total={sum}
          keyOf={({ key, and_key }) => `${key ?? NONE} ${and_key ?? ''}`}
          sorting={sortingOf(query, 'cost')}
        />
      </Ready>
    </>
  )
}

/** Finds the part of the cost that the chart draws as others, and the key of the table that has most of it. */
function hiddenOf(
  series: readonly { key: string | null | undefined; values: readonly number[] }[],
  sums: Breakdown | undefined,
) {
  const shown = new Set(series.map(({ key }) => key))
  const others = sums?.data.filter(({ key }) => !shown.has(key)) ?? []
  const most = others
    // the row of all others, whose figures the reader may not see apart, is no key
    .filter(({ key }) => key !== OTHERS)
    .reduce<BreakdownItem | undefined>((a, b) => (a !== undefined && a.cost >= b.cost ? a : b), undefined)
  const totalOf = (of: typeof series) =>
    of.reduce((sum, { values }) => sum + values.reduce((all, value) => all + value, 0), 0)
  const isOne = others.length === 1 && sums?.pagination.total === sums?.data.length
  const rest = totalOf(series.filter(({ key }) => key === undefined))
  return most === undefined || rest === 0 ? undefined : { most, isOne, share: rest / totalOf(series) }
}
