// Declares the counts of sessions by day, hour and directory, and updates those by directory.

import { directoryOf } from '../../analysis/scoring/ownership.ts'
import type { ISql } from '../../database/client.ts'
import type { OrgId } from '../../database/derived-tables.ts'
import {
  addDifference,
  betweenDays,
  countedProject,
  describeSummed,
  type Rollup,
  rollup,
  WITHOUT_PROJECT,
} from '../../database/rollups.ts'
import { unnest } from '../../database/rows.ts'
import type { UsedSession } from '../usage/write.ts'

const allSessions = (sql: ISql, orgId: OrgId) => sql`
  from sessions s
  where s.org_id = ${orgId}`

/** The sessions of row `r`'s day. */
const sessionsOfDay = (sql: ISql, orgId: string) => sql`
  select
    s.quality_score as quality_min, s.security_score as security_min,
    s.quality_score as quality_max, s.security_score as security_max
  ${allSessions(sql, orgId)}
    and ${betweenDays(sql, sql`r.bucket`, sql`r.bucket + interval '1 day'`)}`

const rowsOfDays = (sql: ISql, orgId: string) => sql`
  select d.quality_min, d.security_min, d.quality_max, d.security_max
  from session_rollups d
  where d.org_id = ${orgId}
    and d.grain = 'day'`

/** Each session is counted in four rows: by day and by month, in its project (or WITHOUT_PROJECT) and in all (''). */
export const FIGURES = rollup({
  name: 'session_rollups',
  key: ['grain', 'project', 'bucket'],
  sums: ['sessions', 'quality_sum', 'security_sum'],
  ranges: [
    ['quality_min', 'quality_max'],
    ['security_min', 'security_max'],
  ],
  rows: allSessions,
  count: (sql, rows) => sql`
    with s as materialized (
      select s.*, date_trunc('month', s.day::timestamp)::date as month
      ${rows}
    )
    select
      case grouping(s.day) when 0 then 'day' else 'month' end as grain,
      case grouping(s.project) when 0 then ${countedProject(sql, 's.project')} else '' end as project,
      coalesce(s.day, s.month) as bucket,
      count(*) as sessions, sum(s.quality_score) as quality_sum, min(s.quality_score) as quality_min, max(s.quality_score) as quality_max,
      sum(s.security_score) as security_sum, min(s.security_score) as security_min,
      max(s.security_score) as security_max
    from s
    group by grouping sets ((s.day, s.project), (s.day), (s.month, s.project), (s.month))`,
  // the order matters: extremes of months and of all projects are read from rows of days, not from a month of sessions
  extremes: [
    {
      of: (sql) => sql`b.grain = 'day' and b.project <> ''`,
      from: (sql, orgId) => sql`
        ${sessionsOfDay(sql, orgId)} and s.project = case when r.project = ${WITHOUT_PROJECT} then '' else r.project end`,
    },
    {
      of: (sql) => sql`b.grain = 'day' and b.project = ''`,
      from: (sql, orgId) => sql`
        ${rowsOfDays(sql, orgId)} and d.project <> '' and d.bucket = r.bucket`,
    },
    {
      of: (sql) => sql`b.grain = 'month'`,
      from: (sql, orgId) => sql`
        ${rowsOfDays(sql, orgId)}
          and d.project = r.project
          and d.bucket >= r.bucket
          and d.bucket < (r.bucket + interval '1 month')::date`,
    },
  ],
  describe: ({ grain, bucket, project }) => `${grain} ${bucket} ${describeSummed(project)}`,
})

const HOURS = rollup({
  name: 'session_hours',
  key: ['hour'],
  sums: ['sessions'],
  rows: allSessions,
  count: (sql, rows) => sql`
    select date_trunc('hour', s.created_at, 'UTC') as hour, count(*)::integer as sessions
    ${rows}
    group by 1`,
  describe: ({ hour }) => `activity, hour ${hour?.slice(0, 16)}`,
})

/** The counts that are made of the rows of sessions. */
export const SESSION_ROLLUPS: readonly Rollup[] = [FIGURES, HOURS]

/** Sessions by user and domain. The rows `s` have the directories of each session: writers know them without its detail. */
export const DIRECTORIES = rollup({
  name: 'session_directories',
  key: ['project', 'directory', 'user_key'],
  sums: ['sessions'],
  rows: (sql, orgId) => sql`
    from (
      select coalesce(s.user_id, s.user_email) as user_key, s.project, t.directory
      from sessions s
      join session_details d on d.org_id = s.org_id and d.session_id = s.id
      cross join lateral (
        select distinct case when strpos(f.path, '/') = 0 then '.' else split_part(f.path, '/', 1) end as directory
        from json_array_elements_text((d.detail->>'files_touched')::json) f (path)
        where not starts_with(f.path, '/')
      ) t
      where s.org_id = ${orgId}
        and coalesce(s.user_id, s.user_email) is not null
    ) s`,
  count: (sql, rows) => sql`
    select s.user_key, s.project, s.directory, count(*)::integer as sessions
    ${rows}
    group by s.user_key, s.project, s.directory`,
  describe: ({ project, directory }) => `activity, domain ${project}/${directory}`,
})

/** The fields of a session by which it is counted in DIRECTORIES. */
export interface Touching extends Pick<UsedSession, 'project' | 'user_id' | 'user_email'> {
  detail: { files_touched: readonly string[] | null }
}

/** Updates the counts by user and domain by the difference between the sessions `before` and `after`. Needs the organization's lock. */
export async function updateDirectories(
  tx: ISql,
  orgId: string,
  before: readonly Touching[],
  after: readonly Touching[],
): Promise<void> {
  const counts = (sessions: readonly Touching[]) => {
    const rows = sessions.flatMap(directoriesOf)
    const table = unnest(tx, rows, { user_key: 'text', project: 'text', directory: 'text' }, 's')
    return rows.length === 0 ? undefined : DIRECTORIES.countRows(tx, tx`from ${table}`)
  }
  await addDifference(tx, orgId, DIRECTORIES, { before: counts(before), after: counts(after) })
}

function directoriesOf({ user_id, user_email, project, detail }: Touching) {
  const user_key = user_id ?? user_email
  if (user_key === null) return []
  const inside = (detail.files_touched ?? []).filter((file) => !file.startsWith('/'))
  return [...new Set(inside.map(directoryOf))].map((directory) => ({ user_key, project, directory }))
}
