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
  -- tokens of all four kinds whose price is not known: they add nothing to the cost
  unpriced_tokens bigint not null default 0,
  -- tokens of all four kinds that transcripts and that telemetry state
  transcript_tokens bigint not null default 0,
  telemetry_tokens bigint not null default 0,
  primary key (org_id, id)
);
create index sessions_by_time on sessions (org_id, created_at, id);
create index sessions_by_project_time on sessions (org_id, project, created_at, id);
-- Deep pages sorted by cost, turns or quality skip rows within the index alone, since it includes the columns that lists filter
-- by: an index-only scan skips 500,000 entries in 60 ms, reading the rows takes 2.2 s. Ties are broken by the bytes of the
-- id, whatever the database's collation.
create index sessions_by_cost on sessions (org_id, estimated_cost, id collate "C") include (created_at);
create index sessions_by_turns on sessions (org_id, turns, id collate "C") include (created_at);
create index sessions_by_quality on sessions (org_id, quality_score, id collate "C") include (created_at);
create index sessions_by_project_cost on sessions (org_id, project, estimated_cost, id collate "C") include (created_at);
create index sessions_by_project_turns on sessions (org_id, project, turns, id collate "C") include (created_at);
create index sessions_by_project_quality on sessions (org_id, project, quality_score, id collate "C") include (created_at);
-- whether a member had a session in a range of time
create index sessions_by_user on sessions (org_id, coalesce(user_id, user_email), created_at);
-- It has few sessions: those that reprice and doctor look at.
create index sessions_unpriced on sessions (org_id, id) where unpriced_tokens > 0;

create table session_details (
  org_id text not null,
  session_id text not null,
  -- json, not jsonb: kept as written, so that an export returns the same bytes
  detail json not null,
  -- The parts that `sync` read of the session, by the ids of its messages: base64 of gzipped JSON
  -- (records/session-parts.ts). Parts of the same session from other files are merged with it. Null for a session
  -- that another client sent.
  parts text,
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
  unpriced_tokens bigint not null default 0,
  primary key (org_id, grain, project, bucket)
) with (fillfactor = 70);
create index session_rollups_by_bucket on session_rollups (org_id, grain, bucket, project);

-- Sessions that were deleted, so that a sync does not store them again.
create table deleted_sessions (
  org_id text not null,
  session_id text not null,
  deleted_at timestamptz not null default now(),
  primary key (org_id, session_id)
);

-- The sessions of a session's sub-agents, as its record names them: their telemetry belongs to it.
create table session_includes (
  org_id text not null,
  sub_agent_id text not null,
  session_id text not null,
  primary key (org_id, sub_agent_id)
);
create index session_includes_by_session on session_includes (org_id, session_id);

-- Telemetry until it is written to its sessions a few seconds later: a row is of a session of a request, with its parts in
-- JSON, or of a request, with its entry for the audit log.
create table telemetry_inbox (
  org_id text not null,
  id text not null,
  received_at timestamptz not null default now(),
  session_id text,
  parts text,
  project text,
  user_email text,
  is_bound boolean not null,
  actor_id text,
  ip_address text,
  entry json,
  primary key (org_id, id)
);
create index telemetry_inbox_by_time on telemetry_inbox (received_at);
