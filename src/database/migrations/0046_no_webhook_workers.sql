-- Workers have no rows any more: what a worker that has ended had in flight waits for its lease. Instances of the version
-- before call the function without a worker, as this one does.
drop function claim_webhook_deliveries(
  text, integer, integer, integer, integer, integer, integer, integer, text[], timestamptz[], text
);
alter table webhook_queue drop column worker_id;
drop table webhook_workers;

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
      and (o.plan <> 'cloud_pro' or e.owner is not null)
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
    -- leases that have ended, as old as their attempts
    select w.delivery_id, w.claimed_at, w.attempts, w.claimed_at, true, false, l.id, l.in_flight, l.room
    from open_endpoints l
    cross join lateral (
      select q.delivery_id, q.attempts, q.claimed_at
      from webhook_queue q
      where q.org_id = p_org
        and q.endpoint_id = l.id
        and q.leased
        and q.due_at <= v_now
        and q.mode <> 'test'
        and q.lost < p_max_lost
      order by q.claimed_at, q.delivery_id
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
