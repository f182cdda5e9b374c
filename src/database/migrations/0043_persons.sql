-- Usage, its sums, findings and windows of limits name the person: the id of the member who has the address that they were sent with,
-- else that address or id. The rows of a member's addresses become those of the id.

drop index session_usage_by_member;
update session_usage u
set member = a.id
from (
  select m.org_id, m.id, m.email as address from members m
  union all
  select l.org_id, m.id, l.email from member_aliases l join members m on m.org_id = l.org_id and m.email = l.member_email
) a
where u.org_id = a.org_id
  and u.member = a.address;
create index session_usage_by_member on session_usage (org_id, member, day, created_at, session_id);

-- In sums of outcomes only the parts of sessions are by person: pull requests have the address of their author.
insert into outcome_rollups as r (
  org_id, dims, grain, bucket, project, repo, member, agent, facts, open, merged, closed, linked_cost, linked_of_cost
)
select
  p.org_id, g.dims, t.grain, case when t.grain = 'day' then p.day else date_trunc('month', p.day::timestamp)::date end,
  case when g.has_project then p.project else '' end, '', k.member, case when g.has_agent then p.agent else '' end,
  sum(k.sign), 0, 0, 0, 0, sum(k.sign * p.part)
from pr_sessions p
join (
  select m.org_id, m.id, m.email as address from members m
  union all
  select l.org_id, m.id, l.email from member_aliases l join members m on m.org_id = l.org_id and m.email = l.member_email
) a on a.org_id = p.org_id and a.address = p.member
cross join (
  values ('member', false, false), ('project_member', true, false), ('member_agent', false, true), ('project_member_agent', true, true)
) as g (dims, has_project, has_agent)
cross join (values ('day'), ('month')) as t (grain)
cross join lateral (values (p.member, -1), (a.id, 1)) as k (member, sign)
group by 1, 2, 3, 4, 5, 6, 7, 8
on conflict (org_id, dims, grain, bucket, project, repo, member, agent) do update set
  facts = r.facts + excluded.facts,
  linked_of_cost = r.linked_of_cost + excluded.linked_of_cost;
delete from outcome_rollups r
where r.facts = 0;

do $$
declare
  named text;
  keys text;
  sums text;
  merged text;
  addresses constant text := '(
    select m.org_id, m.id, m.email as address from members m
    union all
    select l.org_id, m.id, l.email from member_aliases l join members m on m.org_id = l.org_id and m.email = l.member_email
  )';
begin
  foreach named in array array['session_facets', 'findings', 'pr_sessions', 'limit_windows'] loop
    execute format('update %I u set member = a.id from %s a where u.org_id = a.org_id and u.member = a.address', named, addresses);
  end loop;
  foreach named in array array['usage_rollups', 'work_rollups', 'trait_rollups'] loop
    select
      string_agg(quote_ident(c.attname), ', ') filter (where k.is_key and c.attname <> 'member'),
      string_agg(quote_ident(c.attname), ', ') filter (where not k.is_key),
      string_agg(format('%1$I = t.%1$I + excluded.%1$I', c.attname), ', ') filter (where not k.is_key)
    into keys, sums, merged
    from pg_attribute c
    join pg_index i on i.indrelid = c.attrelid and i.indisprimary
    cross join lateral (select c.attnum = any (i.indkey) as is_key) k
    where c.attrelid = named::regclass
      and c.attnum > 0
      and not c.attisdropped
      and c.attgenerated = '';
    execute format(
      'insert into %1$I as t (%2$s, member, %3$s) select %4$s, a.id, %5$s from %1$I r join %6$s a using (org_id)
        where r.member = a.address group by %4$s, a.id on conflict (%2$s, member) do update set %7$s',
      named, keys, sums, regexp_replace(keys, '(\w+)', 'r.\1', 'g'), regexp_replace(sums, '(\w+)', 'sum(r.\1)', 'g'), addresses, merged
    );
    execute format('delete from %I r using %s a where r.org_id = a.org_id and r.member = a.address', named, addresses);
  end loop;
end
$$;

-- Sessions of a person are found by session_usage.
drop index sessions_by_user;
