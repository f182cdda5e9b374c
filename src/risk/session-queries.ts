import { TIME_PATTERN } from '../dates.ts'
import type { Sql } from '../db/client.ts'
import { memberAddresses } from '../db/member-addresses.ts'
import { ApiError } from '../errors.ts'
import { JsonText } from '../json-text.ts'
import type { Own } from '../people/visibility-queries.ts'
import { RISK_FIELDS, riskColumns } from './queries.ts'

/** Sessions in a response. */
const MAX_SESSIONS = 50
/** Sessions of a branch count from so many days before its pull request was opened. */
const BRANCH_DAYS = 30
/** A session that is still running began at most so many days before: older ones of the project are not read. */
const RUNNING_DAYS = 30

const days = (sql: Sql, count: number) => sql`${count}::integer * interval '1 day'`

/**
 * One risk score with the sessions of the pull request, and what of their cost is its. A session belongs
 *
 * - to every pull request that it is linked to, or whose commit was made by its user in its project while it was running,
 *   for 30 days at most: in equal parts, of which the last, by repository and number, has the rest;
 * - else to one of the pull requests of its branch and project that it began not more than 30 days before, and which were
 *   not merged or closed yet: that which was open, of several the one opened last, else the next that was opened.
 *
 * So no cost is counted twice. A pull request whose record names no project has the repository's name with and without its
 * owner. With `own` only their sessions are listed, and the sums are still of all. Throws NOT_FOUND.
 */
export async function getRisk(sql: Sql, orgId: string, id: string, own: Own | null): Promise<JsonText> {
  const [row] = await sql<{ text: string }[]>`
    with pr as materialized (
      select ${riskColumns(sql)}, k.state, k.merged_at, k.closed_at, k.url, k.projects, k.head, k.ended_at
      from pr_risks k
      where k.org_id = ${orgId}
        and k.id = ${id}
    ),
    -- the pull requests of its branch whose sessions may have begun in the same time, itself included
    rivals as materialized (
      select k.repo, k.pr_number, k.created_at, k.ended_at, k.projects
      from pr p
      join pr_risks k
        on k.org_id = ${orgId}
        and k.head = p.head
        and k.created_at < p.ended_at + ${days(sql, BRANCH_DAYS)}
      where k.ended_at > p.created_at - ${days(sql, BRANCH_DAYS)}
        and k.projects && p.projects
    ),
    own_shas as materialized (
      select g.sha, n.project
      from pr p
      join pr_commits g
        on g.org_id = ${orgId}
        and g.repo = p.repo
        and g.pr_number = p.pr_number
      cross join lateral unnest(p.projects) as n (project)
    ),
    own_commits as materialized (
      select m.project, m.committed_at, array(
        select m.author_email
        union
        select k.key
        from ${memberAddresses(sql, orgId)} w
        join ${memberAddresses(sql, orgId)} o on o.id = w.id
        cross join lateral unnest(array[o.id, o.address]) as k (key)
        where w.address = m.author_email
      ) as members
      from own_shas o
      join commits m
        on m.org_id = ${orgId}
        and m.project = o.project
        and m.sha = o.sha
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
        and u.branch = p.head
        and u.project = any (p.projects)
        and u.created_at >= p.created_at - ${days(sql, BRANCH_DAYS)}
        and u.created_at < p.ended_at
      -- else all of the project's sessions are compared with no branch
      where p.head is not null
      union
      select u.session_id
      from own_commits m
      join session_usage u
        on u.org_id = ${orgId}
        and u.member = any (m.members)
        and u.project = m.project
        and u.created_at >= m.committed_at - ${days(sql, RUNNING_DAYS)}
        and u.created_at <= m.committed_at
        and u.ended_at >= m.committed_at
    ),
    candidates as materialized (
      select
        u.session_id, u.project, u.member, u.turns, u.session_cost, u.quality_score, u.created_at, u.ended_at, u.findings
      from joined j
      join session_usage u
        on u.org_id = ${orgId}
        and u.session_id = j.session_id
        and u.is_main
    ),
    -- the addresses that their users commit with
    authors as materialized (
      select c.member, a.address
      from (select distinct c.member from candidates c) c
      cross join lateral (
        select c.member as address
        union
        select o.address
        from ${memberAddresses(sql, orgId)} o
        where o.id = c.member
        union
        select o.address
        from ${memberAddresses(sql, orgId)} w
        join ${memberAddresses(sql, orgId)} o on o.id = w.id
        where w.address = c.member
      ) a
    ),
    -- all pull requests of these sessions by link and by commit
    named as materialized (
      select c.session_id, k.repo, k.pr_number
      from candidates c
      join session_links l
        on l.org_id = ${orgId}
        and l.session_id = c.session_id
      join pr_risks k
        on k.org_id = ${orgId}
        and k.repo = l.repo
        and k.pr_number = l.pr_number
      union
      select c.session_id, k.repo, k.pr_number
      from candidates c
      join authors a on a.member = c.member
      -- an array: joined as a table, all commits of the organization may be read
      cross join lateral unnest(array(
        select m.sha
        from commits m
        where m.org_id = ${orgId}
          and m.author_email = a.address
          and m.project = c.project
          and m.committed_at >= c.created_at
          and m.committed_at <= c.ended_at
          and m.committed_at <= c.created_at + ${days(sql, RUNNING_DAYS)}
      )) as m (sha)
      join pr_commits g
        on g.org_id = ${orgId}
        and g.sha = m.sha
      join pr_risks k
        on k.org_id = ${orgId}
        and k.repo = g.repo
        and k.pr_number = g.pr_number
        and c.project = any (k.projects)
    ),
    shares as (
      select
        n.session_id, n.repo, n.pr_number, count(*) over (partition by n.session_id) as parts,
        row_number() over (partition by n.session_id order by n.repo collate "C", n.pr_number) as nth
      from named n
    ),
    found as materialized (
      select c.*, case
        when s.parts is null then c.session_cost
        when s.nth < s.parts then e.each
        else c.session_cost - (s.parts - 1) * e.each
      end as part
      from pr p
      cross join candidates c
      left join shares s on s.session_id = c.session_id and s.repo = p.repo and s.pr_number = p.pr_number
      -- in whole micro-dollars
      cross join lateral (select div(c.session_cost * 1000000, s.parts) * 0.000001 as each) e
      where s.parts is not null
        or (
          not exists (select from named n where n.session_id = c.session_id)
          and (p.repo, p.pr_number) = (
            select r.repo, r.pr_number
            from rivals r
            where c.project = any (r.projects)
              and c.created_at >= r.created_at - ${days(sql, BRANCH_DAYS)}
              and c.created_at < r.ended_at
            order by
              r.created_at > c.created_at,
              greatest(r.created_at - c.created_at, c.created_at - r.created_at),
              r.repo collate "C",
              r.pr_number
            limit 1
          )
        )
    )
    select
      '{' || ${sql.unsafe(RISK_FIELDS)} || ',"state":"' || p.state
        || '","merged_at":' || ${timeOrNull(sql, 'p.merged_at')} || ',"closed_at":' || ${timeOrNull(sql, 'p.closed_at')}
        || ',"url":' || coalesce(to_json(p.url)::text, 'null') || ',"sessions":' || (
        select '{"count":' || count(*) || ',"cost":' || coalesce(trim_scale(sum(f.part)), 0)
          || ',"average_quality":' || coalesce(trim_scale(round(avg(f.quality_score), 2)), 0)
          || ',"findings":' || coalesce(sum(f.findings), 0) || ',"data":['
        from found f
      ) || coalesce((
        select string_agg(
          '{"id":"' || s.session_id || '","project_name":' || to_json(s.project) || ',"turns":' || s.turns
            || ',"estimated_cost":' || trim_scale(s.session_cost) || ',"part":' || trim_scale(s.part)
            || ',"quality_score":' || trim_scale(s.quality_score)
            || ',"created_at":"' || to_char(s.created_at at time zone 'UTC', ${TIME_PATTERN}) || '"}',
          ',' order by s.created_at desc, s.session_id desc
        )
        from (
          select f.*
          from found f
          ${own === null ? sql`` : sql`where f.member = any (${own.keys}::text[])`}
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
