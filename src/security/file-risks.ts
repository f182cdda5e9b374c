import type { ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import type { FileFinding } from './file-findings.ts'

type FileOfProject = Pick<FileFinding, 'project' | 'file' | 'fileKey'>

interface FileRisk {
  project: string
  file_key: string
  risk_score: number
}

/**
 * Writes the rows of file_risks of these findings' files again, and updates risk_levels by the differences. A file's row is
 * computed from its fingerprints of all time and its months, so that the cost depends on the size of the code base. Needs
 * the rollups to be up to date.
 */
export async function updateFileRisks(
  tx: ISql,
  orgId: string,
  findings: readonly FileOfProject[],
): Promise<void> {
  const files = [
    ...new Map(findings.map((finding) => [`${finding.fileKey} ${finding.project}`, finding])).values(),
  ]
  const before = await tx<FileRisk[]>`
    select r.project, encode(r.file_key, 'hex') as file_key, r.risk_score
    from file_risks r
    join ${unnest(tx, files, { project: 'text', file_key: ['bytea', ({ fileKey }) => fileKey] })}
      on r.project = n.project and r.file_key = n.file_key
    where r.org_id = ${orgId}`
  const after = await upsertFileRisks(tx, orgId, files)
  await deleteFileRisks(tx, orgId, before, after)
  await updateLevels(tx, orgId, before, after)
}

/** Writes the rows of those files that have a finding, and returns them. */
async function upsertFileRisks(
  tx: ISql,
  orgId: string,
  files: readonly FileOfProject[],
): Promise<FileRisk[]> {
  return await tx<FileRisk[]>`
    insert into file_risks as k (
      org_id, project, file_key, file, critical, high, medium, low, sessions, first_seen_at, last_seen_at
    )
    select
      ${orgId}, n.project, n.file_key, n.file, c.critical, c.high, c.medium, c.low,
      s.sessions, s.first_seen_at, s.last_seen_at
    from ${unnest(tx, files, {
      project: 'text',
      file_key: ['bytea', ({ fileKey }) => fileKey],
      file: 'text',
    })}
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
    where c.fingerprints > 0
    on conflict (org_id, project, file_key) do update set
      critical = excluded.critical,
      high = excluded.high,
      medium = excluded.medium,
      low = excluded.low,
      sessions = excluded.sessions,
      first_seen_at = excluded.first_seen_at,
      last_seen_at = excluded.last_seen_at
    returning k.project, encode(k.file_key, 'hex') as file_key, k.risk_score`
}

const fileRiskKeyOf = (risk: FileRisk): string => `${risk.file_key} ${risk.project}`

async function deleteFileRisks(
  tx: ISql,
  orgId: string,
  before: readonly FileRisk[],
  after: readonly FileRisk[],
): Promise<void> {
  const kept = new Set(after.map(fileRiskKeyOf))
  const deleted = before.filter((risk) => !kept.has(fileRiskKeyOf(risk)))
  if (deleted.length === 0) return
  await tx`
    delete from file_risks k
    using ${unnest(tx, deleted, { project: 'text', file_key: 'bytea' })}
    where k.org_id = ${orgId}
      and k.project = n.project
      and k.file_key = n.file_key`
}

async function updateLevels(
  tx: ISql,
  orgId: string,
  before: readonly FileRisk[],
  after: readonly FileRisk[],
): Promise<void> {
  const byKey = new Map<string, { project: string; risk_score: number; files: number }>()
  const count = ({ project: own, risk_score }: FileRisk, sign: 1 | -1) => {
    for (const project of [own, '']) {
      const key = `${risk_score} ${project}`
      const level = byKey.get(key) ?? { project, risk_score, files: 0 }
      level.files += sign
      byKey.set(key, level)
    }
  }
  for (const risk of before) count(risk, -1)
  for (const risk of after) count(risk, 1)
  const changes = [...byKey.values()].filter(({ files }) => files !== 0)
  if (changes.length === 0) return
  await tx`
    insert into risk_levels as l (org_id, project, risk_score, files)
    select ${orgId}, n.*
    from ${unnest(tx, changes, { project: 'text', risk_score: 'smallint', files: 'bigint' })}
    on conflict (org_id, project, risk_score) do update set files = l.files + excluded.files`
  await tx`
    delete from risk_levels l
    where l.org_id = ${orgId}
      and l.files = 0`
}
