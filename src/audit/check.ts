import type { ISql } from '../db/client.ts'

/** The counts as the log says they should be: scans all of the organization's entries. */
const fromLog = (sql: ISql, orgId: string) => sql`
  with days as (
    select l.user_id, l.action, (l.created_at at time zone 'UTC')::date as day, count(*) as entries
    from audit_log l
    where l.org_id = ${orgId}
    group by 1, 2, 3
  )
  select c.grain, c.user_id, c.action, c.bucket, sum(d.entries)::bigint as entries
  from days d
  cross join lateral (
    values
      ('day', d.user_id, d.action, d.day),
      ('day', d.user_id, '', d.day),
      ('day', '', d.action, d.day),
      ('day', '', '', d.day),
      ('all', d.user_id, '', date '1970-01-01'),
      ('all', '', d.action, date '1970-01-01'),
      ('all', '', '', date '1970-01-01')
  ) as c (grain, user_id, action, bucket)
  group by c.grain, c.user_id, c.action, c.bucket`

/** Writes the organization's audit counts anew from its log. Needs the organization's lock. */
export async function rebuildAuditRollups(tx: ISql, orgId: string): Promise<void> {
  await tx`
    delete from audit_rollups r
    where r.org_id = ${orgId}`
  await tx`
    insert into audit_rollups (org_id, grain, user_id, action, bucket, entries)
    select ${orgId}, t.*
    from (${fromLog(tx, orgId)}) t`
}

/** Counts that differ from the log, in one statement and so as of one instant; [] when all agree. */
export async function compareAuditRollups(
  sql: ISql,
  orgId: string,
): Promise<{ grain: string; action: string; bucket: string }[]> {
  return await sql<{ grain: string; action: string; bucket: string }[]>`
    with truth as (${fromLog(sql, orgId)}),
    kept as (
      select r.grain, r.user_id, r.action, r.bucket, r.entries
      from audit_rollups r
      where r.org_id = ${orgId}
    ),
    wrong as (
      (table truth except table kept)
      union
      (table kept except table truth)
    )
    select distinct w.grain, w.action, w.bucket
    from wrong w
    order by w.grain, w.action, w.bucket
    limit 100`
}
