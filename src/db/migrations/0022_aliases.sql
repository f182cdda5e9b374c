-- Other addresses of members: commits and sessions with one of them are the member's. Its writers have the lock of the
-- history, since expertise is computed with it.
create table member_aliases (
  org_id text not null,
  -- both in lower case
  email text collate "C" not null,
  -- the member's own address, which never changes
  member_email text collate "C" not null,
  primary key (org_id, email)
);
create index member_aliases_by_member on member_aliases (org_id, member_email);
