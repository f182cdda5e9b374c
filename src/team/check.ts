import type { ISql } from '../db/client.ts'

/** Sessions by hour as the sessions say they should be. */
const hoursFrom = (sql: ISql, orgId: string) => sql`
  select date_trunc('hour', s.created_at, 'UTC') as hour, count(*)::integer as sessions
  from sessions s
  where s.org_id = ${orgId}
  group by 1`

/** Sessions by user and domain as the sessions say they should be: reads every session's detail. */
const directoriesFrom = (sql: ISql, orgId: string) => sql`
  select coalesce(s.user_id, s.user_email) as user_key, s.project, t.directory, count(*)::integer as sessions
  from sessions s
  join session_details d on d.org_id = s.org_id and d.session_id = s.id
  cross join lateral (
    select distinct case when strpos(f.path, '/') = 0 then '.' else split_part(f.path, '/', 1) end as directory
    from json_array_elements_text(d.detail->'files_touched') f (path)
    where not starts_with(f.path, '/')
  ) t
  where s.org_id = ${orgId}
    and coalesce(s.user_id, s.user_email) is not null
  group by 1, 2, 3`

/** Writes the counts of the team's activity anew from the sessions. Needs the organization's lock. */
export async function rebuildActivity(tx: ISql, orgId: string): Promise<void> {
  await tx`delete from session_hours h where h.org_id = ${orgId}`
  await tx`
    insert into session_hours (org_id, hour, sessions)
    select ${orgId}, t.hour, t.sessions
    from (${hoursFrom(tx, orgId)}) t`
  await tx`delete from session_directories d where d.org_id = ${orgId}`
  await tx`
    insert into session_directories (org_id, user_key, project, directory, sessions)
    select ${orgId}, t.user_key, t.project, t.directory, t.sessions
    from (${directoriesFrom(tx, orgId)}) t`
}

/** Counts of the team's activity that differ from the sessions, in words, as of one instant; [] when all agree. */
export async function compareActivity(sql: ISql, orgId: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select distinct t.name
    from (
      select 'hour ' || to_char(coalesce(k.hour, w.hour) at time zone 'UTC', 'YYYY-MM-DD HH24":00"') as name
      from (select h.hour, h.sessions from session_hours h where h.org_id = ${orgId} and h.sessions <> 0) k
      full join (${hoursFrom(sql, orgId)}) w on w.hour = k.hour
      where k.sessions is distinct from w.sessions
      union all
      select 'domain ' || coalesce(k.project, w.project) || '/' || coalesce(k.directory, w.directory)
      from (
        select d.user_key, d.project, d.directory, d.sessions
        from session_directories d
        where d.org_id = ${orgId}
          and d.sessions <> 0
      ) k
      full join (${directoriesFrom(sql, orgId)}) w
        on w.user_key = k.user_key and w.project = k.project and w.directory = k.directory
      where k.sessions is distinct from w.sessions
    ) t
    order by t.name
    limit 100`
  return rows.map((row) => row.name)
}
