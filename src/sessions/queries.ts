import { spansOf, TIME_PATTERN } from '../dates.ts'
import type { ISql, Sql } from '../db/client.ts'
import { ApiError } from '../errors.ts'
import { JsonText, pageText } from '../json-text.ts'
import type { SessionListQuery } from './model.ts'

/** What a statement says of a page. */
interface PageRow {
  /** Of all sessions that match, from the rollups. */
  total: string
  /** The JSON of the page's items, separated by commas; null for none. */
  items: string | null
}

/**
 * A session `s` as the list shows it, as JSON text: PostgreSQL makes the text of 50 in less time than it takes to send,
 * read and format their columns. An id needs no escaping: it is of letters, digits, `_` and `-`.
 */
const LIST_ITEM = `'{"id":"' || s.id || '","project_name":' || to_json(s.project) || ',"turns":' || s.turns
  || ',"estimated_cost":' || trim_scale(s.estimated_cost) || ',"quality_score":' || trim_scale(s.quality_score)
  || ',"created_at":"' || to_char(s.created_at at time zone 'UTC', '${TIME_PATTERN}') || '"'`

/** Sorted by cost or turns, pages deeper than this are counted from the nearer end. */
const SHALLOW_OFFSET = 1_000

/** A page of the organization's sessions that match, and how many match in all, both as of one instant. */
export async function listSessions(sql: Sql, orgId: string, query: SessionListQuery): Promise<JsonText> {
  const sort = query.sort
  const { items, total } =
    sort === 'created_at' ? await listByTime(sql, orgId, query) : await listByNumber(sql, orgId, query, sort)
  return pageText(items, query, total)
}

const offsetOf = (query: SessionListQuery): number => (query.page - 1) * query.per_page

const matchingSessions = (sql: ISql, orgId: string, query: SessionListQuery) => sql`
  from sessions s
  where s.org_id = ${orgId}
    ${query.project === undefined ? sql`` : sql`and s.project = ${query.project}`}
    ${query.date_from === undefined ? sql`` : sql`and s.created_at >= ${query.date_from}::date::timestamp at time zone 'UTC'`}
    ${query.date_to === undefined ? sql`` : sql`and s.created_at < (${query.date_to}::date + 1)::timestamp at time zone 'UTC'`}`

const listColumns = (sql: ISql) => sql`
  s.id, s.project, s.turns, s.estimated_cost, s.quality_score, s.created_at`

function listByTime(sql: Sql, orgId: string, query: SessionListQuery): Promise<PageRow> {
  return query.page === 1 ? firstByTime(sql, orgId, query) : laterByTime(sql, orgId, query)
}

const directionOf = (sql: ISql, ascending: boolean) => (ascending ? sql`asc` : sql`desc`)

async function firstByTime(sql: Sql, orgId: string, query: SessionListQuery): Promise<PageRow> {
  const direction = directionOf(sql, query.order === 'asc')
  return only(
    await sql<PageRow[]>`
      select
        (select coalesce(sum(r.sessions), 0) from (${matchingSpans(sql, orgId, query)}) r) as total,
        string_agg(${sql.unsafe(LIST_ITEM)} || '}', ',' order by s.created_at ${direction}, s.id ${direction}) as items
      from (
        select ${listColumns(sql)}
        ${matchingSessions(sql, orgId, query)}
        order by s.created_at ${direction}, s.id ${direction}
        limit ${query.per_page}
      ) s`,
  )
}

/**
 * The rollups tell on which day the page begins, so that no page skips more than one day of sessions: at a million
 * sessions the last page costs what the first does. Months first, then the days of one month: 730 days in one sum take
 * three times as long.
 */
async function laterByTime(sql: Sql, orgId: string, query: SessionListQuery): Promise<PageRow> {
  const offset = offsetOf(query)
  const ascending = query.order === 'asc'
  const direction = directionOf(sql, ascending)
  const fromStart = ascending
    ? sql`s.created_at >= b.bucket::timestamp at time zone 'UTC'`
    : sql`s.created_at < (b.bucket + 1)::timestamp at time zone 'UTC'`
  return only(
    await sql<PageRow[]>`
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
      select
        (select coalesce(sum(d.sessions), 0) from spans d) as total,
        string_agg(${sql.unsafe(LIST_ITEM)} || '}', ',' order by s.created_at ${direction}, s.id ${direction}) as items
      from (
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
      ) s`,
  )
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
function listByNumber(sql: Sql, orgId: string, query: SessionListQuery, sort: Column): Promise<PageRow> {
  const offset = offsetOf(query)
  const slice = { sort, ascending: query.order === 'asc', backwards: false, offset, limit: query.per_page }
  if (offset <= SHALLOW_OFFSET) return pageByNumber(sql, orgId, query, slice)
  // where the end lies must not move between the two statements
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    const total = await countSessions(tx, orgId, query)
    if (offset >= total) return { items: null, total: String(total) }
    if (offset <= total / 2) return pageByNumber(tx, orgId, query, slice)
    const limit = Math.min(query.per_page, total - offset)
    return pageByNumber(tx, orgId, query, {
      ...slice,
      backwards: true,
      offset: total - offset - limit,
      limit,
    })
  })
}

type Column = 'estimated_cost' | 'turns'
interface Slice {
  sort: Column
  ascending: boolean
  /** `offset` counts from the list's end. */
  backwards: boolean
  offset: number
  limit: number
}

async function pageByNumber(
  sql: ISql,
  orgId: string,
  query: SessionListQuery,
  { sort, ascending, backwards, offset, limit }: Slice,
): Promise<PageRow> {
  const direction = directionOf(sql, ascending)
  const walk = directionOf(sql, ascending !== backwards)
  const column = sort === 'turns' ? sql`s.turns` : sql`s.estimated_cost`
  return only(
    await sql<PageRow[]>`
      select
        (select coalesce(sum(r.sessions), 0) from (${matchingSpans(sql, orgId, query)}) r) as total,
        string_agg(${sql.unsafe(LIST_ITEM)} || '}', ',' order by ${column} ${direction}, s.id ${direction}) as items
      from (
        -- ids alone, so that what is skipped is skipped in the index
        select s.id
        ${matchingSessions(sql, orgId, query)}
        order by ${column} ${walk}, s.id ${walk}
        limit ${limit}
        offset ${offset}
      ) p
      -- lateral with its own limit: as a plain join, every plan that does not know the page's size reads all sessions
      cross join lateral (
        select ${listColumns(sql)}
        from sessions s
        where s.org_id = ${orgId}
          and s.id = p.id
        limit 1
      ) s`,
  )
}

/** The one row of a statement that always has one. */
function only([row]: readonly PageRow[]): PageRow {
  if (row === undefined) throw new Error('the statement gave no row')
  return row
}

async function countSessions(sql: ISql, orgId: string, query: SessionListQuery): Promise<number> {
  const [row] = await sql<{ total: string }[]>`
    select coalesce(sum(r.sessions), 0) as total
    from (${matchingSpans(sql, orgId, query)}) r`
  return Number(row?.total ?? 0)
}

/**
 * The whole record of one session, as JSON text: the stored detail is put behind the list's fields as it is. Throws
 * NOT_FOUND, also for an id of another organization.
 */
export async function getSession(sql: Sql, orgId: string, id: string): Promise<JsonText> {
  const [row] = await sql<{ head: string; detail: string }[]>`
    select
      ${sql.unsafe(LIST_ITEM)} || ',"user_id":' || coalesce(to_json(coalesce(s.user_id, m.id))::text, 'null') as head,
      d.detail::text as detail
    from sessions s
    join session_details d on d.org_id = s.org_id and d.session_id = s.id
    left join members m on m.org_id = s.org_id and m.email = s.user_email
    where s.org_id = ${orgId}
      and s.id = ${id}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'no such session')
  return new JsonText(`${row.head},${row.detail.slice(1)}`)
}
