import { countedProject, describeSummed, rollup } from '../../database/rollups.ts'
import { USED } from './model.ts'
import { dividedSums } from './ticket-shares.ts'

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
    with s as materialized (
      select
        s.day, s.project, s.member, s.agent, s.model, s.branch, s.is_main, s.turns, s.cost, s.input, s.output, s.cache_read,
        s.cache_creation, s.unpriced_tokens, s.transcript_tokens, s.telemetry_tokens,
        date_trunc('month', s.day::timestamp)::date as month
      ${rows}
    )
    select
      concat_ws(
        '_',
        case grouping(s.project) when 0 then 'project' end,
        case grouping(s.member) when 0 then 'member' end,
        case grouping(s.agent) when 0 then 'agent_model' end,
        case grouping(s.branch) when 0 then 'branch' end
      ) as dims,
      case when grouping(s.day) = 0 then 'day' when grouping(s.month) = 0 then 'month' else 'all' end as grain,
      coalesce(s.day, s.month, date '1970-01-01') as bucket, coalesce(s.project, '') as project, coalesce(s.member, '') as member,
      coalesce(s.agent, '') as agent, coalesce(s.model, '') as model, coalesce(s.branch, '') as branch,
      case grouping(s.agent) when 0 then count(*) else count(*) filter (where s.is_main) end as sessions,
      count(*) filter (where s.is_main) as main_sessions,
      coalesce(
        case grouping(s.agent) when 0 then sum(s.turns) else sum(s.turns) filter (where s.is_main) end, 0
      ) as turns,
      coalesce(sum(s.turns) filter (where s.is_main), 0) as main_turns, sum(s.cost) as cost,
      sum_bigint(s.input) as input, sum_bigint(s.output) as output, sum_bigint(s.cache_read) as cache_read,
      sum_bigint(s.cache_creation) as cache_creation, sum_bigint(s.unpriced_tokens) as unpriced_tokens,
      sum_bigint(s.transcript_tokens) as transcript_tokens, sum_bigint(s.telemetry_tokens) as telemetry_tokens,
      sum_bigint(least(s.transcript_tokens, s.telemetry_tokens)) as captured_tokens
    from s
    group by grouping sets (
      (s.day, s.agent, s.model),
      (s.month, s.agent, s.model),
      (s.month, s.project),
      (s.month, s.member),
      (s.day, s.project),
      (s.day, s.member),
      (s.month, s.project, s.agent, s.model),
      (s.month, s.member, s.agent, s.model),
      (s.month, s.project, s.member),
      (s.month, s.project, s.branch),
      (s.day, s.branch),
      (s.month, s.branch),
      (s.month, s.member, s.branch),
      (s.member, s.branch)
    )`,
  describe: ({ dims, grain, bucket }) => `usage of a ${grain} (${bucket}) by ${dims}`,
})

/** The sums of all time by branch: a row in the session's project (or WITHOUT_PROJECT), and one in all, whose project is ''. */
export const BRANCH_ROLLUP = rollup({
  name: 'branch_rollups',
  key: ['project', 'branch'],
  sums: ['sessions', 'turns', 'cost', 'input', 'output', 'cache_read', 'cache_creation', 'unpriced_tokens'],
  rows: USAGE_ROLLUP.rows,
  count: (sql, rows) => sql`
    with branches as materialized (
      select
        s.project, s.branch, count(*) filter (where s.is_main) as sessions,
        coalesce(sum(s.turns) filter (where s.is_main), 0) as turns, sum(s.cost) as cost, sum_bigint(s.input) as input,
        sum_bigint(s.output) as output, sum_bigint(s.cache_read) as cache_read, sum_bigint(s.cache_creation) as cache_creation,
        sum_bigint(s.unpriced_tokens) as unpriced_tokens
      ${rows}
      group by s.project, s.branch
    )
    select
      p.project, b.branch, sum_bigint(b.sessions) as sessions, sum_bigint(b.turns) as turns, sum(b.cost) as cost,
      sum_bigint(b.input) as input, sum_bigint(b.output) as output, sum_bigint(b.cache_read) as cache_read,
      sum_bigint(b.cache_creation) as cache_creation, sum_bigint(b.unpriced_tokens) as unpriced_tokens
    from branches b
    cross join lateral (values (${countedProject(sql, 'b.project')}), ('')) as p (project)
    group by p.project, b.branch`,
  describe: ({ branch, project }) =>
    `usage of the branch ${branch || '(none)'} in ${describeSummed(project)}`,
})

/**
 * The sums by ticket, '' for what has none. `sessions` and `turns` count a session under each of its tickets, `main_sessions` and
 * `main_turns` under the first.
 */
export const TICKET_ROLLUP = rollup({
  name: 'ticket_rollups',
  key: ['dims', 'grain', 'bucket', 'project', 'ticket'],
  sums: ['sessions', 'main_sessions', 'turns', 'main_turns', ...USED],
  rows: (sql, orgId) => sql`
    from session_usage s
    left join session_tickets t
      on t.org_id = s.org_id
      and t.session_id = s.session_id
    where s.org_id = ${orgId}`,
  count: (sql, rows) => sql`
    with s as materialized (
      select
        s.day, date_trunc('month', s.day::timestamp)::date as month, s.project, coalesce(t.ticket, '') as ticket,
        s.is_main, s.is_main and coalesce(t.nth, 1) = 1 as is_first, s.turns, ${dividedSums(sql)}
      ${rows}
    )
    select
      case grouping(s.project) when 0 then 'project_ticket' else 'ticket' end as dims,
      case when grouping(s.day) = 0 then 'day' when grouping(s.month) = 0 then 'month' else 'all' end as grain,
      coalesce(s.day, s.month, date '1970-01-01') as bucket, coalesce(s.project, '') as project, s.ticket,
      count(*) filter (where s.is_main) as sessions, count(*) filter (where s.is_first) as main_sessions,
      coalesce(sum(s.turns) filter (where s.is_main), 0) as turns,
      coalesce(sum(s.turns) filter (where s.is_first), 0) as main_turns,
      ${sql.unsafe(USED.map((name) => `${name === 'cost' ? 'sum' : 'sum_bigint'}(s.${name}) as ${name}`).join(', '))}
    from s
    group by grouping sets ((s.day, s.ticket), (s.month, s.ticket), (s.month, s.project, s.ticket), (s.ticket))`,
  describe: ({ dims, grain, bucket, ticket }) =>
    `usage of the ticket ${ticket || '(none)'} (${grain} ${bucket}) by ${dims}`,
})
