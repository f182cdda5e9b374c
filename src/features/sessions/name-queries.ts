import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import { type JsonText, type PageRow, pageText } from '../../base/json-text.ts'
import type { Sql } from '../../database/client.ts'
import type { PageQuery } from '../../http/query.ts'
import { usageRows } from '../usage/sources.ts'

/** The names of one of these are listed. */
export type Named = 'project' | 'model' | 'agent'

/**
 * A page of the names that sessions have, in the order of their bytes; sessions without one are not counted. With `onlyMember` only
 * their sessions are.
 */
export async function listNames(
  sql: Sql,
  orgId: string,
  named: Named,
  query: PageQuery,
  onlyMember: VisibleMember | null = null,
): Promise<JsonText> {
  const { page, per_page } = query
  const name = sql(named)
  const filters = onlyMember === null ? {} : { member: onlyMember.id }
  const rows = usageRows(sql, orgId, filters, { columns: [named], buckets: undefined })
  const [row] = await sql<[PageRow]>`
    with names as materialized (
      select r.${name} as name, sum(${named === 'model' ? sql`r.sessions` : sql`r.main_sessions`}) as sessions
      from (${rows}) r
      where r.${name} <> ''
      group by 1
    )
    select
      (select count(*) from names) as total,
      string_agg(
        '{"name":' || to_json(n.name) || ',"sessions":' || n.sessions
          || ',"last_session_at":"' || to_char(l.created_at at time zone 'UTC', ${TIME_PATTERN}) || '"}',
        ',' order by n.name collate "C"
      ) as items
    from (
      select n.name, n.sessions
      from names n
      order by n.name collate "C"
      limit ${per_page}
      offset ${(page - 1) * per_page}
    ) n
    cross join lateral (
      -- the last entry of an index
      select u.created_at
      from session_usage u
      where u.org_id = ${orgId}
        and u.${name} = n.name
        and ${named === 'model' ? sql`u.sessions = 1` : sql`u.is_main`}
        ${onlyMember === null ? sql`` : sql`and u.member = ${onlyMember.id}`}
      order by u.day desc, u.created_at desc
      limit 1
    ) l`
  return pageText(row.items, query, row.total)
}
