import { TIME_PATTERN } from '../../base/dates.ts'
import { memberItem, memberOf } from '../../database/member-addresses.ts'
import { listOf } from '../../http/list-queries.ts'
import { PageQuery } from '../../http/query.ts'
import { CoveragePage } from './team-model.ts'

/** The sessions of each person and agent, and what transcripts and telemetry know of them, the most tokens first. */
export const coverageList = listOf({
  query: PageQuery,
  page: CoveragePage,
  parts: (sql, orgId, _query, { onlyMember }) => ({
    tables: sql`
      with sums as materialized (
        select
          r.member, r.agent, sum(r.main_sessions) as sessions, sum(r.transcript_tokens) as transcript_tokens,
          sum(r.telemetry_tokens) as telemetry_tokens, sum(r.captured_tokens) as captured_tokens
        from usage_rollups r
        where r.org_id = ${orgId}
          and r.dims = 'member_agent_model'
          and r.grain = 'month'
          ${onlyMember === null ? sql`` : sql`and r.member = ${onlyMember.id}`}
        group by 1, 2
        having sum(r.main_sessions) > 0
      )`,
    rows: sql`select s.* from sums s`,
    order: sql`r.transcript_tokens + r.telemetry_tokens desc, r.member, r.agent`,
    joins: sql`
      ${memberOf(sql, orgId, sql`r.member`)}
      cross join lateral (
        select coalesce(u.ended_at, u.created_at) as at
        from session_usage u
        where u.org_id = ${orgId}
          and u.member = r.member
          and u.agent = r.agent
          and u.is_main
        order by u.day desc, u.created_at desc
        limit 1
      ) l`,
    fields: {
      member: memberItem(sql, sql`r.member`),
      agent: sql`nullif(r.agent, '')`,
      ...{
        sessions: sql`r.sessions`,
        transcript_tokens: sql`r.transcript_tokens`,
        telemetry_tokens: sql`r.telemetry_tokens`,
      },
      captured_share: sql`round(r.captured_tokens / nullif(r.transcript_tokens, 0), 6)`,
      last_seen_at: sql`to_char(l.at at time zone 'UTC', ${TIME_PATTERN})`,
    },
  }),
  // numbers without the zeros of their decimals
  text: ({ items }, pagination) => JSON.stringify({ data: JSON.parse(`[${items}]`), pagination }),
})
