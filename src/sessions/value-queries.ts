import type { Sql } from '../db/client.ts'
import { MAX_PER_PAGE } from '../http/query.ts'
import {
  directionOf,
  itemsOf,
  listColumns,
  matchingSessions,
  matchingSpans,
  offsetOf,
  only,
  orderOf,
  type PageRow,
} from './list-queries.ts'
import type { SessionListQuery } from './model.ts'

// Pages of the list sorted by cost or turns.

/** A list query that is sorted by a number. */
export interface ValueQuery extends SessionListQuery {
  sort: 'estimated_cost' | 'turns'
}

export const isByValue = (query: SessionListQuery): query is ValueQuery => query.sort !== 'created_at'
export const hasDays = ({ date_from, date_to }: SessionListQuery): boolean =>
  date_from !== undefined || date_to !== undefined

/** The column of a session `s` that the list is sorted by, with its name in session_ranges and its type. */
const sortedBy = (sql: Sql, { sort }: ValueQuery) =>
  sort === 'turns'
    ? ({ name: 'turns', column: sql`s.turns`, type: sql`integer` } as const)
    : ({ name: 'cost', column: sql`s.estimated_cost`, type: sql`numeric` } as const)

/** The columns of the sessions whose ids are in `p`, and a limit each: a plain join could be planned to read all sessions. */
const pickedSessions = (sql: Sql, orgId: string) => sql`
  cross join lateral (
    select ${listColumns(sql)}
    from sessions s
    where s.org_id = ${orgId}
      and s.id = p.id
    limit 1
  ) s`

/**
 * A later page of all days. The counts in session_ranges tell between which two sessions the page begins: no page skips
 * more than one narrow range, within an index. Wide ranges first, then the narrow ones of one wide range.
 */
export async function laterByValue(sql: Sql, orgId: string, query: ValueQuery): Promise<PageRow> {
  const offset = offsetOf(query)
  const ascending = query.order === 'asc'
  const direction = directionOf(sql, ascending)
  const { name, column, type } = sortedBy(sql, query)
  const start = ascending
    ? sql`(${column}, s.id collate "C") >= (b.from_value::${type}, b.from_id)`
    : sql`(${column}, s.id collate "C") < (b.to_value::${type}, b.to_id)`
  // the end of each range; the last one ends above every cost, number of turns and id
  const end = sql`
    lead(r.from_value, 1, 2000000000) over ranges as to_value,
    lead(r.from_id, 1, '~') over ranges as to_id`
  const order = orderOf(sql, query)
  const sessions = matchingSessions(sql, orgId, query)
  const ranges = sql`
    r.org_id = ${orgId}
    and r.sort = ${name}
    and r.project = ${query.project ?? ''}`
  return only(
    await sql<PageRow[]>`
      with wide as materialized (
        select r.from_value, r.from_id, r.sessions, ${end}
        from session_ranges r
        where ${ranges}
          and r.grain = 'wide'
        window ranges as (order by r.from_value, r.from_id)
      ),
      wide_start as (
        select w.*
        from (
          select w.*, sum(w.sessions) over (order by w.from_value ${direction}, w.from_id ${direction}) as through
          from wide w
        ) w
        where w.through > ${offset}::bigint
        order by w.through
        limit 1
      ),
      start as (
        select n.*, ${offset}::bigint - (n.through - n.sessions) as skip
        from (
          select
            n.*,
            n.before + sum(n.sessions) over (order by n.from_value ${direction}, n.from_id ${direction}) as through
          from (
            select
              r.from_value, r.from_id, r.sessions,
              lead(r.from_value, 1, w.to_value) over ranges as to_value,
              lead(r.from_id, 1, w.to_id) over ranges as to_id,
              w.through - w.sessions as before
            from wide_start w
            join session_ranges r
              on ${ranges}
              and r.grain = 'narrow'
              and (r.from_value, r.from_id) >= (w.from_value, w.from_id)
              and (r.from_value, r.from_id) < (w.to_value, w.to_id)
            window ranges as (order by r.from_value, r.from_id)
          ) n
        ) n
        where n.through > ${offset}::bigint
        order by n.through
        limit 1
      )
      select (select coalesce(sum(w.sessions), 0) from wide w) as total, ${itemsOf(sql, query)}
      from (
        select s.*
        from start b
        cross join lateral (
          -- the first of the page, found in the index alone
          select ${column} as value, s.id
          ${sessions}
            and ${start}
          order by ${order}
          limit 1
          offset b.skip
        ) f
        cross join lateral (
          select ${listColumns(sql)}
          ${sessions}
            and (${column}, s.id collate "C") ${ascending ? sql`>=` : sql`<=`} (f.value, f.id)
          order by ${order}
          limit ${sql.unsafe(String(MAX_PER_PAGE))}
        ) s
        limit ${query.per_page}
      ) s`,
  )
}

/** This number of sessions, or fewer, is read and sorted as a whole. */
const FEW = 5_000

/**
 * A page of some days. Nothing counts the sessions of some days by value: the index of values is walked from the nearer end,
 * skipping sessions of other days within it. Few sessions are found by time instead and sorted.
 */
export async function pageOfDaysByValue(sql: Sql, orgId: string, query: ValueQuery): Promise<PageRow> {
  const offset = offsetOf(query)
  const ascending = query.order === 'asc'
  const { column } = sortedBy(sql, query)
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
