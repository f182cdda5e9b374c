import { createCachedRead } from './cached-read.ts'
import type { Registry } from './registry.ts'

/** The metrics of the database are read by these functions. */
interface DatabaseReads {
  database: () => Promise<{
    version: string
    sizeBytes: number
    connections: { pool: string; state: string; count: number }[]
  }>
  queue: () => Promise<{
    backlog: number
    oldestDueS: number
    leased: number
    failingEndpoints: number
  }>
}

/** A scrape waits so long for the database, and gives what was read at most so long ago. */
const LIMITS = { keepMs: 5_000, limitMs: 2_000 }

/** Adds the state of the database, its connections and the queue of deliveries. Left out while it does not answer. */
export function measureDatabase(registry: Registry, reads: DatabaseReads): void {
  const readDatabase = createCachedRead(reads.database, LIMITS)
  const readQueue = createCachedRead(reads.queue, LIMITS)
  registry.gauges(
    [
      {
        name: 'cloud_analytics_database_info',
        help: 'Version of PostgreSQL; the value is 1.',
        labels: ['version'],
      },
      { name: 'cloud_analytics_database_size_bytes', help: 'Size of the database on disk.' },
      {
        name: 'cloud_analytics_database_connections',
        help: 'Connections of all instances to the database, as PostgreSQL counts them.',
        labels: ['pool', 'state'],
      },
    ],
    async () => {
      const state = await readDatabase()
      if (state === undefined) return []
      return [
        [{ labels: [state.version], value: 1 }],
        [{ value: state.sizeBytes }],
        state.connections.map(({ pool, state, count }) => ({ labels: [pool, state], value: count })),
      ]
    },
  )
  registry.gauges(
    [
      {
        name: 'cloud_analytics_webhook_backlog_deliveries',
        help: 'Due deliveries of enabled endpoints that nobody has claimed; 10000 stands for that many or more.',
      },
      {
        name: 'cloud_analytics_webhook_oldest_due_seconds',
        help: 'How long the oldest delivery of the backlog is due; 0 without any.',
      },
      {
        name: 'cloud_analytics_webhook_leased_deliveries',
        help: 'Deliveries that all instances have claimed and not settled.',
      },
      {
        name: 'cloud_analytics_webhook_failing_endpoints',
        help: 'Enabled endpoints whose last five attempts failed.',
      },
    ],
    async () => {
      const state = await readQueue()
      if (state === undefined) return []
      return [
        [{ value: state.backlog }],
        [{ value: state.oldestDueS }],
        [{ value: state.leased }],
        [{ value: state.failingEndpoints }],
      ]
    },
  )
}
