-- Parts of sessions have the day and the keys of what they are parts of: sums by a facet and another key read one table.
alter table session_facets
  add column day date,
  add column project text,
  add column member text,
  add column agent text,
  add column model text,
  add column branch text;
update session_facets f
set day = u.day, project = u.project, member = u.member, agent = u.agent, model = u.model, branch = u.branch
from session_usage u
where u.org_id = f.org_id
  and u.session_id = f.session_id
  and u.nth = f.nth;
alter table session_facets
  alter column day set not null,
  alter column project set not null,
  alter column member set not null,
  alter column agent set not null,
  alter column model set not null,
  alter column branch set not null;
create index session_facets_by_day on session_facets (org_id, day);
