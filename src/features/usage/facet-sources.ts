import { FACETS, type Facet, STANDARD, UNKNOWN_PAYER, VENDORS } from '../../analysis/usage/model.ts'
import type { Span } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { COSTS, type Dimension, MEASURES, type UsageFilters } from './model.ts'
import { inSpans, selected } from './sums.ts'

// Usage by a facet: a session without rows in session_facets has what is usual.

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
  const byModel = ofModel || columns.includes('model')
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

export const joinedFacets = (
  sql: ISql,
  orgId: string,
  filters: UsageFilters,
  facet: Facet | undefined,
): Fragment =>
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

/** Whether rows by a facet are sums of days and months. */
export const isFacetSummed = (needed: readonly Dimension[]): boolean =>
  needed.every((column) => column === 'agent')

/**
 * Rows of usage by a facet from sums: of those with facets, and of all sessions without these as rows of what is usual. Their sums are
 * right, a row may be less than 0.
 */
export function facetSums(
  sql: ISql,
  orgId: string,
  filters: UsageFilters,
  span: Span,
  facet: Facet,
): Fragment {
  const { agent, [facet]: wanted } = filters
  const isFiltered = wanted !== undefined
  const usual =
    facet === 'vendor'
      ? `case ${Object.entries(VENDORS)
          .map(([of, vendor]) => `when r.agent = '${of}' then '${vendor}'`)
          .join(' ')} else '' end`
      : `'${usualOf(facet)}'`
  const rows = (
    table: string,
    counted: readonly [main: string, sessions: string, turns: string],
    value: string,
    sign = '',
  ) => {
    const [main, sessions, turns] = counted.map((column) => `${sign}r.${column}`)
    const costs = COSTS.map((column) => `r.${column}`).join(' + ')
    const measures = selected(sql, MEASURES, (column) =>
      column === 'micros' ? `${sign}(${costs})` : `${sign}r.${column}`,
    )
    return inSpans(
      sql,
      [span],
      sql`
        select
          '' as project, '' as member, r.agent, '' as model, '' as branch, '' as ticket, r.bucket,
          ${sql.unsafe(`${main} as main_sessions, ${turns} as main_turns, ${turns} as turns`)}, ${measures},
          ${sql.unsafe(`${sessions} as sessions, 0::bigint as begun_cost, ${value} as facet`)}
        from ${sql.unsafe(table)} r
        where r.org_id = ${orgId}
          and ${sql.unsafe(table === 'usage_rollups' ? "r.dims = 'agent_model'" : `r.facet = '${facet}'`)}
          ${agent === undefined ? sql`` : sql`and r.agent = ${agent}`}`,
    )
  }
  const main = isFiltered ? 'sessions' : 'main_sessions'
  return sql`
    select r.*
    from (
      ${rows('facet_rollups', [main, 'sessions', 'turns'], 'r.value')}
      union all
      ${rows('usage_rollups', ['main_sessions', 'main_sessions', 'main_turns'], usual)}
      union all
      ${rows('facet_rollups', ['main_sessions', 'main_sessions', 'turns'], usual, '-')}
    ) r
    ${wanted === undefined ? sql`` : sql`where r.facet = ${wanted}`}`
}
