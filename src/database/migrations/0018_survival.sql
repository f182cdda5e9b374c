-- Counts of lines that are left which are above the lines themselves are of lines that were replaced since: they are no longer
-- known, and leave the sums.
update commit_rollups r
set
  survival_14 = r.survival_14 - d.survival_14,
  of_14 = r.of_14 - d.of_14,
  survival_30 = r.survival_30 - d.survival_30,
  of_30 = r.of_30 - d.of_30
from (
  select
    c.org_id, g.dims, t.grain,
    case t.grain when 'day' then c.day else date_trunc('month', c.day::timestamp)::date end as bucket,
    case when g.of_project then c.project else '' end as project,
    case when g.of_member then c.author_email else '' end as member,
    sum(case when c.survival_14 > c.lines then c.survival_14 else 0 end) as survival_14,
    sum(case when c.survival_14 > c.lines then c.lines else 0 end) as of_14,
    sum(case when c.survival_30 > c.lines then c.survival_30 else 0 end) as survival_30,
    sum(case when c.survival_30 > c.lines then c.lines else 0 end) as of_30
  from (
    select
      c.org_id, (c.committed_at at time zone 'UTC')::date as day, c.project, c.author_email, coalesce(a.lines, 0) as lines,
      a.survival_14, a.survival_30
    from commit_ai a
    join commits c
      on c.org_id = a.org_id
      and c.project = a.project
      and c.sha = a.sha
    where a.on_default_branch is not false
      and (a.survival_14 > coalesce(a.lines, 0) or a.survival_30 > coalesce(a.lines, 0))
  ) c
  cross join (
    values ('all', false, false), ('project', true, false), ('member', false, true), ('project_member', true, true)
  ) as g (dims, of_project, of_member)
  cross join (values ('day'), ('month')) as t (grain)
  group by 1, 2, 3, 4, 5, 6
) d
where r.org_id = d.org_id
  and r.dims = d.dims
  and r.grain = d.grain
  and r.bucket = d.bucket
  and r.project = d.project
  and r.member = d.member
  and r.agent = '';

update commit_ai
set
  survival_14 = case when survival_14 <= coalesce(lines, 0) then survival_14 end,
  survival_30 = case when survival_30 <= coalesce(lines, 0) then survival_30 end
where survival_14 > coalesce(lines, 0)
  or survival_30 > coalesce(lines, 0);
