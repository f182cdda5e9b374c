import { TIME_PATTERN } from '../dates.ts'
import type { Fragment, ISql, Sql } from '../db/client.ts'
import { memberAddresses } from '../db/member-addresses.ts'
import { page } from '../http/query.ts'
import type { Own } from '../people/visibility-queries.ts'
import { memberOf } from './machine-queries.ts'
import type { CoverageListQuery, CoveragePage } from './model.ts'

interface CoverageRow {
  user_key: string
  member_id: string | null
  member_email: string | null
  agent: string
  sessions: number
  transcript_tokens: number
  telemetry_tokens: number
  captured_share: number | null
  last_seen_at: string
}

/** Sums by member and agent: a member's id and addresses are one. */
const sums = (sql: ISql, orgId: string, own: Own | null): Fragment => sql`
  select
    coalesce(m.id, r.member) as user_key, m.id as member_id, m.email as member_email, r.agent,
    array_agg(distinct r.member) as keys, sum(r.main_sessions) as sessions,
    sum(r.transcript_tokens) as transcript_tokens, sum(r.telemetry_tokens) as telemetry_tokens,
    sum(r.captured_tokens) as captured_tokens
  from usage_rollups r
  left join lateral (
    select a.id, a.email
    from ${memberAddresses(sql, orgId)} a
    where r.member <> ''
      and (a.id = r.member or a.address = r.member)
    limit 1
  ) m on true
  where r.org_id = ${orgId}
    and r.dims = 'member_agent_model'
    and r.grain = 'month'
    ${own === null ? sql`` : sql`and r.member = any (${own.keys}::text[])`}
  group by 1, 2, 3, 4
  having sum(r.main_sessions) > 0`

/**
 * A page of what transcripts and telemetry say of the sessions of each member with each agent, the most tokens first; with
 * `own` of their own.
 */
export async function listCoverage(
  sql: Sql,
  orgId: string,
  query: CoverageListQuery,
  own: Own | null,
): Promise<CoveragePage> {
  const [row] = await sql<{ total: number; items: CoverageRow[] | null }[]>`
    with sums as materialized (${sums(sql, orgId, own)})
    select
      (select count(*)::integer from sums) as total,
      (
        select json_agg(
          json_build_object(
            'user_key', p.user_key,
            'member_id', p.member_id,
            'member_email', p.member_email,
            'agent', p.agent,
            'sessions', p.sessions,
            'transcript_tokens', p.transcript_tokens,
            'telemetry_tokens', p.telemetry_tokens,
            'captured_share', round(p.captured_tokens / nullif(p.transcript_tokens, 0), 6),
            'last_seen_at', to_char(l.at at time zone 'UTC', ${TIME_PATTERN})
          )
          order by p.tokens desc, p.user_key, p.agent
        )
        from (
          select s.*, s.transcript_tokens + s.telemetry_tokens as tokens
          from sums s
          order by tokens desc, s.user_key, s.agent
          limit ${query.per_page}
          offset ${(query.page - 1) * query.per_page}
        ) p
        cross join lateral (
          select max(n.at) as at
          from unnest(p.keys) as k (member)
          cross join lateral (
            select coalesce(u.ended_at, u.created_at) as at
            from session_usage u
            where u.org_id = ${orgId}
              and u.member = k.member
              and u.agent = p.agent
            order by u.created_at desc
            limit 1
          ) n
        ) l
      ) as items`
  return page((row?.items ?? []).map(coverageOf), query, row?.total ?? 0)
}

const coverageOf = (row: CoverageRow): CoveragePage['data'][number] => ({
  member: memberOf(row),
  agent: row.agent === '' ? null : row.agent,
  sessions: row.sessions,
  transcript_tokens: row.transcript_tokens,
  telemetry_tokens: row.telemetry_tokens,
  captured_share: row.captured_share,
  last_seen_at: row.last_seen_at,
})
