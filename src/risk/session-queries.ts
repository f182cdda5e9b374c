import { TIME_PATTERN } from '../dates.ts'
import type { Sql } from '../db/client.ts'
import { memberAddresses } from '../db/member-addresses.ts'
import { ApiError } from '../errors.ts'
import { JsonText } from '../json-text.ts'
import { RISK_FIELDS, riskColumns } from './queries.ts'

/** Sessions in a response. */
const MAX_SESSIONS = 50
/** A branch's name is used again: its sessions are those that began so many days before or after the pull request. */
const BRANCH_DAYS = 90
/** A session that is still running began at most so many days before: older ones of the project are not read. */
const RUNNING_DAYS = 30

/**
 * One risk score with what is known of the sessions that worked on the pull request: those linked to it; those on its
 * branch, in its project (where the record names none, the repository's name with or without its owner); and those of a
 * commit's author, in the commit's project, that were running when one of its commits was made, for 30 days at most. Throws
 * NOT_FOUND.
 */
export async function getRisk(sql: Sql, orgId: string, id: string): Promise<JsonText> {
  const [row] = await sql<{ text: string }[]>`
    with pr as materialized (
      select
        ${riskColumns(sql)}, k.state, k.merged_at, k.closed_at, k.url,
        case
          when k.origin->>'project' is null then array[k.repo, regexp_replace(k.repo, '^.*/', '')]
          else array[k.origin->>'project']
        end as projects,
        k.origin->>'branch' as branch,
        array(select json_array_elements_text(k.origin->'commits')) as commits
      from pr_risks k
      where k.org_id = ${orgId}
        and k.id = ${id}
    ),
    joined as (
      select l.session_id
      from pr p
      join session_links l
        on l.org_id = ${orgId}
        and l.repo = p.repo
        and l.pr_number = p.pr_number
      union
      select u.session_id
      from pr p
      join session_usage u
        on u.org_id = ${orgId}
        and u.branch = p.branch
        and u.project = any (p.projects)
        and u.created_at >= p.created_at - ${BRANCH_DAYS}::integer * interval '1 day'
        and u.created_at <= p.created_at + ${BRANCH_DAYS}::integer * interval '1 day'
      -- else all of the project's sessions are compared with no branch
      where p.branch is not null
      union
      select u.session_id
      from pr p
      cross join lateral unnest(p.projects) as n (project)
      join commits c
        on c.org_id = ${orgId}
        and c.project = n.project
        and c.sha = any (p.commits)
      join session_usage u
        on u.org_id = ${orgId}
        and u.member = any (array(
          select c.author_email
          union
          select k.key
          from ${memberAddresses(sql, orgId)} w
          join ${memberAddresses(sql, orgId)} o on o.id = w.id
          cross join lateral unnest(array[o.id, o.address]) as k (key)
          where w.address = c.author_email
        ))
        and u.project = c.project
        and u.created_at >= c.committed_at - ${RUNNING_DAYS}::integer * interval '1 day'
        and u.created_at <= c.committed_at
        and u.ended_at >= c.committed_at
    ),
    found as materialized (
      select u.session_id, u.project, u.turns, u.session_cost, u.quality_score, u.created_at, u.findings
      from joined j
      join session_usage u
        on u.org_id = ${orgId}
        and u.session_id = j.session_id
        and u.is_main
    )
    select
      '{' || ${sql.unsafe(RISK_FIELDS)} || ',"state":"' || p.state
        || '","merged_at":' || ${timeOrNull(sql, 'p.merged_at')} || ',"closed_at":' || ${timeOrNull(sql, 'p.closed_at')}
        || ',"url":' || coalesce(to_json(p.url)::text, 'null') || ',"sessions":' || (
        select '{"count":' || count(*) || ',"cost":' || coalesce(trim_scale(sum(f.session_cost)), 0)
          || ',"average_quality":' || coalesce(trim_scale(round(avg(f.quality_score), 2)), 0)
          || ',"findings":' || coalesce(sum(f.findings), 0) || ',"data":['
        from found f
      ) || coalesce((
        select string_agg(
          '{"id":"' || s.session_id || '","project_name":' || to_json(s.project) || ',"turns":' || s.turns
            || ',"estimated_cost":' || trim_scale(s.session_cost) || ',"quality_score":' || trim_scale(s.quality_score)
            || ',"created_at":"' || to_char(s.created_at at time zone 'UTC', ${TIME_PATTERN}) || '"}',
          ',' order by s.created_at desc, s.session_id desc
        )
        from (
          select f.*
          from found f
          order by f.created_at desc, f.session_id desc
          limit ${MAX_SESSIONS}
        ) s
      ), '') || ']}}' as text
    from pr p`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'no such pull request')
  return new JsonText(row.text)
}

const timeOrNull = (sql: Sql, column: string) => sql`
  coalesce(to_json(to_char(${sql.unsafe(column)} at time zone 'UTC', ${TIME_PATTERN}))::text, 'null')`
