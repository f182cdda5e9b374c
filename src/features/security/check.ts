// Computes the rows of findings from the sessions' details, for their writers, and names the heatmap's tables, for `doctor`.

import type { Fragment, ISql } from '../../database/client.ts'
import type { DerivedTable, OrgId } from '../../database/derived-tables.ts'
import { FILE_RISK_COLUMNS, risksOfFiles } from './file-risks.ts'
import { FINDING_ROLLUPS, RISK_LEVELS } from './finding-rollups.ts'

/**
 * Computes the rows of findings from those `details` (a condition on `i`) that have one. The session of each is looked up
 * by its whole key: before statistics cover the organization, a plain join reads all of its details for every session.
 */
export const selectFindings = (sql: ISql, orgId: OrgId, details: Fragment) => sql`
  select
    s.id as session_id, (f.position - 1)::integer as position, j.id, j.rule_id, j.category, j.severity, j.title, j.description,
    nullif(j.file, '') as file, substr(sha256(convert_to(nullif(j.file, ''), 'UTF8')), 1, 16) as file_key, j.line,
    j.turn_number, j.fingerprint, j.status, j.assignee, j.note, s.project, s.member, s.created_at, s.day
  from (
    select i.session_id, i.detail->'security_metadata'->'findings' as findings
    from session_details i
    where i.org_id = ${orgId}
      ${details}
      -- most have no finding: searching for the name of a field takes a tenth of the time of parsing the JSON
      and strpos(i.detail::text, '"fingerprint"') > 0
    offset 0
  ) d
  cross join lateral (
    select s.id, s.project, u.member, s.created_at, s.day
    from sessions s
    join session_usage u
      on u.org_id = ${orgId}
      and u.session_id = s.id
      and u.is_main
    where s.org_id = ${orgId}
      and s.id = d.session_id
    offset 0
  ) s
  cross join lateral json_array_elements(d.findings) with ordinality as f (finding, position)
  cross join lateral json_to_record(f.finding) as j (
    id text, rule_id text, category text, severity text, title text, description text, file text, line integer,
    turn_number integer, fingerprint text, status text, assignee text, note text
  )`

export const FINDING_COLUMNS = [
  ...['project', 'session_id', 'position', 'id', 'rule_id', 'category', 'severity', 'title', 'description'],
  ...['file', 'file_key', 'line', 'turn_number', 'fingerprint', 'status', 'assignee', 'note'],
  ...['member', 'created_at', 'day'],
]

/** The open findings' files as `n`. */
const filesFromFindings = (sql: ISql, orgId: OrgId) => sql`
  (
    select f.project, f.file_key, min(f.file) as file
    from findings f
    where f.org_id = ${orgId}
      and f.status = 'open'
      and f.file_key is not null
    group by f.project, f.file_key
  ) n`

/** The heatmap's tables, in an order in which each can be computed from those before it. */
export const FINDING_TABLES: readonly DerivedTable[] = [
  {
    name: 'findings',
    columns: FINDING_COLUMNS,
    query: (sql, orgId) => selectFindings(sql, orgId, sql``),
    describe: ({ project }) => `findings ${project || 'no project'}`,
  },
  ...FINDING_ROLLUPS,
  {
    name: 'file_risks',
    columns: FILE_RISK_COLUMNS,
    query: (sql, orgId) => risksOfFiles(sql, orgId, filesFromFindings(sql, orgId)),
    describe: ({ project }) => `file_risks ${project || 'no project'}`,
  },
  RISK_LEVELS,
]
