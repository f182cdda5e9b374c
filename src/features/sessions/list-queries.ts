// Lists the sessions that match, with page, total and CSV; those of the caller where they see only their own.

import { UTC } from '../../base/dates.ts'
import type { Fragment, Sql } from '../../database/client.ts'
import { summedProject } from '../../database/rollups.ts'
import { inDays } from '../../database/rows.ts'
import { type ListParts, listOf } from '../../http/list-queries.ts'
import { MAX_PER_PAGE } from '../../http/query.ts'
import { csvColumns } from '../../http/responses/csv.ts'
import { givenFilters } from '../usage/filters.ts'
import { isSummed, sessionsWithShares, usageRows } from '../usage/sources.ts'
import { sessionSums } from '../usage/sums.ts'
import { SessionListItem, SessionListQuery, SessionPage } from './model.ts'
import {
  detailsOf,
  directionOf,
  type ListQuery,
  listColumns,
  listItem,
  listOrder,
  matchingOfAllDays,
  matchingSessions,
} from './row-queries.ts'

export const sessionList = listOf({
  query: SessionListQuery,
  page: SessionPage,
  columns: ({ include }) => csvColumns(SessionListItem, include !== undefined),
  parts(sql, orgId, given, { onlyMember, ...viewer }) {
    const query = { ...given, ...(onlyMember !== null && { member: onlyMember.id }), ...viewer }
    const way = wayOf(query)
    const rows =
      way === 'filtered'
        ? sql`
            select
              u.session_id as id, u.project, u.turns, u.session_cost as estimated_cost, u.quality_score, u.created_at, u.day
            ${sessionsWithShares(sql, orgId, query)}`
        : sql`select ${listColumns(sql)} ${matchingSessions(sql, orgId, query)}`
    return {
      ...WAYS[way](sql, orgId, query, rows),
      rows,
      order: listOrder(sql, query, 'r'),
      joins: detailsOf(sql, orgId, query),
      item: listItem(sql, query),
    }
  },
})

/** Parts that find the page, and the number of all sessions. */
type PageParts = Pick<ListParts<unknown>, 'tables' | 'page' | 'total'>

const WAYS = { filtered, first, later, byValue }

/**
 * The way to a page and to the number of all sessions:
 *
 * | way | filters | order | page |
 * |---|---|---|---|
 * | `filtered` | one by what only usage has, as `member` or `ticket` | any | any |
 * | `byValue` | one by cost or quality, and none of those | any | any |
 * | `first` | at most project and days | by time; by a value of all days | 1 |
 * | `later` | the same | by time | from 2 on |
 * | `byValue` | the same | by a value | from 2 on; 1 of some days |
 */
function wayOf(query: SessionListQuery): keyof typeof WAYS {
  if (givenFilters(query).some(({ ofSession }) => ofSession === undefined)) return 'filtered'
  if (hasValues(query)) return 'byValue'
  const isByTime = query.sort === 'created_at'
  const isOfAllDays = query.date_from === undefined && query.date_to === undefined
  if (query.page === 1 && (isByTime || isOfAllDays)) return 'first'
  return isByTime ? 'later' : 'byValue'
}

/** Whether the list is filtered by cost or quality, which no sums are by. */
const hasValues = (query: SessionListQuery): boolean =>
  givenFilters(query).some(({ summed }) => summed === undefined)

const offsetOf = (query: SessionListQuery): number => (query.page - 1) * query.per_page

/** All that match, sorted; they are counted, unless sums tell their number. */
function filtered(sql: Sql, orgId: string, query: ListQuery, rows: Fragment): PageParts {
  const sums = usageRows(sql, orgId, query, {
    ...{ columns: [], buckets: undefined, sums: ['main_sessions'], isSigned: true },
  })
  // the indexes of usage have the day before the time, which is the same order
  const day = query.sort === 'created_at' ? sql`s.day ${directionOf(sql, query.order === 'asc')}, ` : sql``
  return {
    total: isSummed(query)
      ? sql`select coalesce(sum(r.main_sessions), 0) from (${sums}) r`
      : sql`select count(*) from (${rows}) s`,
    page: sortedPage(sql, query, rows, sql`${day}${listOrder(sql, query)}`),
  }
}

/** The end of an index. */
function first(sql: Sql, orgId: string, query: ListQuery, rows: Fragment): PageParts {
  return {
    total: sql`select coalesce(sum(r.sessions), 0) from (${sessionSums(sql, orgId, query, 'month')}) r`,
    page: sortedPage(sql, query, rows, listOrder(sql, query)),
  }
}

const sortedPage = (sql: Sql, query: ListQuery, rows: Fragment, order: Fragment) => {
  // the first page up to a constant that the planner knows: a parameter could be all of the table
  const limit =
    query.page === 1
      ? sql`limit ${sql.unsafe(String(MAX_PER_PAGE))}`
      : sql`limit ${query.per_page} offset ${offsetOf(query)}`
  return sql`
    select s.*
    from (
      select s.*
      from (${rows}) s
      order by ${order}
      ${limit}
    ) s
    limit ${query.per_page}`
}

/**
 * The rollups tell on which day the page begins, so that no page skips more than a day or two of sessions: at a million
 * sessions the last page costs what the first does. Months first, then the days of one month: 730 days in one sum take
 * three times as long.
 */
function later(sql: Sql, orgId: string, query: ListQuery): PageParts {
  const offset = offsetOf(query)
  const ascending = query.order === 'asc'
  const direction = directionOf(sql, ascending)
  // no day begins or ends so far from that of UTC
  const away = query.zone === UTC ? sql`` : sql.unsafe(`${ascending ? '-' : '+'} interval '15 hours'`)
  const inDay = ascending
    ? sql`s.created_at >= b.bucket::timestamp at time zone 'UTC' ${away} and s.day >= b.bucket`
    : sql`s.created_at < (b.bucket + 1)::timestamp at time zone 'UTC' ${away} and s.day <= b.bucket`
  const sessions = matchingSessions(sql, orgId, query)
  const tables = sql`
    with spans as materialized (
      select
        r.bucket, (r.bucket + ('1 ' || r.grain)::interval)::date as until, r.sessions,
        sum(r.sessions) over (order by r.bucket ${direction}) as through
      from (${sessionSums(sql, orgId, query, 'month')}) r
    ),
    span as (
      select d.bucket, d.until, d.through - d.sessions as before
      from spans d
      where d.through > ${offset}::bigint
      order by d.through
      limit 1
    ),
    days as (
      select r.bucket, r.sessions, d.before + sum(r.sessions) over (order by r.bucket ${direction}) as through
      from span d
      join session_rollups r
        on r.org_id = ${orgId}
        and r.grain = 'day'
        and r.project = ${summedProject(query.project)}
        and r.bucket >= d.bucket
        and r.bucket < d.until
    ),
    start as (
      select d.bucket, ${offset}::bigint - (d.through - d.sessions) as skip
      from days d
      where d.through > ${offset}::bigint
      order by d.through
      limit 1
    )`
  const page = sql`
    select s.*
    from start b
    cross join lateral (
      -- the first of the page, found in the index alone
      select s.created_at, s.id
      ${sessions}
        and ${inDay}
      order by s.created_at ${direction}, s.id ${direction}
      limit 1
      offset b.skip
    ) f
    cross join lateral (
      select ${listColumns(sql)}
      ${sessions}
        and (s.created_at, s.id) ${ascending ? sql`>=` : sql`<=`} (f.created_at, f.id)
      order by s.created_at ${direction}, s.id ${direction}
      limit ${query.per_page}
    ) s`
  return { tables, total: sql`select coalesce(sum(d.sessions), 0) from spans d`, page }
}

/** The columns of the sessions whose ids are in `p`, and a limit each: a plain join could be planned to read all sessions. */
const pickedSessions = (sql: Sql, orgId: string) => sql`
  cross join lateral (
    select ${listColumns(sql)}
    from sessions s
    where s.org_id = ${orgId}
      and s.id = p.id
    limit 1
  ) s`

const FEW = 5_000

/**
 * Nothing counts sessions by value. The statement reads from the sums how many the days have, counts those that match, and takes
 * one of four branches:
 *
 * | the days have | match | the page is |
 * |---|---|---|
 * | `FEW` or fewer | | read by time, and sorted |
 * | more | `FEW` or fewer | read by value, and sorted |
 * | more | more | found from that end of the order's index which is nearer, skipping earlier pages and other sessions within it: 500,000 in 60 ms |
 */
function byValue(sql: Sql, orgId: string, query: ListQuery): PageParts {
  const offset = offsetOf(query)
  const { sort, order } = query
  const inOrder = listOrder(sql, query)
  const backwards = listOrder(sql, { sort, order: order === 'asc' ? 'desc' : 'asc' })
  const byTime = matchingSessions(sql, orgId, query)
  // a condition on created_at alone would be planned as a search by time and a sort of all it finds
  const byIndex = sql`
    ${matchingOfAllDays(sql, orgId, query)}
      ${inDays(sql, sql`(s.created_at + interval '0')`, query, query.zone)}`
  const walked = sql`select s.id ${sort === 'created_at' ? byTime : byIndex}`
  const count = hasValues(query)
    ? sql`
        case
          when d.sessions <= ${FEW} then (select count(*) ${byTime})
          else (select count(*) ${byIndex})
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
      ${sorted(byIndex)}
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
