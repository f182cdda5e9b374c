// Metrics of requests, of limits, and of responses in memory.

import type { Counter, Registry } from './registry.ts'

/** Upper bounds of the buckets of a request's duration: answers from memory take parts of a millisecond. */
const BOUNDS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** Others are `other`: a client may send any word. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

type LimitName = 'read' | 'sync' | 'address' | 'badge'

/** Adds counts and durations of requests, and the decisions of the rate limits. */
export function measureRequests(registry: Registry) {
  const requests = registry.counter({
    name: 'cloud_analytics_http_requests_total',
    help: 'Requests answered on the public port, by pattern of the route.',
    labels: ['method', 'route', 'status'],
  })
  const durations = registry.histogram(
    {
      name: 'cloud_analytics_http_request_duration_seconds',
      help: 'From the arrival of a request until its response is made.',
      labels: ['method', 'route'],
    },
    BOUNDS_S,
  )
  const decisions = registry.counter({
    name: 'cloud_analytics_rate_limit_decisions_total',
    help: 'Requests that a limit allowed or refused; failed: the limit could not be looked up.',
    labels: ['limit', 'result'],
  })
  const limitMeter = (limit: LimitName) => ({
    allowed: decisions(limit, 'allowed'),
    refused: decisions(limit, 'refused'),
    failed: decisions(limit, 'failed'),
  })
  const meterOf = (method: string, route: string) => {
    const duration = durations(method, route)
    const byStatus = new Map<number, Counter>()
    return {
      record(status: number, durationMs: number) {
        byStatus.getOrInsertComputed(status, () => requests(method, route, String(status))).add()
        duration.observe(durationMs / 1_000)
      },
    }
  }
  // the outer map is by route: the strings of routes are the router's, so that finding one costs no new string
  const meters = new Map<string, Map<string, ReturnType<typeof meterOf>>>()
  return {
    /** `route` is a pattern: no part of a path that a client chose. */
    of(method: string, route: string) {
      const label = METHODS.has(method) ? method : 'other'
      const byMethod = meters.getOrInsertComputed(route, () => new Map())
      return byMethod.getOrInsertComputed(label, () => meterOf(label, route))
    },
    limits: {
      read: limitMeter('read'),
      sync: limitMeter('sync'),
      address: limitMeter('address'),
      badge: limitMeter('badge'),
    },
  }
}

export type RequestMeter = ReturnType<typeof measureRequests>

/** A cache of responses has counted these since the start. */
interface CacheState {
  hits: number
  misses: number
  bytes: number
  responses: number
}

export function measureCaches(registry: Registry, caches: Record<string, { size(): CacheState }>): void {
  const labels = ['cache']
  const samplesOf = (field: keyof CacheState) => () =>
    Object.entries(caches).map(([name, cache]) => ({ labels: [name], value: cache.size()[field] }))
  registry.counts(() => caches, {
    cloud_analytics_response_cache_hits_total: {
      help: 'Responses that were in memory, or computed for another request at the time.',
      labels,
      of: samplesOf('hits'),
    },
    cloud_analytics_response_cache_misses_total: {
      help: 'Responses that were computed.',
      labels,
      of: samplesOf('misses'),
    },
  })
  registry.gauges(() => caches, {
    cloud_analytics_response_cache_bytes: {
      help: 'Bytes taken by the responses in memory.',
      labels,
      of: samplesOf('bytes'),
    },
    cloud_analytics_response_cache_responses: {
      help: 'Responses in memory.',
      labels,
      of: samplesOf('responses'),
    },
  })
}

export function measureReads(registry: Registry, load: () => { running: number; waiting: number }): void {
  registry.gauges(load, {
    cloud_analytics_reads: {
      help: 'Reads of requests, by whether they have a connection or wait for one.',
      labels: ['state'],
      of: ({ running, waiting }) => [
        { labels: ['running'], value: running },
        { labels: ['waiting'], value: waiting },
      ],
    },
  })
}

export function measureReadiness(registry: Registry, read: () => Promise<Record<string, string>>): void {
  registry.gauges(read, {
    cloud_analytics_ready: {
      help: 'Whether a part is well, 1 or 0, as /ready says.',
      labels: ['part'],
      of: (parts) =>
        Object.entries(parts).map(([part, state]) => ({ labels: [part], value: Number(state === 'ok') })),
    },
    cloud_analytics_database_up: {
      help: 'Whether the database answers within 2 s, 1 or 0.',
      of: ({ database }) => Number(database === 'ok'),
    },
  })
}
