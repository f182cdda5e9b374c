// Generates and stores the compliance reports of a batch from the log as it is now: call it after the batch's audit records.
// Needs the organization's lock. The same record again changes nothing; another period or type under a known id generates
// that report again. Throws VALIDATION_ERROR for a period that ends before it begins.

import type { ReportType } from '../../analysis/records/audit.ts'
import { findChanges, type WriteResult } from '../../analysis/records/changes.ts'
import type { SentRecord } from '../../analysis/records/records.ts'
import { microsOf, TIME_PATTERN_US, timestampOf } from '../../base/dates.ts'
import { fieldError } from '../../base/errors.ts'
import { derivedId, idsOf } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import { replaced, unnest } from '../../database/rows.ts'
import type { ReportSummary } from './model.ts'
import { type CountRow, findLastTime, reportSummary } from './report-queries.ts'

/** A report to generate. Times have six decimals; null: the record does not give them. */
interface ReportFields {
  id: string
  report_type: ReportType
  from: string
  to: string
  generated_at: string | null
  through: string | null
}

export interface ReportsWritten extends WriteResult {
  generated: readonly Pick<ReportFields, 'id' | 'report_type' | 'from' | 'to'>[]
}

export async function writeReports(
  tx: ISql,
  orgId: string,
  sent: readonly SentRecord<'report'>[],
): Promise<ReportsWritten> {
  const reports = sent.map(wantedOf)
  const stored = await findReports(tx, orgId, idsOf(reports))
  const { rows, ...result } = findChanges(reports, stored, { keyOf: ({ id }) => id, isSame })
  await buildReports(tx, orgId, rows)
  return { ...result, generated: rows }
}

/** The time with six decimals. */
const sixDecimals = (text: string | null | undefined) => (text ? timestampOf(microsOf(text)) : null)

function wantedOf({ prefix, record }: SentRecord<'report'>): ReportFields {
  const { report_type, from, to } = record
  if (from > to) throw fieldError(`${prefix}from`, 'must not be after to')
  const id = record.id ?? derivedId('report', report_type, from, to)
  const [generated_at, through] = [sixDecimals(record.generated_at), sixDecimals(record.through)]
  return { id, report_type, from, to, generated_at, through }
}

const isSame = (report: ReportFields, other: ReportFields): boolean =>
  report.report_type === other.report_type &&
  report.from === other.from &&
  report.to === other.to &&
  (report.generated_at === null || report.generated_at === other.generated_at) &&
  (report.through === null || report.through === other.through)

async function findReports(tx: ISql, orgId: string, ids: string[]): Promise<Map<string, ReportFields>> {
  const rows = await tx<ReportFields[]>`
    select r.id, r.report_type, r.period_from::text as from, r.period_to::text as to,
      to_char(r.generated_at at time zone 'UTC', ${TIME_PATTERN_US}) as generated_at,
      to_char(r.through at time zone 'UTC', ${TIME_PATTERN_US}) as through
    from reports r
    where r.org_id = ${orgId}
      and r.id = any(${ids}::text[])`
  return new Map(rows.map((row) => [row.id, row]))
}

const COLUMNS = [
  ...['report_type', 'period_from', 'period_to', 'generated_at', 'through', 'snapshot_at', 'summary'],
]

async function buildReports(tx: ISql, orgId: string, reports: readonly ReportFields[]): Promise<void> {
  if (reports.length === 0) return
  const last = await findLastTime(tx, orgId, TIME_PATTERN_US)
  const bounded = reports.map((report) => ({ ...report, through: report.through ?? last }))
  const summaries = await summarize(tx, orgId, bounded)
  await tx`
    insert into reports (org_id, id, ${tx.unsafe(COLUMNS.join(', '))})
    select
      ${orgId}, n.id, n.report_type, n.period_from, n.period_to, coalesce(n.generated_at, c.now), n.through, c.now,
      n.summary
    from ${unnest(tx, bounded, {
      id: 'text',
      report_type: 'text',
      period_from: ['date', ({ from }) => from],
      period_to: ['date', ({ to }) => to],
      generated_at: 'timestamptz',
      through: 'timestamptz',
      summary: ['json', ({ id }) => JSON.stringify(summaries.get(id) ?? reportSummary([]))],
    })}
    cross join (select clock_timestamp() as now) c
    on conflict (org_id, id) do update set ${replaced(tx, COLUMNS)}`
}

/** Summaries by id: whole days are read from the counts, the day of `through` from the log itself. */
async function summarize(tx: ISql, orgId: string, reports: readonly ReportFields[]) {
  const rows = await tx<(CountRow & { id: string })[]>`
    select n.id, c.action, c.user_id, c.date::text as date, c.count
    from ${unnest(tx, reports, {
      id: 'text',
      period_from: ['date', ({ from }) => from],
      period_to: ['date', ({ to }) => to],
      through: 'timestamptz',
    })}
    cross join lateral (
      select e.action, e.user_id, e.date, sum(e.entries) as count
      from (
        select r.action, r.user_id, r.bucket as date, r.entries
        from audit_rollups r
        where r.org_id = ${orgId}
          and r.grain = 'day'
          and r.user_id <> ''
          and r.action <> ''
          and r.bucket >= n.period_from
          and r.bucket <= n.period_to
          and r.bucket < (n.through at time zone 'UTC')::date
        union all
        select l.action, l.user_id, (l.created_at at time zone 'UTC')::date, 1
        from audit_log l
        where l.org_id = ${orgId}
          and l.created_at >= date_trunc('day', n.through, 'UTC')
          and l.created_at >= n.period_from::timestamp at time zone 'UTC'
          and l.created_at < (n.period_to + 1)::timestamp at time zone 'UTC'
          and l.created_at <= n.through
      ) e
      group by grouping sets ((e.action), (e.user_id), (e.date))
    ) c`
  const summaries = new Map<string, ReportSummary>()
  for (const [id, counts] of Map.groupBy(rows, (row) => row.id)) summaries.set(id, reportSummary(counts))
  return summaries
}
