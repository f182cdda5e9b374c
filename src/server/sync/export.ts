// Writes all of an organization as records, one a line, and counts them, for the command `export`.

import { findZone } from '../../accounts/organizations/zone-queries.ts'
import { UTC } from '../../base/dates.ts'
import type { Sql } from '../../database/client.ts'
import { countAuditEntries, exportAuditEntries, listReportRecords } from '../../features/audit/export.ts'
import { listBudgetLimits } from '../../features/budgets/limit-queries.ts'
import { commitPages, countStoredCommits } from '../../features/commits/queries.ts'
import { listStoredEffects } from '../../features/effects/effect-queries.ts'
import { listMembersWithAliases } from '../../features/members/member-queries.ts'
import { listNotes } from '../../features/notes/queries.ts'
import { countRisks, riskRecords } from '../../features/risk/queries.ts'
import { listLimitRecords, listPlanRecords } from '../../features/seats/record-queries.ts'
import { countSessions, exportSessions } from '../../features/sessions/export.ts'

const COMMITS = 500

const linesOf = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

/**
 * Every record of the organization as lines of NDJSON, newlines included: an organization that imports them gives the same
 * responses. The time zone of days comes first where it is another than UTC. Reports come after the audit entries that they count.
 */
export async function* exportLines(sql: Sql, orgId: string): AsyncGenerator<string> {
  const time_zone = await findZone(sql, orgId)
  if (time_zone !== UTC) yield linesOf([{ type: 'organization', time_zone }])
  const members = await listMembersWithAliases(sql, orgId)
  yield linesOf(
    members.map(({ team, aliases, ...row }) => ({
      ...{ type: 'member', ...row },
      ...(team !== null && { team }),
      ...(aliases.length > 0 && { aliases }),
    })),
  )
  const budgets = await listBudgetLimits(sql, orgId)
  yield linesOf(budgets.map(({ currency: _currency, ...budget }) => ({ type: 'budget', ...budget })))
  yield linesOf((await listNotes(sql, orgId)).map((note) => ({ type: 'note', ...note })))
  yield linesOf(await listPlanRecords(sql, orgId))
  for await (const records of listLimitRecords(sql, orgId)) yield linesOf(records)
  yield linesOf((await listStoredEffects(sql, orgId)).map((effect) => ({ type: 'effect', ...effect })))
  for await (const records of commitPages(sql, orgId, { size: COMMITS })) yield linesOf(records)
  for await (const records of riskRecords(sql, orgId)) yield linesOf(records)
  yield* exportAuditEntries(sql, orgId)
  yield linesOf(await listReportRecords(sql, orgId))
  yield* exportSessions(sql, orgId)
}

export async function countStored(sql: Sql, orgId: string): Promise<number> {
  const counts = await Promise.all(
    [countSessions, countStoredCommits, countRisks, countAuditEntries].map((count) => count(sql, orgId)),
  )
  return counts.reduce((total, count) => total + count, 0)
}
