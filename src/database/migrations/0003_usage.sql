-- The usage of each session by model. Breakdowns are summed from it, and lists that are filtered by more than project
-- and days read it. '' stands for a member, agent, branch or model that the session does not have. The parts of a
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
  unpriced_tokens bigint not null,
  -- tokens that the session's transcripts and its telemetry state; 0 except in its main part
  transcript_tokens bigint not null default 0,
  telemetry_tokens bigint not null default 0,
  primary key (org_id, session_id, model)
);
-- A list filtered by a column reads, skips and counts its sessions in the index of that column.
create index session_usage_by_time on session_usage (org_id, created_at, session_id) where is_main;
create index session_usage_by_project on session_usage (org_id, project, created_at, session_id);
create index session_usage_by_member on session_usage (org_id, member, created_at, session_id);
create index session_usage_by_branch on session_usage (org_id, branch, created_at, session_id);
create index session_usage_by_agent on session_usage (org_id, agent, created_at, session_id);
create index session_usage_by_model on session_usage (org_id, model, created_at, session_id);
create index session_usage_with_findings on session_usage (org_id, created_at, session_id) where is_main and findings > 0;

-- Sums of session_usage, written in the transaction that changes sessions. `dims` names the columns that a row is of, the
-- others are ''. Rows of a month have up to three of them, rows of a day fewer: a session changes eight rows at most, and
-- a breakdown reads rows whose number does not grow with the sessions, but for those of branches. `sessions` and `turns` count a session under each
-- of its models, `main_sessions` and `main_turns` under one.
create table usage_rollups (
  org_id text not null,
  dims text not null check (
    dims in (
      'agent_model', 'project', 'member', 'project_agent_model', 'member_agent_model', 'project_member',
      'project_branch'
    )
  ),
  grain text not null check (grain in ('day', 'month')),
  -- the day, or the first day of the month
  bucket date not null,
  project text not null,
  member text not null,
  agent text not null,
  model text not null,
  branch text not null,
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
  transcript_tokens bigint not null default 0,
  telemetry_tokens bigint not null default 0,
  -- the sum of the smaller of both of each session
  captured_tokens bigint not null default 0,
  primary key (org_id, dims, grain, bucket, project, member, agent, model, branch)
) with (fillfactor = 70);
