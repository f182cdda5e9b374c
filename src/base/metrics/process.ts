// Metrics of the process: memory, processor time, files, the event loop.

import { readdirSync } from 'node:fs'
import { BUILD } from '../version.ts'
import type { Registry } from './registry.ts'

const LAG_SAMPLE_MS = 50
const LAG_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Open files and sockets of this process; undefined where the system does not say. */
function openFiles(): { files: number | undefined } {
  try {
    // the folder itself is open while it is read
    return { files: readdirSync('/proc/self/fd').length - 1 }
  } catch {
    return { files: undefined }
  }
}

/** Adds versions, memory, CPU time, open files and the event loop's lag, by a timer of 50 ms. Returns what ends the timer. */
export function measureProcess(registry: Registry): () => void {
  const startedS = Date.now() / 1_000 - process.uptime()
  registry.gauges(openFiles, {
    cloud_analytics_build_info: {
      help: 'Version and commit of the program, version of Bun; the value is 1.',
      labels: ['version', 'commit', 'bun'],
      of: () => [{ labels: [BUILD.version, BUILD.commit ?? '', Bun.version], value: 1 }],
    },
    cloud_analytics_process_resident_memory_bytes: {
      help: 'Resident memory of the process.',
      of: () => process.memoryUsage.rss(),
    },
    cloud_analytics_process_start_time_seconds: {
      help: 'Start of the process, Unix time.',
      of: () => startedS,
    },
    cloud_analytics_process_open_fds: { help: 'Open files and sockets.', of: ({ files }) => files },
  })
  registry.counts(process.cpuUsage, {
    cloud_analytics_process_cpu_seconds_total: {
      help: 'CPU time of all threads, user and system; PostgreSQL not included.',
      of: ({ user, system }) => (user + system) / 1e6,
    },
  })
  const lag = registry.histogram(
    {
      name: 'cloud_analytics_event_loop_lag_seconds',
      help: 'How late a timer of 50 ms runs on the thread that answers requests.',
    },
    LAG_BOUNDS_S,
  )()
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    lag.observe(Math.max(0, now - last - LAG_SAMPLE_MS) / 1_000)
    last = now
  }, LAG_SAMPLE_MS)
  return () => clearInterval(timer)
}
