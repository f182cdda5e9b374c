-- Sums of usage by model and what its price was in, of which changes of cost are explained: for those, every session of both ranges
-- was read.
create table price_rollups (
  org_id text not null,
  dims text not null,
  grain text not null check (grain in ('day', 'month')),
  bucket date not null,
  project text not null,
  member text not null,
  agent text not null,
  vendor text not null,
  branch text not null,
  model text not null,
  price text not null,
  has_calls boolean not null,
  calls bigint not null,
  prompts bigint not null,
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
  primary key (org_id, dims, grain, bucket, project, member, agent, vendor, branch, model, price, has_calls)
);

insert into price_rollups
select
  s.org_id, 'agent_vendor', 'day', s.day, '', '', s.agent, s.vendor, '', s.model, s.price, s.has_calls,
  sum(s.calls), sum(s.prompts), sum(s.input), sum(s.output), sum(s.cache_read), sum(s.cache_creation),
  sum(s.cache_creation_1h), sum(s.cost_input), sum(s.cost_output), sum(s.cost_cache_read), sum(s.cost_cache_write_5m),
  sum(s.cost_cache_write_1h), sum(s.cost_other)
from session_usage s
group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
having
  sum(s.calls + s.prompts + s.input + s.output + s.cache_read + s.cache_creation + s.cache_creation_1h + s.cost_input
    + s.cost_output + s.cost_cache_read + s.cost_cache_write_5m + s.cost_cache_write_1h + s.cost_other) > 0;

insert into price_rollups
select
  s.org_id, 'project', 'day', s.day, s.project, '', '', '', '', s.model, s.price, s.has_calls,
  sum(s.calls), sum(s.prompts), sum(s.input), sum(s.output), sum(s.cache_read), sum(s.cache_creation),
  sum(s.cache_creation_1h), sum(s.cost_input), sum(s.cost_output), sum(s.cost_cache_read), sum(s.cost_cache_write_5m),
  sum(s.cost_cache_write_1h), sum(s.cost_other)
from session_usage s
group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
having
  sum(s.calls + s.prompts + s.input + s.output + s.cache_read + s.cache_creation + s.cache_creation_1h + s.cost_input
    + s.cost_output + s.cost_cache_read + s.cost_cache_write_5m + s.cost_cache_write_1h + s.cost_other) > 0;

insert into price_rollups
select
  s.org_id, 'member', 'day', s.day, '', s.member, '', '', '', s.model, s.price, s.has_calls,
  sum(s.calls), sum(s.prompts), sum(s.input), sum(s.output), sum(s.cache_read), sum(s.cache_creation),
  sum(s.cache_creation_1h), sum(s.cost_input), sum(s.cost_output), sum(s.cost_cache_read), sum(s.cost_cache_write_5m),
  sum(s.cost_cache_write_1h), sum(s.cost_other)
from session_usage s
group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
having
  sum(s.calls + s.prompts + s.input + s.output + s.cache_read + s.cache_creation + s.cache_creation_1h + s.cost_input
    + s.cost_output + s.cost_cache_read + s.cost_cache_write_5m + s.cost_cache_write_1h + s.cost_other) > 0;

insert into price_rollups
select
  s.org_id, 'branch', 'month', date_trunc('month', s.day::timestamp)::date, '', '', '', '', s.branch, s.model,
  s.price, s.has_calls,
  sum(s.calls), sum(s.prompts), sum(s.input), sum(s.output), sum(s.cache_read), sum(s.cache_creation),
  sum(s.cache_creation_1h), sum(s.cost_input), sum(s.cost_output), sum(s.cost_cache_read), sum(s.cost_cache_write_5m),
  sum(s.cost_cache_write_1h), sum(s.cost_other)
from session_usage s
group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
having
  sum(s.calls + s.prompts + s.input + s.output + s.cache_read + s.cache_creation + s.cache_creation_1h + s.cost_input
    + s.cost_output + s.cost_cache_read + s.cost_cache_write_5m + s.cost_cache_write_1h + s.cost_other) > 0;

insert into price_rollups
select
  s.org_id, s.dims, 'month', date_trunc('month', s.bucket::timestamp)::date, s.project, s.member, s.agent, s.vendor,
  s.branch, s.model, s.price, s.has_calls,
  sum(s.calls), sum(s.prompts), sum(s.input), sum(s.output), sum(s.cache_read), sum(s.cache_creation),
  sum(s.cache_creation_1h), sum(s.cost_input), sum(s.cost_output), sum(s.cost_cache_read), sum(s.cost_cache_write_5m),
  sum(s.cost_cache_write_1h), sum(s.cost_other)
from price_rollups s
where s.grain = 'day'
group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12;
