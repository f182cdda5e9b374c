import type { ISql } from '../../db/client.ts'

/** The counts as the deliveries say they should be: reads all of the organization's. */
const fromDeliveries = (sql: ISql, orgId: string) => sql`
  select
    d.endpoint_id,
    (d.created_at at time zone 'UTC')::date as day,
    d.event,
    d.status,
    count(*) as deliveries
  from webhook_deliveries d
  where d.org_id = ${orgId}
  group by 1, 2, 3, 4`

/**
 * Writes the organization's counts of deliveries anew, while deliveries go on: a result that is written meanwhile waits for
 * the counts it moves, and adds to the new ones.
 */
export async function rebuildDeliveryCounts(tx: ISql, orgId: string): Promise<void> {
  await tx`
    delete from webhook_delivery_counts c
    where c.org_id = ${orgId}`
  await tx`
    insert into webhook_delivery_counts as c (org_id, endpoint_id, day, event, status, deliveries)
    select ${orgId}, t.endpoint_id, t.day, t.event, t.status, t.deliveries
    from (${fromDeliveries(tx, orgId)}) t
    on conflict (org_id, endpoint_id, day, event, status) do update set
      deliveries = c.deliveries + excluded.deliveries`
}

/** Days and statuses whose count differs from the deliveries, as of one instant; [] when all agree. */
export async function compareDeliveryCounts(
  sql: ISql,
  orgId: string,
): Promise<{ endpoint_id: string; day: string; status: string }[]> {
  return await sql<{ endpoint_id: string; day: string; status: string }[]>`
    with truth as (${fromDeliveries(sql, orgId)}),
    kept as (
      select c.endpoint_id, c.day, c.event, c.status, c.deliveries
      from webhook_delivery_counts c
      where c.org_id = ${orgId}
        and c.deliveries <> 0
    ),
    wrong as (
      (table truth except table kept)
      union
      (table kept except table truth)
    )
    select distinct w.endpoint_id, w.day, w.status
    from wrong w
    order by w.endpoint_id, w.day, w.status
    limit 100`
}
