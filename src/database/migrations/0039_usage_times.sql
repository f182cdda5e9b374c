-- The first and the last time of a session, which has one day where both are on it: another time zone only moves it to its own one.
-- Null: written before.
alter table session_usage
  add column first_at timestamptz,
  add column last_at timestamptz;
