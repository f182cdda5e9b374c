import { countAuditEntries, exportAuditEntries, exportReports } from '../audit/export.ts'
import { commitLines, countStoredCommits } from '../commits/queries.ts'
import { exportBudgets } from '../cost/export.ts'
import type { Sql } from '../db/client.ts'
import { countRisks, riskRecords } from '../risk/queries.ts'
import { countSessions, exportSessions } from '../sessions/export.ts'
import { exportMembers } from '../team/export.ts'

/**
 * Every record of the organization as lines of NDJSON, newlines included: an organization that imports them gives the same
 * responses. Reports come after the audit entries that they count.
 */
export async function* exportLines(sql: Sql, orgId: string): AsyncGenerator<string> {
  yield await exportMembers(sql, orgId)
  yield await exportBudgets(sql, orgId)
  yield* commitLines(sql, orgId)
  for await (const records of riskRecords(sql, orgId)) {
    yield records.map((record) => `${JSON.stringify(record)}\n`).join('')
  }
  yield* exportAuditEntries(sql, orgId)
  yield await exportReports(sql, orgId)
  yield* exportSessions(sql, orgId)
}

/** Counts the sessions, commits, risk scores and audit entries that `exportLines` yields. */
export async function countStored(sql: Sql, orgId: string): Promise<number> {
  const counts = await Promise.all(
    [countSessions, countStoredCommits, countRisks, countAuditEntries].map((count) => count(sql, orgId)),
  )
  return counts.reduce((total, count) => total + count, 0)
}
