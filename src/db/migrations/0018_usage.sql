-- What each session used of each of its models: what breakdowns are summed from, and the lists that are filtered by more
-- than project and days. '' stands for a member, agent, branch or model that the session does not have. The parts of a
-- session add up to it; one of them, of the session's own model, stands for the session as a whole.
create table session_usage (
  org_id text not null,
  session_id text not null,
  model text not null,
  is_main boolean not null,
  project text not null,
  -- the member's id, else the address
  member text not null,
  agent text not null,
  branch text not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  -- the UTC day
  day date not null generated always as ((created_at at time zone 'UTC')::date) stored,
  turns integer not null,
  quality_score numeric(5, 2) not null,
  findings integer not null,
  -- US dollars: of the session, and of this part
  session_cost numeric(14, 6) not null,
  cost numeric(14, 6) not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_creation bigint not null,
  unpriced_tokens bigint not null
);

-- Sums of session_usage, written in the transaction that changes sessions. `dims` names the columns that a row is of, the
-- others are ''. Rows of a month have up to three of them, rows of a day fewer: a session changes seven rows at most, and
-- a breakdown reads rows whose number does not grow with the sessions. `sessions` and `turns` count a session under each
-- of its models, `main_sessions` and `main_turns` under one.
create table usage_rollups (
  org_id text not null,
  dims text not null check (
    dims in ('agent_model', 'project', 'member', 'project_agent_model', 'member_agent_model', 'project_member')
  ),
  grain text not null check (grain in ('day', 'month')),
  -- the day, or the first day of the month
  bucket date not null,
  project text not null,
  member text not null,
  agent text not null,
  model text not null,
  sessions bigint not null,
  main_sessions bigint not null,
  turns bigint not null,
  main_turns bigint not null,
  cost numeric(20, 6) not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_creation bigint not null,
  unpriced_tokens bigint not null,
  primary key (org_id, dims, grain, bucket, project, member, agent, model)
) with (fillfactor = 70);

-- the JSON of each session is read once; only sessions of several models are divided
with parts as materialized (
  select
    s.org_id, s.id as session_id, coalesce(j.model, '') as main, w.model, w.models,
    s.project, coalesce(s.user_id, s.user_email, '') as member, coalesce(j.source, '') as agent,
    coalesce(j.branch, '') as branch, s.created_at, j.ended_at, s.turns, s.quality_score,
    json_array_length(j.security_metadata->'findings') as findings, s.estimated_cost as session_cost,
    t.input, t.output, t.cache_read, t.cache_creation, s.unpriced_tokens,
    w.input as w_input, w.output as w_output, w.cache_read as w_cache_read, w.cache_creation as w_cache_creation,
    w.unpriced as w_unpriced_tokens, w.cost as turn_costs, w.tokens as turn_tokens
  from sessions s
  join session_details d on d.org_id = s.org_id and d.session_id = s.id
  cross join lateral json_to_record(d.detail) as j (
    model text, models json, source text, branch text, ended_at timestamptz, tokens json,
    turn_records json, security_metadata json
  )
  cross join lateral json_to_record(j.tokens) as t (
    input numeric, output numeric, cache_read numeric, cache_creation numeric
  )
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
),
shares as (
  select
    w.*,
    sum(w.w_input) over running as to_input, sum(w.w_input) over whole as all_input,
    sum(w.w_output) over running as to_output, sum(w.w_output) over whole as all_output,
    sum(w.w_cache_read) over running as to_cache_read, sum(w.w_cache_read) over whole as all_cache_read,
    sum(w.w_cache_creation) over running as to_cache_creation, sum(w.w_cache_creation) over whole as all_cache_creation,
    sum(w.w_unpriced_tokens) over running as to_unpriced_tokens, sum(w.w_unpriced_tokens) over whole as all_unpriced_tokens,
    sum(w.w_cost) over running as to_cost, sum(w.w_cost) over whole as all_cost
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
insert into session_usage (
  org_id, session_id, model, is_main, project, member, agent, branch, created_at, ended_at, turns, quality_score, findings,
  session_cost, cost, input, output, cache_read, cache_creation, unpriced_tokens
)
select
  p.org_id, p.session_id, p.model, p.model = p.main, p.project, p.member, p.agent, p.branch, p.created_at,
  p.ended_at, p.turns, p.quality_score, p.findings, p.session_cost,
  p.session_cost, p.input, p.output, p.cache_read, p.cache_creation, p.unpriced_tokens
from parts p
where p.models = 1
union all
select
  p.org_id, p.session_id, p.model, p.model = p.main, p.project, p.member, p.agent, p.branch, p.created_at,
  p.ended_at, p.turns, p.quality_score, p.findings, p.session_cost,
  case
    when p.all_cost > 0
      then (div(p.session_cost * 1000000 * p.to_cost, p.all_cost)
        - div(p.session_cost * 1000000 * (p.to_cost - p.w_cost), p.all_cost)) / 1000000
    when p.model = p.main then p.session_cost
    else 0
  end,
  case
    when p.all_input > 0 then div(p.input * p.to_input, p.all_input) - div(p.input * (p.to_input - p.w_input), p.all_input)
    when p.model = p.main then p.input
    else 0
  end,
  case
    when p.all_output > 0 then div(p.output * p.to_output, p.all_output) - div(p.output * (p.to_output - p.w_output), p.all_output)
    when p.model = p.main then p.output
    else 0
  end,
  case
    when p.all_cache_read > 0 then div(p.cache_read * p.to_cache_read, p.all_cache_read) - div(p.cache_read * (p.to_cache_read - p.w_cache_read), p.all_cache_read)
    when p.model = p.main then p.cache_read
    else 0
  end,
  case
    when p.all_cache_creation > 0 then div(p.cache_creation * p.to_cache_creation, p.all_cache_creation) - div(p.cache_creation * (p.to_cache_creation - p.w_cache_creation), p.all_cache_creation)
    when p.model = p.main then p.cache_creation
    else 0
  end,
  case
    when p.all_unpriced_tokens > 0 then div(p.unpriced_tokens * p.to_unpriced_tokens, p.all_unpriced_tokens) - div(p.unpriced_tokens * (p.to_unpriced_tokens - p.w_unpriced_tokens), p.all_unpriced_tokens)
    when p.model = p.main then p.unpriced_tokens
    else 0
  end
from shares p;

alter table session_usage add primary key (org_id, session_id, model);
-- each row stands for its session in lists; what a page skips or counts is read by these
create index session_usage_by_time on session_usage (org_id, created_at, session_id) where is_main;
create index session_usage_by_project on session_usage (org_id, project, created_at, session_id);
create index session_usage_by_member on session_usage (org_id, member, created_at, session_id);
create index session_usage_by_branch on session_usage (org_id, branch, created_at, session_id);
create index session_usage_by_agent on session_usage (org_id, agent, created_at, session_id);
create index session_usage_by_model on session_usage (org_id, model, created_at, session_id);
create index session_usage_with_findings on session_usage (org_id, created_at, session_id) where is_main and findings > 0;

with days as materialized (
  select
    u.org_id, u.day, u.project, u.member, u.agent, u.model,
    count(*) as sessions, count(*) filter (where u.is_main) as main_sessions,
    sum(u.turns) as turns, coalesce(sum(u.turns) filter (where u.is_main), 0) as main_turns, sum(u.cost) as cost,
    sum(u.input) as input, sum(u.output) as output, sum(u.cache_read) as cache_read,
    sum(u.cache_creation) as cache_creation, sum(u.unpriced_tokens) as unpriced_tokens
  from session_usage u
  group by u.org_id, u.day, u.project, u.member, u.agent, u.model
)
insert into usage_rollups (
  org_id, dims, grain, bucket, project, member, agent, model, sessions, main_sessions, turns, main_turns, cost,
  input, output, cache_read, cache_creation, unpriced_tokens
)
select
  d.org_id, k.dims, k.grain,
  case k.grain when 'day' then d.day else date_trunc('month', d.day::timestamp)::date end as bucket,
  case when k.has_project then d.project else '' end,
  case when k.has_member then d.member else '' end,
  case when k.has_models then d.agent else '' end,
  case when k.has_models then d.model else '' end,
  sum(case when k.has_models then d.sessions else d.main_sessions end), sum(d.main_sessions),
  sum(case when k.has_models then d.turns else d.main_turns end), sum(d.main_turns), sum(d.cost),
  sum(d.input), sum(d.output), sum(d.cache_read), sum(d.cache_creation), sum(d.unpriced_tokens)
from days d
cross join (
  values
    ('agent_model', 'day', false, false, true),
    ('agent_model', 'month', false, false, true),
    ('project', 'day', true, false, false),
    ('member', 'day', false, true, false),
    ('project_agent_model', 'month', true, false, true),
    ('member_agent_model', 'month', false, true, true),
    ('project_member', 'month', true, true, false)
) as k (dims, grain, has_project, has_member, has_models)
group by 1, 2, 3, 4, 5, 6, 7, 8;

-- The pull requests that agents noted in sessions.
create table session_links (
  org_id text not null,
  repo text not null,
  pr_number integer not null,
  session_id text not null,
  primary key (org_id, repo, pr_number, session_id)
);
create index session_links_by_session on session_links (org_id, session_id);

-- Where a pull request comes from: project, branch and commits, by which its sessions are found; null: not known.
alter table pr_risks add column origin json;

-- Whether names and addresses of members are hidden from keys without the scope team:read.
alter table organizations add column hide_members boolean not null default false;
