import type { Fragment, Sql } from '../../database/client.ts'

/** A delivery of the endpoint `e`. `isKind` has the condition of one of the queue's partial indexes. */
const dueOf = (sql: Sql, isKind: Fragment) => sql`
  select 1
  from webhook_queue q
  where q.org_id = e.org_id
    and q.endpoint_id = e.id
    and ${isKind}`

/** Whether the worker of the delivery's attempt has ended. */
const hasEnded = (sql: Sql) => sql`
  (q.worker_id is not null and q.worker_id <> all(array(select w.id from webhook_workers w)))`

/**
 * Organizations with due deliveries, in no order: one read without locks. The lateral queries read three
 * index entries of each endpoint, however many deliveries wait.
 */
export async function findDueOrganizations(sql: Sql): Promise<string[]> {
  const inOrder = sql`
    order by q.due_at, q.delivery_id
    limit 1`
  const rows = await sql<{ org_id: string }[]>`
    select distinct e.org_id
    from webhook_endpoints e
    join organizations o on o.org_id = e.org_id
    cross join lateral (
      (${dueOf(sql, sql`not q.leased and q.attempts = 0 and q.due_at <= now()`)} ${inOrder})
      union all
      (${dueOf(sql, sql`not q.leased and q.attempts > 0 and q.due_at <= now()`)} ${inOrder})
      union all
      (${dueOf(sql, sql`q.leased and q.mode <> 'test' and (q.due_at <= now() or ${hasEnded(sql)})`)} limit 1)
      limit 1
    ) w
    where e.enabled
      and (o.plan <> 'cloud_pro' or e.owner is not null)`
  return rows.map((row) => row.org_id)
}
