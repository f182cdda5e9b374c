-- Sums of session_usage by branch, of all time, and of each project ('' stands for all of them), beside those by month in
-- usage_rollups. There may be as many branches as sessions: a page of the branches that cost most is read in the order
-- of an index, whatever their number. A table of its own, as that index would make each update of usage_rollups write to
-- all of its indexes.
create table branch_rollups (
  org_id text not null,
  project text not null,
  branch text not null,
  sessions bigint not null,
  turns bigint not null,
  cost numeric(20, 6) not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_creation bigint not null,
  unpriced_tokens bigint not null,
  primary key (org_id, project, branch)
);
create index branch_rollups_by_cost on branch_rollups (org_id, project, cost desc, (nullif(branch, '') collate "C"));

insert into branch_rollups (
  org_id, project, branch, sessions, turns, cost, input, output, cache_read, cache_creation, unpriced_tokens
)
select
  r.org_id, p.project, r.branch, sum(r.main_sessions), sum(r.main_turns), sum(r.cost), sum(r.input), sum(r.output),
  sum(r.cache_read), sum(r.cache_creation), sum(r.unpriced_tokens)
from usage_rollups r
-- Citus refuses the union that leaves one row where the project is '' already
cross join lateral (values (r.project, true), ('', r.project <> '')) as p (project, is_counted)
where r.dims = 'project_branch'
  and r.grain = 'month'
  and p.is_counted
group by r.org_id, p.project, r.branch;
