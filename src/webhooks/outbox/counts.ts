import type { Fragment, ISql } from '../../database/client.ts'

/**
 * The CTE that updates the counts of deliveries. It reads a CTE `changed` (endpoint_id, created_at, event,
 * was, status), where `was` is null for a new delivery and `status` null for a deleted one. Every statement
 * that inserts, updates or deletes deliveries contains it.
 */
export const updateCounts = (sql: ISql, orgId: string): Fragment => sql`
  insert into webhook_delivery_counts as c (org_id, endpoint_id, day, event, status, deliveries)
  select ${orgId}, x.endpoint_id, (x.created_at at time zone 'UTC')::date as day, x.event, m.status, sum(m.by)
  from changed x
  cross join lateral (values (x.was, -1), (x.status, 1)) as m (status, by)
  where x.was is distinct from x.status
    and m.status is not null
  group by x.endpoint_id, day, x.event, m.status
  -- all transactions have the same order, or two of them could deadlock
  order by x.endpoint_id, day, x.event, m.status
  on conflict (org_id, endpoint_id, day, event, status) do update set
    deliveries = c.deliveries + excluded.deliveries`
