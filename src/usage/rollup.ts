import { rollup } from '../db/rollups.ts'

/**
 * The sums of breakdowns, each row of the columns that `dims` names. Rows that are not of models count a session by its
 * main part only.
 */
export const USAGE_ROLLUP = rollup({
  name: 'usage_rollups',
  key: ['dims', 'grain', 'bucket', 'project', 'member', 'agent', 'model', 'branch'],
  sums: [
    ...['sessions', 'main_sessions', 'turns', 'main_turns', 'cost', 'input', 'output', 'cache_read'],
    ...['cache_creation', 'unpriced_tokens', 'transcript_tokens', 'telemetry_tokens', 'captured_tokens'],
  ],
  rows: (sql, orgId) => sql`
    from session_usage s
    where s.org_id = ${orgId}`,
  count: (sql, rows) => sql`
    with days as materialized (
      select
        s.day, s.project, s.member, s.agent, s.model, s.branch,
        count(*) as sessions, count(*) filter (where s.is_main) as main_sessions,
        sum(s.turns) as turns, coalesce(sum(s.turns) filter (where s.is_main), 0) as main_turns, sum(s.cost) as cost,
        sum(s.input) as input, sum(s.output) as output, sum(s.cache_read) as cache_read,
        sum(s.cache_creation) as cache_creation, sum(s.unpriced_tokens) as unpriced_tokens,
        sum(s.transcript_tokens) as transcript_tokens, sum(s.telemetry_tokens) as telemetry_tokens,
        sum(least(s.transcript_tokens, s.telemetry_tokens)) as captured_tokens
      ${rows}
      group by s.day, s.project, s.member, s.agent, s.model, s.branch
    )
    select
      k.dims, k.grain,
      case k.grain when 'day' then d.day else date_trunc('month', d.day::timestamp)::date end as bucket,
      case when k.has_project then d.project else '' end as project,
      case when k.has_member then d.member else '' end as member,
      case when k.has_models then d.agent else '' end as agent,
      case when k.has_models then d.model else '' end as model,
      case when k.has_branch then d.branch else '' end as branch,
      sum(case when k.has_models then d.sessions else d.main_sessions end)::bigint as sessions,
      sum(d.main_sessions)::bigint as main_sessions,
      sum(case when k.has_models then d.turns else d.main_turns end)::bigint as turns,
      sum(d.main_turns)::bigint as main_turns, sum(d.cost) as cost,
      sum(d.input)::bigint as input, sum(d.output)::bigint as output, sum(d.cache_read)::bigint as cache_read,
      sum(d.cache_creation)::bigint as cache_creation, sum(d.unpriced_tokens)::bigint as unpriced_tokens,
      sum(d.transcript_tokens)::bigint as transcript_tokens, sum(d.telemetry_tokens)::bigint as telemetry_tokens,
      sum(d.captured_tokens)::bigint as captured_tokens
    from days d
    cross join (
      values
        ('agent_model', 'day', false, false, true, false),
        ('agent_model', 'month', false, false, true, false),
        ('project', 'day', true, false, false, false),
        ('member', 'day', false, true, false, false),
        ('project_agent_model', 'month', true, false, true, false),
        ('member_agent_model', 'month', false, true, true, false),
        ('project_member', 'month', true, true, false, false),
        ('project_branch', 'month', true, false, false, true)
    ) as k (dims, grain, has_project, has_member, has_models, has_branch)
    group by 1, 2, 3, 4, 5, 6, 7, 8`,
  describe: ({ dims, grain, bucket }) => `usage of a ${grain} (${bucket}) by ${dims}`,
})
