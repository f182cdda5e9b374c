// Sums of usage are read from the sums of days, months and all time. If these lack a column that is asked for, the sessions
// themselves are summed.

import type { Facet } from '../../analysis/usage/model.ts'
import { daysOf, type Span, shortSpansOf, spansOf } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { facetOf, facetRows, joinedFacets, ofFacet, shareTexts } from './facet-sources.ts'
import { givenFilters, matching, type UsageFilters } from './filters.ts'
import { COSTS, type Dimension, MEASURES, type RangeFilters, USED } from './model.ts'
import { GROUPINGS } from './rollup.ts'
import { dimsNameOf, dimsOf, dividedSums, inSpans, type SpanOrAll, selected } from './sums.ts'

/** Whether only the sessions themselves can be filtered so. */
export const needsSessions = (filters: UsageFilters) =>
  givenFilters(filters).some(({ summed }) => summed === undefined)

/** The columns of the sums that the filters need. */
export const filteredColumns = (filters: UsageFilters): Dimension[] =>
  givenFilters(filters).flatMap(({ summed }) => summed ?? [])

/** Whether every sum of the filtered sessions is in the sums of months and days, but for days at the ends of a range. */
export const isSummed = (filters: UsageFilters): boolean =>
  !needsSessions(filters) && dimsOf(GROUPINGS.month, filteredColumns(filters)) !== undefined

/** `from session_usage u where …`: the shares of sessions that match all filters but the days. */
export const matchingShares = (sql: ISql, orgId: string, filters: UsageFilters, facet?: Facet) => sql`
  from session_usage u
  ${joinedFacets(sql, orgId, filters, facet)}
  where u.org_id = ${orgId}
    ${matching(sql, orgId, filters, 'u')}
    ${ofFacet(sql, filters, facet)}`

export const sharesIn = (sql: ISql, { from, before }: Pick<Span, 'from' | 'before'>, day = sql`u.day`) => sql`
  ${from === undefined ? sql`` : sql`and ${day} >= ${from}::date`}
  ${before === undefined ? sql`` : sql`and ${day} < ${before}::date`}`

/** `from session_usage u where …`: one share of each session that matches and began on these days, on its first day. */
export const sessionsWithShares = (sql: ISql, orgId: string, filters: UsageFilters) => sql`
  ${matchingShares(sql, orgId, filters)}
  ${filters.model === undefined ? sql`and u.is_main` : sql`and u.sessions = 1`}
  ${sharesIn(sql, daysOf(filters.date_from, filters.date_to))}`

/**
 * Rows `r` with the columns of usage_rollups and `ticket`, whose sums by `columns` are those of what matches and was used on the days:
 * `main_sessions` and `main_turns` count each once, and so do `sessions` and `turns` but by model or ticket.
 * `facet` is the value of the facet that is given, or filtered by; a session counts in `sessions` under each of its values.
 * `bucket` is a day, or the first day of a month, as `buckets` says; else anything. Columns that are neither in `columns` nor
 * filtered by may be ''. `sums`: the columns that are read beside `columns`, if not all. `isSigned`: fewer rows, of which some are less than 0, and some groups have sums of 0.
 */
export function usageRows(
  sql: ISql,
  orgId: string,
  filters: UsageFilters,
  {
    columns,
    buckets,
    facet: key,
    sums = COLUMNS,
    isSigned = false,
  }: {
    columns: readonly Dimension[]
    buckets: Span['grain'] | undefined
    facet?: Facet | undefined
    sums?: readonly string[]
    isSigned?: boolean
  },
): Fragment {
  const wanted = sums === COLUMNS ? COLUMNS : [...columns, ...sums]
  const { date_from, date_to } = filters
  const needed = [...columns, ...filteredColumns(filters)]
  const facet = facetOf(filters, key)
  if (facet !== undefined && !needsSessions(filters) && !columns.includes('ticket')) {
    const { [facet]: _value, ...others } = filters
    return facetRows(sql, orgId, filters, facet, {
      ...{ columns, buckets, needed },
      matching: sql`
        ${matching(sql, orgId, filters, 'f')}
        ${sharesIn(sql, daysOf(date_from, date_to), sql`f.day`)}`,
      whole: (how) => usageRows(sql, orgId, others, { ...how, buckets, isSigned }),
    })
  }
  const isSummedBy = (grain: Span['grain']) =>
    needsSessions(filters) || facet !== undefined ? undefined : dimsOf(GROUPINGS[grain], needed)
  const ofMonths = isSummedBy('month')
  const isOfAllTime = GROUPINGS.all.some((grouping) => dimsNameOf(grouping) === ofMonths)
  if (ofMonths !== undefined && isOfAllTime && !(date_from ?? date_to ?? buckets))
    return sumRows(sql, orgId, filters, { grain: 'all' }, { dims: ofMonths, columns: wanted })
  const isOfDays = buckets === 'day' || ofMonths === undefined
  const spans = isOfDays ? [daysOf(date_from, date_to)] : spansOf(date_from, date_to)
  const unionOf = (rows: readonly Fragment[]) => rows.reduce((all, more) => sql`${all} union all ${more}`)
  if (spans.every(({ grain }) => isSummedBy(grain) !== undefined)) {
    const short = isSigned && !isOfDays ? shortSpansOf(date_from, date_to) : { added: spans, subtracted: [] }
    const rows = (some: readonly Span[], sign: '' | '-') =>
      some.map((span) =>
        sumRows(sql, orgId, filters, span, { dims: isSummedBy(span.grain) ?? '', columns: wanted, sign }),
      )
    return unionOf([...rows(short.added, ''), ...rows(short.subtracted, '-')])
  }
  return unionOf(
    spans.map((span): Fragment => {
      const dims = isSummedBy(span.grain)
      if (dims !== undefined) return sumRows(sql, orgId, filters, span, { dims, columns: COLUMNS })
      const rows = columns.includes('ticket') ? ticketRows : shareRows
      return rows(sql, orgId, filters, span, columns, facet)
    }),
  )
}

/** Rows `r` of the sums of a range, of one project or of all together, with whole months but for buckets of days. */
export const costRows = (
  sql: ISql,
  orgId: string,
  { project, date_from, date_to }: RangeFilters,
  buckets: Span['grain'] = 'day',
  sums: readonly string[] = COLUMNS,
): Fragment =>
  usageRows(
    sql,
    orgId,
    {
      ...(project === undefined ? {} : { project }),
      ...(date_from === undefined ? {} : { date_from }),
      ...(date_to === undefined ? {} : { date_to }),
    },
    { columns: [], buckets, sums },
  )

/** The columns of rows of usage before their measures, in one order. */
const KEYS = ['project', 'member', 'agent', 'model', 'branch', 'ticket', 'bucket']
const COUNTS = ['main_sessions', 'main_turns', 'turns']
const COLUMNS = [...KEYS, ...COUNTS, ...MEASURES, 'sessions', 'begun_cost', 'facet']

/**
 * Rows of sums with some of `COLUMNS`. PostgreSQL reads the parts of a union in place only where all of their columns are used, which
 * saves a third of the time.
 */
function sumRows(
  sql: ISql,
  orgId: string,
  filters: UsageFilters,
  span: SpanOrAll,
  { dims, columns, sign = '' }: { dims: string; columns: readonly string[]; sign?: '' | '-' },
): Fragment {
  const ofTickets = dims.endsWith('ticket')
  const absent = ofTickets ? ['member', 'agent', 'model', 'branch', 'facet'] : ['ticket', 'facet']
  const ofModel: Record<string, string> =
    filters.model === undefined ? {} : { main_sessions: 'sessions', main_turns: 'turns' }
  const columnText = (column: string): string => {
    if (absent.includes(column)) return `''`
    if (KEYS.includes(column)) return `r.${column}`
    return ofTickets && column === 'begun_cost' ? '0::bigint' : `${sign}r.${ofModel[column] ?? column}`
  }
  const rows = sql`
    select ${selected(sql, [...new Set(columns)], columnText)}
    from ${ofTickets ? sql`ticket_rollups` : sql`usage_rollups`} r
    where r.org_id = ${orgId}
      -- a literal, as in inSpans
      and r.dims = ${sql.unsafe(`'${dims}'`)}
      ${matching(sql, orgId, filters, 'r')}`
  return inSpans(sql, [span], rows)
}

/** Whether the sums by branch of all time are those of the sessions that match. */
export const isOfBranches = ({ project: _project, date_from, date_to, ...filters }: UsageFilters): boolean =>
  date_from === undefined &&
  date_to === undefined &&
  !needsSessions(filters) &&
  facetOf(filters, undefined) === undefined &&
  filteredColumns(filters).length === 0

type ShareRows = (
  sql: ISql,
  orgId: string,
  filters: UsageFilters,
  span: Span,
  columns: readonly Dimension[],
  facet: Facet | undefined,
) => Fragment

/** `KEYS` and `COUNTS` of shares `u`: of one model each stands for its session, else the main one. */
function shareColumns(
  sql: ISql,
  { main_sessions, main_turns, turns }: ReturnType<typeof shareTexts>,
): Fragment {
  return sql`
    u.project, u.member, u.agent, u.model, u.branch, '' as ticket, u.day as bucket,
    ${sql.unsafe(`(${main_sessions})::bigint as main_sessions, ${main_turns}::bigint as main_turns, ${turns}::bigint as turns`)}`
}

/** The measures of a row, of which each kind of cost is known. */
const measuresOf = (sql: ISql, used: (column: string) => string): Fragment => {
  const costs = COSTS.map(used).join(' + ')
  return selected(sql, MEASURES, (column) => (column === 'micros' ? costs : used(column)))
}

const shareRows: ShareRows = (sql, orgId, filters, span, columns, facet) => {
  const texts = shareTexts(filters, columns, facet)
  return sql`
    select
      ${shareColumns(sql, texts)}, ${measuresOf(sql, texts.used)},
      ${sql.unsafe(`(${texts.sessions})::bigint as sessions, (${texts.begun_cost})::bigint as begun_cost, ${texts.value} as facet`)}
    ${matchingShares(sql, orgId, filters, facet)}
    ${sharesIn(sql, span)}`
}

/** Divides each of `shareRows` among the session's tickets; a session counts under each, in all once. */
const ticketRows: ShareRows = (sql, orgId, filters, span, columns, facet) => {
  const texts = shareTexts(filters, columns, facet)
  // a session counts under each value of a facet as under each of its models
  const isOften = columns.includes('model') || facet !== undefined
  return sql`
    select
      ${selected(sql, [...KEYS, ...COUNTS], (column) => `r.${column}`)}, ${measuresOf(sql, (column) => `r.${column}`)}, r.sessions,
      0::bigint as begun_cost, r.facet
    from (
      select
        s.project, s.member, s.agent, s.model, s.branch, coalesce(t.ticket, '') as ticket, s.bucket,
        case when coalesce(t.nth, 1) = 1 then s.main_sessions else 0 end as main_sessions,
        case when coalesce(t.nth, 1) = 1 then s.main_turns else 0 end as main_turns,
        ${isOften ? sql`s.turns` : sql`s.main_turns`} as turns, ${dividedSums(sql)},
        ${isOften ? sql`s.sessions` : sql`s.main_sessions`} as sessions, s.facet
      from (
        select
          u.session_id, ${sql.unsafe(`(${texts.sessions})::bigint as sessions, ${texts.value} as facet`)},
          ${shareColumns(sql, texts)}, ${selected(sql, USED, texts.used)}
        ${matchingShares(sql, orgId, filters, facet)}
        ${sharesIn(sql, span)}
      ) s
      left join session_tickets t
        on t.org_id = ${orgId}
        and t.session_id = s.session_id
    ) r`
}
