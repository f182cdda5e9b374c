-- Webhooks: registered endpoints, the events that happened, one delivery per event and endpoint, their attempts.
-- The tables are an outbox: events and deliveries are written in the transaction that causes them.

create table webhook_endpoints (
  org_id text not null,
  id text not null,
  url text not null,
  -- names of events, or '*' alone
  events text[] not null check (cardinality(events) > 0),
  enabled boolean not null,
  description text,
  -- AES-256-GCM, bound to the organization's and the endpoint's id
  secret bytea not null,
  secret_hint text not null,
  -- signed with as well until it expires
  previous_secret bytea,
  previous_secret_expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id)
);

-- How an endpoint has answered lately. Apart from the endpoint, which settling deliveries must not lock.
create table webhook_health (
  org_id text not null,
  endpoint_id text not null,
  consecutive_failures integer not null,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_status_code integer,
  primary key (org_id, endpoint_id)
) with (fillfactor = 50);

-- One row an organization that has had an endpoint: locked by a claim while it counts what is in flight, so that the
-- limit of an endpoint holds over all instances.
create table webhook_claims (
  org_id text primary key
);

create table webhook_events (
  org_id text not null,
  id text not null,
  event text not null,
  created_at timestamptz not null,
  -- the very bytes that are signed and sent
  body text not null,
  primary key (org_id, id)
);

create table webhook_deliveries (
  org_id text not null,
  id text not null,
  endpoint_id text not null,
  event_id text not null,
  event text not null,
  status text not null check (status in ('pending', 'pending_retry', 'success', 'failed', 'cancelled')),
  -- whether it was given up: a column of its own, so that no index speaks of the status, and a success is written in
  -- place (HOT) without touching an index; and half of each page is kept free for that
  undelivered boolean not null default false,
  -- attempts begun, as of the last one that was settled
  attempts integer not null,
  last_status_code integer,
  -- of the attempt that succeeded, while the status is success: the one attempt of most deliveries needs no row of its own
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

-- Deliveries that are not finished, waiting or in flight: a narrow table that a claim changes, and a finished one leaves.
create table webhook_queue (
  org_id text not null,
  delivery_id text not null,
  endpoint_id text not null,
  event_id text not null,
  -- scheduled: retried; once: a redelivery, one attempt; test: sent by the request that asked for it, never claimed
  mode text not null check (mode in ('scheduled', 'once', 'test')),
  -- attempts begun: the fencing number, by which only the latest may settle
  attempts integer not null,
  -- attempts known to have failed, of the schedule's: the place in it; with any the delivery is `pending_retry`
  failures integer not null,
  -- attempts of which nothing was heard again, for their sender died
  lost integer not null,
  -- an attempt is in flight, until due_at at the latest: that is its lease
  leased boolean not null,
  -- when the latest attempt was begun
  claimed_at timestamptz,
  -- when to send, or the end of the lease
  due_at timestamptz not null,
  primary key (org_id, delivery_id)
) with (fillfactor = 70);
-- what waits, in the order it is sent
create index webhook_queue_waiting on webhook_queue (org_id, endpoint_id, due_at, delivery_id) where not leased;
-- What is in flight, at most the endpoint's limit. Without a time in it new entries come where old ones went, whose
-- remains PostgreSQL then removes: by the end of their lease those of the last 20 s were counted with every claim.
create index webhook_queue_leased on webhook_queue (org_id, endpoint_id) where leased;

-- Deliveries counted, by the day they were made, in the statement that makes or changes them: totals and pages of the
-- history read these.
create table webhook_delivery_counts (
  org_id text not null,
  endpoint_id text not null,
  day date not null,
  event text not null,
  status text not null,
  deliveries bigint not null,
  primary key (org_id, endpoint_id, day, event, status)
) with (fillfactor = 50);

-- Attempts but for the one by which a delivery has succeeded.
create table webhook_attempts (
  org_id text not null,
  delivery_id text not null,
  number integer not null,
  started_at timestamptz not null,
  -- null: it is not known how it ended
  duration_ms integer,
  status_code integer,
  error text,
  response_body text,
  primary key (org_id, delivery_id, number)
);

-- Answers of `POST /v1/webhooks` by Idempotency-Key, for a day; they hold a secret and are encrypted.
create table webhook_idempotency_keys (
  org_id text not null,
  key text not null,
  request_hash bytea not null,
  answer bytea not null,
  created_at timestamptz not null,
  primary key (org_id, key)
);

-- Months whose cost crossed their budget: said once.
create table budget_alerts (
  org_id text not null,
  month date not null,
  primary key (org_id, month)
);

-- One row: tells the key that encrypted the secrets of this database from any other.
create table secret_key_check (
  id integer primary key check (id = 1),
  digest bytea not null
);

-- Takes what is due of one organization, at most p_limit deliveries, oldest first and each endpoint in turn, and begins an
-- attempt of each: it holds a lease of p_lease_ms. At most p_cap of an endpoint are in flight, over all instances. Of
-- those that are no first attempts, or go to an endpoint that has failed p_failing_after times in a row, at most
-- p_later_limit are taken; such an endpoint rests for p_pace_ms after a failure.
--
-- p_since are times, by p_endpoints, before which nothing is looked for: what was claimed already leaves remains in the
-- index that every claim would step over. A caller who gives them has to leave them out now and then.
--
-- A function, because the count of what is in flight has to be taken after the wait for the lock, by a statement of its
-- own, and the lock must not depend on a client that may be stopped while it holds it. Without sequential and bitmap
-- scans: its plans outlive the statistics of an empty table.
create function claim_webhook_deliveries(
  p_org text,
  p_limit integer,
  p_later_limit integer,
  p_cap integer,
  p_lease_ms integer,
  p_max_lost integer,
  p_failing_after integer,
  p_pace_ms integer,
  p_endpoints text[],
  p_since timestamptz[]
) returns table (
  due_at timestamptz,
  id text,
  endpoint_id text,
  event_id text,
  event text,
  attempt integer,
  is_first boolean,
  url text,
  secret bytea,
  previous_secret bytea,
  body text
)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now timestamptz;
begin
  perform from webhook_claims c where c.org_id = p_org for update;
  v_now := clock_timestamp();
  return query
  with lanes as materialized (
    select
      e.id,
      e.url,
      e.secret,
      case when e.previous_secret_expires_at > v_now then e.previous_secret end as previous_secret,
      coalesce(h.consecutive_failures, 0) >= p_failing_after as failing,
      coalesce(p_since[array_position(p_endpoints, e.id)], '-infinity') as since,
      least(p_limit, greatest(p_cap - (
        select count(*)
        from webhook_queue f
        where f.org_id = p_org
          and f.endpoint_id = e.id
          and f.leased
          and f.due_at > v_now
      ), 0)) as room
    from webhook_endpoints e
    join organizations o on o.org_id = e.org_id
    left join webhook_health h on h.org_id = e.org_id and h.endpoint_id = e.id
    where e.org_id = p_org
      and e.enabled
      and o.plan <> 'cloud_pro'
      and not (
        coalesce(h.consecutive_failures, 0) >= p_failing_after
        and h.last_failure_at > v_now - p_pace_ms * interval '1 millisecond'
      )
  ),
  due as (
    select w.delivery_id, w.due_at, w.attempts, null::timestamptz as claimed_at, false as is_lost, l.id, l.failing, l.room
    from lanes l
    cross join lateral (
      select q.delivery_id, q.due_at, q.attempts
      from webhook_queue q
      where q.org_id = p_org
        and q.endpoint_id = l.id
        and not q.leased
        and q.due_at >= l.since
        and q.due_at <= v_now
      order by q.due_at, q.delivery_id
      limit l.room
      for update skip locked
    ) w
    union all
    -- leases that have ended
    select w.delivery_id, w.due_at, w.attempts, w.claimed_at, true, l.id, l.failing, l.room
    from lanes l
    cross join lateral (
      select q.delivery_id, q.due_at, q.attempts, q.claimed_at
      from webhook_queue q
      where q.org_id = p_org
        and q.endpoint_id = l.id
        and q.leased
        and q.due_at <= v_now
        and q.mode <> 'test'
        and q.lost < p_max_lost
      order by q.due_at, q.delivery_id
      limit l.room
      for update skip locked
    ) w
  ),
  turns as (
    select
      u.*,
      u.attempts = 0 and not u.failing as is_first,
      row_number() over (partition by u.id order by u.due_at, u.delivery_id) as turn
    from due u
  ),
  ranked as (
    select
      u.*,
      row_number() over (partition by u.is_first order by u.turn, u.due_at, u.delivery_id) as place
    from turns u
    where u.turn <= u.room
  ),
  chosen as materialized (
    select r.delivery_id, r.due_at, r.is_first, r.is_lost, r.attempts, r.claimed_at
    from ranked r
    where r.is_first or r.place <= p_later_limit
    order by r.turn, r.due_at, r.delivery_id
    limit p_limit
  ),
  lost as (
    insert into webhook_attempts (org_id, delivery_id, number, started_at, error)
    select
      p_org, c.delivery_id, c.attempts, c.claimed_at,
      'the sender ended before it was known how the attempt ended; it may have arrived'
    from chosen c
    where c.is_lost
    on conflict do nothing
  ),
  taken as (
    update webhook_queue q
    set
      leased = true,
      attempts = q.attempts + 1,
      lost = q.lost + q.leased::integer,
      claimed_at = v_now,
      due_at = v_now + p_lease_ms * interval '1 millisecond'
    where q.org_id = p_org
      -- no join: where the statistics know an empty table each of its rows would be compared with each of these
      and q.delivery_id = any(array(select c.delivery_id from chosen c))
    returning q.delivery_id, q.endpoint_id, q.event_id, q.attempts
  )
  select
    case when not c.is_lost then c.due_at end, t.delivery_id, t.endpoint_id, t.event_id, v.event, t.attempts, c.is_first,
    l.url, l.secret, l.previous_secret, v.body
  from taken t
  join chosen c on c.delivery_id = t.delivery_id
  join lanes l on l.id = t.endpoint_id
  cross join lateral (
    select e.event, e.body
    from webhook_events e
    where e.org_id = p_org
      and e.id = t.event_id
    offset 0
  ) v;
end
$$;

-- Writes down attempts that succeeded: most of all that is done here. Returns the ids of those that were still the
-- caller's. A function for its plans, which are kept: a statement took 0.8 ms to plan. Nothing is joined with what is
-- given: where the statistics knew an empty table each of its rows was compared with each that was given.
create function settle_webhook_successes(
  p_org text,
  p_ids text[],
  p_numbers integer[],
  p_started_at timestamptz[],
  p_durations_ms integer[],
  p_status_codes integer[],
  p_bodies text[]
) returns table (id text)
language plpgsql
set enable_seqscan = off
as $$
declare
  v_ids text[];
  v_retried text[];
begin
  with done as (
    delete from webhook_queue q
    where q.org_id = p_org
      and q.delivery_id = any(p_ids)
      and q.attempts = p_numbers[array_position(p_ids, q.delivery_id)]
      -- so written that the index of leased rows is not taken: by the key there is one row to look at
      and q.leased::integer = 1
    returning q.delivery_id, q.failures
  )
  select array_agg(d.delivery_id), array_agg(d.delivery_id) filter (where d.failures > 0)
  into v_ids, v_retried
  from done d;
  return query
  with changed as (
    update webhook_deliveries d
    set
      status = 'success',
      attempts = p_numbers[array_position(p_ids, d.id)],
      last_status_code = p_status_codes[array_position(p_ids, d.id)],
      succeeded_at = p_started_at[array_position(p_ids, d.id)],
      duration_ms = p_durations_ms[array_position(p_ids, d.id)],
      response_body = p_bodies[array_position(p_ids, d.id)],
      completed_at = clock_timestamp()
    where d.org_id = p_org
      and d.id = any(v_ids)
    returning
      d.id, d.endpoint_id, (d.created_at at time zone 'UTC')::date as day, d.event, d.succeeded_at, d.last_status_code,
      case when d.id = any(v_retried) then 'pending_retry' else 'pending' end as was
  ),
  counts as (
    insert into webhook_delivery_counts as c (org_id, endpoint_id, day, event, status, deliveries)
    select p_org, x.endpoint_id, x.day, x.event, m.status, sum(m.by)
    from (
      select x.endpoint_id, x.day, x.event, x.was, count(*) as deliveries
      from changed x
      group by x.endpoint_id, x.day, x.event, x.was
    ) x
    cross join lateral (values (x.was, -x.deliveries), ('success', x.deliveries)) as m (status, by)
    group by x.endpoint_id, x.day, x.event, m.status
    -- two that count the same rows take them in the same order
    order by x.endpoint_id, x.day, x.event, m.status
    on conflict on constraint webhook_delivery_counts_pkey do update set
      deliveries = c.deliveries + excluded.deliveries
  ),
  health as (
    insert into webhook_health as h (
      org_id, endpoint_id, consecutive_failures, last_success_at, last_status_code
    )
    select
      p_org, x.endpoint_id, 0, clock_timestamp(),
      (array_agg(x.last_status_code order by x.succeeded_at desc))[1]
    from changed x
    group by x.endpoint_id
    order by x.endpoint_id
    on conflict on constraint webhook_health_pkey do update set
      consecutive_failures = 0,
      last_success_at = excluded.last_success_at,
      last_status_code = excluded.last_status_code
  )
  select x.id
  from changed x;
end
$$;
