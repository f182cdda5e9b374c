-- A retention that is made shorter holds a day after it was set: what it would delete is announced before.
alter table organizations
  -- the retention of before, which holds until then; null: sessions are kept for ever
  add column retention_before_days integer,
  -- null: nothing waits
  add column retention_shortened_at timestamptz;

-- The settings RETENTION_*, in days; 2147483647: for ever.
create table retention_settings (
  name text primary key,
  -- the days that hold
  days integer not null,
  -- the days that a server has
  wanted integer not null,
  shortened_at timestamptz
);
