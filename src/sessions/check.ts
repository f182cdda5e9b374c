import type { ISql } from '../db/client.ts'

/** The rollups as the sessions say they should be: scans all of the organization's sessions. */
const fromSessions = (sql: ISql, orgId: string) => sql`
  with days as (
    select
      s.project, s.day, count(*) as sessions, sum(s.estimated_cost) as cost,
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
    sum(d.quality_sum) as quality_sum, min(d.quality_min) as quality_min, max(d.quality_max) as quality_max,
    sum(d.security_sum) as security_sum, min(d.security_min) as security_min, max(d.security_max) as security_max
  from days d
  cross join (values ('day'), ('month')) as g (grain)
  cross join lateral (values (d.project), ('')) as p (project)
  group by g.grain, p.project, 3`

const rollupColumns = (sql: ISql) => sql`
  grain, project, bucket, sessions, cost,
  quality_sum, quality_min, quality_max, security_sum, security_min, security_max`

/** Writes the organization's rollups anew from its sessions. Needs the organization's lock. */
export async function rebuildRollups(tx: ISql, orgId: string): Promise<void> {
  await tx`
    delete from session_rollups r
    where r.org_id = ${orgId}`
  await tx`
    insert into session_rollups (org_id, ${rollupColumns(tx)})
    select ${orgId}, t.*
    from (${fromSessions(tx, orgId)}) t`
}

/** Rollup rows that differ from the sessions, in one statement and so as of one instant; [] when all agree. */
export async function compareRollups(
  sql: ISql,
  orgId: string,
): Promise<{ grain: string; project: string; bucket: string }[]> {
  return await sql<{ grain: string; project: string; bucket: string }[]>`
    with truth as (${fromSessions(sql, orgId)}),
    kept as (
      select ${rollupColumns(sql)}
      from session_rollups r
      where r.org_id = ${orgId}
    ),
    wrong as (
      (table truth except table kept)
      union
      (table kept except table truth)
    )
    select distinct w.grain, w.project, w.bucket
    from wrong w
    order by w.grain, w.project, w.bucket
    limit 100`
}
