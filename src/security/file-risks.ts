import type { ISql } from '../db/client.ts'
import type { FileFinding } from './file-findings.ts'

interface FileRisk {
  project: string
  file_key: string
  risk_score: number
}

/**
 * Writes the rows of file_risks anew for the files of `touched` and moves risk_levels by what changed. Each is read
 * from its fingerprints of all time and its months: bounded by the code base. Needs the rollups to be up to date.
 */
export async function moveFileRisks(tx: ISql, orgId: string, touched: readonly FileFinding[]): Promise<void> {
  const files = [
    ...new Map(touched.map((finding) => [`${finding.fileKey} ${finding.project}`, finding])).values(),
  ]
  const projects = files.map((file) => file.project)
  const keys = files.map((file) => file.fileKey)
  const before = await tx<FileRisk[]>`
    select r.project, encode(r.file_key, 'hex') as file_key, r.risk_score
    from file_risks r
    join unnest(${projects}::text[], ${keys}::text[]) as t (project, file_key)
      on r.project = t.project and r.file_key = decode(t.file_key, 'hex')
    where r.org_id = ${orgId}`
  const after = await upsertFileRisks(tx, orgId, files)
  await deleteFileRisks(tx, orgId, before, after)
  await moveLevels(tx, orgId, before, after)
}

/** Files that still have a finding. */
async function upsertFileRisks(tx: ISql, orgId: string, files: readonly FileFinding[]): Promise<FileRisk[]> {
  return await tx<FileRisk[]>`
    insert into file_risks as k (
      org_id, project, file_key, file, critical, high, medium, low, sessions, first_seen_at, last_seen_at
    )
    select
      ${orgId}, t.project, decode(t.file_key, 'hex'), t.file, c.critical, c.high, c.medium, c.low,
      s.sessions, s.first_seen_at, s.last_seen_at
    from unnest(
      ${files.map((file) => file.project)}::text[],
      ${files.map((file) => file.fileKey)}::text[],
      ${files.map((file) => file.file)}::text[]
    ) as t (project, file_key, file)
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
        and r.project = t.project
        and r.file_key = decode(t.file_key, 'hex')
    ) c
    cross join lateral (
      select
        sum(m.sessions) as sessions,
        min(m.first_seen_at) as first_seen_at,
        max(m.last_seen_at) as last_seen_at
      from file_rollups m
      where m.org_id = ${orgId}
        and m.grain = 'month'
        and m.project = t.project
        and m.file_key = decode(t.file_key, 'hex')
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

const keyOf = (risk: FileRisk): string => `${risk.file_key} ${risk.project}`

async function deleteFileRisks(
  tx: ISql,
  orgId: string,
  before: readonly FileRisk[],
  after: readonly FileRisk[],
): Promise<void> {
  const kept = new Set(after.map(keyOf))
  const gone = before.filter((risk) => !kept.has(keyOf(risk)))
  if (gone.length === 0) return
  await tx`
    delete from file_risks k
    using unnest(
      ${gone.map((risk) => risk.project)}::text[],
      ${gone.map((risk) => risk.file_key)}::text[]
    ) as g (project, file_key)
    where k.org_id = ${orgId}
      and k.project = g.project
      and k.file_key = decode(g.file_key, 'hex')`
}

async function moveLevels(
  tx: ISql,
  orgId: string,
  before: readonly FileRisk[],
  after: readonly FileRisk[],
): Promise<void> {
  const levels = new Map<string, { project: string; risk: number; files: number }>()
  const count = ({ project: own, risk_score: risk }: FileRisk, by: 1 | -1) => {
    for (const project of [own, '']) {
      const level = levels.get(`${risk} ${project}`) ?? { project, risk, files: 0 }
      level.files += by
      levels.set(`${risk} ${project}`, level)
    }
  }
  for (const risk of before) count(risk, -1)
  for (const risk of after) count(risk, 1)
  const changes = [...levels.values()].filter((level) => level.files !== 0)
  if (changes.length === 0) return
  await tx`
    insert into risk_levels as l (org_id, project, risk_score, files)
    select ${orgId}, c.*
    from unnest(
      ${changes.map((level) => level.project)}::text[],
      ${changes.map((level) => level.risk)}::smallint[],
      ${changes.map((level) => level.files)}::bigint[]
    ) as c (project, risk_score, files)
    on conflict (org_id, project, risk_score) do update set files = l.files + excluded.files`
  await tx`
    delete from risk_levels l
    where l.org_id = ${orgId}
      and l.files = 0`
}
