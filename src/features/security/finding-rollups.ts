// Declares the sums by which the heatmap is read: of open findings, each file and fingerprint of a session once, with the
// highest severity. Writers count all of a session's findings again.

import type { ISql } from '../../database/client.ts'
import type { OrgId } from '../../database/derived-tables.ts'
import { betweenDays, countedProject, describeSummed, rollup } from '../../database/rollups.ts'

const openFindings = (sql: ISql, orgId: OrgId) => sql`
  from findings s
  where s.org_id = ${orgId}
    and s.status = 'open'
    and s.file_key is not null`

const bucketOf = (sql: ISql) => sql`
  cross join lateral (
    select
      case g.grain
        when 'day' then f.day
        when 'month' then date_trunc('month', f.day::timestamp)::date
        else date '1970-01-01'
      end as bucket
  ) b`

const describeProject =
  (table: string) =>
  ({ project }: Readonly<Record<string, string>>) =>
    `${table} ${project || 'no project'}`

/** Sessions by file, fingerprint and severity. */
const FINDING_ROLLUP = rollup({
  name: 'finding_rollups',
  key: ['project', 'grain', 'bucket', 'file_key', 'fingerprint'],
  sums: ['critical', 'high', 'medium', 'low'],
  rows: openFindings,
  count: (sql, rows) => sql`
    select
      g.grain, f.project, b.bucket, f.file_key, f.fingerprint,
      count(*) filter (where f.severity = 1) as critical,
      count(*) filter (where f.severity = 2) as high,
      count(*) filter (where f.severity = 3) as medium,
      count(*) filter (where f.severity = 4) as low
    from (
      select
        s.session_id, s.project, s.file_key, s.fingerprint, s.day,
        min(array_position(array['critical', 'high', 'medium', 'low'], s.severity)) as severity
      ${rows}
      group by s.session_id, s.project, s.file_key, s.fingerprint, s.day
    ) f
    cross join (values ('all'), ('month'), ('day')) as g (grain)
    ${bucketOf(sql)}
    group by g.grain, f.project, b.bucket, f.file_key, f.fingerprint`,
  describe: describeProject('finding_rollups'),
})

const FILE_ROLLUP = rollup({
  name: 'file_rollups',
  key: ['project', 'grain', 'bucket', 'file_key'],
  sums: ['sessions'],
  ranges: [['first_seen_at', 'last_seen_at']],
  rows: openFindings,
  count: (sql, rows) => sql`
    select
      g.grain, f.project, b.bucket, f.file_key, count(distinct f.session_id) as sessions,
      min(f.created_at) as first_seen_at, max(f.created_at) as last_seen_at
    from (select s.* ${rows}) f
    cross join (values ('month'), ('day')) as g (grain)
    ${bucketOf(sql)}
    group by g.grain, f.project, b.bucket, f.file_key`,
  // reads two index entries for each row
  extremes: [
    {
      of: (sql) => sql`true`,
      from: (sql, orgId) => sql`
        select s.created_at as first_seen_at, s.created_at as last_seen_at
        ${openFindings(sql, orgId)}
          and s.project = r.project
          and s.file_key = r.file_key
          and ${betweenDays(sql, sql`r.bucket`, sql`r.bucket + ('1 ' || r.grain)::interval`)}`,
    },
  ],
  describe: describeProject('file_rollups'),
})

/** The counts that are made of the rows of findings. */
export const FINDING_ROLLUPS = [FINDING_ROLLUP, FILE_ROLLUP]

/** Files by risk score, of each project, of none (WITHOUT_PROJECT) and of all (''). */
export const RISK_LEVELS = rollup({
  name: 'risk_levels',
  key: ['project', 'risk_score'],
  sums: ['files'],
  rows: (sql, orgId) => sql`
    from file_risks s
    where s.org_id = ${orgId}`,
  count: (sql, rows) => sql`
    select p.project, k.risk_score, count(*) as files
    from (select s.project, s.risk_score ${rows}) k
    cross join lateral (values (${countedProject(sql, 'k.project')}), ('')) as p (project)
    group by p.project, k.risk_score`,
  describe: ({ project }) => `risk_levels ${describeSummed(project)}`,
})
