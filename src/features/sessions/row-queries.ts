// Parts of the statements of the list of sessions, and of that of one: fields, order, filters.

import { TIME_PATTERN } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { memberItem, memberOf } from '../../database/member-addresses.ts'
import { inDays } from '../../database/rows.ts'
import { matching } from '../usage/filters.ts'
import type { SessionListQuery } from './model.ts'

/**
 * The fields of a session `r` in the list and in its detail, as JSON text without its end: PostgreSQL makes the text of 50 in less time than it takes to send,
 * read and format their columns. An id needs no escaping: it is of letters, digits, `_` and `-`.
 */
export const LIST_FIELDS = `'{"id":"' || r.id || '","project_name":'
  || coalesce(to_json(nullif(r.project, ''))::text, 'null') || ',"turns":' || r.turns
  || ',"estimated_cost":' || trim_scale(r.estimated_cost) || ',"quality_score":' || trim_scale(r.quality_score)
  || ',"created_at":"' || to_char(r.created_at at time zone 'UTC', '${TIME_PATTERN}') || '"'`

/** The list's query, and whether its items leave members out. */
export type ListQuery = SessionListQuery & { hidesMembers: boolean; zone: string }

/** A session `r` in the list, with `detailsOf` the query. */
export const listItem = (sql: ISql, { include, hidesMembers }: ListQuery): Fragment =>
  include === undefined
    ? sql.unsafe(`${LIST_FIELDS} || '}'`)
    : sql`
        ${sql.unsafe(LIST_FIELDS)} || ',"member":'
          || ${hidesMembers ? sql`'null'` : sql`coalesce(${memberItem(sql, sql`u.member`)}::text, 'null')`}
          || ',"agent":' || coalesce(to_json(nullif(u.agent, ''))::text, 'null')
          || ',"model":' || coalesce(to_json(nullif(u.model, ''))::text, 'null')
          || ',"branch":' || coalesce(to_json(nullif(u.branch, ''))::text, 'null')
          || ',"ended_at":' || coalesce(to_json(to_char(u.ended_at at time zone 'UTC', ${TIME_PATTERN}))::text, 'null')
          || ',"findings":' || u.findings || '}'`

export const detailsOf = (sql: ISql, orgId: string, { include, hidesMembers }: ListQuery): Fragment =>
  include === undefined
    ? sql``
    : sql`
        cross join lateral (
          select u.member, u.agent, u.model, u.branch, u.ended_at, u.findings
          from session_usage u
          where u.org_id = ${orgId}
            and u.session_id = r.id
            and u.is_main
          limit 1
        ) u
        ${hidesMembers ? sql`` : memberOf(sql, orgId, sql`u.member`)}`

export const listColumns = (sql: ISql) => sql`
  s.id, s.project, s.turns, s.estimated_cost, s.quality_score, s.created_at`

export const directionOf = (sql: ISql, ascending: boolean) => (ascending ? sql`asc` : sql`desc`)

/** The order of sessions: ties in a value are broken as in its index. */
export function listOrder(
  sql: ISql,
  { sort, order }: Pick<SessionListQuery, 'sort' | 'order'>,
  alias: 's' | 'r' = 's',
): Fragment {
  const bytes = sort === 'created_at' ? '' : ' collate "C"'
  return sql.unsafe(`${alias}.${sort} ${order}, ${alias}.id${bytes} ${order}`)
}

/** Sessions `s` whose project, cost and quality match, of all days. The indexes by value have all of these columns. */
export const matchingOfAllDays = (sql: ISql, orgId: string, query: SessionListQuery) => sql`
  from sessions s
  where s.org_id = ${orgId}
    ${matching(sql, orgId, query, 's')}`

export const matchingSessions = (sql: ISql, orgId: string, query: ListQuery) => sql`
  ${matchingOfAllDays(sql, orgId, query)}
    ${inDays(sql, sql`s.created_at`, query, query.zone)}`
