-- Webhooks: registered endpoints, events, one delivery per event and endpoint, and attempts. The tables are an
-- outbox: events and deliveries are written in the transaction that causes them.

create table webhook_endpoints (
  org_id text not null,
  id text not null,
  url text not null,
  -- names of events, or '*' alone
  events text[] not null check (cardinality(events) > 0),
  enabled boolean not null,
  description text,
  -- AES-256-GCM, bound to the ids of the organization and the endpoint
  secret bytea not null,
  secret_hint text not null,
  -- after a rotation: deliveries are signed with it as well until it expires
  previous_secret bytea,
  previous_secret_expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id)
);

-- Latest results per endpoint. A table of its own, so that settling deliveries does not lock the endpoint.
create table webhook_health (
  org_id text not null,
  endpoint_id text not null,
  consecutive_failures integer not null,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_status_code integer,
  primary key (org_id, endpoint_id)
) with (fillfactor = 50);

-- One row per organization that has had an endpoint. A claim locks it while it counts what is in flight, so that the
-- limit per endpoint holds over all instances.
create table webhook_claims (
  org_id text primary key
);

create table webhook_events (
  org_id text not null,
  id text not null,
  event text not null,
  created_at timestamptz not null,
  -- the exact bytes that are signed and sent
  body text not null,
  primary key (org_id, id)
);

-- Half of each page is kept free and no index contains a column that a success changes, so that a success is a HOT
-- update.
create table webhook_deliveries (
  org_id text not null,
  id text not null,
  endpoint_id text not null,
  event_id text not null,
  event text not null,
  status text not null check (status in ('pending', 'pending_retry', 'success', 'failed', 'cancelled')),
  -- whether all its attempts failed. A column of its own, since an index on `status` would change with each success
  undelivered boolean not null default false,
  -- attempts begun, as of the last one that was settled
  attempts integer not null,
  last_status_code integer,
  -- The attempt that succeeded, while the status is success: it has no row in webhook_attempts, so that most
  -- deliveries need none.
  succeeded_at timestamptz,
  duration_ms integer,
  response_body text,
  created_at timestamptz not null,
  completed_at timestamptz,
  primary key (org_id, id),
  unique (org_id, event_id, endpoint_id),
  check ((completed_at is null) = (status in ('pending', 'pending_retry')))
) with (fillfactor = 50);
create index webhook_deliveries_history on webhook_deliveries (org_id, endpoint_id, created_at, id);
create index webhook_deliveries_undelivered on webhook_deliveries (org_id, endpoint_id, created_at, id)
  where undelivered;

-- Deliveries that are not finished, waiting or in flight. A claim updates its row, the end of a delivery deletes it.
create table webhook_queue (
  org_id text not null,
  delivery_id text not null,
  endpoint_id text not null,
  event_id text not null,
  -- scheduled: retried; once: a redelivery, one attempt; test: sent by the request that made it, never claimed
  mode text not null check (mode in ('scheduled', 'once', 'test')),
  -- attempts begun: the fencing number, only the latest attempt may settle
  attempts integer not null,
  -- scheduled attempts that failed: the place in the retry schedule; above 0 the delivery's status is `pending_retry`
  failures integer not null,
  -- attempts whose lease ended without a result: their sender crashed or was stopped
  lost integer not null,
  -- whether an attempt is in flight; its lease ends at due_at
  leased boolean not null,
  -- start of the latest attempt
  claimed_at timestamptz,
  -- time to send, or the end of the lease
  due_at timestamptz not null,
  -- the worker of the latest attempt; null: one that had no row, or the request of a test
  worker_id text,
  primary key (org_id, delivery_id)
) with (fillfactor = 70);
-- Entries that wait, in the order in which they are sent: first attempts, and later ones.
create index webhook_queue_first on webhook_queue (org_id, endpoint_id, due_at, delivery_id)
  where not leased and attempts = 0;
create index webhook_queue_later on webhook_queue (org_id, endpoint_id, due_at, delivery_id)
  where not leased and attempts > 0;
-- Entries in flight, at most the endpoint's limit. Without a time in the key new entries go where deleted ones were,
-- which PostgreSQL then removes; with the end of the lease in it, each claim would step over the dead entries of the
-- last 20 s.
create index webhook_queue_leased on webhook_queue (org_id, endpoint_id) where leased;

-- One row per running worker (the thread that delivers) of all instances. A worker whose row is gone has ended:
-- its deliveries in flight are due. Others delete the row when the advisory lock hashtextextended(id, 0), which the
-- worker's session holds, is free.
create table webhook_workers (
  id text primary key,
  -- Null: the session holds the lock. Behind a pooler, which lends a session to others, the worker counts its
  -- heartbeats here instead; the row is deleted when they stop.
  beats bigint
) with (fillfactor = 50);

-- Deliveries per day they were made, written in the statement that makes or changes them; totals and pages of the
-- history are read from it.
create table webhook_delivery_counts (
  org_id text not null,
  endpoint_id text not null,
  day date not null,
  event text not null,
  status text not null,
  deliveries bigint not null,
  primary key (org_id, endpoint_id, day, event, status)
) with (fillfactor = 50);

-- Attempts, but for the one by which a delivery succeeded (see webhook_deliveries).
create table webhook_attempts (
  org_id text not null,
  delivery_id text not null,
  number integer not null,
  started_at timestamptz not null,
  -- null: the result is unknown
  duration_ms integer,
  status_code integer,
  error text,
  response_body text,
  primary key (org_id, delivery_id, number)
);

-- Responses of POST /v1/webhooks by Idempotency-Key, kept for a day.
create table webhook_idempotency_keys (
  org_id text not null,
  key text not null,
  request_hash bytea not null,
  -- encrypted: it contains the signing secret
  answer bytea not null,
  created_at timestamptz not null,
  primary key (org_id, key)
);

-- One row: a digest of the key that encrypts the secrets of this database, to detect a start with another key.
create table secret_key_check (
  id integer primary key check (id = 1),
  digest bytea not null
);
