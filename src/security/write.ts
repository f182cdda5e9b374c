import type { ISql } from '../db/client.ts'
import { counting } from '../db/rollups.ts'
import { unnest } from '../db/rows.ts'
import { type FindingRow, findingRowsOf, type SessionWithFindings } from './file-findings.ts'
import { updateFileRisks } from './file-risks.ts'
import { FINDING_ROLLUPS } from './finding-rollups.ts'

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
  const before = known.size === 0 ? [] : await findRows(tx, orgId, [...known])
  const after = findingRowsOf(sessions)
  const removed = difference(before, after)
  const added = difference(after, before)
  const changed = [...removed, ...added]
  if (changed.length === 0) return
  const rows = tx`s.session_id = any(${changed.map(({ session_id }) => session_id)}::text[])`
  await counting(tx, orgId, FINDING_ROLLUPS, { before: rows, after: rows }, async () => {
    await deleteRows(tx, orgId, removed)
    await insertRows(tx, orgId, added)
  })
  const files = changed.flatMap(({ project, file, file_key }) =>
    file === null || file_key === null ? [] : [{ project, file, file_key }],
  )
  if (files.length > 0) await updateFileRisks(tx, orgId, files)
}

const rowKey = (row: FindingRow): string =>
  JSON.stringify(Object.keys(COLUMNS).map((column) => row[column as keyof FindingRow]))

const difference = (rows: readonly FindingRow[], others: readonly FindingRow[]): FindingRow[] => {
  const known = new Set(others.map(rowKey))
  return rows.filter((row) => !known.has(rowKey(row)))
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
