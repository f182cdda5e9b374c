// Counts in threads (intake, deliveries) what the main thread publishes as metrics, and adds there what they report.

import type { TallyCounts, ThreadMeter } from '../supervise.ts'
import type { Counter, Registry } from './registry.ts'

/** Counts of a thread that wait for its next report. */
export function createTally() {
  let counts = new Map<string, [string[], number]>()
  return {
    add(labels: string[], count = 1) {
      if (count === 0) return
      counts.getOrInsertComputed(labels.join('\0'), () => [labels, 0])[1] += count
    },
    /** The counts since the last call. */
    take(): TallyCounts {
      const entries = [...counts.values()]
      counts = new Map()
      return entries
    },
  }
}

/** Adds how often threads failed; returns what makes a thread's meter, whose counts go to `counter`. */
export function measureThreads(registry: Registry) {
  const failures = registry.counter({
    name: 'cloud_analytics_thread_restarts_total',
    help: 'How often a thread ended by itself or hung, and another one took its place.',
    labels: ['thread'],
  })
  return (thread: 'worker' | 'intake', counter: (...labels: string[]) => Counter): ThreadMeter => {
    const failed = failures(thread)
    return {
      count(counts) {
        for (const [labels, count] of counts) counter(...labels).add(count)
      },
      failed: () => failed.add(),
    }
  }
}
