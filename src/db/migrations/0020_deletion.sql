-- sessions of earlier days are deleted; null: kept for ever
alter table organizations add column retention_sessions_days integer check (retention_sessions_days > 0);

-- set when its deletion begins: nobody finds it any more
alter table organizations add column deleted_at timestamptz;

-- so that a sync does not store them again
create table deleted_sessions (
  org_id text not null,
  session_id text not null,
  deleted_at timestamptz not null default now(),
  primary key (org_id, session_id)
);
