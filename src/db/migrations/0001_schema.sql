-- Every table's key starts with the organization, so that one schema serves one server and a cluster
-- distributed by org_id. organizations and api_keys are small and are known to every node.

create table organizations (
  org_id text primary key,
  slug text not null unique,
  name text not null,
  plan text not null check (plan in ('cloud_pro', 'cloud_team', 'cloud_enterprise')),
  created_at timestamptz not null default now()
);

create table api_keys (
  id text primary key,
  org_id text not null references organizations (org_id),
  name text not null,
  key_hash bytea not null,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_by_org on api_keys (org_id, created_at, id);

-- One row an organization: locked first by every transaction that writes its data, so that writers of one
-- organization queue (rollups, budgets and audit times stay exact) and writers of two never meet.
create table org_locks (
  org_id text primary key
);

create table members (
  org_id text not null,
  id text not null,
  email text not null,
  display_name text not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'auditor')),
  joined_at timestamptz not null,
  primary key (org_id, id),
  -- lower case: an address is one member in any case
  unique (org_id, email)
);

create table budgets (
  org_id text not null,
  month date not null check (extract(day from month) = 1),
  limit_usd numeric(16, 6) not null check (limit_usd > 0),
  primary key (org_id, month)
);

-- The list's columns only: 50 rows of a page are 50 narrow rows. What the detail adds is in session_details.
create table sessions (
  org_id text not null,
  id text not null,
  project text not null,
  created_at timestamptz not null,
  day date not null generated always as ((created_at at time zone 'UTC')::date) stored,
  turns integer not null,
  estimated_cost numeric(14, 6) not null,
  quality_score numeric(5, 2) not null,
  security_score numeric(5, 2) not null,
  user_id text,
  user_email text,
  -- SHA-256 of the canonical record: the same record again changes nothing
  content_hash bytea not null,
  primary key (org_id, id)
);
create index sessions_by_time on sessions (org_id, created_at, id);
create index sessions_by_project_time on sessions (org_id, project, created_at, id);
-- Deep pages sorted by cost or turns skip rows of these alone: what the list filters by is in them, and an index-only
-- scan skips half a million in 60 ms, where reading each session takes 2.2 s.
create index sessions_by_cost on sessions (org_id, estimated_cost, id) include (created_at, project);
create index sessions_by_turns on sessions (org_id, turns, id) include (created_at, project);

-- json, not jsonb: stored as written, so that an export gives back the same bytes.
create table session_details (
  org_id text not null,
  session_id text not null,
  detail json not null,
  primary key (org_id, session_id)
);

-- What every total, mean, sum, series and badge is read from; written in the transaction that changes sessions.
-- Each session counts in four rows: by day and by month, in its project and in '' (all projects).
create table session_rollups (
  org_id text not null,
  grain text not null check (grain in ('day', 'month')),
  project text not null,
  bucket date not null,
  sessions bigint not null,
  cost numeric(20, 6) not null,
  quality_sum numeric(20, 2) not null,
  quality_min numeric(5, 2) not null,
  quality_max numeric(5, 2) not null,
  security_sum numeric(20, 2) not null,
  security_min numeric(5, 2) not null,
  security_max numeric(5, 2) not null,
  primary key (org_id, grain, project, bucket)
) with (fillfactor = 70);
create index session_rollups_by_bucket on session_rollups (org_id, grain, bucket, project);

-- Requests of the current minute by organization; instances take leases from it (http/rate-limit.ts).
-- Unlogged: emptied by a crash of PostgreSQL, which forgives at most one minute.
create unlogged table rate_windows (
  org_id text primary key,
  minute bigint not null,
  used integer not null
) with (fillfactor = 50);
