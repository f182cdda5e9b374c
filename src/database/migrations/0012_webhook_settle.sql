-- The functions that settle attempts; 0011 says why they are functions. The time is read once, before the statement:
-- Citus refuses volatile functions in statements that change rows, since each node would compute its own result.

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
declare
  v_now constant timestamptz := clock_timestamp();
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
      -- an expression, so that the rows are read by their key and not by the index of leased rows
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
      completed_at = v_now
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
    -- all transactions have the same order, or two of them could deadlock
    order by m.endpoint_id, m.day, m.event, m.status
    on conflict on constraint webhook_delivery_counts_pkey do update set
      deliveries = c.deliveries + excluded.deliveries
  ),
  health as (
    insert into webhook_health as h (
      org_id, endpoint_id, consecutive_failures, last_success_at, last_status_code
    )
    select
      p_org, x.endpoint_id, 0, v_now,
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
declare
  v_now constant timestamptz := clock_timestamp();
  v_due constant timestamptz[] := array(
    select v_now + d.delay_s * interval '1 second'
    from unnest(p_delays_s) with ordinality as d (delay_s, place)
    order by d.place
  );
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
      due_at = v_due[q.failures + 1]
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
      completed_at = case when s.status = 'failed' then v_now end
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
    -- all transactions have the same order, or two of them could deadlock
    order by m.endpoint_id, m.day, m.event, m.status
    on conflict on constraint webhook_delivery_counts_pkey do update set
      deliveries = c.deliveries + excluded.deliveries
  ),
  health as (
    insert into webhook_health as h (
      org_id, endpoint_id, consecutive_failures, last_failure_at, last_status_code
    )
    select
      p_org, s.endpoint_id, count(*), v_now,
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
