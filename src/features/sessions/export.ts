// Reads stored sessions as lines of NDJSON, for the export and for what composes their records again.

import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { pagesOf } from '../../database/rows.ts'
import { sessionSums } from '../usage/sums.ts'

/** Sessions with their details read at a time: some MB. */
const PAGE = 500

/** A session with its detail, as `exportedColumns` selects it. */
export interface SessionRow {
  id: string
  project_name: string | null
  created_at: Date
  turns: number
  estimated_cost: string
  unpriced_tokens: string
  quality_score: string
  user_id: string | null
  user_email: string | null
  detail: string
  parts: string | null
  includes: string[] | null
}

/** `position`: `created_at` with microseconds, where the next page begins. */
type PlacedRow = SessionRow & { position: string }

/**
 * Every session as a line of NDJSON, by `created_at` and `id`, page by page. Each page is as of its own instant: a session
 * that is written meanwhile is exported as it was before or after.
 */
export async function* exportSessions(sql: Sql, orgId: string): AsyncGenerator<string> {
  const sessionsAfter = async ({ position, id }: Pick<PlacedRow, 'position' | 'id'>): Promise<PlacedRow[]> =>
    await sql<PlacedRow[]>`
      select ${exportedColumns(sql, orgId)}, s.created_at::text as position
      from sessions s
      where s.org_id = ${orgId}
        and (s.created_at, s.id) > (${position}::timestamptz, ${id})
      order by s.created_at, s.id
      limit ${PAGE}`
  for await (const rows of pagesOf(PAGE, { position: '-infinity', id: '' }, sessionsAfter))
    yield rows.map(({ position: _position, ...row }) => sessionLine(row)).join('')
}

export const exportedColumns = (sql: ISql, orgId: string): Fragment => sql`
  s.id, nullif(s.project, '') as project_name, s.created_at, s.turns, s.estimated_cost,
  s.unpriced_tokens, s.quality_score, s.user_id, s.user_email,
  (
    select d.detail::text
    from session_details d
    where d.org_id = ${orgId}
      and d.session_id = s.id
  ) as detail,
  (
    select d.parts
    from session_details d
    where d.org_id = ${orgId}
      and d.session_id = s.id
  ) as parts,
  (
    select json_agg(i.sub_agent_id order by i.sub_agent_id)
    from session_includes i
    where i.org_id = ${orgId}
      and i.session_id = s.id
  ) as includes`

/** The session's record as a line of NDJSON. The stored detail is a JSON object already: its fields follow the others. */
export function sessionLine({ detail, parts, includes, ...row }: SessionRow): string {
  const head = JSON.stringify({
    type: 'session',
    ...row,
    estimated_cost: Number(row.estimated_cost),
    unpriced_tokens: Number(row.unpriced_tokens),
    quality_score: Number(row.quality_score),
    ...(parts === null ? {} : { parts }),
    ...(includes === null ? {} : { includes }),
  })
  return `${head.slice(0, -1)},${detail.slice(1)}\n`
}

export async function countSessions(sql: Sql, orgId: string): Promise<number> {
  const [row] = await sql<{ sessions: string }[]>`
    select coalesce(sum(r.sessions), 0) as sessions
    from (${sessionSums(sql, orgId, {}, 'month')}) r`
  return Number(row?.sessions ?? 0)
}
