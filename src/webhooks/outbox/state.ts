// Reads how many deliveries wait, which endpoints fail and whether a worker is connected, for metrics and `doctor`.

import type { ISql, Sql } from '../../database/client.ts'
import type { DerivedTable, OrgId } from '../../database/derived-tables.ts'
import { dueDeliveries, FAILING_AFTER } from './claim.ts'

/** The state of the queue of deliveries, over all organizations. */
interface QueueState {
  /** Due deliveries that nobody has claimed, of enabled endpoints: counted up to MAX_COUNTED. */
  backlog: number
  /** The oldest of them has been due for this many seconds; 0 without any. */
  oldestDueS: number
  /** Deliveries that workers have claimed and not settled. */
  leased: number
  /** Enabled endpoints whose last FAILING_AFTER attempts failed. */
  failingEndpoints: number
}

/** A backlog of millions is not counted to its end. */
export const MAX_COUNTED = 10_000

/** Reads the state without locks, by a few index entries of each endpoint however many deliveries wait. */
export async function readQueueState(sql: Sql): Promise<QueueState> {
  const [oldest] = await sql<{ seconds: number | null }[]>`
    select extract(epoch from now() - min(w.due_at))::float8 as seconds
    from ${dueDeliveries(sql, 1)}`
  const [backlog] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from (
      select 1
      from ${dueDeliveries(sql, MAX_COUNTED)}
      limit ${MAX_COUNTED}
    ) counted`
  const [leased] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from webhook_queue q
    where q.leased`
  const failing = await findFailingEndpoints(sql)
  return {
    backlog: backlog?.count ?? 0,
    oldestDueS: Math.max(0, oldest?.seconds ?? 0),
    leased: leased?.count ?? 0,
    failingEndpoints: failing.length,
  }
}

/** The enabled endpoints whose last FAILING_AFTER attempts failed, the longest failing first. */
export async function findFailingEndpoints(sql: Sql) {
  return await sql<{ slug: string; id: string; failures: number }[]>`
    select o.slug, e.id, h.consecutive_failures as failures
    from webhook_health h
    join webhook_endpoints e on e.org_id = h.org_id and e.id = h.endpoint_id
    join organizations o on o.org_id = e.org_id
    where h.consecutive_failures >= ${FAILING_AFTER}
      and e.owner is null
      and e.enabled
      and o.plan <> 'cloud_pro'
    order by h.consecutive_failures desc, e.id`
}

/** The names of a worker's connections in PostgreSQL begin with it. */
export const WORKER_APPLICATION = 'cloud-analytics worker'

/** Whether a worker of any instance is connected to this database. */
export async function isAnyConnected(sql: ISql): Promise<boolean> {
  const { count } = await sql`
    select 1
    from pg_stat_activity a
    where a.datname = current_database()
      and starts_with(a.application_name, ${WORKER_APPLICATION})
    limit 1`
  return count > 0
}

/** The counts, computed from the deliveries. */
const fromDeliveries = (sql: ISql, orgId: OrgId) => sql`
  select
    d.endpoint_id,
    (d.created_at at time zone 'UTC')::date as day,
    d.event,
    d.status,
    count(*) as deliveries
  from webhook_deliveries d
  where d.org_id = ${orgId}
  group by 1, 2, 3, 4`

/** The counts of deliveries. Results of deliveries change them without the organization's lock. */
export const DELIVERY_TABLES: readonly DerivedTable[] = [
  {
    name: 'webhook_delivery_counts',
    columns: ['endpoint_id', 'day', 'status', 'event', 'deliveries'],
    query: fromDeliveries,
    count: 'deliveries',
    describe: ({ status, day }) => `deliveries ${status} of ${day}`,
  },
]
