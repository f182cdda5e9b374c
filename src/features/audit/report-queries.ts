// Reads the report of the audit log, the one that was made or the log itself, and lists reports for the command line.

import { dateOf, TIME_PATTERN, TIME_PATTERN_US } from '../../base/dates.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import {
  type AuditEntry,
  type AuditReport,
  MAX_REPORT_ENTRIES,
  type ReportAbout,
  type ReportSummary,
} from './model.ts'

/** `at` null: starts at the newest entry (before) or at the oldest (after). */
interface Start {
  direction: 'before' | 'after'
  at: string | null
}

/** The newest compliance report, or with a position 10,000 entries and the summary of the log, from one snapshot. */
export function getReport(sql: Sql, orgId: string, start: Start, now: Date): Promise<AuditReport> {
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    const stored = start.at === null ? await findNewest(tx, orgId) : undefined
    return stored === undefined
      ? await fromLog(tx, orgId, start, now)
      : await fromReport(tx, orgId, stored, start.direction)
  })
}

interface StoredReport {
  id: string
  generated_at: string
  from: string
  to: string
  through: string | null
  snapshot_at: string
  summary: ReportSummary
}

async function findNewest(tx: ISql, orgId: string): Promise<StoredReport | undefined> {
  const [row] = await tx<StoredReport[]>`
    select r.id, r.period_from::text as from, r.period_to::text as to, r.summary,
      to_char(r.generated_at at time zone 'UTC', ${TIME_PATTERN}) as generated_at,
      to_char(r.through at time zone 'UTC', ${TIME_PATTERN_US}) as through,
      to_char(r.snapshot_at at time zone 'UTC', ${TIME_PATTERN_US}) as snapshot_at
    from reports r
    where r.org_id = ${orgId}
    order by r.generated_at desc, r.id desc
    limit 1`
  return row
}

async function fromReport(
  tx: ISql,
  orgId: string,
  report: StoredReport,
  direction: Start['direction'],
): Promise<AuditReport> {
  // entries imported after the report was generated do not belong to it; `through` null: it has no entries
  const within = tx`
    and l.created_at >= ${report.from}::date::timestamp at time zone 'UTC'
    and l.created_at < (${report.to}::date + 1)::timestamp at time zone 'UTC'
    and l.created_at <= ${report.through}::timestamptz
    and (l.recorded_at is null or l.recorded_at <= ${report.snapshot_at}::timestamptz)`
  return {
    source: 'pregenerated',
    report_id: report.id,
    generated_at: report.generated_at,
    period: { from: report.from, to: report.to },
    summary: report.summary,
    ...(await readEntries(tx, orgId, within, direction)),
  }
}

async function fromLog(tx: ISql, orgId: string, { direction, at }: Start, now: Date): Promise<AuditReport> {
  const summary = reportSummary(await readCounts(tx, orgId))
  const newest = (await findLastTime(tx, orgId, TIME_PATTERN)) ?? `${dateOf(now)}T00:00:00.000Z`
  const beyondCursor = direction === 'before' ? tx`and l.created_at < ${at}` : tx`and l.created_at > ${at}`
  return {
    source: 'fallback',
    report_id: null,
    generated_at: newest,
    period: { from: summary.by_day[0]?.date ?? dateOf(now), to: summary.by_day.at(-1)?.date ?? dateOf(now) },
    summary,
    ...(await readEntries(tx, orgId, at === null ? tx`` : beyondCursor, direction)),
  }
}

/** The organization's entries that match `within`, in the order of the direction. Reads one more to detect truncation. */
async function readEntries(tx: ISql, orgId: string, within: Fragment, direction: Start['direction']) {
  const rows = await tx<AuditEntry[]>`
    select l.id, l.action, l.user_id, l.details, coalesce(l.ip_address, '') as ip_address,
      to_char(l.created_at at time zone 'UTC', ${TIME_PATTERN_US}) as created_at
    from audit_log l
    where l.org_id = ${orgId}
      ${within}
    order by l.created_at ${direction === 'before' ? tx`desc` : tx`asc`}
    limit ${MAX_REPORT_ENTRIES + 1}`
  const data = rows.slice(0, MAX_REPORT_ENTRIES)
  const truncated = rows.length > MAX_REPORT_ENTRIES
  return { data, truncated, next_cursor: truncated ? (data.at(-1)?.created_at ?? null) : null }
}

/** The time of the newest entry, by the pattern. */
export async function findLastTime(tx: ISql, orgId: string, pattern: string): Promise<string | null> {
  const [row] = await tx<{ at: string }[]>`
    select to_char(l.created_at at time zone 'UTC', ${pattern}) as at
    from audit_log l
    where l.org_id = ${orgId}
    order by l.created_at desc
    limit 1`
  return row?.at ?? null
}

/** A number of entries: of an action, a user or a day; the others are null. */
export interface CountRow {
  action: string | null
  user_id: string | null
  date: string | null
  count: string
}

async function readCounts(tx: ISql, orgId: string): Promise<CountRow[]> {
  return await tx<CountRow[]>`
    select nullif(r.action, '') as action, nullif(r.user_id, '') as user_id, null as date, r.entries as count
    from audit_rollups r
    where r.org_id = ${orgId}
      and r.grain = 'all'
      and r.user_id || r.action <> ''
    union all
    select null, null, r.bucket::text, r.entries
    from audit_rollups r
    where r.org_id = ${orgId}
      and r.grain = 'day'
      and r.user_id = ''
      and r.action = ''`
}

export function reportSummary(rows: readonly CountRow[]): ReportSummary {
  const of = (field: 'action' | 'user_id' | 'date') =>
    rows.flatMap((row) => {
      const key = row[field]
      return key === null ? [] : [{ key, count: Number(row.count) }]
    })
  const byCount = (field: 'action' | 'user_id') =>
    of(field).sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
  const by_day = of('date')
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ key: date, count }) => ({ date, count }))
  return {
    total: by_day.reduce((sum, { count }) => sum + count, 0),
    by_action: byCount('action').map(({ key: action, count }) => ({ action, count })),
    by_user: byCount('user_id').map(({ key: user_id, count }) => ({ user_id, count })),
    by_day,
  }
}

/** The organization's compliance report with this id, for the command line. */
export async function findReport(sql: ISql, orgId: string, id: string): Promise<ReportAbout | undefined> {
  const [row] = await listReports(sql, orgId, sql`and r.id = ${id}`)
  return row
}

/** The organization's compliance reports, newest first, for the command line. */
export const listReports = async (sql: ISql, orgId: string, condition = sql``) =>
  await sql<ReportAbout[]>`
    select r.id, r.report_type, r.period_from::text as from, r.period_to::text as to,
      to_char(r.generated_at at time zone 'UTC', ${TIME_PATTERN}) as generated_at,
      (r.summary->>'total')::float8 as total
    from reports r
    where r.org_id = ${orgId}
      ${condition}
    order by r.generated_at desc, r.id desc`
