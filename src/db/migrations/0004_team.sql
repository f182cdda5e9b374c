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
