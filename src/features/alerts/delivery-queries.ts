import { ApiError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import { deliveryItem } from '../../webhooks/deliveries/history-queries.ts'
import type { DeliveryListQuery } from '../../webhooks/deliveries/model.ts'
import type { RuleDelivery } from './destination-model.ts'

// The deliveries of an alert or a digest, to all kinds of receivers.

/** A page of the deliveries that match, newest first, and the total. */
export async function listRuleDeliveries(
  sql: ISql,
  orgId: string,
  ruleId: string,
  { status, event, date_from, date_to, page, per_page }: DeliveryListQuery,
): Promise<{ rows: RuleDelivery[]; total: number }> {
  const matching = sql`
    from webhook_events v
    join webhook_deliveries d on d.org_id = v.org_id and d.event_id = v.id
    where v.org_id = ${orgId}
      and v.source = ${ruleId}
      ${status === undefined ? sql`` : sql`and d.status = ${status}`}
      ${event === undefined ? sql`` : sql`and d.event = ${event}`}
      ${date_from === undefined ? sql`` : sql`and d.created_at >= ${date_from}::date::timestamp at time zone 'UTC'`}
      ${date_to === undefined ? sql`` : sql`and d.created_at < (${date_to}::date + 1)::timestamp at time zone 'UTC'`}`
  const rows = await sql<{ total: number; item: RuleDelivery | null; test: boolean }[]>`
    select t.total, p.item, p.test
    from (select count(*)::integer as total ${matching}) t
    left join (
      select d.created_at, d.id, v.test, ${deliveryItem(sql, orgId)}
      ${matching}
      order by d.created_at desc, d.id desc
      limit ${per_page}
      offset ${(page - 1) * per_page}
    ) p on true
    order by p.created_at desc, p.id desc`
  return {
    rows: rows.flatMap(({ item, test }) => (item === null ? [] : { ...item, test })),
    total: rows[0]?.total ?? 0,
  }
}

/** The endpoint of a delivery of the rule, whether it is still there, and whether it was a test. Throws NOT_FOUND. */
export async function getRuleDelivery(sql: ISql, orgId: string, ruleId: string, id: string) {
  const [row] = await sql<{ endpointId: string; hasEndpoint: boolean; test: boolean }[]>`
    select d.endpoint_id as "endpointId", v.test, e.id is not null as "hasEndpoint"
    from webhook_deliveries d
    join webhook_events v on v.org_id = d.org_id and v.id = d.event_id
    left join webhook_endpoints e on e.org_id = d.org_id and e.id = d.endpoint_id
    where d.org_id = ${orgId}
      and d.id = ${id}
      and v.source = ${ruleId}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'no such delivery')
  return row
}
