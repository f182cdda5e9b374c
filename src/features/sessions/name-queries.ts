import { TIME_PATTERN } from '../../base/dates.ts'
import { listOf } from '../../http/list-queries.ts'
import { PageQuery } from '../../http/query.ts'
import { usageRows } from '../usage/sources.ts'
import { SessionNamePage } from './model.ts'

/** The names that sessions have, in the order of their bytes. With `onlyMember` those of their own. */
export const nameList = (column: 'project' | 'model' | 'agent') =>
  listOf({
    query: PageQuery,
    page: SessionNamePage,
    parts: (sql, orgId, _query, { onlyMember }) => {
      const name = sql(column)
      const filters = onlyMember === null ? {} : { member: onlyMember.id }
      return {
        tables: sql`
          with names as materialized (
            select r.${name} as name, sum(${column === 'model' ? sql`r.sessions` : sql`r.main_sessions`}) as sessions
            from (${usageRows(sql, orgId, filters, { columns: [column], buckets: undefined })}) r
            where r.${name} <> ''
            group by 1
          )`,
        rows: sql`select n.name, n.sessions from names n`,
        order: sql`r.name collate "C"`,
        joins: sql`
          cross join lateral (
            -- the last entry of an index
            select u.created_at
            from session_usage u
            where u.org_id = ${orgId}
              and u.${name} = r.name
              and ${column === 'model' ? sql`u.sessions = 1` : sql`u.is_main`}
              ${onlyMember === null ? sql`` : sql`and u.member = ${onlyMember.id}`}
            order by u.day desc, u.created_at desc
            limit 1
          ) l`,
        item: sql`
          '{"name":' || to_json(r.name) || ',"sessions":' || r.sessions
            || ',"last_session_at":"' || to_char(l.created_at at time zone 'UTC', ${TIME_PATTERN}) || '"}'`,
      }
    },
  })
