import type { Fragment, Sql } from '../../database/client.ts'

/** Deliveries of the endpoint `e`. `isKind` has the condition of one of the queue's partial indexes. */
const deliveriesOf = (sql: Sql, isKind: Fragment) => sql`
  select q.due_at
  from webhook_queue q
  where q.org_id = e.org_id
    and q.endpoint_id = e.id
    and ${isKind}`

/** The unclaimed deliveries of the endpoint that are due, oldest first. */
const oldestOf = (sql: Sql, isKind: Fragment, limit: number) => sql`
  ${deliveriesOf(sql, isKind)}
    and not q.leased
    and q.due_at <= now()
  order by q.due_at, q.delivery_id
  limit ${limit}`

/** Due deliveries that may be sent, at most `limit` first attempts and `limit` retries of each endpoint; and `others`. */
export const dueDeliveries = (sql: Sql, limit: number, others = sql``) => sql`
  webhook_endpoints e
  join organizations o on o.org_id = e.org_id
  cross join lateral (
    (${oldestOf(sql, sql`q.attempts = 0`, limit)})
    union all
    (${oldestOf(sql, sql`q.attempts > 0`, limit)})
    ${others}
  ) w
  where e.enabled
    and (o.plan <> 'cloud_pro' or e.owner is not null)`

/**
 * Organizations with due deliveries, in no order: one read without locks. The lateral queries read three
 * index entries of each endpoint, however many deliveries wait.
 */
export async function findDueOrganizations(sql: Sql): Promise<string[]> {
  const abandoned = sql`q.leased and q.mode <> 'test' and q.due_at <= now()`
  const orOne = sql`
    union all
    (${deliveriesOf(sql, abandoned)} limit 1)
    limit 1`
  const rows = await sql<{ org_id: string }[]>`
    select distinct e.org_id
    from ${dueDeliveries(sql, 1, orOne)}`
  return rows.map((row) => row.org_id)
}
