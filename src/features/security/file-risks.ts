// Keeps the risk of each file with findings.

import type { Fragment, ISql } from '../../database/client.ts'
import type { OrgId } from '../../database/derived-tables.ts'
import { counting } from '../../database/rollups.ts'
import { replaced, unnest } from '../../database/rows.ts'
import { analyzeGrownTables } from '../../database/statistics.ts'
import { RISK_LEVELS } from './finding-rollups.ts'

/** A file of a project with the first 16 bytes of SHA-256 of its name, in hex. */
interface FileOfProject {
  project: string
  file: string
  file_key: string
}

/** The key and name of a file, and what is computed of it. */
export const FILE_RISK_COLUMNS = [
  ...['project', 'file_key', 'file', 'critical', 'high', 'medium', 'low'],
  ...['sessions', 'first_seen_at', 'last_seen_at'],
]

/** Computes the rows of those files `n` that have a finding, from their fingerprints of all time and their months. */
export const risksOfFiles = (sql: ISql, orgId: OrgId, files: Fragment) => sql`
  select
    n.project, n.file_key, n.file, c.critical::integer, c.high::integer, c.medium::integer, c.low::integer,
    s.sessions::bigint, s.first_seen_at, s.last_seen_at
  from ${files}
  cross join lateral (
    select
      count(*) as fingerprints,
      count(*) filter (where r.critical > 0) as critical,
      count(*) filter (where r.critical = 0 and r.high > 0) as high,
      count(*) filter (where r.critical = 0 and r.high = 0 and r.medium > 0) as medium,
      count(*) filter (where r.critical = 0 and r.high = 0 and r.medium = 0) as low
    from finding_rollups r
    where r.org_id = ${orgId}
      and r.grain = 'all'
      and r.project = n.project
      and r.file_key = n.file_key
  ) c
  cross join lateral (
    select
      sum(m.sessions) as sessions,
      min(m.first_seen_at) as first_seen_at,
      max(m.last_seen_at) as last_seen_at
    from file_rollups m
    where m.org_id = ${orgId}
      and m.grain = 'month'
      and m.project = n.project
      and m.file_key = n.file_key
  ) s
  where c.fingerprints > 0`

/** Writes file_risks of these findings' files again, and updates risk_levels. Needs the rollups to be up to date. */
export async function updateFileRisks(tx: ISql, orgId: string, findings: readonly FileOfProject[]) {
  const files = unnest(
    tx,
    [...new Map(findings.map((finding) => [`${finding.file_key} ${finding.project}`, finding])).values()],
    { project: 'text', file_key: 'bytea', file: 'text' },
  )
  const written = tx`(s.project, s.file_key) in (select n.project, n.file_key from ${files})`
  await analyzeGrownTables(tx, ['finding_rollups', 'file_rollups', 'file_risks'])
  await counting(tx, orgId, [RISK_LEVELS], { before: written, after: written }, async () => {
    await tx`
      delete from file_risks k
      using ${files}
      where k.org_id = ${orgId}
        and k.project = n.project
        and k.file_key = n.file_key
        and not exists (
          select
          from finding_rollups r
          where r.org_id = ${orgId}
            and r.grain = 'all'
            and r.project = n.project
            and r.file_key = n.file_key
        )`
    await tx`
      insert into file_risks (org_id, ${tx.unsafe(FILE_RISK_COLUMNS.join(', '))})
      select ${orgId}, q.*
      from (${risksOfFiles(tx, orgId, files)}) q
      on conflict (org_id, project, file_key) do update set ${replaced(tx, FILE_RISK_COLUMNS.slice(3))}`
  })
}
