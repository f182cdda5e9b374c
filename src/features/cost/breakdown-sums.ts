// Makes the part of a statement that sums usage by the keys of a breakdown.

import type { Facet } from '../../analysis/usage/model.ts'
import type { Span } from '../../base/dates.ts'
import type { Fragment, Sql } from '../../database/client.ts'
import type { UsageFilters } from '../usage/filters.ts'
import { COSTS, type Dimension, MEASURES, USED } from '../usage/model.ts'
import { usageRows } from '../usage/sources.ts'
import { selected } from '../usage/sums.ts'

/** The sum of a column of rows `r` of usage. */
const sumSql = (column: string): string =>
  column === 'micros' ? COSTS.map(sumSql).join(' + ') : `sum_bigint(r.${column})`

interface How {
  /** The keys of a row `r`. */
  key: Fragment
  andKey: Fragment
  /** The columns that they are made of, but those of time. */
  columns: readonly Dimension[]
  buckets: Span['grain'] | undefined
  facet: Facet | undefined
  /** Whether rows of several values of `columns` have one key. */
  isJoined: boolean
  /** Whether a session counts under each of several keys; in all once. */
  isOften: boolean
  /** `where …`, a condition on `r`. */
  only: Fragment
}

export function sumsBy(
  sql: Sql,
  orgId: string,
  filters: UsageFilters,
  { key, andKey, columns, buckets, facet, isJoined, isOften, only }: How,
): Fragment {
  const once = ['main_sessions', 'main_turns']
  const counts = isOften ? [...once, 'sessions', 'turns'] : once
  const [sessions = '', turns = ''] = counts.slice(-2)
  const read = [...(buckets === undefined ? [] : ['bucket']), ...counts, ...USED]
  const rows = usageRows(sql, orgId, filters, { columns, buckets, facet, sums: read, isSigned: true })
  const sums = (sum: (column: string) => string) => sql`
    ${sql.unsafe(`${sum(sessions)} as sessions, ${sum(turns)} as turns`)},
    ${sql.unsafe(`${sum('main_sessions')} as all_sessions, ${sum('main_turns')} as all_turns`)},
    ${selected(sql, MEASURES, sum)}`
  const keyed = sql`select ${key} as key, ${andKey} as and_key`
  // a part may only count a session, on its first day, and parts of a month are taken from the whole
  const isSomething = sql.unsafe([...counts, ...USED].map((column) => `${sumSql(column)} <> 0`).join(' or '))
  if (buckets !== undefined)
    return sql`${keyed}, ${sums(sumSql)} from (${rows}) r ${only} group by 1, 2 having ${isSomething}`
  // summed by columns before keys are made of them: rows are read as they are stored
  const own = [...new Set(columns), ...(facet === undefined ? [] : ['facet'])].map((column) => `r.${column}`)
  const summed = sql`
    select ${sql.unsafe([...own, ...[...counts, ...MEASURES].map((column) => `${sumSql(column)} as ${column}`)].join(', '))}
    from (${rows}) r
    ${own.length === 0 ? sql`` : sql`group by ${sql.unsafe(own.join(', '))}`}
    having ${isSomething}`
  return isJoined
    ? sql`${keyed}, ${sums(sumSql)} from (${summed}) r ${only} group by 1, 2`
    : sql`${keyed}, ${sums((column) => `r.${column}`)} from (${summed}) r ${only}`
}
