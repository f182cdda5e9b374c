// Reads usage by model and price, for the explanation of a change of cost.

import { daysOf, type Span, shortSpansOf } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { facetOf, shareTexts } from '../usage/facet-sources.ts'
import { matching, type UsageFilters } from '../usage/filters.ts'
import { EXPLAINED } from '../usage/rollup.ts'
import { filteredColumns, matchingShares, sharesIn } from '../usage/sources.ts'
import { inSpans, selected, signedRows, sumsWith } from '../usage/sums.ts'

/** The columns that usage is explained by, beside its model and price. */
export type PriceKey = 'project' | 'member' | 'agent' | 'vendor' | 'branch'

/** The columns of each row of usage by price. */
const ALWAYS = ['model', 'price', 'has_calls']

/**
 * Rows with these columns, `ALWAYS` and `EXPLAINED`, whose sums are those of what matches and was used on the days: some rows are
 * less than 0, and some groups have sums of 0. They are sums of months and days where those are by what is asked for.
 */
export function priceRows(
  sql: ISql,
  orgId: string,
  filters: UsageFilters,
  keys: readonly PriceKey[],
): Fragment {
  const facet = facetOf(filters, undefined)
  const columns = [...keys, ...ALWAYS]
  const needed = [...keys, ...filteredColumns(filters).filter((column) => column !== 'model')]
  const sumsOf = (grain: Span['grain']) =>
    facet === undefined ? sumsWith(['price_rollups'], grain, needed) : undefined
  const rowsOf = (span: Span, sign: '' | '-'): Fragment => {
    const sums = sumsOf(span.grain)
    if (sums === undefined) {
      const { used } = shareTexts(filters, [], facet)
      return sql`
        select
          ${selected(sql, columns, (column) => `u.${column}`)},
          ${selected(sql, EXPLAINED, (column) => `${sign}${used(column)}::bigint`)}
        ${matchingShares(sql, orgId, filters, facet)}
        ${sharesIn(sql, span)}`
    }
    const rows = sql`
      select ${selected(sql, columns, (column) => `r.${column}`)}, ${selected(sql, EXPLAINED, (column) => `${sign}r.${column}`)}
      from price_rollups r
      where r.org_id = ${orgId}
        and r.dims = ${sql.unsafe(`'${sums.dims}'`)}
        ${matching(sql, orgId, filters, 'r')}`
    return inSpans(sql, [span], rows)
  }
  const { date_from, date_to } = filters
  const days = { added: [daysOf(date_from, date_to)], subtracted: [] }
  return signedRows(sql, sumsOf('month') === undefined ? days : shortSpansOf(date_from, date_to), rowsOf)
}
