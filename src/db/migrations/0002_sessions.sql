-- The columns that lists return, filter and sort by: a page of 50 sessions reads 50 narrow rows. The rest of a
-- session is in session_details.
create table sessions (
  org_id text not null,
  id text not null,
  project text not null,
  created_at timestamptz not null,
  -- the UTC day
  day date not null generated always as ((created_at at time zone 'UTC')::date) stored,
  turns integer not null,
  -- US dollars
  estimated_cost numeric(14, 6) not null,
  quality_score numeric(5, 2) not null,
  security_score numeric(5, 2) not null,
  -- a member's id; null where only the address is known
  user_id text,
  user_email text,
  -- SHA-256 of the canonical record: a record that is sent again changes nothing
  content_hash bytea not null,
  primary key (org_id, id)
);
create index sessions_by_time on sessions (org_id, created_at, id);
create index sessions_by_project_time on sessions (org_id, project, created_at, id);
-- Deep pages sorted by cost or turns skip rows within the index alone, since it includes the columns that lists
-- filter by: an index-only scan skips 500,000 entries in 60 ms, reading the rows takes 2.2 s.
create index sessions_by_cost on sessions (org_id, estimated_cost, id) include (created_at, project);
create index sessions_by_turns on sessions (org_id, turns, id) include (created_at, project);
-- whether a member had a session in a range of time
create index sessions_by_user on sessions (org_id, coalesce(user_id, user_email), created_at);

create table session_details (
  org_id text not null,
  session_id text not null,
  -- json, not jsonb: kept as written, so that an export returns the same bytes
  detail json not null,
  primary key (org_id, session_id)
);

-- Sums from which every total, mean, series and badge is read; written in the transaction that changes sessions. Each
-- session is counted in four rows: by day and by month, each in its project and in '' (all projects).
create table session_rollups (
  org_id text not null,
  grain text not null check (grain in ('day', 'month')),
  project text not null,
  -- the day, or the first day of the month
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
