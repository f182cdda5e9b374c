-- Sessions whose tickets are found again in the background: after a change of the pattern, or when a request had no time left.
create table ticket_waiting (
  org_id text not null,
  session_id text not null,
  primary key (org_id, session_id)
);

-- The first 200 characters of a text count from now on, and the default in place of a pattern that is too large.
insert into ticket_waiting (org_id, session_id)
select u.org_id, u.session_id
from session_usage u
join organizations o on o.org_id = u.org_id
where u.is_main
  and (
    o.ticket_pattern is not null
    or length(u.branch) > 200
    or exists (
      select
      from pr_sessions s
      join pr_risks k
        on k.org_id = s.org_id
        and k.repo = s.repo
        and k.pr_number = s.pr_number
      where s.org_id = u.org_id
        and s.session_id = u.session_id
        and greatest(length(k.pr_title), length(k.origin->>'branch')) > 200
    )
  );
