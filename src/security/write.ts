import { dateOf, monthOf } from '../dates.ts'
import type { ISql } from '../db/client.ts'
import type { Severity } from '../records/finding.ts'
import { type FileFinding, fileFindingsOf, type SessionWithFindings } from './file-findings.ts'
import { moveFileRisks } from './file-risks.ts'

/** The one bucket of the grain `all`. */
const EVER = '1970-01-01'

/** The change of one row of finding_rollups: sessions by severity. */
type FingerprintCell = Record<Severity, number> & {
  grain: 'all' | 'month' | 'day'
  project: string
  bucket: string
  fileKey: string
  fingerprint: string
}

/** The change of one row of file_rollups. */
interface FileCell {
  grain: 'month' | 'day'
  project: string
  bucket: string
  fileKey: string
  sessions: number
  /** Of the sessions added; the far ends of time when there are none. */
  firstAt: string
  lastAt: string
  /** A session left it, so that its first and last time must be looked up. */
  left: boolean
}

/**
 * Brings what the heatmap is read from up to the sessions just written. `known` are the ids that were stored before.
 * Call it in their transaction, behind the organization's lock: counts move by differences, so that a finding that an
 * updated session no longer has leaves.
 */
export async function writeFindings(
  tx: ISql,
  orgId: string,
  sessions: readonly SessionWithFindings[],
  known: ReadonlySet<string>,
): Promise<void> {
  const ids = sessions.flatMap(({ id }) => (known.has(id) ? [id] : []))
  const before = ids.length === 0 ? [] : await findFindings(tx, orgId, ids)
  const after = fileFindingsOf(sessions)
  const removed = without(before, after, findingKey)
  const added = without(after, before, findingKey)
  if (removed.length + added.length === 0) return
  await deleteFindings(tx, orgId, removed)
  await insertFindings(tx, orgId, added)
  await moveFingerprints(tx, orgId, removed, added)
  const byFile = (finding: FileFinding) =>
    `${finding.sessionId} ${finding.createdAt} ${finding.fileKey} ${finding.project}`
  await moveFiles(tx, orgId, without(before, after, byFile), without(after, before, byFile))
  await moveFileRisks(tx, orgId, [...removed, ...added])
}

const findingKey = (finding: FileFinding): string =>
  JSON.stringify([
    finding.sessionId,
    finding.project,
    finding.createdAt,
    finding.fileKey,
    finding.fingerprint,
    finding.severity,
  ])

/** Of `these`, one of each key that `those` have not. */
function without(
  these: readonly FileFinding[],
  those: readonly FileFinding[],
  keyOf: (finding: FileFinding) => string,
): FileFinding[] {
  const seen = new Set(those.map(keyOf))
  return these.filter((finding) => {
    const key = keyOf(finding)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

async function findFindings(tx: ISql, orgId: string, ids: readonly string[]): Promise<FileFinding[]> {
  const rows = await tx<(Omit<FileFinding, 'createdAt'> & { createdAt: Date })[]>`
    select
      f.session_id as "sessionId", f.project, f.created_at as "createdAt", f.file,
      encode(f.file_key, 'hex') as "fileKey", f.fingerprint, f.severity
    from findings f
    where f.org_id = ${orgId}
      and f.session_id = any(${[...ids]}::text[])`
  return rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }))
}

async function deleteFindings(tx: ISql, orgId: string, findings: readonly FileFinding[]): Promise<void> {
  if (findings.length === 0) return
  await tx`
    delete from findings f
    using unnest(
      ${findings.map((finding) => finding.sessionId)}::text[],
      ${findings.map((finding) => finding.fileKey)}::text[],
      ${findings.map((finding) => finding.fingerprint)}::text[]
    ) as o (session_id, file_key, fingerprint)
    where f.org_id = ${orgId}
      and f.session_id = o.session_id
      and f.file_key = decode(o.file_key, 'hex')
      and f.fingerprint = o.fingerprint`
}

async function insertFindings(tx: ISql, orgId: string, findings: readonly FileFinding[]): Promise<void> {
  if (findings.length === 0) return
  await tx`
    insert into findings (org_id, session_id, file_key, fingerprint, severity, project, file, created_at)
    select ${orgId}, n.session_id, decode(n.file_key, 'hex'), n.fingerprint, n.severity, n.project, n.file, n.created_at
    from unnest(
      ${findings.map((finding) => finding.sessionId)}::text[],
      ${findings.map((finding) => finding.fileKey)}::text[],
      ${findings.map((finding) => finding.fingerprint)}::text[],
      ${findings.map((finding) => finding.severity)}::text[],
      ${findings.map((finding) => finding.project)}::text[],
      ${findings.map((finding) => finding.file)}::text[],
      ${findings.map((finding) => finding.createdAt)}::timestamptz[]
    ) as n (session_id, file_key, fingerprint, severity, project, file, created_at)`
}

async function moveFingerprints(
  tx: ISql,
  orgId: string,
  removed: readonly FileFinding[],
  added: readonly FileFinding[],
): Promise<void> {
  const cells = new Map<string, FingerprintCell>()
  const count = (finding: FileFinding, by: 1 | -1) => {
    const { project, fileKey, fingerprint, severity } = finding
    for (const { grain, bucket } of [{ grain: 'all' as const, bucket: EVER }, ...bucketsOf(finding)]) {
      const key = JSON.stringify([grain, bucket, project, fileKey, fingerprint])
      const cell = cells.get(key) ?? {
        ...{ grain, project, bucket, fileKey, fingerprint },
        ...{ critical: 0, high: 0, medium: 0, low: 0 },
      }
      cell[severity] += by
      cells.set(key, cell)
    }
  }
  for (const finding of removed) count(finding, -1)
  for (const finding of added) count(finding, 1)
  const changes = [...cells.values()]
  await tx`
    insert into finding_rollups as r (
      org_id, grain, project, bucket, file_key, fingerprint, critical, high, medium, low
    )
    select
      ${orgId}, c.grain, c.project, c.bucket, decode(c.file_key, 'hex'), c.fingerprint,
      c.critical, c.high, c.medium, c.low
    from unnest(
      ${changes.map((cell) => cell.grain)}::text[],
      ${changes.map((cell) => cell.project)}::text[],
      ${changes.map((cell) => cell.bucket)}::date[],
      ${changes.map((cell) => cell.fileKey)}::text[],
      ${changes.map((cell) => cell.fingerprint)}::text[],
      ${changes.map((cell) => cell.critical)}::bigint[],
      ${changes.map((cell) => cell.high)}::bigint[],
      ${changes.map((cell) => cell.medium)}::bigint[],
      ${changes.map((cell) => cell.low)}::bigint[]
    ) as c (grain, project, bucket, file_key, fingerprint, critical, high, medium, low)
    on conflict (org_id, grain, project, file_key, bucket, fingerprint) do update set
      critical = r.critical + excluded.critical,
      high = r.high + excluded.high,
      medium = r.medium + excluded.medium,
      low = r.low + excluded.low`
  if (removed.length === 0) return
  await tx`
    delete from finding_rollups r
    using unnest(
      ${changes.map((cell) => cell.grain)}::text[],
      ${changes.map((cell) => cell.project)}::text[],
      ${changes.map((cell) => cell.bucket)}::date[],
      ${changes.map((cell) => cell.fileKey)}::text[],
      ${changes.map((cell) => cell.fingerprint)}::text[]
    ) as c (grain, project, bucket, file_key, fingerprint)
    where r.org_id = ${orgId}
      and r.grain = c.grain
      and r.project = c.project
      and r.bucket = c.bucket
      and r.file_key = decode(c.file_key, 'hex')
      and r.fingerprint = c.fingerprint
      and r.critical + r.high + r.medium + r.low = 0`
}

const bucketsOf = ({ createdAt }: FileFinding) => {
  const day = dateOf(createdAt)
  return [
    { grain: 'month' as const, bucket: monthOf(day) },
    { grain: 'day' as const, bucket: day },
  ]
}

/** Sessions of each file; `removed` and `added` have one finding for each session and file. */
async function moveFiles(
  tx: ISql,
  orgId: string,
  removed: readonly FileFinding[],
  added: readonly FileFinding[],
): Promise<void> {
  const cells = new Map<string, FileCell>()
  const cellsOf = (finding: FileFinding): FileCell[] =>
    bucketsOf(finding).map(({ grain, bucket }) => {
      const { project, fileKey } = finding
      const key = JSON.stringify([grain, bucket, project, fileKey])
      const cell = cells.get(key) ?? {
        ...{ grain, project, bucket, fileKey, sessions: 0, left: false },
        ...{ firstAt: 'infinity', lastAt: '-infinity' },
      }
      cells.set(key, cell)
      return cell
    })
  for (const cell of removed.flatMap(cellsOf)) {
    cell.sessions -= 1
    cell.left = true
  }
  for (const finding of added) {
    for (const cell of cellsOf(finding)) {
      cell.sessions += 1
      if (cell.firstAt === 'infinity' || finding.createdAt < cell.firstAt) cell.firstAt = finding.createdAt
      if (cell.lastAt === '-infinity' || finding.createdAt > cell.lastAt) cell.lastAt = finding.createdAt
    }
  }
  const changes = [...cells.values()]
  if (changes.length === 0) return
  await applyFileCells(tx, orgId, changes)
  const left = changes.filter((cell) => cell.left)
  if (left.length > 0) await settleFileCells(tx, orgId, left)
}

async function applyFileCells(tx: ISql, orgId: string, cells: readonly FileCell[]): Promise<void> {
  await tx`
    insert into file_rollups as r (
      org_id, grain, project, bucket, file_key, sessions, first_seen_at, last_seen_at
    )
    select ${orgId}, c.grain, c.project, c.bucket, decode(c.file_key, 'hex'), c.sessions, c.first_at, c.last_at
    from unnest(
      ${cells.map((cell) => cell.grain)}::text[],
      ${cells.map((cell) => cell.project)}::text[],
      ${cells.map((cell) => cell.bucket)}::date[],
      ${cells.map((cell) => cell.fileKey)}::text[],
      ${cells.map((cell) => cell.sessions)}::bigint[],
      ${cells.map((cell) => cell.firstAt)}::text[]::timestamptz[],
      ${cells.map((cell) => cell.lastAt)}::text[]::timestamptz[]
    ) as c (grain, project, bucket, file_key, sessions, first_at, last_at)
    on conflict (org_id, grain, project, file_key, bucket) do update set
      sessions = r.sessions + excluded.sessions,
      first_seen_at = least(r.first_seen_at, excluded.first_seen_at),
      last_seen_at = greatest(r.last_seen_at, excluded.last_seen_at)`
}

/** Drops rows that nothing is left in and looks up the times of the others: two index entries each. */
async function settleFileCells(tx: ISql, orgId: string, cells: readonly FileCell[]): Promise<void> {
  const touched = tx`
    unnest(
      ${cells.map((cell) => cell.grain)}::text[],
      ${cells.map((cell) => cell.project)}::text[],
      ${cells.map((cell) => cell.bucket)}::date[],
      ${cells.map((cell) => cell.fileKey)}::text[]
    ) as c (grain, project, bucket, file_key)
    where r.org_id = ${orgId}
      and r.grain = c.grain
      and r.project = c.project
      and r.bucket = c.bucket
      and r.file_key = decode(c.file_key, 'hex')`
  await tx`
    delete from file_rollups r
    using ${touched}
      and r.sessions = 0`
  await tx`
    update file_rollups r
    set (first_seen_at, last_seen_at) = (
      select min(f.created_at), max(f.created_at)
      from findings f
      where f.org_id = ${orgId}
        and f.project = r.project
        and f.file_key = r.file_key
        and f.created_at >= r.bucket::timestamp at time zone 'UTC'
        and f.created_at < (r.bucket + case r.grain when 'day' then interval '1 day' else interval '1 month' end) at time zone 'UTC'
    )
    from ${touched}`
}
