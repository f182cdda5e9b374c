import type { Sql } from '../db/client.ts'
import {
  directionOf,
  itemsOf,
  listColumns,
  matchingSessions,
  matchingSpans,
  offsetOf,
  only,
  type PageRow,
} from './list-queries.ts'
import type { SessionListQuery } from './model.ts'

// Pages of the list sorted by cost, turns or quality.

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
 * A page of some days, or a later one of all. Nothing counts sessions by value: the index of values is walked from the nearer
 * end, skipping earlier pages and sessions of other days within it: 500,000 in 60 ms. Few sessions are found by time instead
 * and sorted.
 */
export async function pageByValue(sql: Sql, orgId: string, query: SessionListQuery): Promise<PageRow> {
  const offset = offsetOf(query)
  const ascending = query.order === 'asc'
  const column = sql`s.${sql(query.sort)}`
  const direction = directionOf(sql, ascending)
  const backwards = directionOf(sql, !ascending)
  // a condition on created_at alone would be planned as a search by time and a sort of all it finds
  const walked = sql`
    select s.id
    from sessions s
    where s.org_id = ${orgId}
      ${query.project === undefined ? sql`` : sql`and s.project = ${query.project}`}
      ${query.date_from === undefined ? sql`` : sql`and s.created_at at time zone 'UTC' >= ${query.date_from}::date::timestamp`}
      ${query.date_to === undefined ? sql`` : sql`and s.created_at at time zone 'UTC' < (${query.date_to}::date + 1)::timestamp`}`
  return only(
    await sql<PageRow[]>`
      with matching as materialized (
        select coalesce(sum(r.sessions), 0)::bigint as total
        from (${matchingSpans(sql, orgId, query)}) r
      )
      select (select m.total from matching m) as total, ${itemsOf(sql, query)}
      from (
        select p.id
        from matching m
        cross join lateral (
          select s.id
          from (
            select s.id, ${column}
            ${matchingSessions(sql, orgId, query)}
            offset 0
          ) s
          order by ${column} ${direction}, s.id collate "C" ${direction}
          limit ${query.per_page}
          offset ${offset}
        ) p
        where m.total <= ${FEW}
        union all
        select p.id
        from matching m
        cross join lateral (
          ${walked}
          order by ${column} ${direction}, s.id collate "C" ${direction}
          limit ${query.per_page}
          offset ${offset}
        ) p
        where m.total > ${FEW}
          and 2 * ${offset}::bigint <= m.total
        union all
        select p.id
        from matching m
        cross join lateral (
          ${walked}
          order by ${column} ${backwards}, s.id collate "C" ${backwards}
          limit least(${query.per_page}::bigint, m.total - ${offset}::bigint)
          offset greatest(0, m.total - ${offset}::bigint - ${query.per_page}::bigint)
        ) p
        where m.total > ${FEW}
          and 2 * ${offset}::bigint > m.total
          and ${offset}::bigint < m.total
      ) p
      ${pickedSessions(sql, orgId)}`,
  )
}
