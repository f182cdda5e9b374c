-- Sessions and files without a project get rows of their own in the tables of sums in which '' stands for all projects. Their
-- name there is longer than that of a project may be.
insert into session_rollups (
  org_id, grain, project, bucket, sessions, cost, quality_sum, quality_min, quality_max, security_sum, security_min,
  security_max, unpriced_tokens
)
select
  s.org_id, g.grain, repeat('-', 201), case g.grain when 'day' then s.day else date_trunc('month', s.day::timestamp)::date end,
  count(*), sum(s.estimated_cost), sum(s.quality_score), min(s.quality_score), max(s.quality_score), sum(s.security_score),
  min(s.security_score), max(s.security_score), sum(s.unpriced_tokens)
from sessions s
cross join (values ('day'), ('month')) as g (grain)
where s.project = ''
group by 1, 2, 4;

insert into branch_rollups (
  org_id, project, branch, sessions, turns, cost, input, output, cache_read, cache_creation, unpriced_tokens
)
select
  r.org_id, repeat('-', 201), r.branch, sum(r.main_sessions), sum(r.main_turns), sum(r.cost), sum(r.input), sum(r.output),
  sum(r.cache_read), sum(r.cache_creation), sum(r.unpriced_tokens)
from usage_rollups r
where r.dims = 'project_branch'
  and r.grain = 'month'
  and r.project = ''
group by r.org_id, r.branch;

-- A file without a project was counted twice in those of all projects.
delete from risk_levels
where project = '';
insert into risk_levels (org_id, project, risk_score, files)
select k.org_id, '', k.risk_score, count(*)
from file_risks k
group by k.org_id, k.risk_score;
insert into risk_levels (org_id, project, risk_score, files)
select k.org_id, repeat('-', 201), k.risk_score, count(*)
from file_risks k
where k.project = ''
group by k.org_id, k.risk_score;
