import type { Sql } from '../db/client.ts'

/** Sessions with their details read at a time: some MB. */
const PAGE = 500

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
 * Every record of the organization as a line of NDJSON, newline included: members, budgets, then sessions by `created_at`
 * and `id`. What `import` makes of them gives the same answers. Sessions are read page by page, each page as of its own
 * instant: one that is written meanwhile comes as it was or as it is.
 */
export async function* exportLines(sql: Sql, orgId: string): AsyncGenerator<string> {
  yield await memberLines(sql, orgId)
  yield await budgetLines(sql, orgId)
  let after = { position: '-infinity', id: '' }
  for (;;) {
    const rows = await sessionsAfter(sql, orgId, after)
    yield rows.map(sessionLine).join('')
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = { position: last.position, id: last.id }
  }
}

/** How many sessions `exportLines` will give. */
export async function countStoredSessions(sql: Sql, orgId: string): Promise<number> {
  const [row] = await sql<{ sessions: string }[]>`
    select coalesce(sum(r.sessions), 0) as sessions
    from session_rollups r
    where r.org_id = ${orgId}
      and r.grain = 'month'
      and r.project = ''`
  return Number(row?.sessions ?? 0)
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
