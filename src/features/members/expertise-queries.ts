import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import type { Expertise } from './team-model.ts'

/** Expertise by person and domain, as computed with the commits. With `onlyMember` only theirs, and no other owner. */
export async function getExpertise(
  sql: Sql,
  orgId: string,
  onlyMember: VisibleMember | null,
): Promise<Expertise> {
  const only = onlyMember === null ? sql`` : sql`and m.id = ${onlyMember.id}`
  // one snapshot for both queries
  return await sql.begin('isolation level repeatable read read only', async (tx) => {
    const data = await tx<Expertise['data']>`
      with people as materialized (
        select
          e.email, e.user_id, e.display_name, e.joined_at,
          json_agg(
            json_build_object(
              'domain', e.domain, 'score', e.score, 'commits', e.commits, 'sessions', e.sessions,
              'files_owned', e.files_owned, 'ownership_percent', e.ownership_percent,
              'is_primary_owner', e.is_primary_owner,
              'last_active_at', to_char(e.last_at at time zone 'UTC', ${TIME_PATTERN})
            )
            order by e.score desc, e.domain collate "C"
          ) as domains
        from (${experts(tx, orgId, only)}) e
        group by e.email, e.user_id, e.display_name, e.joined_at
      )
      select p.user_id, n.display_name, p.domains
      from people p
      ${shownName(tx, orgId)}
      order by p.joined_at nulls last, p.user_id, n.display_name collate "C", p.email`
    const domains = await tx<Expertise['domains']>`
      select d.project || '/' || d.directory as domain, d.files, d.bus_factor, m.id as primary_owner_id
      from expertise_domains d
      left join members m on m.org_id = d.org_id and m.email = d.primary_email ${only}
      where d.org_id = ${orgId}
      order by (d.project || '/' || d.directory) collate "C"`
    return { data: [...data], domains: [...domains] }
  })
}

/** Joins `n.display_name` to people `p` of `email`, `user_id` and `display_name`, which are null for authors who are no members. */
export const shownName = (sql: ISql, orgId: string): Fragment => sql`
  left join lateral (
    select c.author_name
    from commits c
    where c.org_id = ${orgId}
      and c.author_email = p.email
      and p.user_id is null
    order by c.committed_at desc, c.sha desc
    limit 1
  ) c on true
  cross join lateral (
    -- e-mail addresses of authors who are not members are personal data: only their names are shown
    select coalesce(p.display_name, nullif(c.author_name, ''), split_part(p.email, '@', 1)) as display_name
  ) n`

/** Each person and domain, with the work of members by their aliases. `only`: a condition on members `m`. */
const experts = (sql: ISql, orgId: string, only: Fragment): Fragment => sql`
  select
    e.author_email as email, m.id as user_id, m.display_name, m.joined_at,
    e.project || '/' || e.directory as domain, e.score, e.commits + coalesce(o.commits, 0) as commits,
    coalesce(i.sessions, 0) + coalesce(a.sessions, 0) + coalesce(o.sessions, 0) as sessions,
    e.files_owned, e.ownership_percent, d.primary_email is not distinct from e.author_email as is_primary_owner, e.last_at
  from expertise_authors e
  join expertise_domains d on d.org_id = e.org_id and d.project = e.project and d.directory = e.directory
  left join members m on m.org_id = e.org_id and m.email = e.author_email
  left join session_directories i
    on i.org_id = e.org_id and i.user_key = m.id and i.project = e.project and i.directory = e.directory
  left join session_directories a
    on a.org_id = e.org_id and a.user_key = e.author_email and a.project = e.project and a.directory = e.directory
  left join (
    select c.email, c.project, c.directory, sum(c.commits) as commits, sum(c.sessions) as sessions
    from (
      select l.member_email as email, w.project, w.directory, w.commits, 0 as sessions
      from member_aliases l
      join expertise_authors w on w.org_id = l.org_id and w.author_email = l.email
      where l.org_id = ${orgId}
      union all
      select l.member_email, w.project, w.directory, 0, w.sessions
      from member_aliases l
      join session_directories w on w.org_id = l.org_id and w.user_key = l.email
      where l.org_id = ${orgId}
    ) c
    group by c.email, c.project, c.directory
  ) o on o.email = e.author_email and o.project = e.project and o.directory = e.directory
  where e.org_id = ${orgId}
    and e.score is not null
    and (m.id is not null or e.files_owned > 0)
    ${only}`
