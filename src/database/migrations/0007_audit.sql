-- The audit log. created_at is unique within an organization, to the microsecond: it is the order of the log and the
-- cursor of its report.
create table audit_log (
  org_id text not null,
  created_at timestamptz not null,
  id text not null,
  action text collate "C" not null check (action <> ''),
  user_id text collate "C" not null check (user_id <> ''),
  -- json, not jsonb: returned as written
  details json not null,
  ip_address text,
  -- the time in an imported record, when another entry already had it and created_at was moved to a later microsecond
  given_at timestamptz,
  -- time when an imported entry was received; null: written by this service itself, at created_at
  recorded_at timestamptz,
  primary key (org_id, created_at),
  unique (org_id, id)
);
create index audit_log_by_action on audit_log (org_id, action, created_at);
create index audit_log_by_user on audit_log (org_id, user_id, created_at);
create index audit_log_by_user_action on audit_log (org_id, user_id, action, created_at);

-- Numbers of entries, written in the transaction that writes the entries; '' stands for all users or all actions.
-- Each entry is counted in four rows of its day, so that the total of a filtered list reads one row per day (one per
-- day and action for `webhook.*`), and in three rows of grain 'all' (bucket 1970-01-01), so that the report's summary
-- does not grow with the days. At most days × users × actions that occurred together: in practice 10 to 100 times
-- fewer rows than entries.
create table audit_rollups (
  org_id text not null,
  grain text not null check (grain in ('day', 'all')),
  user_id text collate "C" not null,
  action text collate "C" not null,
  bucket date not null,
  entries bigint not null,
  primary key (org_id, grain, user_id, action, bucket)
) with (fillfactor = 70);

-- Compliance reports. Their entries are read from the log: those of the period up to `through` that were received by
-- snapshot_at.
create table reports (
  org_id text not null,
  id text not null,
  report_type text not null check (report_type in ('audit', 'soc2', 'iso27001', 'custom')),
  period_from date not null,
  -- included
  period_to date not null check (period_to >= period_from),
  generated_at timestamptz not null,
  -- created_at of the newest entry when the report was made; null: the log was empty
  through timestamptz,
  snapshot_at timestamptz not null,
  -- the summary at the time when the report was made
  summary json not null,
  primary key (org_id, id)
);
create index reports_by_time on reports (org_id, generated_at, id);
