import { type SupervisorOptions, superviseThread } from '../../base/supervise.ts'
import type { FromWorker, ToWorker } from './messages.ts'

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
