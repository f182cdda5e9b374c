-- The grouping member_agent of both sums of GET /v1/outcomes: the agents of one person are read from a few rows, and not from
-- those of each project and month.
insert into outcome_rollups (
  org_id, dims, grain, bucket, project, repo, member, agent, facts, open, merged, closed, linked_cost, linked_of_cost
)
select
  r.org_id, 'member_agent', r.grain, r.bucket, '', '', r.member, r.agent, sum(r.facts), sum(r.open), sum(r.merged),
  sum(r.closed), sum(r.linked_cost), sum(r.linked_of_cost)
from outcome_rollups r
where r.dims = 'project_member_agent'
group by r.org_id, r.grain, r.bucket, r.member, r.agent;

insert into commit_rollups (
  org_id, dims, grain, bucket, project, member, agent, facts, commits, effective_lines, ai_lines, survival_14, of_14,
  survival_30, of_30
)
select
  r.org_id, 'member_agent', r.grain, r.bucket, '', r.member, r.agent, sum(r.facts), sum(r.commits), sum(r.effective_lines),
  sum(r.ai_lines), sum(r.survival_14), sum(r.of_14), sum(r.survival_30), sum(r.of_30)
from commit_rollups r
where r.dims = 'project_member_agent'
group by r.org_id, r.grain, r.bucket, r.member, r.agent;
