// Reads the audit log and its reports as records, for the export.

import { TIME_PATTERN_US } from '../../base/dates.ts'
import type { Sql } from '../../database/client.ts'
import { pagesOf } from '../../database/rows.ts'
import type { AuditEntry } from './model.ts'

const PAGE = 5_000

type EntryRow = Omit<AuditEntry, 'details' | 'ip_address'> & { details: string; ip_address: string | null }

/** Every audit entry as a line of NDJSON, in order of time, page by page. */
export async function* exportAuditEntries(sql: Sql, orgId: string): AsyncGenerator<string> {
  const entriesAfter = async ({ created_at }: Pick<EntryRow, 'created_at'>): Promise<EntryRow[]> =>
    await sql<EntryRow[]>`
      select l.id, l.action, l.user_id, to_char(l.created_at at time zone 'UTC', ${TIME_PATTERN_US}) as created_at,
        l.ip_address, l.details::text as details
      from audit_log l
      where l.org_id = ${orgId}
        and l.created_at > ${created_at}::timestamptz
      order by l.created_at
      limit ${PAGE}`
  for await (const rows of pagesOf(PAGE, { created_at: '-infinity' }, entriesAfter))
    yield rows.map(entryLine).join('')
}

/** The stored details are JSON already. */
function entryLine({ details, ...row }: EntryRow): string {
  return `${JSON.stringify({ type: 'audit', ...row }).slice(0, -1)},"details":${details}}\n`
}

export async function countAuditEntries(sql: Sql, orgId: string): Promise<number> {
  const [row] = await sql<{ entries: string }[]>`
    select coalesce(sum(r.entries), 0) as entries
    from audit_rollups r
    where r.org_id = ${orgId}
      and r.grain = 'all'
      and r.user_id = ''
      and r.action = ''`
  return Number(row?.entries ?? 0)
}

/** Every report as a record, without its summary: import generates it from the audit entries. */
export const listReportRecords = (sql: Sql, orgId: string) =>
  sql<{ id: string }[]>`
    select 'report' as type, r.id, r.report_type, r.period_from::text as from, r.period_to::text as to,
      to_char(r.generated_at at time zone 'UTC', ${TIME_PATTERN_US}) as generated_at,
      to_char(r.through at time zone 'UTC', ${TIME_PATTERN_US}) as through
    from reports r
    where r.org_id = ${orgId}
    order by r.generated_at, r.id`
