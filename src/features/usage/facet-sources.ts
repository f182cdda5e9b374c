// Parts of statements that read usage by a facet: a session without rows in session_facets has what is usual.

import { FACETS, type Facet, STANDARD, UNKNOWN_PAYER, VENDORS } from '../../analysis/usage/model.ts'
import { daysOf, type Span, spansOf } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { matching, type UsageFilters } from './filters.ts'
import { COSTS, type Dimension, USED } from './model.ts'
import { inSpans, selected } from './sums.ts'

/** The facet that rows of usage are by: the key, else that of a filter. */
export const facetOf = (filters: UsageFilters, key: Facet | undefined): Facet | undefined =>
  key ?? FACETS.find((facet) => filters[facet] !== undefined)

/** The columns of shares `u` of sessions, joined with their facets `f` where they are by one. */
export function shareTexts(filters: UsageFilters, columns: readonly Dimension[], facet: Facet | undefined) {
  const ofModel = filters.model !== undefined
  if (facet === undefined)
    return {
      main_sessions: ofModel ? 'u.sessions' : 'u.is_main::integer',
      main_turns: ofModel ? 'u.day_turns' : 'u.main_turns',
      turns: 'u.day_turns',
      sessions: 'u.sessions',
      begun_cost: 'case when u.is_main then (u.session_cost * 1000000)::bigint else 0 end',
      value: "''",
      used: (column: string) => `u.${column}`,
    }
  const own = (column: string) => `coalesce(f.${column}, u.${column})`
  const [every, index] = [FACETS.length, FACETS.indexOf(facet)]
  /** Whether the part counts its session by a bit: once under each value, or once. */
  const counts = (bit: number, byModel: boolean) => {
    const [bits, usual] = byModel ? ['model_firsts', 'u.sessions'] : ['firsts', 'u.is_main::integer']
    return `case when f.session_id is null then ${usual} else (f.${bits} >> ${bit}) & 1 end`
  }
  const byModel = isByModel(filters, columns)
  return {
    main_sessions: counts(filters[facet] === undefined ? every : index, ofModel),
    main_turns: own(ofModel ? 'day_turns' : 'main_turns'),
    turns: own(byModel ? 'day_turns' : 'main_turns'),
    sessions: counts(index, byModel),
    begun_cost: '0',
    value: shareValue(facet),
    used: own,
  }
}

/** The value of a share. */
const shareValue = (facet: Facet): string =>
  `coalesce(f.${facet}, ${facet === 'vendor' || facet === 'paid_by' ? `u.${facet}` : `'${usualOf(facet)}'`})`

const usualOf = (facet: Facet): string =>
  facet === 'tier' ? STANDARD : facet === 'paid_by' ? UNKNOWN_PAYER : ''

/** Whether only rows of session_facets have the value that is filtered by. */
const isInRows = (filters: UsageFilters, facet: Facet): boolean =>
  facet !== 'vendor' && filters[facet] !== undefined && filters[facet] !== usualOf(facet)

export const joinedFacets = (sql: ISql, orgId: string, filters: UsageFilters, facet: Facet | undefined) =>
  facet === undefined
    ? sql``
    : sql`
      ${isInRows(filters, facet) ? sql`` : sql`left`} join session_facets f
        on f.org_id = ${orgId}
        and f.session_id = u.session_id
        and f.nth = u.nth`

/** The condition of a filter by a facet. */
export function ofFacet(sql: ISql, filters: UsageFilters, facet: Facet | undefined): Fragment {
  const value = facet && filters[facet]
  if (facet === undefined || value === undefined) return sql``
  return sql`and ${sql.unsafe(isInRows(filters, facet) ? `f.${facet}` : shareValue(facet))} = ${value}`
}

/** Conditions on the days of rows that are no sums. */
export const sharesIn = (sql: ISql, { from, before }: Pick<Span, 'from' | 'before'>, day = sql`u.day`) => sql`
  ${from === undefined ? sql`` : sql`and ${day} >= ${from}::date`}
  ${before === undefined ? sql`` : sql`and ${day} < ${before}::date`}`

interface FacetHow {
  columns: readonly Dimension[]
  buckets: Span['grain'] | undefined
  /** That which has all columns, and those of filters. */
  table: 'facet_rollups' | 'session_facets'
  /** Rows of usage without the facet. */
  whole: (how: { columns: readonly Dimension[]; sums: readonly string[] }) => Fragment
}

/**
 * Rows of usage by a facet: of the parts of sessions, and of all that matches without these as rows of what is usual. Their sums are
 * right, a row may be less than 0.
 */
export function facetRows(
  sql: ISql,
  orgId: string,
  filters: UsageFilters,
  facet: Facet,
  { columns: given, buckets, table, whole }: FacetHow,
): Fragment {
  const columns = [...new Set([...given, ...(facet === 'vendor' ? (['agent'] as const) : [])])]
  const value = filters[facet]
  const usual =
    facet === 'vendor'
      ? `case ${Object.entries(VENDORS)
          .map(([of, vendor]) => `when r.agent = '${of}' then '${vendor}'`)
          .join(' ')} else '' end`
      : `'${usualOf(facet)}'`
  const rows = (names: Readonly<Record<string, string>>, value: string, from: Fragment, sign = '') => sql`
    select
      ${sql.unsafe([...columns, 'bucket'].map((name) => `r.${name}, `).join(''))}
      ${selected(sql, [...COUNTS, ...USED], (name) => `${sign}r.${names[name] ?? name}`)},
      ${sql.unsafe(`${sign}(${COSTS.map((column) => `r.${column}`).join(' + ')}) as micros, 0::bigint as begun_cost`)},
      ${sql.unsafe(value)} as facet
    from ${from} r`
  const others = isByModel(filters, columns) ? {} : { sessions: 'main_sessions', turns: 'main_turns' }
  const parts =
    table === 'facet_rollups'
      ? facetSums(sql, orgId, filters, facet, buckets)
      : facetParts(sql, orgId, filters, facet, columns, buckets !== undefined)
  const rest = sql`
    union all
    ${rows(others, usual, sql`(${whole({ columns, sums: ['bucket', ...COUNTS, ...USED] })})`)}
    union all
    ${rows({ main_sessions: 'all_main', sessions: 'all_sessions' }, usual, sql`parts`, '-')}`
  return sql`
    with parts as materialized (${parts})
    select r.*
    from (${rows({}, 'r.facet', sql`parts`)} ${isInRows(filters, facet) ? sql`` : rest}) r
    ${value === undefined ? sql`` : sql`where r.facet = ${value}`}`
}

const COUNTS = ['main_sessions', 'main_turns', 'turns', 'sessions']

/** The parts of sessions by `columns`; `all_main` and `all_sessions` count sessions whatever their value. */
function facetParts(
  sql: ISql,
  orgId: string,
  filters: UsageFilters,
  facet: Facet,
  columns: readonly Dimension[],
  isByDay: boolean,
): Fragment {
  const [every, index] = [FACETS.length, FACETS.indexOf(facet)]
  const ofModel = filters.model !== undefined
  const byModel = isByModel(filters, columns)
  const counted = (bits: boolean, bit: number) => `sum((f.${bits ? 'model_firsts' : 'firsts'} >> ${bit}) & 1)`
  const turns = (all: boolean) => `sum(f.${all ? 'day_turns' : 'main_turns'})`
  const keys = [...columns, ...(isByDay ? ['day'] : []), facet].map((name) => `f.${name}`).join(', ')
  return sql`
    select
      ${sql.unsafe(`
        ${keys} as facet, ${isByDay ? 'f.day' : 'null::date'} as bucket,
        ${counted(ofModel, filters[facet] === undefined ? every : index)} as main_sessions, ${counted(ofModel, every)} as all_main,
        ${counted(byModel, index)} as sessions, ${counted(byModel, every)} as all_sessions,
        ${turns(ofModel)} as main_turns, ${turns(byModel)} as turns`)},
      ${selected(sql, USED, (column) => `sum_bigint(f.${column})`)}
    from session_facets f
    where f.org_id = ${orgId}
      ${matching(sql, orgId, filters, 'f')}
      ${sharesIn(sql, daysOf(filters.date_from, filters.date_to), sql`f.day`)}
      ${isInRows(filters, facet) ? sql`and f.${sql.unsafe(facet)} = ${filters[facet] ?? ''}` : sql``}
    group by ${sql.unsafe(keys)}`
}

/** The same by agent, from sums of days and months. */
function facetSums(
  sql: ISql,
  orgId: string,
  { agent, date_from, date_to, ...filters }: UsageFilters,
  facet: Facet,
  buckets: Span['grain'] | undefined,
): Fragment {
  const spans = buckets === 'day' ? [daysOf(date_from, date_to)] : spansOf(date_from, date_to)
  const rows = sql`
    select
      r.agent, r.bucket, r.value as facet,
      ${sql.unsafe(filters[facet] === undefined ? 'r.main_sessions' : 'r.sessions as main_sessions')},
      r.main_sessions as all_main, r.sessions, r.main_sessions as all_sessions, r.turns as main_turns, r.turns,
      ${selected(sql, USED, (column) => `r.${column}`)}
    from facet_rollups r
    where r.org_id = ${orgId}
      and r.facet = ${sql.unsafe(`'${facet}'`)}
      ${agent === undefined ? sql`` : sql`and r.agent = ${agent}`}`
  return inSpans(sql, spans, rows)
}

const isByModel = ({ model }: UsageFilters, columns: readonly Dimension[]): boolean =>
  model !== undefined || columns.includes('model')
