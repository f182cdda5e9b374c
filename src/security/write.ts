import type { ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import { type FileFinding, fileFindingsOf, type SessionWithFindings } from './file-findings.ts'
import { updateFileRisks } from './file-risks.ts'
import { updateFileRollups } from './file-rollups.ts'
import { updateFindingRollups } from './finding-rollups.ts'

/**
 * Updates the heatmap's tables for the sessions just written. `known`: the ids of those that were stored
 * before; one that is not among the sessions was deleted. Needs the organization's lock, in the transaction that writes the sessions: counts change by the
 * findings that are removed and added.
 */
export async function writeFindings(
  tx: ISql,
  orgId: string,
  sessions: readonly SessionWithFindings[],
  known: ReadonlySet<string>,
): Promise<void> {
  const before = known.size === 0 ? [] : await findFindings(tx, orgId, [...known])
  const after = fileFindingsOf(sessions)
  const removed = difference(before, after, findingKey)
  const added = difference(after, before, findingKey)
  if (removed.length + added.length === 0) return
  await deleteFindings(tx, orgId, removed)
  await insertFindings(tx, orgId, added)
  await updateFindingRollups(tx, orgId, removed, added)
  await updateFileRollups(
    tx,
    orgId,
    difference(before, after, sessionFileKey),
    difference(after, before, sessionFileKey),
  )
  await updateFileRisks(tx, orgId, [...removed, ...added])
}

const findingKey = ({ sessionId, project, createdAt, fileKey, fingerprint, severity }: FileFinding): string =>
  JSON.stringify([sessionId, project, createdAt, fileKey, fingerprint, severity])

const sessionFileKey = ({ sessionId, createdAt, fileKey, project }: FileFinding): string =>
  `${sessionId} ${createdAt} ${fileKey} ${project}`

/** One finding of each key that is in `findings` and not in `others`. */
function difference(
  findings: readonly FileFinding[],
  others: readonly FileFinding[],
  keyOf: (finding: FileFinding) => string,
): FileFinding[] {
  const seen = new Set(others.map(keyOf))
  return findings.filter((finding) => {
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
    using ${unnest(tx, findings, {
      session_id: ['text', ({ sessionId }) => sessionId],
      file_key: ['bytea', ({ fileKey }) => fileKey],
      fingerprint: 'text',
    })}
    where f.org_id = ${orgId}
      and f.session_id = n.session_id
      and f.file_key = n.file_key
      and f.fingerprint = n.fingerprint`
}

async function insertFindings(tx: ISql, orgId: string, findings: readonly FileFinding[]): Promise<void> {
  if (findings.length === 0) return
  await tx`
    insert into findings (org_id, session_id, file_key, fingerprint, severity, project, file, created_at)
    select ${orgId}, n.*
    from ${unnest(tx, findings, {
      session_id: ['text', ({ sessionId }) => sessionId],
      file_key: ['bytea', ({ fileKey }) => fileKey],
      fingerprint: 'text',
      severity: 'text',
      project: 'text',
      file: 'text',
      created_at: ['timestamptz', ({ createdAt }) => createdAt],
    })}`
}
