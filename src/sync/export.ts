import { commitLines, countStoredCommits } from '../commits/queries.ts'
import type { Sql } from '../db/client.ts'
import { countRisks, riskRecords } from '../risk/queries.ts'

/** Sessions with their details read at a time: some MB. */
const PAGE = 500
/** Audit entries read at a time. */
const AUDIT_PAGE = 5_000
const TIME_US = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'

interface SessionRow {
  id: string
  project_name: string
  created_at: Date
  /** The same with microseconds, where the next page begins. */
  position: string
  turns: number
  estimated_cost: string
  quality_score: string
  user_id: string | null
  user_email: string | null
  detail: string
}

/**
 * Every record of the organization as a line of NDJSON, newline included: members, budgets, commits, risk
 * scores, the audit log, the reports
 * made of it (which count what was imported before them), then sessions by `created_at` and `id`. What `import` makes of them gives the same answers. Sessions are read page by page, each page as of its own
 * instant: one that is written meanwhile comes as it was or as it is.
 */
export async function* exportLines(sql: Sql, orgId: string): AsyncGenerator<string> {
  yield await memberLines(sql, orgId)
  yield await budgetLines(sql, orgId)
  yield* commitLines(sql, orgId)
  for await (const records of riskRecords(sql, orgId)) yield records.map(line).join('')
  yield* auditLines(sql, orgId)
  yield await reportLines(sql, orgId)
  let after = { position: '-infinity', id: '' }
  for (;;) {
    const rows = await sessionsAfter(sql, orgId, after)
    yield rows.map(sessionLine).join('')
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = { position: last.position, id: last.id }
  }
}

/** How many sessions, commits, risk scores and audit entries `exportLines` will give. */
export async function countStored(sql: Sql, orgId: string): Promise<number> {
  const [row] = await sql<{ stored: string }[]>`
    select
      (
        select coalesce(sum(r.sessions), 0)
        from session_rollups r
        where r.org_id = ${orgId}
          and r.grain = 'month'
          and r.project = ''
      ) + (
        select coalesce(sum(a.entries), 0)
        from audit_rollups a
        where a.org_id = ${orgId}
          and a.grain = 'all'
          and a.user_id = ''
          and a.action = ''
      ) as stored`
  return Number(row?.stored ?? 0) + (await countStoredCommits(sql, orgId)) + (await countRisks(sql, orgId))
}

const line = (value: object): string => `${JSON.stringify(value)}\n`

async function memberLines(sql: Sql, orgId: string): Promise<string> {
  const rows = await sql<
    { id: string; email: string; display_name: string; role: string; joined_at: Date }[]
  >`
    select m.id, m.email, m.display_name, m.role, m.joined_at
    from members m
    where m.org_id = ${orgId}
    order by m.joined_at, m.id`
  return rows.map((row) => line({ type: 'member', ...row })).join('')
}

async function budgetLines(sql: Sql, orgId: string): Promise<string> {
  const rows = await sql<{ month: string; limit: string }[]>`
    select to_char(b.month, 'YYYY-MM') as month, b.limit_usd::text as limit
    from budgets b
    where b.org_id = ${orgId}
    order by b.month`
  return rows.map((row) => line({ type: 'budget', month: row.month, limit: Number(row.limit) })).join('')
}

interface AuditRow {
  id: string
  action: string
  user_id: string
  created_at: string
  details: string
  ip_address: string | null
}

async function* auditLines(sql: Sql, orgId: string): AsyncGenerator<string> {
  let after = '-infinity'
  for (;;) {
    const rows = await sql<AuditRow[]>`
      select l.id, l.action, l.user_id, to_char(l.created_at at time zone 'UTC', ${TIME_US}) as created_at,
        l.ip_address, l.details::text as details
      from audit_log l
      where l.org_id = ${orgId}
        and l.created_at > ${after}::timestamptz
      order by l.created_at
      limit ${AUDIT_PAGE}`
    yield rows.map(auditLine).join('')
    const last = rows.at(-1)
    if (last === undefined || rows.length < AUDIT_PAGE) return
    after = last.created_at
  }
}

/** The stored details are put in as they are. */
function auditLine({ details, ...row }: AuditRow): string {
  return `${JSON.stringify({ type: 'audit', ...row }).slice(0, -1)},"details":${details}}\n`
}

async function reportLines(sql: Sql, orgId: string): Promise<string> {
  const rows = await sql<{ id: string }[]>`
    select r.id, r.report_type, r.period_from::text as from, r.period_to::text as to,
      to_char(r.generated_at at time zone 'UTC', ${TIME_US}) as generated_at,
      to_char(r.through at time zone 'UTC', ${TIME_US}) as through
    from reports r
    where r.org_id = ${orgId}
    order by r.generated_at, r.id`
  return rows.map((row) => line({ type: 'report', ...row })).join('')
}

async function sessionsAfter(
  sql: Sql,
  orgId: string,
  after: { position: string; id: string },
): Promise<SessionRow[]> {
  return await sql<SessionRow[]>`
    select s.id, s.project as project_name, s.created_at, s.created_at::text as position, s.turns, s.estimated_cost,
      s.quality_score, s.user_id, s.user_email,
      (
        select d.detail::text
        from session_details d
        where d.org_id = s.org_id
          and d.session_id = s.id
      ) as detail
    from sessions s
    where s.org_id = ${orgId}
      and (s.created_at, s.id) > (${after.position}::timestamptz, ${after.id})
    order by s.created_at, s.id
    limit ${PAGE}`
}

/** The stored detail is already the record's text: it is put behind the other fields as it is. */
function sessionLine({ position: _position, detail, ...row }: SessionRow): string {
  const head = JSON.stringify({
    type: 'session',
    ...row,
    estimated_cost: Number(row.estimated_cost),
    quality_score: Number(row.quality_score),
  })
  return `${head.slice(0, -1)},${detail.slice(1)}\n`
}
