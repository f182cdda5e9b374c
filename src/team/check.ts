import type { ISql } from '../db/client.ts'
import type { DerivedTable, OrgId } from '../db/derived-tables.ts'

/** Sessions by hour. */
const hoursFromSessions = (sql: ISql, orgId: OrgId) => sql`
  select date_trunc('hour', s.created_at, 'UTC') as hour, count(*)::integer as sessions
  from sessions s
  where s.org_id = ${orgId}
  group by 1`

/** Sessions by user and domain: reads every session's detail. */
const directoriesFromSessions = (sql: ISql, orgId: OrgId) => sql`
  select coalesce(s.user_id, s.user_email) as user_key, s.project, t.directory, count(*)::integer as sessions
  from sessions s
  join session_details d on d.org_id = s.org_id and d.session_id = s.id
  cross join lateral (
    select distinct case when strpos(f.path, '/') = 0 then '.' else split_part(f.path, '/', 1) end as directory
    from json_array_elements_text((d.detail->>'files_touched')::json) f (path)
    where not starts_with(f.path, '/')
  ) t
  where s.org_id = ${orgId}
    and coalesce(s.user_id, s.user_email) is not null
  group by 1, 2, 3`

/** The counts of the team's activity. */
export const ACTIVITY_TABLES: readonly DerivedTable[] = [
  {
    name: 'session_hours',
    columns: ['hour', 'sessions'],
    query: hoursFromSessions,
    count: 'sessions',
    describe: ({ hour }) => `activity, hour ${hour?.slice(0, 16)}`,
  },
  {
    name: 'session_directories',
    columns: ['project', 'directory', 'user_key', 'sessions'],
    query: directoriesFromSessions,
    count: 'sessions',
    describe: ({ project, directory }) => `activity, domain ${project}/${directory}`,
  },
]
