// Reads usage from the sums of days, months and all time. If these lack a column that is asked for, the sessions themselves
// are summed.

import type { Facet } from '../../analysis/usage/model.ts'
import { daysOf, type Span, shortSpansOf, spansOf } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { facetOf, facetRows, joinedFacets, ofFacet, sharesIn, shareTexts } from './facet-sources.ts'
import { givenFilters, matching, type UsageFilters } from './filters.ts'
import { COSTS, type Dimension, MEASURES, type RangeFilters, USED } from './model.ts'
import { dividedSums, inSpans, type SpanOrAll, selected, signedRows, sumsWith } from './sums.ts'

/** The columns that sums need for the filters; no sums have those of single sessions. */
export const filteredColumns = (filters: UsageFilters): string[] =>
  givenFilters(filters).map(({ summed, column = '' }) => summed ?? column)

const TABLES = ['usage_rollups', 'ticket_rollups'] as const
const FACET_TABLES = ['facet_rollups', 'session_facets'] as const

/** Whether every sum of the filtered sessions is in the sums of months and days, but for days at the ends of a range. */
export const isSummed = (filters: UsageFilters): boolean =>
  sumsWith(TABLES, 'month', filteredColumns(filters)) !== undefined

/** `from session_usage u where …`: the shares of sessions that match all filters but the days. */
export const matchingShares = (sql: ISql, orgId: string, filters: UsageFilters, facet?: Facet) => sql`
  from session_usage u
  ${joinedFacets(sql, orgId, filters, facet)}
  where u.org_id = ${orgId}
    ${matching(sql, orgId, filters, 'u')}
    ${ofFacet(sql, filters, facet)}`

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
  const { date_from, date_to } = filters
  const needed = [...columns, ...filteredColumns(filters)]
  const facet = facetOf(filters, key)
  const ofFacets = sumsWith(FACET_TABLES, 'day', needed)
  if (facet !== undefined && ofFacets !== undefined) {
    const { [facet]: _value, ...others } = filters
    return facetRows(sql, orgId, filters, facet, {
      ...{ columns, buckets, table: ofFacets.table },
      whole: (how) => usageRows(sql, orgId, others, { ...how, buckets, isSigned }),
    })
  }
  const tableOf = (grain: SpanOrAll['grain']) =>
    facet === undefined ? sumsWith(TABLES, grain, needed) : undefined
  const ofMonths = tableOf('month')
  const isOfAllTime = !(date_from ?? date_to ?? buckets) && tableOf('all')?.dims === ofMonths?.dims
  const isOfDays = buckets === 'day' || ofMonths === undefined
  const long = isOfDays ? [daysOf(date_from, date_to)] : spansOf(date_from, date_to)
  const spans: readonly SpanOrAll[] = isOfAllTime && !isOfDays ? [{ grain: 'all' }] : long
  const isOfSums = spans.every(({ grain }) => tableOf(grain) !== undefined)
  const isShort = isSigned && isOfSums && spans.length > 1
  const rowsOf = (span: SpanOrAll, sign: '' | '-') => {
    const source = tableOf(span.grain)
    if (source === undefined) return shareRows(sql, orgId, filters, span, columns, facet)
    const names = isOfSums && sums !== COLUMNS ? [...columns, ...sums] : COLUMNS
    return sumRows(sql, orgId, filters, span, { ...source, columns: names, sign })
  }
  const direct = { added: spans, subtracted: [] }
  return signedRows<SpanOrAll>(sql, isShort ? shortSpansOf(date_from, date_to) : direct, rowsOf)
}

/** Rows `r` of the sums of a range, of one project or of all together, with whole months but for buckets of days. */
export const costRows = (
  sql: ISql,
  orgId: string,
  range: RangeFilters,
  buckets: Span['grain'] = 'day',
  sums: readonly string[] = COLUMNS,
): Fragment => usageRows(sql, orgId, range, { columns: [], buckets, sums })

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
  { table, dims, columns, sign }: { table: string; dims: string; columns: readonly string[]; sign: '' | '-' },
): Fragment {
  const ofTickets = table === 'ticket_rollups'
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
    from ${sql.unsafe(table)} r
    where r.org_id = ${orgId}
      -- a literal, as in inSpans
      and r.dims = ${sql.unsafe(`'${dims}'`)}
      ${matching(sql, orgId, filters, 'r')}`
  return inSpans(sql, [span], rows)
}

/** Whether the sums by branch of all time are those of the sessions that match. */
export const isOfBranches = ({ project: _project, ...filters }: UsageFilters): boolean =>
  (filters.date_from ?? filters.date_to ?? facetOf(filters, undefined)) === undefined &&
  filteredColumns(filters).length === 0

/** The measures of a row, of which each kind of cost is known. */
const measuresOf = (sql: ISql, used: (column: string) => string): Fragment => {
  const costs = COSTS.map(used).join(' + ')
  return selected(sql, MEASURES, (column) => (column === 'micros' ? costs : used(column)))
}

/**
 * Rows of shares `u`, with `COLUMNS`: of one model each stands for its session, else the main one. By ticket each is divided among
 * the session's tickets; a session counts under each, in all once.
 */
function shareRows(
  sql: ISql,
  orgId: string,
  filters: UsageFilters,
  span: Pick<Span, 'from' | 'before'>,
  columns: readonly Dimension[],
  facet: Facet | undefined,
): Fragment {
  const { main_sessions, main_turns, turns, sessions, begun_cost, value, used } = shareTexts(
    filters,
    columns,
    facet,
  )
  const keys = sql`
    u.project, u.member, u.agent, u.model, u.branch, '' as ticket, u.day as bucket,
    ${sql.unsafe(`(${main_sessions})::bigint as main_sessions, ${main_turns}::bigint as main_turns, ${turns}::bigint as turns`)}`
  const from = sql`
    ${matchingShares(sql, orgId, filters, facet)}
    ${sharesIn(sql, span)}`
  if (!columns.includes('ticket'))
    return sql`
      select
        ${keys}, ${measuresOf(sql, used)},
        ${sql.unsafe(`(${sessions})::bigint as sessions, (${begun_cost})::bigint as begun_cost, ${value} as facet`)}
      ${from}`
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
          u.session_id, ${sql.unsafe(`(${sessions})::bigint as sessions, ${value} as facet`)},
          ${keys}, ${selected(sql, USED, used)}
        ${from}
      ) s
      left join session_tickets t
        on t.org_id = ${orgId}
        and t.session_id = s.session_id
    ) r`
}
