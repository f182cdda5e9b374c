-- Every key and index starts with org_id, so that the same schema serves one server and a cluster whose tables are
-- distributed by org_id (Citus). Only organizations and api_keys are copied to every node of such a cluster: they are
-- small and are found without an org_id. Other tables have no foreign key to organizations.

create table organizations (
  org_id text primary key,
  slug text not null unique,
  name text not null,
  plan text not null check (plan in ('cloud_pro', 'cloud_team', 'cloud_enterprise')),
  created_at timestamptz not null default now(),
  -- whether badges are shown without a token
  badges_public boolean not null default false,
  -- SHA-256 of the token that shows private badges; null: no token was made
  badge_token_hash bytea,
  -- settings that differ from the defaults: { labels?, thresholds?, colors? } (badges/model.ts)
  badge_look json not null default '{}',
  -- whether names and addresses of members are hidden from keys without the scope team:read
  hide_members boolean not null default false,
  -- sessions of earlier days are deleted; null: kept for ever
  retention_sessions_days integer check (retention_sessions_days > 0),
  -- set when its deletion begins: nobody finds it any more
  deleted_at timestamptz
);

create table api_keys (
  id text primary key,
  org_id text not null references organizations (org_id),
  name text not null,
  -- SHA-256 of the key, which is stored nowhere
  key_hash bytea not null,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  -- null: never
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- the address of the member whose sessions the key sends, in lower case; null: it sends those of anybody
  member_email text,
  -- the key that a rotated key was replaced by: its end is that of the grace, which its successor must not inherit
  rotated_to text
);
create index api_keys_by_org on api_keys (org_id, created_at, id);

-- One row per organization. Every transaction that writes an organization's data first locks its row (db/org-lock.ts):
-- writers of one organization run one after the other, so that rollups, budgets and times of the audit log stay exact;
-- writers of different organizations never wait for each other.
create table org_locks (
  org_id text primary key,
  -- Another one after each transaction that held the lock: responses in memory carry the version that they were computed
  -- from (http/responses/response-cache.ts). Random, so that a restored database never has a version again.
  version uuid not null default gen_random_uuid()
) with (fillfactor = 50);

-- Requests of the current minute per organization; instances take leases from it (http/rate-windows.ts). Requests that
-- sync are counted in a window of their own, as large as that of all others. Unlogged: a crash of PostgreSQL empties it,
-- and at most one minute's requests are not counted.
create unlogged table rate_windows (
  org_id text not null,
  -- minutes since 1970
  minute bigint not null,
  -- requests leased in that minute
  used integer not null,
  -- the kind of requests that the window counts: read, sync
  name text not null default 'read',
  primary key (org_id, name)
) with (fillfactor = 50);
