-- The effects of changes (docs/effects.md): sums of work by week, the values of traits that calls have, the changes that people
-- record, and what was measured.

alter table session_usage
  -- results of tools, and those that failed
  add column tool_results integer not null default 0,
  add column tool_errors integer not null default 0;

create table work_rollups (
  org_id text not null,
  -- Monday, in the organization's time zone
  week date not null,
  member text not null,
  project text not null,
  model text not null,
  price text not null,
  sessions bigint not null,
  -- hundredths of points
  quality bigint not null,
  calls bigint not null,
  prompts bigint not null,
  tool_results bigint not null,
  tool_errors bigint not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_creation bigint not null,
  cache_creation_1h bigint not null,
  -- micro-dollars
  cost_input bigint not null,
  cost_output bigint not null,
  cost_cache_read bigint not null,
  cost_cache_write_5m bigint not null,
  cost_cache_write_1h bigint not null,
  cost_other bigint not null,
  primary key (org_id, week, member, project, model, price)
);
insert into work_rollups
select
  s.org_id, date_trunc('week', s.day::timestamp)::date, s.member, s.project, s.model, s.price,
  count(*) filter (where s.is_main), coalesce(sum((s.quality_score * 100)::integer) filter (where s.is_main), 0),
  sum(s.calls), sum(s.prompts), 0, 0, sum(s.input), sum(s.output), sum(s.cache_read), sum(s.cache_creation),
  sum(s.cache_creation_1h), sum(s.cost_input), sum(s.cost_output), sum(s.cost_cache_read), sum(s.cost_cache_write_5m),
  sum(s.cost_cache_write_1h), sum(s.cost_other)
from session_usage s
group by 1, 2, 3, 4, 5, 6
having count(*) filter (where s.is_main)
  + sum(
    s.calls + s.prompts + s.input + s.output + s.cache_read + s.cache_creation + s.cache_creation_1h + s.cost_input
    + s.cost_output + s.cost_cache_read + s.cost_cache_write_5m + s.cost_cache_write_1h + s.cost_other
  ) > 0;

-- Counts the changes of the work of a week.
create table work_weeks (
  org_id text not null,
  week date not null,
  version bigint not null,
  primary key (org_id, week)
);

create table trait_rollups (
  org_id text not null,
  trait text not null,
  value text not null,
  member text not null,
  week date not null,
  calls bigint not null,
  primary key (org_id, trait, value, member, week)
);

insert into trait_rollups
select s.org_id, v.trait, v.value, s.member, date_trunc('week', s.day::timestamp)::date, sum(f.calls)
from session_facets f
join session_usage s using (org_id, session_id, nth)
cross join lateral (
  values ('version', f.version), ('effort', f.effort), ('skill', f.skill), ('mcp_server', f.mcp_server)
) as v (trait, value)
where v.value <> ''
group by 1, 2, 3, 4, 5
having sum(f.calls) > 0;

-- Changes that were recorded or assigned; of noticed ones those that were renamed or dismissed.
create table effects (
  org_id text not null,
  id text not null,
  source text not null check (source in ('noticed', 'recorded', 'assigned')),
  -- null: that of what was noticed
  name text,
  dismissed boolean not null,
  kind text,
  unit text not null check (unit in ('member', 'repository')),
  -- a day of the week in which it changed; of assigned ones the first day
  from_day date,
  to_day date,
  -- who changed; all of these null: everybody. Members by id
  members text[],
  projects text[],
  team text,
  primary key (org_id, id)
);

-- Figures of changes whose weeks are over; `basis` is a hash of what they were measured from.
create table effect_reports (
  org_id text not null,
  id text not null,
  weeks integer not null,
  measure text not null,
  basis text not null,
  figures json not null,
  -- when they had another verdict last
  since timestamptz not null,
  primary key (org_id, id, weeks, measure)
);
