// Lists the usage of the sessions that match, summed by one key or by pairs of two, with the total, as of one instant. A
// member's sessions are together whether they were sent with the id or an address. With `onlyMember` the sessions of others
// are one key in place of each that tells what they do, and are left out where a filter does.

import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { checked } from '../../analysis/records/problems.ts'
import { COST_KINDS, FACETS } from '../../analysis/usage/model.ts'
import type { Fragment, Sql } from '../../database/client.ts'
import { type ListParts, listOf } from '../../http/list-queries.ts'
import { type CsvColumns, fields } from '../../http/responses/csv.ts'
import { type UsageFilters, visibleFilters } from '../usage/filters.ts'
import { isFacet, PRIVATE, MEASURES as SUMS, type SumKey } from '../usage/model.ts'
import { isOfBranches } from '../usage/sources.ts'
import { branchRows, columnOfKey, comparedRange, OTHERS, selected, teamTable } from '../usage/sums.ts'
import {
  Breakdown,
  type BreakdownItem,
  BreakdownQuery,
  breakdownProblems,
  groupColumns,
  isTimeKey,
} from './breakdown-model.ts'
import { breakdownItem, READ, READ_WITH_PREVIOUS, type Row, totalIn } from './breakdown-rows.ts'
import { sumsBy } from './breakdown-sums.ts'
import { changedMost } from './changed-most-queries.ts'

/** A key of a row `r` as text, `who` of the sessions of others. */
function breakdownKeyOf(sql: Sql, key: SumKey, who: 'all' | VisibleMember | 'others'): Fragment {
  if (who === 'others' && PRIVATE.includes(key)) return sql`${OTHERS}::text`
  if (isFacet(key)) return sql`nullif(r.facet, '')`
  return columnOfKey(sql, key)
}

/** The expressions that sums `r` are sorted by, but for their keys. */
const MEASURES = {
  cost: 'r.micros',
  tokens: 'r.input + r.output + r.cache_read + r.cache_creation',
  sessions: 'r.sessions',
  unpriced_tokens: 'r.unpriced_tokens',
  change: 'abs(r.micros - r.previous_micros)',
}

/** The order of sums `r`; ties are broken by the keys, those without one last. */
function itemOrder(sql: Sql, { sort, order }: BreakdownQuery): Fragment {
  const direction = order === 'asc' ? sql`asc` : sql`desc`
  const keys = (towards: Fragment) =>
    sql`r.key collate "C" ${towards} nulls last, r.and_key collate "C" ${towards} nulls last`
  if (sort === 'key') return keys(direction)
  return sql`${sql.unsafe(MEASURES[sort])} ${direction}, ${keys(sql`asc`)}`
}

/** The text that `totalIn` reads. */
const joined = (columns: readonly string[]) =>
  `concat_ws(',', ${columns.map((name) => `r.${name}`).join(', ')})`
const TEXT = joined(READ)
const TEXT_WITH_PREVIOUS = joined(READ_WITH_PREVIOUS)
const KEY = `coalesce(to_json(r.key)::text, 'null')`
const KEYS = `${KEY}, ',', coalesce(to_json(r.and_key)::text, 'null')`

/** Columns of the range before, from `p`, which has no row for a key that is new. */
const PREVIOUS_COLUMNS = `, coalesce(p.micros, 0) as previous_micros, coalesce(p.sessions, 0) as previous_sessions`

/** The columns of `sums` beside the keys: `all_sessions` and `all_turns` count each session once. */
const SUMMED = ['sessions', 'turns', 'all_sessions', 'all_turns', ...SUMS]

/** Whether sums `s` are of more than turns. */
const IS_USED = ['sessions', ...SUMS].map((column) => `s.${column} <> 0`).join(' or ')

/** Keys of the range before that have no sessions now, as rows of `sums`. */
const GONE = `
  select e.key, e.and_key, ${SUMMED.map(() => '0').join(', ')}
  from earlier e
  where not exists (
    select
    from sums s
    where coalesce(s.key, '') = coalesce(e.key, '')
      and coalesce(s.and_key, '') = coalesce(e.and_key, '')
  )`

/** The parts of the statement for sums by key; `more` is that for the total. */
function breakdownOf(
  sql: Sql,
  orgId: string,
  given: BreakdownQuery,
  onlyMember: VisibleMember | null,
): ListParts<BreakdownItem> {
  const query = visibleFilters(given, onlyMember)
  const { by, and_by, top, compare, sort } = query
  const keys = [by, and_by]
  const columns = keys.flatMap(groupColumns)
  const byDays = keys.includes('day') || keys.includes('week')
  const buckets = byDays ? 'day' : keys.includes('month') ? 'month' : undefined
  const isDivided = onlyMember !== null && keys.some((key) => key !== undefined && PRIVATE.includes(key))
  const facet = keys.find(isFacet)
  const isByBranch =
    !isDivided && by === 'branch' && and_by === undefined && sort !== 'change' && isOfBranches(query)
  const isByTime = keys.some(isTimeKey)
  // a session counts more than once under its models and facets, in all once
  const isOften = columns.includes('model') || columns.includes('ticket') || facet !== undefined
  const keySums = (
    key: Fragment,
    andKey: Fragment,
    filters: UsageFilters,
    names = columns,
    isOnce = false,
    only = sql``,
  ) =>
    sumsBy(sql, orgId, filters, {
      ...{ key, andKey, columns: names, buckets, only, isJoined: isOnce || keys.includes('team') },
      ...{ facet: isOnce ? undefined : facet, isOften: isOften && !isOnce },
    })
  const none = sql`null::text`
  const keysOf = (who: 'all' | VisibleMember | 'others') =>
    [breakdownKeyOf(sql, by, who), and_by === undefined ? none : breakdownKeyOf(sql, and_by, who)] as const
  const sumsIn = (filters: UsageFilters) => {
    if (onlyMember === null || !isDivided) return keySums(...keysOf('all'), filters)
    // apart: both are read from sums, which have no column for each of two keys beside the member's
    const rest = columns.filter((column) => !PRIVATE.includes(column))
    return sql`
      ${keySums(...keysOf(onlyMember), { ...filters, member: onlyMember.id })}
      union all
      ${keySums(...keysOf('others'), filters, [...rest, 'member'], true, sql`where r.member <> ${onlyMember.id}`)}`
  }
  // no key is an empty text
  const topped = (table: Fragment) => sql`
    select
      s.key, case when k.and_key is not null then s.and_key else ${OTHERS}::text end as and_key,
      ${selected(sql, SUMMED, (column) => `sum_bigint(s.${column})`)}
    from ${table} s
    left join largest k on k.and_key = coalesce(s.and_key, '')
    group by 1, 2`
  const earlier = sumsIn({ ...query, ...comparedRange(query) })
  // one page is read of the branches, of which there may be as many as sessions; the total from sums with fewer rows
  const sumsCte = isByBranch
    ? sql`
        sums as not materialized (
          select
            ${breakdownKeyOf(sql, by, 'all')} as key, ${none} as and_key, ${selected(sql, ['sessions', 'turns', ...SUMS], (column) => `r.${column}`)}
          ${branchRows(sql, orgId, query)}
        ),
        whole as (${keySums(none, none, query, [])}),`
    : top === undefined
      ? sql`sums as materialized (${sumsIn(query)}),`
      : sql`
          pairs as materialized (${sumsIn(query)}),
          ${compare === undefined ? sql`` : sql`earlier_pairs as materialized (${earlier}),`}
          ${
            query.top_by === 'cost_and_change'
              ? changedMost(sql, top)
              : sql`
              largest as materialized (
                select coalesce(s.and_key, '') as and_key
                from pairs s
                group by s.and_key
                order by sum_bigint(s.micros) desc, s.and_key collate "C" nulls last
                limit ${top}
              ),`
          }
          sums as materialized (${topped(sql`pairs`)}),`
  const before =
    compare === undefined
      ? sql``
      : top === undefined
        ? sql`earlier as materialized (${earlier}),`
        : sql`
            earlier as materialized (${topped(sql`earlier_pairs`)}),`
  const previousColumns = sql.unsafe(PREVIOUS_COLUMNS)
  const itemsHavePrevious = compare !== undefined && !isByTime
  // the turns of a session count under each of its models, though none of a model's calls may have the value
  const hasTurnsAlone =
    (columns.includes('model') || query.model !== undefined) &&
    (facet !== undefined || FACETS.some((name) => query[name] !== undefined))
  const used = hasTurnsAlone ? sql`(select * from sums s where ${sql.unsafe(IS_USED)})` : sql`sums`
  const listed = sort === 'change' ? sql`(select * from ${used} s union all ${sql.unsafe(GONE)})` : used
  /** The tables that the other parts read. */
  const tables = sql`
    with ${keys.includes('team') ? sql`${teamTable(sql, orgId)},` : sql``}
    ${sumsCte}
    ${before}
    total as materialized (
      select
        sum_bigint(g.all_sessions) as sessions, sum_bigint(g.all_turns) as turns,
        sum_bigint(g.micros) as whole,
        ${selected(sql, SUMS, (column) => `sum_bigint(g.${column})`)}
      from ${isByBranch ? sql`whole` : sql`sums`} g
    )`
  const textWith = (hasPrevious: boolean) => (hasPrevious ? TEXT_WITH_PREVIOUS : TEXT)
  const item: Fragment = sql.unsafe(
    `concat('["', ${textWith(itemsHavePrevious)}, '",', ${and_by === undefined ? KEY : KEYS}, ']')`,
  )
  const rows = sql`
    select
      g.*, t.whole
      ${itemsHavePrevious ? previousColumns : sql``}
    from ${listed} g
    cross join total t
    ${
      itemsHavePrevious
        ? sql`
            left join earlier p
              on coalesce(p.key, '') = coalesce(g.key, '')
              and coalesce(p.and_key, '') = coalesce(g.and_key, '')`
        : sql``
    }`
  const total = sql`
        select ${sql.unsafe(textWith(compare !== undefined))}
        from ${
          compare === undefined
            ? sql`total`
            : sql`(
                select t.* ${previousColumns}
                from total t
                cross join (select sum(e.micros) as micros, sum(e.all_sessions) as sessions from earlier e) p
              )`
        } r`
  const count = sql`select count(*) from ${listed} g`
  return { tables, item, rows, total: count, more: total, order: itemOrder(sql, query) }
}

/** The columns of the breakdown as CSV. */
const breakdownColumns = ({ and_by, compare }: BreakdownQuery): CsvColumns<BreakdownItem> => ({
  ...fields<BreakdownItem>(
    'key',
    ...(and_by === undefined ? [] : (['and_key'] as const)),
    'sessions',
    'turns',
  ),
  input_tokens: ({ tokens }) => tokens.input,
  output_tokens: ({ tokens }) => tokens.output,
  cache_read_tokens: ({ tokens }) => tokens.cache_read,
  cache_creation_tokens: ({ tokens }) => tokens.cache_creation,
  ...fields<BreakdownItem>('cost', 'share', 'unpriced_tokens'),
  ...Object.fromEntries(
    COST_KINDS.map((kind) => [`${kind}_cost`, ({ cost_by_kind }: BreakdownItem) => cost_by_kind[kind]]),
  ),
  ...(compare === undefined
    ? {}
    : {
        previous_cost: ({ previous }: BreakdownItem) => previous?.cost,
        previous_sessions: ({ previous }: BreakdownItem) => previous?.sessions,
      }),
})

export const breakdownList = listOf({
  query: checked(BreakdownQuery, breakdownProblems),
  page: Breakdown,
  columns: breakdownColumns,
  parts: (sql, orgId, query, { onlyMember }) => breakdownOf(sql, orgId, query, onlyMember),
  itemOf: breakdownItem,
  text: ({ items, more }, pagination) => {
    const data = (JSON.parse(`[${items}]`) as Row[]).map(breakdownItem)
    return JSON.stringify({ data, pagination, total: totalIn(more) })
  },
})
