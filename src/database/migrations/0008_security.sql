-- The security heatmap is read from this, which the transaction that changes sessions writes. A file's key is the
-- first 16 bytes of its name's SHA-256, since a name may be longer than an index entry can be.

-- Every finding of every session, as the session's detail lists them: the list of findings, and what the heatmap counted
-- of a session before it changes.
create table findings (
  org_id text not null,
  session_id text not null,
  -- position in the session's list
  position integer not null,
  id text not null,
  rule_id text not null,
  category text not null,
  severity text not null check (severity in ('critical', 'high', 'medium', 'low')),
  title text not null,
  description text,
  -- null without a file
  file text,
  file_key bytea,
  line integer,
  turn_number integer,
  fingerprint text not null,
  status text not null check (status in ('open', 'dismissed')),
  note text,
  project text not null,
  -- the id or the address that the session was sent with; '' without a user
  member text not null,
  -- the member of the session
  created_at timestamptz not null,
  primary key (org_id, session_id, position)
);
create index findings_by_time on findings (org_id, created_at, session_id, position);
create index findings_by_id on findings (org_id, id);
create index findings_by_file on findings (org_id, project, file_key, created_at) where status = 'open';

-- Sessions per file and fingerprint, by the severity it had there: of all time (bucket 1970-01-01), by month and by
-- day, so that a range of dates reads whole months by month and only its ends by day. Bounded by the code base and
-- its months, not by sessions.
create table finding_rollups (
  org_id text not null,
  grain text not null check (grain in ('all', 'month', 'day')),
  project text not null,
  bucket date not null,
  file_key bytea not null,
  fingerprint text not null,
  critical bigint not null,
  high bigint not null,
  medium bigint not null,
  low bigint not null,
  primary key (org_id, grain, project, file_key, bucket, fingerprint)
) with (fillfactor = 80);
create index finding_rollups_by_bucket on finding_rollups (org_id, grain, bucket, project);

-- Sessions with a finding in a file, and the times of the first and the last, by month and by day.
create table file_rollups (
  org_id text not null,
  grain text not null check (grain in ('month', 'day')),
  project text not null,
  bucket date not null,
  file_key bytea not null,
  sessions bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (org_id, grain, project, file_key, bucket)
) with (fillfactor = 80);
create index file_rollups_by_bucket on file_rollups (org_id, grain, bucket, project);

-- The heatmap of all time, one row per file: bounded by the code base.
create table file_risks (
  org_id text not null,
  project text not null,
  file_key bytea not null,
  file text not null,
  -- distinct findings
  critical integer not null,
  high integer not null,
  medium integer not null,
  low integer not null,
  -- points of the distinct findings, at most 100
  risk_score smallint not null
    generated always as (least(100, 25 * critical + 15 * high + 8 * medium + 3 * low)::smallint) stored,
  sessions bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (org_id, project, file_key)
) with (fillfactor = 80);
-- The heatmap's order. Names are ordered by their first 300 characters, which fit an index entry, then by key.
create index file_risks_by_risk
  on file_risks (org_id, risk_score desc, left(file, 300) collate "C", project collate "C", file_key);
create index file_risks_by_project_risk
  on file_risks (org_id, project, risk_score desc, left(file, 300) collate "C", file_key);

-- Files per risk score, of each project and of all (''): at most 101 rows a project, from which totals, means and the
-- start of a page are read.
create table risk_levels (
  org_id text not null,
  project text not null,
  risk_score smallint not null,
  files bigint not null,
  primary key (org_id, project, risk_score)
) with (fillfactor = 80);

-- 0006 says why: the planner would otherwise join all rows of a new organization with each other.
alter table findings alter column org_id set statistics 0;
alter table finding_rollups alter column org_id set statistics 0;
alter table file_rollups alter column org_id set statistics 0;
alter table file_risks alter column org_id set statistics 0;
