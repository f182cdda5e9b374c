import { SESSION_NOTE_NAMES } from '../../analysis/records/session.ts'
import { UTC } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import { JsonText } from '../../base/json-text.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { memberOf } from '../../database/member-addresses.ts'
import { summedProject } from '../../database/rollups.ts'
import { listOf } from '../../http/list-queries.ts'
import { MAX_PER_PAGE } from '../../http/query.ts'
import { csvColumns } from '../../http/responses/csv.ts'
import type { Viewer } from '../../http/whole-list.ts'
import { isSummed, sessionsWithShares, usageRows } from '../usage/sources.ts'
import { sessionSums } from '../usage/sums.ts'
import {
  detailsOf,
  directionOf,
  hasValues,
  LIST_FIELDS,
  type ListQuery,
  listColumns,
  listItem,
  matchingSessions,
  offsetOf,
  orderOf,
  type PageParts,
} from './list-queries.ts'
import { SessionListItem, SessionListQuery, SessionPage, withAssignees } from './model.ts'
import { pageByValue } from './value-queries.ts'

/**
 * Row `l` with the JSON text of what became of a session's commits, for the fields `landed`, `reverted` and `survival`. A revert
 * names a commit by its subject or hash, as `git revert` and GitHub do, where it was squashed without the pull request's number.
 */
const landingOf = (sql: ISql, orgId: string, id: string) => sql`
  (
    select
      ',"landed":' || coalesce(bool_or(c.landed)::text, 'null')
        || ',"reverted":' || coalesce(bool_or(c.reverted)::text, 'null')
        || ',"survival":{"14":' || ${shareText(sql, 14)} || ',"30":' || ${shareText(sql, 30)} || '}' as text
    from (
      select
        a.lines, a.survival_14, a.survival_30, a.on_default_branch is not false as landed,
        exists (
          select
          from commits r
          where r.org_id = ${orgId}
            and r.project = m.project
            and r.subject ilike '%revert%'
            and r.committed_at > m.committed_at
            and (
              strpos(r.subject, m.sha) > 0
              or starts_with(r.subject, 'Revert "' || m.subject || '"')
              or starts_with(r.subject, 'Revert "' || regexp_replace(m.subject, ' \\(#[0-9]+\\)$', '') || '"')
            )
        ) as reverted
      from commit_ai a
      join commits m
        on m.org_id = ${orgId}
        and m.project = a.project
        and m.sha = a.sha
      where a.org_id = ${orgId}
        and a.sessions @> array[${id}::text]
    ) c
  ) l`

/** The share of the landed commits' lines that is left. */
const shareText = (sql: ISql, days: 14 | 30) => {
  const left = sql.unsafe(`c.survival_${days}`)
  return sql`coalesce(
    trim_scale(round(sum(${left}) filter (where c.landed)
      / nullif(sum(c.lines) filter (where c.landed and ${left} is not null), 0), 6))::text,
    'null'
  )`
}

/** The sessions that match; those of the caller where they see only their own. */
export const sessionList = listOf({
  query: SessionListQuery,
  page: SessionPage,
  columns: ({ include }) => csvColumns(SessionListItem, include !== undefined),
  parts(sql, orgId, given, { onlyMember, ...viewer }) {
    const query = { ...given, ...(onlyMember !== null && { member: onlyMember.id }), ...viewer }
    return {
      ...pageOf(sql, orgId, query),
      rows: sessionsOf(sql, orgId, query),
      order: orderOf(sql, query, 'r'),
      joins: detailsOf(sql, orgId, query),
      item: listItem(sql, query),
    }
  },
})

/** Whether the list is filtered by more than project, days, cost and quality. */
const isFiltered = (query: SessionListQuery): boolean =>
  [query.member, query.team, query.model, query.agent, query.branch, query.ticket, query.has_findings].some(
    (value) => value !== undefined,
  )

const sessionsOf = (sql: Sql, orgId: string, query: ListQuery): Fragment =>
  isFiltered(query)
    ? sql`
        select
          u.session_id as id, u.project, u.turns, u.session_cost as estimated_cost, u.quality_score, u.created_at, u.day
        ${sessionsWithShares(sql, orgId, query)}`
    : sql`select ${listColumns(sql)} ${matchingSessions(sql, orgId, query)}`

function pageOf(sql: Sql, orgId: string, query: ListQuery): PageParts {
  const isByTime = query.sort === 'created_at'
  const ofAllDays = query.date_from === undefined && query.date_to === undefined
  const isWalked = !hasValues(query) && query.page === 1 && (isByTime || ofAllDays)
  if (isFiltered(query) || isWalked) return orderedPage(sql, orgId, query)
  return isByTime && !hasValues(query) ? laterByTime(sql, orgId, query) : pageByValue(sql, orgId, query)
}

/**
 * Sessions are read from the end of an index up to the page, or all that match and sorted. They are counted, unless sums tell
 * their number.
 */
function orderedPage(sql: Sql, orgId: string, query: ListQuery): PageParts {
  const sessions = sessionsOf(sql, orgId, query)
  // the indexes of usage have the day before the time, which is the same order
  const direction = directionOf(sql, query.order === 'asc')
  const sums = isFiltered(query)
    ? sql`select r.main_sessions as sessions from (${usageRows(sql, orgId, query, { columns: [], buckets: undefined })}) r`
    : sessionSums(sql, orgId, query, 'month')
  const total = isSummed(query)
    ? sql`select coalesce(sum(r.sessions), 0) from (${sums}) r`
    : sql`select count(*) from (${sessions}) s`
  // the first page up to a constant that the planner knows: a parameter could be all of the table
  const limit =
    query.page === 1
      ? sql`limit ${sql.unsafe(String(MAX_PER_PAGE))}`
      : sql`limit ${query.per_page} offset ${offsetOf(query)}`
  const page = sql`
    select s.*
    from (
      select s.*
      from (${sessions}) s
      order by ${isFiltered(query) && query.sort === 'created_at' ? sql`s.day ${direction}, ` : sql``}${orderOf(sql, query)}
      ${limit}
    ) s
    limit ${query.per_page}`
  return { total, page }
}

/**
 * The rollups tell on which day the page begins, so that no page skips more than a day or two of sessions: at a million
 * sessions the last page costs what the first does. Months first, then the days of one month: 730 days in one sum take
 * three times as long.
 */
function laterByTime(sql: Sql, orgId: string, query: ListQuery): PageParts {
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

/**
 * The whole record of one session, as JSON text: the stored detail is put behind the list's fields as it is. With
 * `hidesMembers` its user is null. Throws NOT_FOUND, also for an id of another organization, and with `onlyMember` for one of somebody
 * else.
 */
export async function getSession(
  sql: Sql,
  orgId: string,
  id: string,
  { hidesMembers = false, onlyMember = null }: Partial<Viewer> = {},
): Promise<JsonText> {
  const [row] = await sql<{ head: string; detail: string }[]>`
    select
      ${sql.unsafe(LIST_FIELDS)} || ',"user_id":' || ${hidesMembers ? sql`'null'` : sql`coalesce(to_json(coalesce(r.user_id, m.id))::text, 'null')`}
        || ',"unpriced_tokens":' || r.unpriced_tokens || l.text as head,
      d.detail::text as detail
    from sessions r
    join session_details d on d.org_id = r.org_id and d.session_id = r.id
    join session_usage u
      on u.org_id = r.org_id
      and u.session_id = r.id
      and u.is_main
    ${memberOf(sql, orgId, sql`u.member`)}
    cross join ${landingOf(sql, orgId, id)}
    where r.org_id = ${orgId}
      and r.id = ${id}
      ${onlyMember === null ? sql`` : sql`and u.member = ${onlyMember.id}`}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'no such session')
  // no text in JSON has a quote without an escape
  const head = row.detail.slice(0, row.detail.indexOf('"turn_records":'))
  const lacking = ['stated_cost', ...SESSION_NOTE_NAMES].filter((name) => !head.includes(`"${name}":`))
  const nulls = lacking.map((name) => `,"${name}":null`).join('')
  return new JsonText(`${row.head}${nulls},${withAssignees(row.detail.slice(1), hidesMembers)}`)
}
