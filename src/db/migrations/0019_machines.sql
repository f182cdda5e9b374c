-- The machines that send records (the header X-Machine), by whose sessions they send.
create table machines (
  org_id text not null,
  -- a member's id, or an address; '' where a request had no user, or several
  user_key text collate "C" not null,
  machine text collate "C" not null,
  first_seen_at timestamptz not null,
  -- written at most once a minute while nothing new comes
  last_seen_at timestamptz not null,
  -- sessions that were new when this machine sent them
  sessions bigint not null,
  primary key (org_id, user_key, machine)
) with (fillfactor = 50);
