// Reads the database's size, connections and queue for /metrics, and the size for GET /server.

import type { Registry } from '../../base/metrics/registry.ts'
import { withTimeout } from '../../base/timing.ts'
import type { Sql } from '../../database/client.ts'
import type { ReconnectingPool } from '../../database/pools/reconnecting-pool.ts'
import { readQueueState } from '../../webhooks/outbox/state.ts'

/** Connections of a pool's name (`serve`, `writes`, `worker` …), of all instances. */
interface ConnectionCount {
  pool: string
  /** The state in `pg_stat_activity`: `active`, `idle`, `in transaction` … */
  state: string
  count: number
}

export async function readDatabaseBytes(sql: Sql): Promise<number> {
  const [row] = await sql<[{ bytes: number }]>`
    select pg_database_size(current_database())::float8 as bytes`
  return row.bytes
}

/** PostgreSQL's version, bytes of the database on disk, the program's connections to it, and sessions whose tickets wait. */
async function readDatabase(sql: Sql) {
  const [database] = await sql<{ version: string; sizeBytes: number; ticketTextsWaiting: number }[]>`
    select
      (select count(*)::integer from ticket_waiting) as "ticketTextsWaiting",
      split_part(current_setting('server_version'), ' ', 1) as version,
      pg_database_size(current_database())::float8 as "sizeBytes"`
  const connections = await sql<ConnectionCount[]>`
    select
      split_part(a.application_name, ' ', 2) as pool,
      case when a.state like 'idle in transaction%' then 'in transaction' else coalesce(a.state, 'unknown') end as state,
      count(*)::integer as count
    from pg_stat_activity a
    where a.datname = current_database()
      and a.application_name like 'cloud-analytics %'
    group by 1, 2
    order by 1, 2`
  if (database === undefined) throw new Error('the database gave no row')
  return { ...database, connections }
}

interface ReadLimits {
  /** A value is given again for this long without another read. */
  keepMs: number
  /** A caller waits at most this long. */
  limitMs: number
}

/** Calls share one read in flight, and what it gave for `keepMs`. Undefined when it failed or is not done in time. */
export function createCachedRead<Value>(read: () => Promise<Value>, { keepMs, limitMs }: ReadLimits) {
  let last: { value: Value | undefined; atMs: number } | undefined
  let inFlight: Promise<Value | undefined> | undefined
  return async () => {
    if (last !== undefined && performance.now() - last.atMs < keepMs) return last.value
    inFlight ??= read()
      .catch(() => undefined)
      .then((value) => {
        last = { value, atMs: performance.now() }
        inFlight = undefined
        return value
      })
    return await withTimeout(inFlight, limitMs, undefined)
  }
}

/** A scrape waits so long for the database, and gives what was read at most so long ago. */
const LIMITS = { keepMs: 5_000, limitMs: 2_000 }

/** Adds the state of the database, its connections and the queue of deliveries. Left out while it does not answer. */
export function measureDatabase(registry: Registry, { run }: Pick<ReconnectingPool, 'run'>): void {
  const database = createCachedRead(() => run(readDatabase), LIMITS)
  const queue = createCachedRead(() => run(readQueueState), LIMITS)
  registry.gauges(database, {
    cloud_analytics_database_info: {
      help: 'Version of PostgreSQL; the value is 1.',
      labels: ['version'],
      of: ({ version }) => [{ labels: [version], value: 1 }],
    },
    cloud_analytics_database_size_bytes: {
      help: 'Size of the database on disk.',
      of: ({ sizeBytes }) => sizeBytes,
    },
    cloud_analytics_ticket_texts_waiting: {
      help: 'Sessions in whose branch and pull requests tickets are still to be found.',
      of: ({ ticketTextsWaiting }) => ticketTextsWaiting,
    },
    cloud_analytics_database_connections: {
      help: 'Connections of all instances to the database, as PostgreSQL counts them.',
      labels: ['pool', 'state'],
      of: ({ connections }) =>
        connections.map(({ pool, state, count }) => ({ labels: [pool, state], value: count })),
    },
  })
  registry.gauges(queue, {
    cloud_analytics_webhook_backlog_deliveries: {
      help: 'Due deliveries of enabled endpoints that nobody has claimed; 10000 stands for that many or more.',
      of: ({ backlog }) => backlog,
    },
    cloud_analytics_webhook_oldest_due_seconds: {
      help: 'How long the oldest delivery of the backlog is due; 0 without any.',
      of: ({ oldestDueS }) => oldestDueS,
    },
    cloud_analytics_webhook_leased_deliveries: {
      help: 'Deliveries that all instances have claimed and not settled.',
      of: ({ leased }) => leased,
    },
    cloud_analytics_webhook_failing_endpoints: {
      help: 'Enabled endpoints whose last five attempts failed.',
      of: ({ failingEndpoints }) => failingEndpoints,
    },
  })
}
