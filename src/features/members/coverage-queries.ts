import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { memberItem, memberOf } from '../../database/member-addresses.ts'
import { type PageQuery, page } from '../../http/query.ts'
import type { CoveragePage } from './team-model.ts'

// Says what transcripts and telemetry know of each person’s sessions, by agent.

/** Sums by person and agent. */
const sums = (sql: ISql, orgId: string, onlyMember: VisibleMember | null): Fragment => sql`
  select
    r.member as user_key, m.id, m.email, r.agent, sum(r.main_sessions) as sessions,
    sum(r.transcript_tokens) as transcript_tokens, sum(r.telemetry_tokens) as telemetry_tokens,
    sum(r.captured_tokens) as captured_tokens
  from usage_rollups r
  ${memberOf(sql, orgId, sql`r.member`)}
  where r.org_id = ${orgId}
    and r.dims = 'member_agent_model'
    and r.grain = 'month'
    ${onlyMember === null ? sql`` : sql`and r.member = ${onlyMember.id}`}
  group by 1, 2, 3, 4
  having sum(r.main_sessions) > 0`

/**
 * A page of what transcripts and telemetry say of the sessions of each member with each agent, the most tokens first; with
 * `onlyMember` of their own.
 */
export async function listCoverage(
  sql: Sql,
  orgId: string,
  query: PageQuery,
  onlyMember: VisibleMember | null,
): Promise<CoveragePage> {
  const [row] = await sql<{ total: number; items: CoveragePage['data'] | null }[]>`
    with sums as materialized (${sums(sql, orgId, onlyMember)})
    select
      (select count(*)::integer from sums) as total,
      (
        select json_agg(
          json_build_object(
            'member', ${memberItem(sql, sql`m.user_key`)},
            'agent', nullif(m.agent, ''),
            'sessions', m.sessions,
            'transcript_tokens', m.transcript_tokens,
            'telemetry_tokens', m.telemetry_tokens,
            'captured_share', round(m.captured_tokens / nullif(m.transcript_tokens, 0), 6),
            'last_seen_at', to_char(l.at at time zone 'UTC', ${TIME_PATTERN})
          )
          order by m.tokens desc, m.user_key, m.agent
        )
        from (
          select s.*, s.transcript_tokens + s.telemetry_tokens as tokens
          from sums s
          order by tokens desc, s.user_key, s.agent
          limit ${query.per_page}
          offset ${(query.page - 1) * query.per_page}
        ) m
        cross join lateral (
          select coalesce(u.ended_at, u.created_at) as at
          from session_usage u
          where u.org_id = ${orgId}
            and u.member = m.user_key
            and u.agent = m.agent
            and u.is_main
          order by u.day desc, u.created_at desc
          limit 1
        ) l
      ) as items`
  return page(row?.items ?? [], query, row?.total ?? 0)
}
