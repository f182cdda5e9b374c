import type { ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import {
  type FileFinding,
  type FindingRow,
  fileFindingsOf,
  findingRowsOf,
  type SessionWithFindings,
} from './file-findings.ts'
import { updateFileRisks } from './file-risks.ts'
import { updateFileRollups } from './file-rollups.ts'
import { updateFindingRollups } from './finding-rollups.ts'

/**
 * Updates the findings and the heatmap's tables for the sessions just written. `known`: the ids of those that were stored
 * before; one that is not among the sessions was deleted. Needs the organization's lock, in the transaction that writes the sessions: counts change by the
 * findings that are removed and added.
 */
export async function writeFindings(
  tx: ISql,
  orgId: string,
  sessions: readonly SessionWithFindings[],
  known: ReadonlySet<string>,
): Promise<void> {
  const rowsBefore = known.size === 0 ? [] : await findRows(tx, orgId, [...known])
  const rowsAfter = findingRowsOf(sessions)
  await deleteRows(tx, orgId, difference(rowsBefore, rowsAfter, rowKey))
  await insertRows(tx, orgId, difference(rowsAfter, rowsBefore, rowKey))
  const [before, after] = [fileFindingsOf(rowsBefore), fileFindingsOf(rowsAfter)]
  const removed = difference(before, after, findingKey)
  const added = difference(after, before, findingKey)
  if (removed.length + added.length === 0) return
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

const rowKey = (row: FindingRow): string =>
  JSON.stringify(Object.keys(COLUMNS).map((column) => row[column as keyof FindingRow]))

/** One finding of each key that is in `findings` and not in `others`. */
function difference<Row>(
  findings: readonly Row[],
  others: readonly Row[],
  keyOf: (finding: Row) => string,
): Row[] {
  const seen = new Set(others.map(keyOf))
  return findings.filter((finding) => {
    const key = keyOf(finding)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

const COLUMNS = {
  session_id: 'text',
  position: 'integer',
  id: 'text',
  rule_id: 'text',
  category: 'text',
  severity: 'text',
  title: 'text',
  description: 'text',
  file: 'text',
  file_key: 'bytea',
  line: 'integer',
  turn_number: 'integer',
  fingerprint: 'text',
  status: 'text',
  note: 'text',
  project: 'text',
  member: 'text',
  created_at: 'timestamptz',
} as const

async function findRows(tx: ISql, orgId: string, ids: readonly string[]): Promise<FindingRow[]> {
  const rows = await tx<(Omit<FindingRow, 'created_at'> & { created_at: Date })[]>`
    select
      f.session_id, f.position, f.id, f.rule_id, f.category, f.severity, f.title, f.description, f.file,
      encode(f.file_key, 'hex') as file_key, f.line, f.turn_number, f.fingerprint, f.status, f.note, f.project, f.member,
      f.created_at
    from findings f
    where f.org_id = ${orgId}
      and f.session_id = any(${[...ids]}::text[])`
  return rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() }))
}

async function deleteRows(tx: ISql, orgId: string, rows: readonly FindingRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx`
    delete from findings f
    using ${unnest(tx, rows, { session_id: 'text', position: 'integer' })}
    where f.org_id = ${orgId}
      and f.session_id = n.session_id
      and f.position = n.position`
}

async function insertRows(tx: ISql, orgId: string, rows: readonly FindingRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx`
    insert into findings (org_id, ${tx.unsafe(Object.keys(COLUMNS).join(', '))})
    select ${orgId}, n.*
    from ${unnest(tx, rows, COLUMNS)}`
}
