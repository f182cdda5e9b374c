-- The IANA time zone of an organization's days, weeks and months, and the one that was asked for while what depends on it is rebuilt.
alter table organizations
  add column time_zone text not null default 'UTC',
  add column time_zone_pending text,
  add column time_zone_asked_at timestamptz,
  add check ((time_zone_pending is null) = (time_zone_asked_at is null));
