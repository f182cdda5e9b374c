import type { Sql } from '../../database/client.ts'
import { countAuditEntries, exportAuditEntries, exportReports } from '../../features/audit/export.ts'
import { commitLines, countStoredCommits } from '../../features/commits/queries.ts'
import { exportBudgets } from '../../features/cost/export.ts'
import { countRisks, riskRecords } from '../../features/risk/queries.ts'
import { countSessions, exportSessions } from '../../features/sessions/export.ts'
import { exportMembers } from '../../features/team/export.ts'

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
