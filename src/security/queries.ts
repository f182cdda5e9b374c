import type { Static } from '@sinclair/typebox'
import type { Sql } from '../db/client.ts'
import type { SecurityMetadata } from '../sessions/model.ts'
import type { SecurityOverview, SecurityQuery } from './model.ts'

const RECENT_SESSIONS = 10

interface OverviewRow {
  sessions: string
  avg_score: string
  min_score: string
  max_score: string
  /** null in the one row of no sessions */
  id: string | null
  project: string
  created_at: Date
  security_metadata: Static<typeof SecurityMetadata>
}

/**
 * Scores of the sessions that match, from the rollup, and the newest of them, in one statement and so as of one instant.
 * Costs a row a month, with dates a row a day, and 10 sessions, however many match.
 */
export async function getSecurity(sql: Sql, orgId: string, query: SecurityQuery): Promise<SecurityOverview> {
  const { project, date_from, date_to } = query
  const grain = date_from === undefined && date_to === undefined ? 'month' : 'day'
  const rows = await sql<OverviewRow[]>`
    select t.*, p.*
    from (
      select
        coalesce(sum(r.sessions), 0) as sessions,
        coalesce(round(sum(r.security_sum) / sum(r.sessions), 2), 0) as avg_score,
        coalesce(min(r.security_min), 0) as min_score,
        coalesce(max(r.security_max), 0) as max_score
      from session_rollups r
      where r.org_id = ${orgId}
        and r.grain = ${grain}
        and r.project = ${project ?? ''}
        ${date_from === undefined ? sql`` : sql`and r.bucket >= ${date_from}`}
        ${date_to === undefined ? sql`` : sql`and r.bucket <= ${date_to}`}
    ) t
    left join (
      select n.id, n.project, n.created_at, d.detail->'security_metadata' as security_metadata
      from (
        select s.id, s.project, s.created_at
        from sessions s
        where s.org_id = ${orgId}
          ${project === undefined ? sql`` : sql`and s.project = ${project}`}
          ${date_from === undefined ? sql`` : sql`and s.created_at >= ${date_from}::date::timestamp at time zone 'UTC'`}
          ${date_to === undefined ? sql`` : sql`and s.created_at < (${date_to}::date + 1)::timestamp at time zone 'UTC'`}
        order by s.created_at desc, s.id desc
        limit ${RECENT_SESSIONS}
      ) n
      join session_details d on d.org_id = ${orgId} and d.session_id = n.id
    ) p on true
    order by p.created_at desc, p.id desc`
  const [first] = rows
  return {
    summary: {
      avg_score: Number(first?.avg_score ?? 0),
      min_score: Number(first?.min_score ?? 0),
      max_score: Number(first?.max_score ?? 0),
      total_sessions: Number(first?.sessions ?? 0),
    },
    recent_sessions: rows.flatMap(({ id, project: own, created_at, security_metadata }) =>
      id === null ? [] : [{ id, project: own, created_at: created_at.toISOString(), security_metadata }],
    ),
  }
}
