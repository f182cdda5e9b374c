import type { ISql } from '../../database/client.ts'
import type { CheckedTable, DerivedTable, OrgId } from '../../database/derived-tables.ts'
import { OUTCOME_ROLLUP } from './outcome-rollup.ts'
import { pullRequestShares } from './pull-request-queries.ts'
import { BRANCH_ROLLUP, TICKET_ROLLUP, USAGE_ROLLUP } from './rollup.ts'
import { TICKETS } from './ticket-check.ts'

/** These are divided beside the cost, each in proportion to a weight of its own. */
const TOKENS = ['input', 'output', 'cache_read', 'cache_creation', 'unpriced_tokens'] as const

/** The weights of the models up to each, and of all of the session's. */
const WEIGHTS = [...TOKENS, 'cost']
  .map((name) => `sum(w.w_${name}) over running as to_${name}, sum(w.w_${name}) over whole as all_${name}`)
  .join(', ')

/** A model's share of `total`: rounded down, what it and those before it have, less what those before it have. */
const shareOf = (name: string, total: string) => `
  case
    when p.all_${name} > 0
      then div(${total} * p.to_${name}, p.all_${name}) - div(${total} * (p.to_${name} - p.w_${name}), p.all_${name})
    when p.model = p.main then ${total}
    else 0
  end`

/** Recomputes the parts of all sessions from their details, as `sharesOf` divides them. */
const fromDetails = (sql: ISql, orgId: OrgId) => sql`
  with parts as materialized (
    select
      s.org_id, s.id as session_id, coalesce(j.model, '') as main, w.model, w.models,
      s.project, coalesce(s.user_id, s.user_email, '') as member, coalesce(j.source, '') as agent,
      coalesce(j.branch, '') as branch, s.created_at, j.ended_at, s.turns, s.quality_score,
      (
        select count(*)::integer
        from json_array_elements(j.security_metadata->'findings') as f (finding)
        where f.finding->>'status' = 'open'
      ) as findings, s.estimated_cost as session_cost,
      coalesce(t.input, 0) as input, coalesce(t.output, 0) as output, coalesce(t.cache_read, 0) as cache_read,
      coalesce(t.cache_creation, 0) as cache_creation, s.unpriced_tokens, s.transcript_tokens, s.telemetry_tokens,
      w.input as w_input, w.output as w_output, w.cache_read as w_cache_read, w.cache_creation as w_cache_creation,
      w.unpriced as w_unpriced_tokens, w.cost as turn_costs, w.tokens as turn_tokens
    from sessions s
    join session_details d on d.org_id = s.org_id and d.session_id = s.id
    cross join lateral json_to_record(d.detail) as j (
      model text, models json, source text, branch text, ended_at timestamptz, tokens json,
      turn_records json, security_metadata json
    )
    left join lateral json_to_record(j.tokens) as t (
      input numeric, output numeric, cache_read numeric, cache_creation numeric
    ) on true
    cross join lateral (
      select
        u.model, count(*) over () as models, sum(u.input) as input, sum(u.output) as output,
        sum(u.cache_read) as cache_read, sum(u.cache_creation) as cache_creation, sum(u.tokens) as tokens,
        sum(u.cost) as cost, sum(case when u.cost is null then u.tokens else 0 end) as unpriced
      from (
        select
          coalesce(j.model, '') as model, 0 as input, 0 as output, 0 as cache_read, 0 as cache_creation, 0 as tokens,
          0 as cost
        union all
        select m.model, 0, 0, 0, 0, 0, 0
        from json_array_elements_text(j.models) as m (model)
        union all
        select
          coalesce(r.model, j.model, ''), coalesce(k.input, 0), coalesce(k.output, 0), coalesce(k.cache_read, 0),
          coalesce(k.cache_creation, 0),
          coalesce(k.input, 0) + coalesce(k.output, 0) + coalesce(k.cache_read, 0) + coalesce(k.cache_creation, 0),
          r.cost
        from json_to_recordset(j.turn_records) as r (model text, tokens json, cost numeric)
        left join lateral json_to_record(r.tokens) as k (
          input numeric, output numeric, cache_read numeric, cache_creation numeric
        ) on true
      ) u
      group by u.model
    ) w
    where s.org_id = ${orgId}
  ),
  shares as (
    select
      w.*,
      ${sql.unsafe(WEIGHTS)}
    from (
      select
        w.*,
        case when sum(w.turn_costs) over session > 0 then w.turn_costs * 1000000 else w.turn_tokens end as w_cost
      from parts w
      where w.models > 1
      window session as (partition by w.org_id, w.session_id)
    ) w
    window
      whole as (partition by w.org_id, w.session_id),
      running as (partition by w.org_id, w.session_id order by w.model collate "C")
  )
  select
    p.session_id, p.model, p.model = p.main as is_main, p.project, p.member, p.agent, p.branch, p.created_at,
    p.ended_at, p.turns, p.quality_score, p.findings, p.session_cost,
    p.session_cost as cost, p.input, p.output, p.cache_read, p.cache_creation, p.unpriced_tokens,
    p.transcript_tokens, p.telemetry_tokens
  from parts p
  where p.models = 1
  union all
  select
    p.session_id, p.model, p.model = p.main as is_main, p.project, p.member, p.agent, p.branch, p.created_at,
    p.ended_at, p.turns, p.quality_score, p.findings, p.session_cost,
    (${sql.unsafe(shareOf('cost', 'p.session_cost * 1000000'))}) / 1000000,
    ${sql.unsafe(TOKENS.map((name) => shareOf(name, `p.${name}`)).join(', '))},
    case when p.model = p.main then p.transcript_tokens else 0 end,
    case when p.model = p.main then p.telemetry_tokens else 0 end
  from shares p`

/** Recomputes the links to pull requests. */
const linksFromDetails = (sql: ISql, orgId: OrgId) => sql`
  select distinct d.session_id, l.repo, l.number as pr_number
  from session_details d
  cross join lateral json_to_recordset(d.detail->'pull_requests') as l (repo text, number integer)
  where d.org_id = ${orgId}`

const PART_COLUMNS = [
  ...[
    'session_id',
    'model',
    'is_main',
    'project',
    'member',
    'agent',
    'branch',
    'created_at',
    'ended_at',
    'turns',
  ],
  ...['quality_score', 'findings', 'session_cost', 'cost', 'input', 'output', 'cache_read', 'cache_creation'],
  ...['unpriced_tokens', 'transcript_tokens', 'telemetry_tokens'],
]

/** The parts of sessions that belong to pull requests. */
export const PULL_REQUEST_PARTS: DerivedTable = {
  name: 'pr_sessions',
  columns: ['session_id', 'repo', 'pr_number', 'part', 'project', 'member', 'agent', 'day'],
  query: (sql, orgId) => pullRequestShares(sql, orgId, sql``),
  describe: ({ session_id }) => `part of ${session_id} in a pull request`,
}

/** The usage of each session by model, and its sums, in the order in which they are rebuilt. */
export const USAGE_TABLES: readonly CheckedTable[] = [
  {
    name: 'session_usage',
    columns: PART_COLUMNS,
    query: fromDetails,
    describe: ({ session_id, model }) => `usage of ${session_id} (${model || 'no model'})`,
  },
  USAGE_ROLLUP,
  BRANCH_ROLLUP,
  {
    name: 'session_links',
    columns: ['session_id', 'repo', 'pr_number'],
    query: linksFromDetails,
    describe: ({ session_id }) => `pull requests of ${session_id}`,
  },
  PULL_REQUEST_PARTS,
  OUTCOME_ROLLUP,
  TICKETS,
  TICKET_ROLLUP,
]
