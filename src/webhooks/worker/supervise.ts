// Runs the worker's thread from the main thread, declares their messages, and counts attempts for metrics.

import type { Counter, Registry } from '../../base/metrics/registry.ts'
import { type SupervisorOptions, superviseThread, type TallyCounts } from '../../base/supervise.ts'
import type { Config } from '../../config.ts'
import type { ConnectTarget } from '../../database/client.ts'
import { ATTEMPT_OUTCOMES } from '../http/attempt-result.ts'

/** Messages of the main thread to the worker; `start` comes first, once. */
export type ToWorker =
  | {
      type: 'start'
      target: ConnectTarget
      settings: Config
      /** 32 bytes that encrypt signing secrets. */
      secretKey: Uint8Array
    }
  /** Claim nothing more, settle the attempts in flight, then send `stopped`. */
  | { type: 'stop' }

/** Messages of the worker: every second a heartbeat with its last check of the database, and a last report. */
export type FromWorker =
  | { type: 'heartbeat'; database: boolean; counts: TallyCounts }
  | { type: 'stopped'; counts: TallyCounts }

type Start = Extract<ToWorker, { type: 'start' }>

/** Attempts in flight take up to WEBHOOK_TIMEOUT_MS. */
const STOP_MS = 20_000

/** Keeps the worker thread running. `tickMs`: the thread is checked at this interval. */
export function superviseWorker({
  target,
  settings,
  secretKey,
  ...options
}: Omit<Start, 'type'> &
  Pick<SupervisorOptions<ToWorker, FromWorker>, 'spawn' | 'log' | 'meter' | 'tickMs'>) {
  let isDatabaseReachable = true
  const thread = superviseThread<ToWorker, FromWorker>({
    ...options,
    name: 'worker',
    keepsRunning: true,
    begin() {
      isDatabaseReachable = true
      return {
        start: { type: 'start', target, settings, secretKey },
        onMessage(message) {
          if (message.type === 'heartbeat') isDatabaseReachable = message.database
        },
      }
    },
    stopMs: STOP_MS,
  })
  return {
    ...thread,
    /** `ok`, or what is wrong: for /health. */
    state(): string {
      const state = thread.state()
      if (state === 'ok' && !isDatabaseReachable) return 'database unreachable'
      return state === 'restarting' ? state : 'ok'
    },
  }
}

/** Adds the counts of attempts by outcome, which the worker thread reports. */
export function measureAttempts(registry: Registry): (...labels: string[]) => Counter {
  const attempts = registry.counter({
    name: 'cloud_analytics_webhook_attempts_total',
    help: 'Attempts of the worker to deliver, by outcome: succeeded, or the kind of failure.',
    labels: ['outcome'],
  })
  // known from the start, so that the first one is an increase
  for (const outcome of ATTEMPT_OUTCOMES) attempts(outcome)
  return attempts
}
