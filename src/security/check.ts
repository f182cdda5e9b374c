import type { ISql } from '../db/client.ts'
import type { DerivedTable, OrgId } from '../db/derived-tables.ts'

// The heatmap's tables, computed from the sessions' details.

/**
 * Scans all of the organization's details, and looks up the session of each that has a finding by its whole key: before
 * statistics cover the organization, a plain join reads all of its details for every session.
 */
const findingsFromDetails = (sql: ISql, orgId: OrgId) => sql`
  select
    s.id as session_id, (f.position - 1)::integer as position, j.id, j.rule_id, j.category, j.severity, j.title, j.description,
    nullif(j.file, '') as file, substr(sha256(convert_to(nullif(j.file, ''), 'UTF8')), 1, 16) as file_key, j.line,
    j.turn_number, j.fingerprint, j.status, j.note, s.project, coalesce(s.user_id, s.user_email, '') as member, s.created_at
  from (
    select i.session_id, i.detail->'security_metadata'->'findings' as findings
    from session_details i
    where i.org_id = ${orgId}
      -- most have no finding: searching for the name of a field takes a tenth of the time of parsing the JSON
      and strpos(i.detail::text, '"fingerprint"') > 0
    offset 0
  ) d
  cross join lateral (
    select s.id, s.project, s.user_id, s.user_email, s.created_at
    from sessions s
    where s.org_id = ${orgId}
      and s.id = d.session_id
    offset 0
  ) s
  cross join lateral json_array_elements(d.findings) with ordinality as f (finding, position)
  cross join lateral json_to_record(f.finding) as j (
    id text, rule_id text, category text, severity text, title text, description text, file text, line integer,
    turn_number integer, fingerprint text, status text, note text
  )`

/** The findings that the heatmap counts: those that are open, each file and fingerprint of a session once. */
const countedFindings = (sql: ISql, orgId: OrgId) => sql`
  (
    select
      c.session_id, c.project, c.file_key, min(c.file) as file, c.fingerprint, c.created_at,
      (array['critical', 'high', 'medium', 'low'])[
        min(array_position(array['critical', 'high', 'medium', 'low'], c.severity))
      ] as severity
    from findings c
    where c.org_id = ${orgId}
      and c.status = 'open'
      and c.file_key is not null
    group by c.session_id, c.project, c.file_key, c.fingerprint, c.created_at
  ) f`

const fingerprintsFromFindings = (sql: ISql, orgId: OrgId) => sql`
  select
    g.grain, f.project, b.bucket, f.file_key, f.fingerprint,
    count(*) filter (where f.severity = 'critical') as critical,
    count(*) filter (where f.severity = 'high') as high,
    count(*) filter (where f.severity = 'medium') as medium,
    count(*) filter (where f.severity = 'low') as low
  from ${countedFindings(sql, orgId)}
  cross join (values ('all'), ('month'), ('day')) as g (grain)
  cross join lateral (select ${bucketOf(sql)} as bucket) b
  group by g.grain, f.project, b.bucket, f.file_key, f.fingerprint`

const filesFromFindings = (sql: ISql, orgId: OrgId) => sql`
  select
    g.grain, f.project, b.bucket, f.file_key, count(distinct f.session_id) as sessions,
    min(f.created_at) as first_seen_at, max(f.created_at) as last_seen_at
  from ${countedFindings(sql, orgId)}
  cross join (values ('month'), ('day')) as g (grain)
  cross join lateral (select ${bucketOf(sql)} as bucket) b
  group by g.grain, f.project, b.bucket, f.file_key`

/** The bucket of finding `f` at grain `g`. */
const bucketOf = (sql: ISql) => sql`
  case g.grain
    when 'day' then (f.created_at at time zone 'UTC')::date
    when 'month' then date_trunc('month', f.created_at at time zone 'UTC')::date
    else date '1970-01-01'
  end`

const risksFromFindings = (sql: ISql, orgId: OrgId) => sql`
  select
    g.project, g.file_key, min(g.file) as file,
    (count(distinct g.fingerprint) filter (where g.severity_rank = 1))::integer as critical,
    (count(distinct g.fingerprint) filter (where g.severity_rank = 2))::integer as high,
    (count(distinct g.fingerprint) filter (where g.severity_rank = 3))::integer as medium,
    (count(distinct g.fingerprint) filter (where g.severity_rank = 4))::integer as low,
    count(distinct g.session_id) as sessions,
    min(g.created_at) as first_seen_at,
    max(g.created_at) as last_seen_at
  from (
    select
      f.*,
      min(array_position(array['critical', 'high', 'medium', 'low'], f.severity))
        over (partition by f.project, f.file_key, f.fingerprint) as severity_rank
    from ${countedFindings(sql, orgId)}
  ) g
  group by g.project, g.file_key`

const levelsFromRisks = (sql: ISql, orgId: OrgId) => sql`
  select p.project, k.risk_score, count(*) as files
  from file_risks k
  cross join lateral (values (k.project), ('')) as p (project)
  where k.org_id = ${orgId}
  group by p.project, k.risk_score`

const describeProject =
  (table: string): DerivedTable['describe'] =>
  ({ project }) =>
    `${table} ${project || 'all projects'}`

/** The heatmap's tables, in an order in which each can be computed from those before it. */
export const FINDING_TABLES: readonly DerivedTable[] = [
  {
    name: 'findings',
    columns: [
      ...[
        'project',
        'session_id',
        'position',
        'id',
        'rule_id',
        'category',
        'severity',
        'title',
        'description',
      ],
      ...['file', 'file_key', 'line', 'turn_number', 'fingerprint', 'status', 'note', 'member', 'created_at'],
    ],
    query: findingsFromDetails,
    describe: describeProject('findings'),
  },
  {
    name: 'finding_rollups',
    columns: ['project', 'grain', 'bucket', 'file_key', 'fingerprint', 'critical', 'high', 'medium', 'low'],
    query: fingerprintsFromFindings,
    describe: describeProject('finding_rollups'),
  },
  {
    name: 'file_rollups',
    columns: ['project', 'grain', 'bucket', 'file_key', 'sessions', 'first_seen_at', 'last_seen_at'],
    query: filesFromFindings,
    describe: describeProject('file_rollups'),
  },
  {
    name: 'file_risks',
    columns: [
      ...['project', 'file_key', 'file', 'critical', 'high', 'medium', 'low'],
      ...['sessions', 'first_seen_at', 'last_seen_at'],
    ],
    query: risksFromFindings,
    describe: describeProject('file_risks'),
  },
  {
    name: 'risk_levels',
    columns: ['project', 'risk_score', 'files'],
    query: levelsFromRisks,
    describe: describeProject('risk_levels'),
  },
]
