// Selects which part of each session belongs to which pull request.

import type { Fragment, ISql } from '../../database/client.ts'
import type { OrgId } from '../../database/derived-tables.ts'
import { memberAddresses } from '../../database/member-addresses.ts'

/** Sessions of a branch count from this number of days before its pull request was opened. */
const BRANCH_DAYS = 30
/** A session that is still running began at most this number of days before. */
export const RUNNING_DAYS = 30
export const days = (sql: ISql, count: number) => sql`${count}::integer * interval '1 day'`

/**
 * The pull requests of sessions `u`, as rows of pr_sessions. A session belongs
 *
 * - to every pull request that it is linked to, or whose commit was made by its user in its project while it was running,
 *   for 30 days at most: in equal parts, of which the last, by repository and number, has the rest;
 * - else to one of the pull requests of its branch and project that it began not more than 30 days before, and which were
 *   not merged or closed yet: that which was open, of several the one opened last, else the next that was opened.
 *
 * So no cost is counted twice. A pull request whose record names no project has the repository's name with and without its
 * owner.
 */
export const pullRequestShares = (sql: ISql, orgId: OrgId, only: Fragment): Fragment => sql`
  with candidates as materialized (
    select
      u.session_id, u.project, u.member, u.agent, u.branch, u.day, u.session_cost, u.created_at, u.ended_at
    from session_usage u
    where u.org_id = ${orgId}
      and u.is_main
      ${only}
  ),
  addresses as materialized (
    select a.id, a.address
    from ${memberAddresses(sql, orgId)} a
  ),
  -- the addresses that their users commit with
  authors as materialized (
    select distinct c.member, coalesce(o.address, c.member) as address
    from candidates c
    left join addresses o on o.id = c.member
    where c.member <> ''
  ),
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
        -- no index of the project: that of the author has few rows in so short a time
        and m.project || '' = c.project
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
  )
  select
    c.session_id, s.repo, s.pr_number,
    case when s.nth < s.parts then e.each else c.session_cost - (s.parts - 1) * e.each end as part,
    c.project, c.member, c.agent, c.day
  from shares s
  join candidates c on c.session_id = s.session_id
  -- whole micro-dollars
  cross join lateral (select div(c.session_cost * 1000000, s.parts) * 0.000001 as each) e
  union all
  select c.session_id, b.repo, b.pr_number, c.session_cost, c.project, c.member, c.agent, c.day
  from candidates c
  cross join lateral (
    select k.repo, k.pr_number
    from pr_risks k
    where k.org_id = ${orgId}
      and k.head = c.branch
      and c.project = any (k.projects)
      and c.created_at >= k.created_at - ${days(sql, BRANCH_DAYS)}
      and c.created_at < k.ended_at
    order by
      k.created_at > c.created_at,
      greatest(k.created_at - c.created_at, c.created_at - k.created_at),
      k.repo collate "C",
      k.pr_number
    limit 1
  ) b
  where c.branch <> ''
    and not exists (select from named n where n.session_id = c.session_id)`
