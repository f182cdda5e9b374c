-- Functions of the queue. They are functions, because their plans are kept: planning the statement that settles took
-- 0.8 ms each time. Kept plans outlive the statistics of an empty table, so each function forbids the plans that are
-- only good while its tables are small.

-- Claims deliveries of one organization that are due: begins an attempt of each and gives it a lease of p_lease_ms.
--
-- At most p_limit are taken, oldest first and endpoints in rotation. One of p_limit is reserved for each endpoint
-- that has nothing in flight, or half of p_limit where these are more: otherwise eleven endpoints that begin to hang
-- take all slots. At most p_cap of an endpoint are in flight, over all instances. Of later attempts, and of first
-- attempts to an endpoint that has failed p_failing_after times in a row, at most p_later_limit are taken; they are
-- selected before the rotation, so that those without a slot do not delay first attempts of the same endpoint. A
-- failing endpoint is skipped for p_pace_ms after a failure. A delivery whose lease has ended is claimed again, until
-- p_max_lost of its attempts have been lost.
--
-- p_since are times by p_endpoints: what is due before them is not looked for, since each claim leaves dead index
-- entries that the next one would step over. A caller that gives them has to leave them out now and then.
--
-- What is in flight has to be counted after the wait for the lock, by a statement of its own, and the lock must not
-- depend on a client that may be stopped while it holds it: hence a function and not two statements of a transaction.
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
set jit = off
as $$
declare
  v_now timestamptz;
begin
  perform from webhook_claims c where c.org_id = p_org for update;
  v_now := clock_timestamp();
  return query
  -- endpoints to claim for, with what they have in flight and how many more they may have
  with open_endpoints as materialized (
    select
      e.id,
      e.url,
      e.secret,
      case when e.previous_secret_expires_at > v_now then e.previous_secret end as previous_secret,
      coalesce(h.consecutive_failures, 0) >= p_failing_after as failing,
      coalesce(p_since[array_position(p_endpoints, e.id)], '-infinity') as since,
      f.in_flight,
      least(p_limit, greatest(p_cap - f.in_flight, 0)) as room
    from webhook_endpoints e
    join organizations o on o.org_id = e.org_id
    left join webhook_health h on h.org_id = e.org_id and h.endpoint_id = e.id
    cross join lateral (
      select count(*) as in_flight
      from webhook_queue q
      where q.org_id = p_org
        and q.endpoint_id = e.id
        and q.leased
        and q.due_at > v_now
    ) f
    where e.org_id = p_org
      and e.enabled
      and o.plan <> 'cloud_pro'
      and not (
        coalesce(h.consecutive_failures, 0) >= p_failing_after
        and h.last_failure_at > v_now - p_pace_ms * interval '1 millisecond'
      )
  ),
  due as (
    select
      w.delivery_id, w.due_at, w.attempts, null::timestamptz as claimed_at, false as is_lost, not l.failing as is_first,
      l.id, l.in_flight, l.room
    from open_endpoints l
    cross join lateral (
      select q.delivery_id, q.due_at, q.attempts
      from webhook_queue q
      where q.org_id = p_org
        and q.endpoint_id = l.id
        and not q.leased
        and q.attempts = 0
        and q.due_at >= l.since
        and q.due_at <= v_now
      order by q.due_at, q.delivery_id
      limit case when l.failing then least(l.room, p_later_limit) else l.room end
      for update skip locked
    ) w
    union all
    -- retries, apart from first attempts: those without a slot must not take the place of first attempts
    select w.delivery_id, w.due_at, w.attempts, null, false, false, l.id, l.in_flight, l.room
    from open_endpoints l
    cross join lateral (
      select q.delivery_id, q.due_at, q.attempts
      from webhook_queue q
      where q.org_id = p_org
        and q.endpoint_id = l.id
        and not q.leased
        and q.attempts > 0
        and q.due_at >= l.since
        and q.due_at <= v_now
      order by q.due_at, q.delivery_id
      limit least(l.room, p_later_limit)
      for update skip locked
    ) w
    union all
    -- leases that have ended
    select w.delivery_id, w.due_at, w.attempts, w.claimed_at, true, false, l.id, l.in_flight, l.room
    from open_endpoints l
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
      limit least(l.room, p_later_limit)
      for update skip locked
    ) w
  ),
  numbered as (
    select
      u.*,
      row_number() over (partition by u.id order by u.due_at, u.delivery_id) as place_in_endpoint
    from due u
  ),
  -- the order in which retries get the slots of retries: those to endpoints with the least in flight first
  placed as (
    select
      u.*,
      row_number() over (
        partition by u.is_first
        order by u.in_flight + u.place_in_endpoint, u.due_at, u.delivery_id
      ) as place
    from numbered u
    where u.is_first or u.place_in_endpoint <= u.room
  ),
  -- without the retries that get no slot
  ranked as (
    select p.*, row_number() over (partition by p.id order by p.due_at, p.delivery_id) as rank
    from placed p
    where p.is_first or p.place <= p_later_limit
  ),
  -- level: how many the endpoint has in flight when this one is taken
  leveled as (
    select
      r.*,
      r.in_flight + r.rank as level,
      row_number() over (
        partition by r.in_flight + r.rank = 1
        order by r.in_flight + r.rank, r.due_at, r.delivery_id
      ) as position
    from ranked r
    where r.rank <= r.room
  ),
  -- level by level; of p_limit one is reserved for each endpoint that has nothing in flight
  chosen as materialized (
    select v.delivery_id, v.due_at, v.is_first, v.is_lost, v.attempts, v.claimed_at
    from leveled v
    where v.level = 1
      or v.position <= p_limit - (
        select case when count(*) <= p_limit then count(*) else p_limit / 2 end
        from open_endpoints l
        where l.in_flight = 0
      )
    order by v.level, v.due_at, v.delivery_id
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
      -- no join: with the statistics of an empty table PostgreSQL would compare each of its rows with each of these
      and q.delivery_id = any(array(select c.delivery_id from chosen c))
    returning q.delivery_id, q.endpoint_id, q.event_id, q.attempts
  )
  select
    case when not c.is_lost then c.due_at end, t.delivery_id, t.endpoint_id, t.event_id, v.event, t.attempts, c.is_first,
    l.url, l.secret, l.previous_secret, v.body
  from taken t
  join chosen c on c.delivery_id = t.delivery_id
  join open_endpoints l on l.id = t.endpoint_id
  cross join lateral (
    select e.event, e.body
    from webhook_events e
    where e.org_id = p_org
      and e.id = t.event_id
    offset 0
  ) v;
end
$$;

-- Settles attempts that succeeded. Returns the ids of those that were still the caller's.
--
-- Only hash joins are allowed: with the statistics of an empty table PostgreSQL would compare each row with each that
-- is given. Rows are also named by their ids, so that they are read by their key. Every join has to be one that can
-- be hashed: before version 18 PostgreSQL gives other joins so high a cost that it would JIT-compile the plan.
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
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
begin
  return query
  with done as (
    delete from webhook_queue q
    using unnest(p_ids, p_numbers, p_started_at, p_durations_ms, p_status_codes, p_bodies)
      as g (id, number, started_at, duration_ms, status_code, response_body)
    where q.org_id = p_org
      and q.delivery_id = any(p_ids)
      and q.delivery_id = g.id
      and q.attempts = g.number
      -- as an expression, so that the rows are read by their key and not by the index of leased rows
      and q.leased::integer = 1
    returning g.*, q.failures
  ),
  changed as (
    update webhook_deliveries d
    set
      status = 'success',
      attempts = g.number,
      last_status_code = g.status_code,
      succeeded_at = g.started_at,
      duration_ms = g.duration_ms,
      response_body = g.response_body,
      completed_at = clock_timestamp()
    from done g
    where d.org_id = p_org
      and d.id = any(p_ids)
      and d.id = g.id
    returning
      d.id, d.endpoint_id, (d.created_at at time zone 'UTC')::date as day, d.event, d.succeeded_at, d.last_status_code,
      case when g.failures > 0 then 'pending_retry' else 'pending' end as was
  ),
  counts as (
    insert into webhook_delivery_counts as c (org_id, endpoint_id, day, event, status, deliveries)
    select p_org, m.endpoint_id, m.day, m.event, m.status, m.by
    from (
      select x.endpoint_id, x.day, x.event, x.was as status, -count(*) as by
      from changed x
      group by x.endpoint_id, x.day, x.event, x.was
      union all
      select x.endpoint_id, x.day, x.event, 'success', count(*)
      from changed x
      group by x.endpoint_id, x.day, x.event
    ) m
    -- the same order in all transactions, or two of them could deadlock
    order by m.endpoint_id, m.day, m.event, m.status
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

-- Settles attempts that failed: a delivery is due again after the delay of p_delays_s that follows its earlier failures,
-- or failed where there is none, where p_refused says that a retry would not help, and where it has one attempt only.
-- Returns the ids of those that were still the caller's. Plans as in settle_webhook_successes.
create function settle_webhook_failures(
  p_org text,
  p_ids text[],
  p_numbers integer[],
  p_refused boolean[],
  p_started_at timestamptz[],
  p_durations_ms integer[],
  p_status_codes integer[],
  p_errors text[],
  p_bodies text[],
  p_delays_s integer[]
) returns table (id text)
language plpgsql
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
begin
  return query
  with given as materialized (
    select g.*
    from unnest(
      p_ids, p_numbers, p_refused, p_started_at, p_durations_ms, p_status_codes, p_errors, p_bodies
    ) as g (id, number, refused, started_at, duration_ms, status_code, error, response_body)
  ),
  finished as (
    delete from webhook_queue q
    using given g
    where q.org_id = p_org
      and q.delivery_id = any(p_ids)
      and q.delivery_id = g.id
      and q.attempts = g.number
      and q.leased::integer = 1
      and (g.refused or q.mode <> 'scheduled' or q.failures >= cardinality(p_delays_s))
    returning g.*, q.endpoint_id, q.failures as earlier_failures, 'failed' as status
  ),
  delayed as (
    update webhook_queue q
    set
      leased = false,
      failures = q.failures + 1,
      due_at = clock_timestamp() + p_delays_s[q.failures + 1] * interval '1 second'
    from given g
    where q.org_id = p_org
      and q.delivery_id = any(p_ids)
      and q.delivery_id = g.id
      and q.attempts = g.number
      and q.leased::integer = 1
      and not (g.refused or q.mode <> 'scheduled' or q.failures >= cardinality(p_delays_s))
    returning g.*, q.endpoint_id, q.failures - 1 as earlier_failures, 'pending_retry' as status
  ),
  settled as materialized (
    table finished
    union all
    table delayed
  ),
  changed as (
    update webhook_deliveries d
    set
      status = s.status,
      undelivered = s.status = 'failed',
      attempts = s.number,
      last_status_code = s.status_code,
      completed_at = case when s.status = 'failed' then clock_timestamp() end
    from settled s
    where d.org_id = p_org
      and d.id = any(p_ids)
      and d.id = s.id
    returning
      d.id, d.endpoint_id, (d.created_at at time zone 'UTC')::date as day, d.event, d.status,
      case when s.earlier_failures > 0 then 'pending_retry' else 'pending' end as was
  ),
  attempts as (
    insert into webhook_attempts (
      org_id, delivery_id, number, started_at, duration_ms, status_code, error, response_body
    )
    select p_org, s.id, s.number, s.started_at, s.duration_ms, s.status_code, s.error, s.response_body
    from settled s
  ),
  counts as (
    insert into webhook_delivery_counts as c (org_id, endpoint_id, day, event, status, deliveries)
    select p_org, m.endpoint_id, m.day, m.event, m.status, sum(m.by)
    from (
      select x.endpoint_id, x.day, x.event, x.was as status, -1 as by
      from changed x
      where x.was <> x.status
      union all
      select x.endpoint_id, x.day, x.event, x.status, 1
      from changed x
      where x.was <> x.status
    ) m
    group by m.endpoint_id, m.day, m.event, m.status
    -- the same order in all transactions, or two of them could deadlock
    order by m.endpoint_id, m.day, m.event, m.status
    on conflict on constraint webhook_delivery_counts_pkey do update set
      deliveries = c.deliveries + excluded.deliveries
  ),
  health as (
    insert into webhook_health as h (
      org_id, endpoint_id, consecutive_failures, last_failure_at, last_status_code
    )
    select
      p_org, s.endpoint_id, count(*), clock_timestamp(),
      (array_agg(s.status_code order by s.started_at desc))[1]
    from settled s
    group by s.endpoint_id
    order by s.endpoint_id
    on conflict on constraint webhook_health_pkey do update set
      consecutive_failures = h.consecutive_failures + excluded.consecutive_failures,
      last_failure_at = excluded.last_failure_at,
      last_status_code = excluded.last_status_code
  )
  select x.id
  from changed x;
end
$$;
