// Reads the scores of the sessions that match, from the rollup, and the newest of them, in one statement and so as of one
// instant. Costs a row a month, at the ends of a range a row a day, and 10 sessions, however many match; with `compare` also
// the findings of both ranges. With `onlyMember` the newest are only theirs.

import { TIME_PATTERN, UTC } from '../../base/dates.ts'
import { JsonText } from '../../base/json-text.ts'
import type { Sql } from '../../database/client.ts'
import { inDays } from '../../database/rows.ts'
import type { Viewer } from '../../http/whole-list.ts'
import { withAssignees } from '../sessions/model.ts'
import { comparedRange, sessionSums } from '../usage/sums.ts'
import type { SecurityQuery } from './model.ts'

const RECENT_SESSIONS = 10

export async function getSecurity(
  sql: Sql,
  orgId: string,
  query: SecurityQuery,
  { hidesMembers = false, onlyMember = null, zone = UTC }: Partial<Viewer> & { zone?: string } = {},
): Promise<JsonText> {
  const { project, compare, ...range } = query
  const ofProject = project === undefined ? sql`` : sql`and s.project = ${project}`
  const scoresOf = (days: typeof range) => sql`(
    select
      '"avg_score":' || coalesce(trim_scale(round(sum(r.security_sum) / sum(r.sessions), 2)), 0)
        || ',"min_score":' || coalesce(trim_scale(min(r.security_min)), 0)
        || ',"max_score":' || coalesce(trim_scale(max(r.security_max)), 0)
        || ',"total_sessions":' || coalesce(sum(r.sessions), 0)
    from (${sessionSums(sql, orgId, { project, ...days }, 'month')}) r
  )`
  const foundIn = (days: typeof range) => sql`(
    select ',"found":{"critical":' || count(*) filter (where s.severity = 'critical') || ',"total":' || count(*) || '}'
    from findings s
    where s.org_id = ${orgId}
      ${ofProject}
      ${inDays(sql, sql`s.created_at`, days, zone)}
  )`
  const before = compare === undefined ? undefined : comparedRange(query)
  const previous =
    before === undefined
      ? sql`''`
      : sql`${foundIn(range)} || ',"previous":{' || ${scoresOf(before)} || ${foundIn(before)} || '}'`
  const [row] = await sql<{ summary: string; previous: string; recent: string | null }[]>`
    select
      ${scoresOf(range)} as summary,
      ${previous} as previous,
      (
        select string_agg(
          '{"id":"' || n.id || '","project":' || coalesce(to_json(nullif(n.project, ''))::text, 'null') || ',"created_at":"'
            || to_char(n.created_at at time zone 'UTC', ${TIME_PATTERN}) || '","security_metadata":'
            || (d.detail->'security_metadata')::text || '}',
          ',' order by n.created_at desc, n.id desc
        )
        from (
          select s.id, s.project, s.created_at
          from ${
            onlyMember === null
              ? sql`sessions s`
              : sql`(
                  select u.org_id, u.session_id as id, u.project, u.created_at
                  from session_usage u
                  where u.org_id = ${orgId}
                    and u.member = ${onlyMember.id}
                    and u.is_main
                ) s`
          }
          where s.org_id = ${orgId}
            ${ofProject}
            ${inDays(sql, sql`s.created_at`, query, zone)}
          order by s.created_at desc, s.id desc
          limit ${RECENT_SESSIONS}
        ) n
        join session_details d on d.org_id = ${orgId} and d.session_id = n.id
      ) as recent`
  const recent = withAssignees(row?.recent ?? '', hidesMembers)
  return new JsonText(`{"summary":{${row?.summary}},"recent_sessions":[${recent}]${row?.previous}}`)
}
