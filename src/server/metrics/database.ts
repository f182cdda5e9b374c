import type { Registry } from '../../base/metrics/registry.ts'
import type { ReconnectingPool } from '../../database/pools/reconnecting-pool.ts'
import { readQueueState } from '../../webhooks/outbox/state.ts'
import { createCachedRead } from './cached-read.ts'
import { readDatabase } from './queries.ts'

/** A scrape waits so long for the database, and gives what was read at most so long ago. */
const LIMITS = { keepMs: 5_000, limitMs: 2_000 }

/** Adds the state of the database, its connections and the queue of deliveries. Left out while it does not answer. */
export function measureDatabase(registry: Registry, { run }: Pick<ReconnectingPool, 'run'>): void {
  const database = createCachedRead(() => run(readDatabase), LIMITS)
  const queue = createCachedRead(() => run(readQueueState), LIMITS)
  registry.gauges(database, [
    {
      name: 'cloud_analytics_database_info',
      help: 'Version of PostgreSQL; the value is 1.',
      labels: ['version'],
      of: ({ version }) => [{ labels: [version], value: 1 }],
    },
    {
      name: 'cloud_analytics_database_size_bytes',
      help: 'Size of the database on disk.',
      of: ({ sizeBytes }) => sizeBytes,
    },
    {
      name: 'cloud_analytics_ticket_texts_waiting',
      help: 'Sessions in whose branch and pull requests tickets are still to be found.',
      of: ({ ticketTextsWaiting }) => ticketTextsWaiting,
    },
    {
      name: 'cloud_analytics_database_connections',
      help: 'Connections of all instances to the database, as PostgreSQL counts them.',
      labels: ['pool', 'state'],
      of: ({ connections }) =>
        connections.map(({ pool, state, count }) => ({ labels: [pool, state], value: count })),
    },
  ])
  registry.gauges(queue, [
    {
      name: 'cloud_analytics_webhook_backlog_deliveries',
      help: 'Due deliveries of enabled endpoints that nobody has claimed; 10000 stands for that many or more.',
      of: ({ backlog }) => backlog,
    },
    {
      name: 'cloud_analytics_webhook_oldest_due_seconds',
      help: 'How long the oldest delivery of the backlog is due; 0 without any.',
      of: ({ oldestDueS }) => oldestDueS,
    },
    {
      name: 'cloud_analytics_webhook_leased_deliveries',
      help: 'Deliveries that all instances have claimed and not settled.',
      of: ({ leased }) => leased,
    },
    {
      name: 'cloud_analytics_webhook_failing_endpoints',
      help: 'Enabled endpoints whose last five attempts failed.',
      of: ({ failingEndpoints }) => failingEndpoints,
    },
  ])
}
