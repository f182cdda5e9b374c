-- Usage by the day on which it happened: a row for each model of a session, what its price was in, vendor, payer and day, of the
-- organization's time zone and of UTC. The rows of before stand on the day of created_at, with their whole cost under `other`,
-- until a walk in the background (usage_walks) divides their sessions.

alter table session_usage rename to former_usage;
create table session_usage (
  org_id text not null,
  session_id text not null,
  -- its place among the session's rows
  nth integer not null,
  model text not null,
  price text not null,
  vendor text not null,
  paid_by text not null,
  -- the day in the organization's time zone
  day date not null,
  utc_day date not null,
  first_day date not null,
  -- true of one row of the session, on its first day
  is_main boolean not null,
  project text not null,
  member text not null,
  agent text not null,
  branch text not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  -- turns of the whole session
  turns integer not null,
  quality_score numeric(5, 2) not null,
  findings integer not null,
  session_cost numeric(14, 6) not null,
  -- 1 in one row of each model, on the session's first day
  sessions integer not null,
  -- the session's turns of the day, under each model, and under the main one only
  day_turns integer not null,
  main_turns integer not null,
  calls integer not null,
  prompts integer not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_creation bigint not null,
  -- a part of cache_creation
  cache_creation_1h bigint not null,
  unpriced_tokens bigint not null,
  -- micro-dollars
  cost_input bigint not null,
  cost_output bigint not null,
  cost_cache_read bigint not null,
  cost_cache_write_5m bigint not null,
  cost_cache_write_1h bigint not null,
  cost_other bigint not null,
  transcript_tokens bigint not null,
  telemetry_tokens bigint not null,
  -- read by older instances only, while one after the other is upgraded
  cost numeric(14, 6) not null generated always as (
    (cost_input + cost_output + cost_cache_read + cost_cache_write_5m + cost_cache_write_1h + cost_other) * 0.000001
  ) stored
);
insert into session_usage (
  org_id, session_id, nth, model, price, vendor, paid_by, day, utc_day, first_day, is_main, project, member, agent,
  branch, created_at, ended_at, turns, quality_score, findings, session_cost, sessions, day_turns, main_turns, calls,
  prompts, input, output, cache_read, cache_creation, cache_creation_1h, unpriced_tokens, cost_input, cost_output,
  cost_cache_read, cost_cache_write_5m, cost_cache_write_1h, cost_other, transcript_tokens, telemetry_tokens
)
select
  u.org_id, u.session_id, row_number() over (partition by u.org_id, u.session_id order by u.model collate "C") - 1,
  u.model, 'standard',
  case u.agent
    when 'claude-code' then 'anthropic' when 'codex' then 'openai' when 'gemini' then 'google' when 'copilot' then 'github'
    when 'cursor' then 'cursor' else ''
  end,
  'unknown', u.day, u.day, u.day, u.is_main, u.project, u.member, u.agent, u.branch, u.created_at, u.ended_at, u.turns,
  u.quality_score, u.findings, u.session_cost, 1, u.turns, case when u.is_main then u.turns else 0 end, 0, 0, u.input,
  u.output, u.cache_read, u.cache_creation, 0, u.unpriced_tokens, 0, 0, 0, 0, 0, (u.cost * 1000000)::bigint,
  u.transcript_tokens, u.telemetry_tokens
from former_usage u;
drop table former_usage;
alter table session_usage add primary key (org_id, session_id, nth);
create index session_usage_by_time on session_usage (org_id, day, created_at, session_id);
create index session_usage_by_project on session_usage (org_id, project, day, created_at, session_id);
create index session_usage_by_member on session_usage (org_id, member, day, created_at, session_id);
create index session_usage_by_agent on session_usage (org_id, agent, day, created_at, session_id);
create index session_usage_by_model on session_usage (org_id, model, day, created_at, session_id);
create index session_usage_by_branch on session_usage (org_id, branch, day, created_at, session_id);
create index session_usage_with_findings on session_usage (org_id, day, created_at, session_id)
  where is_main and findings > 0;

-- Sessions up to this one are divided by day; without a row all of the organization are.
create table usage_walks (
  org_id text primary key,
  session_id text not null
);
insert into usage_walks (org_id, session_id)
select distinct u.org_id, ''
from session_usage u;

-- Sums of cost in micro-dollars, by kind (`micros`: all of them), and those of all of a day or month. `begun_cost`: the whole cost of
-- the sessions that began. Columns of one width come first: PostgreSQL reads a row up to the last column that it needs.
alter table usage_rollups rename to former_rollups;
create table usage_rollups (
  bucket date not null,
  micros bigint not null generated always as (
    cost_input + cost_output + cost_cache_read + cost_cache_write_5m + cost_cache_write_1h + cost_other
  ) stored,
  main_sessions bigint not null,
  sessions bigint not null,
  main_turns bigint not null,
  turns bigint not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_creation bigint not null,
  unpriced_tokens bigint not null,
  cost_input bigint not null default 0,
  cost_output bigint not null default 0,
  cost_cache_read bigint not null default 0,
  cost_cache_write_5m bigint not null default 0,
  cost_cache_write_1h bigint not null default 0,
  cost_other bigint not null default 0,
  begun_cost bigint not null default 0,
  transcript_tokens bigint not null default 0,
  telemetry_tokens bigint not null default 0,
  captured_tokens bigint not null default 0,
  project text not null,
  member text not null,
  agent text not null,
  model text not null,
  branch text not null,
  dims text not null constraint usage_rollups_dims check (
    dims in (
      'all', 'model', 'agent_model', 'project', 'member', 'branch', 'project_agent_model', 'member_agent_model', 'project_member',
      'project_branch', 'member_branch'
    )
  ),
  grain text not null constraint usage_rollups_grain check (grain in ('day', 'month', 'all')),
  org_id text not null,
  -- read by older instances, as above
  cost numeric(20, 6) not null generated always as (
    (cost_input + cost_output + cost_cache_read + cost_cache_write_5m + cost_cache_write_1h + cost_other) * 0.000001
  ) stored
) with (fillfactor = 70);
insert into usage_rollups (
  org_id, dims, grain, bucket, project, member, agent, model, branch, sessions, main_sessions, turns, main_turns, input,
  output, cache_read, cache_creation, unpriced_tokens, transcript_tokens, telemetry_tokens, captured_tokens, begun_cost,
  cost_other
)
select
  r.org_id, r.dims, r.grain, r.bucket, r.project, r.member, r.agent, r.model, r.branch, r.sessions, r.main_sessions,
  r.turns, r.main_turns, r.input, r.output, r.cache_read, r.cache_creation, r.unpriced_tokens, r.transcript_tokens,
  r.telemetry_tokens, r.captured_tokens,
  -- in sums by model a session began under its main one
  case when r.dims like '%agent_model' then 0 else (r.cost * 1000000)::bigint end, (r.cost * 1000000)::bigint
from former_rollups r;
insert into usage_rollups (
  org_id, dims, grain, bucket, project, member, agent, model, branch, sessions, main_sessions, turns, main_turns, input,
  output, cache_read, cache_creation, unpriced_tokens, transcript_tokens, telemetry_tokens, captured_tokens, begun_cost,
  cost_other
)
select
  r.org_id, 'all', r.grain, r.bucket, '', '', '', '', '', sum(r.sessions), sum(r.main_sessions), sum(r.turns),
  sum(r.main_turns), sum(r.input), sum(r.output), sum(r.cache_read), sum(r.cache_creation), sum(r.unpriced_tokens),
  sum(r.transcript_tokens), sum(r.telemetry_tokens), sum(r.captured_tokens), sum(r.cost * 1000000)::bigint,
  sum(r.cost * 1000000)::bigint
from former_rollups r
where r.dims = 'project'
group by r.org_id, r.grain, r.bucket;
drop table former_rollups;
alter table usage_rollups add primary key (org_id, dims, grain, bucket, project, member, agent, model, branch);
-- series of a project
create index usage_rollups_of_project on usage_rollups (org_id, project, grain, bucket) where dims = 'project';
update usage_rollups r
set begun_cost = b.begun_cost
from (
  select
    u.org_id, g.dims, g.grain, g.bucket, g.project, g.member, u.agent, u.model,
    sum(u.session_cost * 1000000)::bigint as begun_cost
  from session_usage u
  cross join lateral (
    values
      ('agent_model', 'day', u.day, '', ''),
      ('agent_model', 'month', date_trunc('month', u.day::timestamp)::date, '', ''),
      ('project_agent_model', 'month', date_trunc('month', u.day::timestamp)::date, u.project, ''),
      ('member_agent_model', 'month', date_trunc('month', u.day::timestamp)::date, '', u.member)
  ) as g (dims, grain, bucket, project, member)
  where u.is_main
  group by u.org_id, g.dims, g.grain, g.bucket, g.project, g.member, u.agent, u.model
) b
where r.org_id = b.org_id
  and r.dims = b.dims
  and r.grain = b.grain
  and r.bucket = b.bucket
  and r.project = b.project
  and r.member = b.member
  and r.agent = b.agent
  and r.model = b.model
  and r.branch = '';

insert into usage_rollups (
  org_id, dims, grain, bucket, project, member, agent, model, branch, sessions, main_sessions, turns, main_turns, input,
  output, cache_read, cache_creation, unpriced_tokens, transcript_tokens, telemetry_tokens, captured_tokens, begun_cost,
  cost_other
)
select
  r.org_id, 'model', r.grain, r.bucket, '', '', '', r.model, '', sum(r.sessions), sum(r.main_sessions), sum(r.turns),
  sum(r.main_turns), sum(r.input), sum(r.output), sum(r.cache_read), sum(r.cache_creation), sum(r.unpriced_tokens),
  sum(r.transcript_tokens), sum(r.telemetry_tokens), sum(r.captured_tokens), sum(r.begun_cost), sum(r.cost_other)
from usage_rollups r
where r.dims = 'agent_model'
group by r.org_id, r.grain, r.bucket, r.model;

alter table branch_rollups rename to former_rollups;
create table branch_rollups (
  micros bigint not null generated always as (
    cost_input + cost_output + cost_cache_read + cost_cache_write_5m + cost_cache_write_1h + cost_other
  ) stored,
  sessions bigint not null,
  turns bigint not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_creation bigint not null,
  unpriced_tokens bigint not null,
  cost_input bigint not null default 0,
  cost_output bigint not null default 0,
  cost_cache_read bigint not null default 0,
  cost_cache_write_5m bigint not null default 0,
  cost_cache_write_1h bigint not null default 0,
  cost_other bigint not null default 0,
  project text not null,
  branch text not null,
  org_id text not null,
  -- read by older instances, as above
  cost numeric(20, 6) not null generated always as (
    (cost_input + cost_output + cost_cache_read + cost_cache_write_5m + cost_cache_write_1h + cost_other) * 0.000001
  ) stored
);
insert into branch_rollups (
  org_id, project, branch, sessions, turns, input, output, cache_read, cache_creation, unpriced_tokens, cost_other
)
select
  r.org_id, r.project, r.branch, r.sessions, r.turns, r.input, r.output, r.cache_read, r.cache_creation,
  r.unpriced_tokens, (r.cost * 1000000)::bigint
from former_rollups r;
drop table former_rollups;
alter table branch_rollups add primary key (org_id, project, branch);
create index branch_rollups_by_cost on branch_rollups (org_id, project, micros desc, nullif(branch, '') collate "C");

alter table ticket_rollups rename to former_rollups;
create table ticket_rollups (
  bucket date not null,
  micros bigint not null generated always as (
    cost_input + cost_output + cost_cache_read + cost_cache_write_5m + cost_cache_write_1h + cost_other
  ) stored,
  main_sessions bigint not null,
  sessions bigint not null,
  main_turns bigint not null,
  turns bigint not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_creation bigint not null,
  unpriced_tokens bigint not null,
  cost_input bigint not null default 0,
  cost_output bigint not null default 0,
  cost_cache_read bigint not null default 0,
  cost_cache_write_5m bigint not null default 0,
  cost_cache_write_1h bigint not null default 0,
  cost_other bigint not null default 0,
  project text not null,
  ticket text not null,
  dims text not null constraint ticket_rollups_dims check (dims in ('ticket', 'project_ticket')),
  grain text not null constraint ticket_rollups_grain check (grain in ('day', 'month', 'all')),
  org_id text not null,
  -- read by older instances, as above
  cost numeric(20, 6) not null generated always as (
    (cost_input + cost_output + cost_cache_read + cost_cache_write_5m + cost_cache_write_1h + cost_other) * 0.000001
  ) stored
) with (fillfactor = 70);
insert into ticket_rollups (
  org_id, dims, grain, bucket, project, ticket, sessions, main_sessions, turns, main_turns, input, output, cache_read,
  cache_creation, unpriced_tokens, cost_other
)
select
  r.org_id, r.dims, r.grain, r.bucket, r.project, r.ticket, r.sessions, r.main_sessions, r.turns, r.main_turns, r.input,
  r.output, r.cache_read, r.cache_creation, r.unpriced_tokens, (r.cost * 1000000)::bigint
from former_rollups r;
drop table former_rollups;
alter table ticket_rollups add primary key (org_id, dims, grain, bucket, project, ticket);

-- The sums of sessions have no cost any more; older instances write none, and read these.
alter table session_rollups alter column cost set default 0;
