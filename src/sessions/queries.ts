import { spansOf } from '../dates.ts'
import type { ISql, Sql } from '../db/client.ts'
import { ApiError } from '../errors.ts'
import type { SessionDetail, SessionDetailBody, SessionListItem, SessionListQuery } from './model.ts'

interface ListRow {
  total: string
  /** null in the one row of an empty page */
  id: string | null
  project_name: string
  turns: number
  estimated_cost: string
  quality_score: string
  created_at: Date
}

interface SessionSlice {
  rows: SessionListItem[]
  /** of all sessions that match, from the rollups */
  total: number
}

/** Sorted by cost or turns, pages deeper than this are counted from the nearer end. */
const SHALLOW_OFFSET = 1_000

/** A page of the organization's sessions that match, and how many match in all, both as of one instant. */
export function listSessions(sql: Sql, orgId: string, query: SessionListQuery): Promise<SessionSlice> {
  const sorted = query.sort
  return sorted === 'created_at' ? listByTime(sql, orgId, query) : listByNumber(sql, orgId, query, sorted)
}

const offsetOf = (query: SessionListQuery): number => (query.page - 1) * query.per_page

const matchingSessions = (sql: ISql, orgId: string, query: SessionListQuery) => sql`
  from sessions s
  where s.org_id = ${orgId}
    ${query.project === undefined ? sql`` : sql`and s.project = ${query.project}`}
    ${query.date_from === undefined ? sql`` : sql`and s.created_at >= ${query.date_from}::date::timestamp at time zone 'UTC'`}
    ${query.date_to === undefined ? sql`` : sql`and s.created_at < (${query.date_to}::date + 1)::timestamp at time zone 'UTC'`}`

const listColumns = (sql: ISql) => sql`
  s.id, s.project as project_name, s.turns, s.estimated_cost, s.quality_score, s.created_at`

/**
 * The rollups tell on which day the page begins, so that no page skips more than one day of sessions: at a million
 * sessions the last page costs what the first does. Months first, then the days of one month: 730 days in one sum take
 * three times as long.
 */
async function listByTime(sql: Sql, orgId: string, query: SessionListQuery): Promise<SessionSlice> {
  const offset = offsetOf(query)
  const ascending = query.order === 'asc'
  const direction = ascending ? sql`asc` : sql`desc`
  const fromStart = ascending
    ? sql`s.created_at >= b.bucket::timestamp at time zone 'UTC'`
    : sql`s.created_at < (b.bucket + 1)::timestamp at time zone 'UTC'`
  const rows = await sql<ListRow[]>`
    with spans as materialized (
      select r.bucket, r.until, r.sessions, sum(r.sessions) over (order by r.bucket ${direction}) as through
      from (${matchingSpans(sql, orgId, query)}) r
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
        and r.project = ${query.project ?? ''}
        and r.bucket >= d.bucket
        and r.bucket < d.until
    ),
    start as (
      select d.bucket, ${offset}::bigint - (d.through - d.sessions) as skip
      from days d
      where d.through > ${offset}::bigint
      order by d.through
      limit 1
    )
    select t.total, s.*
    from (select coalesce(sum(d.sessions), 0) as total from spans d) t
    left join (
      select p.*
      from start b
      cross join lateral (
        select ${listColumns(sql)}
        ${matchingSessions(sql, orgId, query)}
          and ${fromStart}
        order by s.created_at ${direction}, s.id ${direction}
        limit ${query.per_page}
        offset b.skip
      ) p
    ) s on true
    order by s.created_at ${direction}, s.id ${direction}`
  return sliceOf(rows)
}

/** Rollup rows that cover the days asked for, each day once. */
const matchingSpans = (sql: ISql, orgId: string, query: SessionListQuery) =>
  spansOf(query.date_from, query.date_to)
    .map(
      ({ grain, from, before }) => sql`
        select
          r.bucket,
          (r.bucket + ${grain === 'day' ? sql`interval '1 day'` : sql`interval '1 month'`})::date as until,
          r.sessions
        from session_rollups r
        where r.org_id = ${orgId}
          and r.grain = ${grain}
          and r.project = ${query.project ?? ''}
          ${from === undefined ? sql`` : sql`and r.bucket >= ${from}`}
          ${before === undefined ? sql`` : sql`and r.bucket < ${before}`}`,
    )
    .reduce((rows, more) => sql`${rows} union all ${more}`)

/** Sorted by cost or turns: walks that index from whichever end is nearer, so first and last pages cost alike. */
function listByNumber(sql: Sql, orgId: string, query: SessionListQuery, sort: Column): Promise<SessionSlice> {
  const offset = offsetOf(query)
  const ascending = query.order === 'asc'
  if (offset <= SHALLOW_OFFSET)
    return pageByNumber(sql, orgId, query, { sort, ascending, offset, limit: query.per_page })
  // where the end lies must not move between the two statements
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    const total = await countSessions(tx, orgId, query)
    if (offset >= total) return { rows: [], total }
    if (offset <= total / 2)
      return pageByNumber(tx, orgId, query, { sort, ascending, offset, limit: query.per_page })
    const limit = Math.min(query.per_page, total - offset)
    const slice = { sort, ascending: !ascending, offset: total - offset - limit, limit }
    const { rows } = await pageByNumber(tx, orgId, query, slice)
    return { rows: rows.reverse(), total }
  })
}

type Column = 'estimated_cost' | 'turns'
interface Slice {
  sort: Column
  ascending: boolean
  offset: number
  limit: number
}

async function pageByNumber(
  sql: ISql,
  orgId: string,
  query: SessionListQuery,
  { sort, ascending, offset, limit }: Slice,
): Promise<SessionSlice> {
  const direction = ascending ? sql`asc` : sql`desc`
  const column = sort === 'turns' ? sql`s.turns` : sql`s.estimated_cost`
  const rows = await sql<ListRow[]>`
    select t.total, s.*
    from (select coalesce(sum(r.sessions), 0) as total from (${matchingSpans(sql, orgId, query)}) r) t
    left join lateral (
      -- ids alone, so that what is skipped is skipped in the index
      select s.id
      ${matchingSessions(sql, orgId, query)}
      order by ${column} ${direction}, s.id ${direction}
      limit ${limit}
      offset ${offset}
    ) p on true
    -- lateral with its own limit: as a plain join, every plan that does not know the page's size reads all sessions
    left join lateral (
      select ${listColumns(sql)}
      from sessions s
      where s.org_id = ${orgId}
        and s.id = p.id
      limit 1
    ) s on true
    order by ${column} ${direction}, s.id ${direction}`
  return sliceOf(rows)
}

async function countSessions(sql: ISql, orgId: string, query: SessionListQuery): Promise<number> {
  const [row] = await sql<{ total: string }[]>`
    select coalesce(sum(r.sessions), 0) as total
    from (${matchingSpans(sql, orgId, query)}) r`
  return Number(row?.total ?? 0)
}

function sliceOf(rows: readonly ListRow[]): SessionSlice {
  const sessions: SessionListItem[] = []
  for (const row of rows) if (row.id !== null) sessions.push(listItem({ ...row, id: row.id }))
  return { rows: sessions, total: Number(rows[0]?.total ?? 0) }
}

const listItem = (row: Omit<ListRow, 'total' | 'id'> & { id: string }): SessionListItem => ({
  id: row.id,
  project_name: row.project_name,
  turns: row.turns,
  estimated_cost: Number(row.estimated_cost),
  quality_score: Number(row.quality_score),
  created_at: row.created_at.toISOString(),
})

/** The whole record of one session. Throws NOT_FOUND, also for an id of another organization. */
export async function getSession(sql: Sql, orgId: string, id: string): Promise<SessionDetail> {
  const [row] = await sql<
    (Omit<ListRow, 'id' | 'total'> & { id: string; user_id: string | null; detail: SessionDetailBody })[]
  >`
    select ${listColumns(sql)}, coalesce(s.user_id, m.id) as user_id, d.detail
    from sessions s
    join session_details d on d.org_id = s.org_id and d.session_id = s.id
    left join members m on m.org_id = s.org_id and m.email = s.user_email
    where s.org_id = ${orgId}
      and s.id = ${id}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'no such session')
  return { ...listItem(row), user_id: row.user_id, ...row.detail }
}
