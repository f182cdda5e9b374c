import type { ISql } from '../db/client.ts'
import type { DerivedTable, OrgId } from '../db/derived-tables.ts'

/** The rollups, computed from the sessions. */
const fromSessions = (sql: ISql, orgId: OrgId) => sql`
  with days as (
    select
      s.project, s.day, count(*) as sessions, sum(s.estimated_cost) as cost,
      sum(s.unpriced_tokens) as unpriced_tokens,
      sum(s.quality_score) as quality_sum, min(s.quality_score) as quality_min, max(s.quality_score) as quality_max,
      sum(s.security_score) as security_sum, min(s.security_score) as security_min, max(s.security_score) as security_max
    from sessions s
    where s.org_id = ${orgId}
    group by s.project, s.day
  )
  select
    g.grain,
    p.project,
    case g.grain when 'day' then d.day else date_trunc('month', d.day::timestamp)::date end as bucket,
    sum(d.sessions)::bigint as sessions,
    sum(d.cost) as cost,
    sum(d.unpriced_tokens)::bigint as unpriced_tokens,
    sum(d.quality_sum) as quality_sum, min(d.quality_min) as quality_min, max(d.quality_max) as quality_max,
    sum(d.security_sum) as security_sum, min(d.security_min) as security_min, max(d.security_max) as security_max
  from days d
  cross join (values ('day'), ('month')) as g (grain)
  cross join lateral (select d.project union select '') as p (project)
  group by g.grain, p.project, 3`

/** The rollups of sessions. */
export const SESSION_TABLES: readonly DerivedTable[] = [
  {
    name: 'session_rollups',
    columns: [
      ...['grain', 'project', 'bucket', 'sessions', 'cost', 'unpriced_tokens'],
      ...['quality_sum', 'quality_min', 'quality_max', 'security_sum', 'security_min', 'security_max'],
    ],
    query: fromSessions,
    describe: ({ grain, bucket, project }) => `${grain} ${bucket} ${project || 'all projects'}`,
  },
]
