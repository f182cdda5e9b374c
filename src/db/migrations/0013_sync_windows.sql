-- Requests that sync are counted in a window of their own, as large as that of all others (http/rate-windows.ts).
alter table rate_windows
  -- read, sync
  add column name text not null default 'read',
  drop constraint rate_windows_pkey,
  add primary key (org_id, name);
