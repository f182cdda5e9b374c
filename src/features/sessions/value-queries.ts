// Pages of the list sorted or filtered by cost, turns or quality.

import type { Fragment, Sql } from '../../database/client.ts'
import { inDays } from '../../database/rows.ts'
import { sessionSums } from '../usage/sums.ts'
import {
  hasValues,
  type ListQuery,
  listColumns,
  matchingOfAllDays,
  matchingSessions,
  offsetOf,
  orderOf,
  type PageParts,
} from './list-queries.ts'

/** The columns of the sessions whose ids are in `p`, and a limit each: a plain join could be planned to read all sessions. */
const pickedSessions = (sql: Sql, orgId: string) => sql`
  cross join lateral (
    select ${listColumns(sql)}
    from sessions s
    where s.org_id = ${orgId}
      and s.id = p.id
    limit 1
  ) s`

/** This number of sessions, or fewer, is read and sorted as a whole. */
const FEW = 5_000

/**
 * A page of some days, a later one of all, or one that is filtered by cost or quality. Nothing counts sessions by value: the
 * index of the order is walked from the nearer end, skipping earlier pages and other sessions within it: 500,000 in 60 ms. Where
 * the days have few sessions, or few have such values, these are read and sorted instead.
 */
export function pageByValue(sql: Sql, orgId: string, query: ListQuery): PageParts {
  const offset = offsetOf(query)
  const { sort, order } = query
  const inOrder = orderOf(sql, query)
  const backwards = orderOf(sql, { sort, order: order === 'asc' ? 'desc' : 'asc' })
  const byTime = matchingSessions(sql, orgId, query)
  // a condition on created_at alone would be planned as a search by time and a sort of all it finds
  const byValue = sql`
    ${matchingOfAllDays(sql, orgId, query)}
      ${inDays(sql, sql`(s.created_at + interval '0')`, query, query.zone)}`
  const walked = sql`select s.id ${sort === 'created_at' ? byTime : byValue}`
  const count = hasValues(query)
    ? sql`
        case
          when d.sessions <= ${FEW} then (select count(*) ${byTime})
          else (select count(*) ${byValue})
        end`
    : sql`d.sessions`
  // depends on `m`: a plan that begins with the page would read all sessions where it is not this branch's turn
  const skipped = sql`${offset}::bigint + 0 * m.total`
  const sorted = (matching: Fragment) => sql`
    cross join lateral (
      select s.id
      from (
        select s.id, s.${sql(sort)}
        ${matching}
        offset 0
      ) s
      order by ${inOrder}
      limit ${query.per_page}
      offset ${skipped}
    ) p`
  const tables = sql`
    with days as materialized (
      select coalesce(sum(r.sessions), 0)::bigint as sessions
      from (${sessionSums(sql, orgId, query, 'month')}) r
    ),
    matching as materialized (
      select d.sessions, ${count} as total
      from days d
    )`
  const page = sql`
    select s.*
    from (
      select p.id
      from matching m
      ${sorted(byTime)}
      where m.sessions <= ${FEW}
      union all
      select p.id
      from matching m
      ${sorted(byValue)}
      where m.sessions > ${FEW}
        and m.total <= ${FEW}
      union all
      select p.id
      from matching m
      cross join lateral (
        ${walked}
        order by ${inOrder}
        limit ${query.per_page}
        offset ${skipped}
      ) p
      where m.total > ${FEW}
        and 2 * ${offset}::bigint <= m.total
      union all
      select p.id
      from matching m
      cross join lateral (
        ${walked}
        order by ${backwards}
        limit least(${query.per_page}::bigint, m.total - ${offset}::bigint)
        offset greatest(0, m.total - ${offset}::bigint - ${query.per_page}::bigint)
      ) p
      where m.total > ${FEW}
        and 2 * ${offset}::bigint > m.total
        and ${offset}::bigint < m.total
    ) p
    ${pickedSessions(sql, orgId)}`
  return { tables, total: sql`select m.total from matching m`, page }
}
