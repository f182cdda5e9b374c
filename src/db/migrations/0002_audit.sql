-- The audit log. created_at is unique in an organization, to the microsecond: it is the order of the log and the cursor
-- of its report. details are json, not jsonb: given back as written.
create table audit_log (
  org_id text not null,
  created_at timestamptz not null,
  id text not null,
  action text collate "C" not null check (action <> ''),
  user_id text collate "C" not null check (user_id <> ''),
  details json not null,
  ip_address text,
  -- the time that an imported entry was given, when another entry had it already and created_at was moved on
  given_at timestamptz,
  -- when an imported entry came in; null: written by this service itself, at created_at
  recorded_at timestamptz,
  primary key (org_id, created_at),
  unique (org_id, id)
);
create index audit_log_by_action on audit_log (org_id, action, created_at);
create index audit_log_by_user on audit_log (org_id, user_id, created_at);
create index audit_log_by_user_action on audit_log (org_id, user_id, action, created_at);

-- Entries counted, in the transaction that writes them; '' stands for every user or every action. Each entry counts in
-- four rows of its day, so that a list's total reads one row a day whatever it is filtered by (one a day and action for
-- `webhook.*`), and in three of grain 'all' (bucket 1970-01-01), so that the report's summary does not grow with days.
-- Rows: at most days × users × actions that occurred together, 10 to 100 times fewer than entries in practice.
create table audit_rollups (
  org_id text not null,
  grain text not null check (grain in ('day', 'all')),
  user_id text collate "C" not null,
  action text collate "C" not null,
  bucket date not null,
  entries bigint not null,
  primary key (org_id, grain, user_id, action, bucket)
) with (fillfactor = 70);

-- Compliance reports: the summary as it was when the report was made. The entries are read from the log, as far as it
-- was written then: those up to `through` that had come in by snapshot_at.
create table reports (
  org_id text not null,
  id text not null,
  report_type text not null check (report_type in ('audit', 'soc2', 'iso27001', 'custom')),
  period_from date not null,
  period_to date not null check (period_to >= period_from),
  generated_at timestamptz not null,
  -- null: the log was empty
  through timestamptz,
  snapshot_at timestamptz not null,
  summary json not null,
  primary key (org_id, id)
);
create index reports_by_time on reports (org_id, generated_at, id);
