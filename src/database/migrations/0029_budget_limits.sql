-- The limits of which the organization was told in a month: each is told once. A row without any is of an older server, and counts
-- for the limit that holds.
alter table budget_alerts add column limits numeric(16, 6)[] not null default '{}';

update budget_alerts a
set limits = array[b.limit_usd]
from budgets b
where b.org_id = a.org_id
  and b.scope = a.scope
  and b.scope_key = a.scope_key
  and b.month <= a.month
  and not exists (
    select
    from budgets n
    where n.org_id = a.org_id
      and n.scope = a.scope
      and n.scope_key = a.scope_key
      and n.month > b.month
      and n.month <= a.month
  );
