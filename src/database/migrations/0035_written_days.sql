-- Days in the organization's time zone, which the program writes: of a finding that of its session, of a pull request that on which it
-- was merged or closed, else opened.
alter table findings add column day date;
update findings set day = (created_at at time zone 'UTC')::date;
alter table findings alter column day set not null;

alter table commits add column day date;
update commits set day = (committed_at at time zone 'UTC')::date;
alter table commits alter column day set not null;

alter table pr_risks add column day date;
update pr_risks
set day = (
  case state
    when 'merged' then coalesce(merged_at, closed_at, created_at)
    when 'closed' then coalesce(closed_at, created_at)
    else created_at
  end at time zone 'UTC'
)::date;
alter table pr_risks alter column day set not null;

-- Later pages of the list begin on a day, which is found in the index alone.
drop index sessions_by_time;
create index sessions_by_time on sessions (org_id, created_at, id) include (day);
drop index sessions_by_project_time;
create index sessions_by_project_time on sessions (org_id, project, created_at, id) include (day);
