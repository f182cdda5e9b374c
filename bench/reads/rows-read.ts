import type { Sql } from '../../src/database/client.ts'
import type { BenchOrg } from '../support/data.ts'
import { readsOfAll, statementsOf } from '../support/plans.ts'
import { print, printColumns } from '../support/table.ts'
import { CASES } from './cases.ts'

const PER_PAGE = 50
/**
 * A page of the audit report, the newest entry (its time), and the entry after the page (whether there are
 * more).
 */
const REPORT_READS = 10_002
/** Read all sessions that match (docs/figures.md). */
const READS_SESSIONS: ReadonlySet<string> = new Set(['breakdown by branch', 'sessions that cost a dollar'])

/**
 * Prints how many rows of the history (sessions and their details, findings, audit entries, risk scores, commits) each case
 * reads, and returns the number of cases that read more than a page and a day. A case without a factor may read more, but
 * only from an index.
 */
export async function printReads(sql: Sql, org: BenchOrg): Promise<number> {
  const pageAndDay = PER_PAGE + org.fullestDay
  const rows: string[][] = []
  let failures = 0
  for (const { name, limit, query } of CASES) {
    const statements = await statementsOf(sql, () => query(sql, org))
    const custom = await readsOfAll(sql, statements, 'force_custom_plan')
    const generic = await readsOfAll(sql, statements, 'force_generic_plan')
    const most = name.startsWith('audit report') ? REPORT_READS : pageAndDay
    const good = [custom, generic].every(
      (reads) =>
        READS_SESSIONS.has(name) || (reads.rows <= most && (limit === null || reads.indexOnly <= most)),
    )
    if (!good) failures += 1
    const counts = [custom.rows, custom.indexOnly, generic.rows, generic.indexOnly]
    rows.push([name, ...counts.map(String), good ? 'ok' : 'BEYOND'])
  }
  print(
    `\nrows of the history read at ${org.name}: at most a page and the fullest day, ${pageAndDay}; the audit report ${REPORT_READS}`,
  )
  const heads = ['own plan: rows', 'index entries', 'plan for any: rows', 'index entries']
  printColumns([['case', ...heads, 'verdict'], ...rows])
  return failures
}
