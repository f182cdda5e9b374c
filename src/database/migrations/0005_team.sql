create table members (
  org_id text not null,
  id text not null,
  -- lower case, so that an address is one member however it is written
  email text not null,
  display_name text not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'auditor')),
  joined_at timestamptz not null,
  primary key (org_id, id),
  unique (org_id, email)
);

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

-- Sessions per UTC hour, written in the transaction that changes sessions. The last 168 hours are 167 whole ones and
-- parts of two others.
create table session_hours (
  org_id text not null,
  hour timestamptz not null,
  sessions integer not null,
  primary key (org_id, hour)
);

-- Sessions per user and domain (a project's top-level directory, '.' for files beside them) whose files they touched,
-- written in the transaction that changes sessions.
create table session_directories (
  org_id text not null,
  -- a member's id, or the address where no id is known
  user_key text collate "C" not null,
  project text not null,
  directory text collate "C" not null,
  sessions integer not null,
  primary key (org_id, user_key, project, directory)
);

-- The machines that send records (the header X-Machine), by whose sessions they send.
create table machines (
  org_id text not null,
  -- a member's id, or an address; '' where a request had no user, or several
  user_key text collate "C" not null,
  machine text collate "C" not null,
  first_seen_at timestamptz not null,
  -- written at most once a minute while nothing new comes
  last_seen_at timestamptz not null,
  -- sessions that were new when this machine sent them
  sessions bigint not null,
  primary key (org_id, user_key, machine)
) with (fillfactor = 50);
