-- Ties in cost or turns are broken by the bytes of the id, whatever the database's collation: writers find an id's range
-- without asking PostgreSQL. The indexes of a project make its pages as fast as those of all; the columns included are
-- what lists filter by, so that what a page skips is skipped in the index alone.
drop index sessions_by_cost;
drop index sessions_by_turns;
create index sessions_by_cost on sessions (org_id, estimated_cost, id collate "C") include (created_at);
create index sessions_by_turns on sessions (org_id, turns, id collate "C") include (created_at);
create index sessions_by_project_cost on sessions (org_id, project, estimated_cost, id collate "C") include (created_at);
create index sessions_by_project_turns on sessions (org_id, project, turns, id collate "C") include (created_at);

-- How many sessions there are between two values: where a page begins in a list sorted by cost or turns. The sessions of
-- each project and of '' (all projects), in order of value and id, are divided into ranges: each from (from_value, from_id)
-- to before the next. Ranges are divided further as they grow; their bounds are those of past sessions and need not exist
-- any more. The bounds of the wide ranges are also bounds of narrow ones. Written in the transaction that changes sessions.
create table session_ranges (
  org_id text not null,
  sort text not null check (sort in ('cost', 'turns')),
  grain text not null check (grain in ('narrow', 'wide')),
  project text not null,
  -- US dollars, or turns; the first range of all begins at 0 and ''
  from_value numeric(16, 6) not null,
  from_id text collate "C" not null,
  sessions integer not null,
  primary key (org_id, sort, grain, project, from_value, from_id)
) with (fillfactor = 70);

-- in each part the order is that of an index: sorting all together takes ten times as long
with places as (
  select
    s.org_id, 'cost' as sort, '' as project, s.estimated_cost as value, s.id,
    row_number() over (partition by s.org_id order by s.estimated_cost, s.id collate "C") - 1 as place,
    count(*) over (partition by s.org_id) as sessions
  from sessions s
  union all
  select
    s.org_id, 'turns', '', s.turns, s.id,
    row_number() over (partition by s.org_id order by s.turns, s.id collate "C") - 1,
    count(*) over (partition by s.org_id)
  from sessions s
  union all
  select
    s.org_id, 'cost', s.project, s.estimated_cost, s.id,
    row_number() over (partition by s.org_id, s.project order by s.estimated_cost, s.id collate "C") - 1,
    count(*) over (partition by s.org_id, s.project)
  from sessions s
  union all
  select
    s.org_id, 'turns', s.project, s.turns, s.id,
    row_number() over (partition by s.org_id, s.project order by s.turns, s.id collate "C") - 1,
    count(*) over (partition by s.org_id, s.project)
  from sessions s
)
insert into session_ranges (org_id, sort, grain, project, from_value, from_id, sessions)
select
  p.org_id, p.sort, g.grain, p.project,
  case p.place when 0 then 0 else p.value end,
  case p.place when 0 then '' else p.id end,
  least(g.size, p.sessions - p.place)
from places p
cross join (values ('narrow', 1024), ('wide', 32768)) as g (grain, size)
where p.place % g.size = 0;
