-- The indexes by value have all columns that lists filter and sort by, so that sessions of some cost or quality are counted, and
-- pages of them found, within an index.
drop index sessions_by_cost;
drop index sessions_by_turns;
drop index sessions_by_quality;
drop index sessions_by_project_cost;
drop index sessions_by_project_turns;
drop index sessions_by_project_quality;
create index sessions_by_cost on sessions (org_id, estimated_cost, id collate "C")
  include (created_at, quality_score, turns);
create index sessions_by_turns on sessions (org_id, turns, id collate "C")
  include (created_at, estimated_cost, quality_score);
create index sessions_by_quality on sessions (org_id, quality_score, id collate "C")
  include (created_at, estimated_cost, turns);
create index sessions_by_project_cost on sessions (org_id, project, estimated_cost, id collate "C")
  include (created_at, quality_score, turns);
create index sessions_by_project_turns on sessions (org_id, project, turns, id collate "C")
  include (created_at, estimated_cost, quality_score);
create index sessions_by_project_quality on sessions (org_id, project, quality_score, id collate "C")
  include (created_at, estimated_cost, turns);

-- The findings of a file, in all projects.
create index findings_in_file on findings (org_id, file_key, created_at, session_id, position);

-- Parts of all models of some days are found by time too.
drop index session_usage_by_time;
create index session_usage_by_time on session_usage (org_id, created_at, session_id);

-- Sums by branch of days and months, and by member and branch of months and of all time, whose bucket is 1970-01-01.
alter table usage_rollups drop constraint usage_rollups_grain_check;
alter table usage_rollups add constraint usage_rollups_grain_check check (grain in ('day', 'month', 'all'));
alter table usage_rollups drop constraint usage_rollups_dims_check;
alter table usage_rollups add constraint usage_rollups_dims_check check (
  dims in (
    'agent_model', 'project', 'member', 'branch', 'project_agent_model', 'member_agent_model', 'project_member',
    'project_branch', 'member_branch'
  )
);
insert into usage_rollups (
  org_id, dims, grain, bucket, project, member, agent, model, branch, sessions, main_sessions, turns, main_turns, cost,
  input, output, cache_read, cache_creation, unpriced_tokens, transcript_tokens, telemetry_tokens, captured_tokens
)
select
  u.org_id, g.dims, g.grain, g.bucket,
  '', case g.dims when 'member_branch' then u.member else '' end, '', '', u.branch,
  count(*) filter (where u.is_main), count(*) filter (where u.is_main),
  coalesce(sum(u.turns) filter (where u.is_main), 0), coalesce(sum(u.turns) filter (where u.is_main), 0),
  sum(u.cost), sum(u.input), sum(u.output), sum(u.cache_read), sum(u.cache_creation), sum(u.unpriced_tokens),
  sum(u.transcript_tokens), sum(u.telemetry_tokens), sum(least(u.transcript_tokens, u.telemetry_tokens))
from session_usage u
cross join lateral (
  values
    ('branch', 'day', u.day), ('branch', 'month', date_trunc('month', u.day::timestamp)::date),
    ('member_branch', 'month', date_trunc('month', u.day::timestamp)::date), ('member_branch', 'all', '1970-01-01')
) as g (dims, grain, bucket)
group by 1, 2, 3, 4, 6, u.branch;

-- Sums by ticket, '' for what has none, of days, months and all time, and with the project of months. The first of a session's
-- tickets counts it for the whole.
create table ticket_rollups (
  org_id text not null,
  dims text not null check (dims in ('ticket', 'project_ticket')),
  grain text not null check (grain in ('day', 'month', 'all')),
  bucket date not null,
  project text not null,
  ticket text not null,
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
  primary key (org_id, dims, grain, bucket, project, ticket)
) with (fillfactor = 70);
insert into ticket_rollups (
  org_id, dims, grain, bucket, project, ticket, sessions, main_sessions, turns, main_turns, cost, input, output,
  cache_read, cache_creation, unpriced_tokens
)
select
  u.org_id, g.dims, g.grain, g.bucket,
  case g.dims when 'project_ticket' then u.project else '' end, coalesce(t.ticket, ''),
  count(*) filter (where u.is_main), count(*) filter (where u.is_main and p.is_first),
  coalesce(sum(u.turns) filter (where u.is_main), 0), coalesce(sum(u.turns) filter (where u.is_main and p.is_first), 0),
  sum(p.cost + p.is_last * (u.cost - p.parts * p.cost)), sum(u.input / p.parts + p.is_last * (u.input % p.parts)),
  sum(u.output / p.parts + p.is_last * (u.output % p.parts)),
  sum(u.cache_read / p.parts + p.is_last * (u.cache_read % p.parts)),
  sum(u.cache_creation / p.parts + p.is_last * (u.cache_creation % p.parts)),
  sum(u.unpriced_tokens / p.parts + p.is_last * (u.unpriced_tokens % p.parts))
from session_usage u
left join session_tickets t
  on t.org_id = u.org_id
  and t.session_id = u.session_id
cross join lateral (
  select
    coalesce(t.parts, 1) as parts, coalesce(t.nth, 1) = 1 as is_first,
    (coalesce(t.nth, 1) = coalesce(t.parts, 1))::integer as is_last,
    div(u.cost * 1000000, coalesce(t.parts, 1)) * 0.000001 as cost
) p
cross join lateral (
  values
    ('ticket', 'day', u.day), ('ticket', 'month', date_trunc('month', u.day::timestamp)::date),
    ('ticket', 'all', '1970-01-01'), ('project_ticket', 'month', date_trunc('month', u.day::timestamp)::date)
) as g (dims, grain, bucket)
group by 1, 2, 3, 4, 5, 6;
