import type { PoolLoad } from '../db/pools/reconnecting-pool.ts'
import type { Counter, Registry } from './registry.ts'

/** A thread sends this report of itself to the main thread from time to time. */
export interface ThreadReport {
  /** Labels' values and counts since its last report. */
  counts: TallyCounts
  pools: Record<string, PoolLoad>
}

type TallyCounts = [labels: string[], count: number][]

/** Counts of a thread that wait for its next report. */
export function createTally() {
  let counts = new Map<string, [string[], number]>()
  return {
    add(labels: string[], count = 1) {
      if (count === 0) return
      const key = labels.join('\0')
      const known = counts.get(key)
      if (known === undefined) counts.set(key, [labels, count])
      else known[1] += count
    },
    /** The counts since the last call. */
    take(): TallyCounts {
      const taken = [...counts.values()]
      counts = new Map()
      return taken
    },
  }
}

/** The loads of this process's pools by name, those of its threads as last reported. */
type PoolReads = Map<string, () => PoolLoad>

/** The supervisor of a thread reports to this. */
export interface ThreadMeter {
  report(report: ThreadReport): void
  /** The thread ended without being told to; what it counted since its last report is lost. */
  failed(): void
  /** The thread has ended, for whatever reason. */
  ended(): void
}

/** Adds the load of the pools. Those of this thread are added to the map that is returned. */
export function measurePools(registry: Registry): PoolReads {
  const pools: PoolReads = new Map()
  const labels = ['pool']
  const samplesOf = (field: keyof PoolLoad) => () =>
    [...pools].map(([name, read]) => ({ labels: [name], value: read()[field] }))
  registry.gauges(
    () => pools,
    [
      {
        name: 'cloud_analytics_pool_max_connections',
        help: 'Connections that a pool of this instance may have.',
        labels,
        of: samplesOf('max'),
      },
      {
        name: 'cloud_analytics_pool_used_connections',
        help: 'Connections that statements and transactions of this instance take now.',
        labels,
        of: samplesOf('used'),
      },
      {
        name: 'cloud_analytics_pool_waiting_statements',
        help: 'Statements and transactions of this instance that wait for a connection now.',
        labels,
        of: samplesOf('waiting'),
      },
    ],
  )
  return pools
}

/** Adds how often threads failed; returns what makes a thread's meter, whose counts go to `counter`. */
export function measureThreads(registry: Registry, pools: PoolReads) {
  const failures = registry.counter({
    name: 'cloud_analytics_thread_restarts_total',
    help: 'How often a thread ended by itself or hung, and another one took its place.',
    labels: ['thread'],
  })
  return (thread: 'worker' | 'intake', counter: (...labels: string[]) => Counter): ThreadMeter => {
    const failed = failures(thread)
    let known: string[] = []
    const forget = () => {
      for (const name of known) pools.delete(name)
      known = []
    }
    return {
      report(report) {
        for (const [labels, count] of report.counts) counter(...labels).add(count)
        forget()
        known = Object.keys(report.pools)
        for (const [name, load] of Object.entries(report.pools)) pools.set(name, () => load)
      },
      failed: () => failed.add(),
      ended: forget,
    }
  }
}
