import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { withTimeout } from '../../base/timeout.ts'

/** Retries are found by polling only: at most every POLL_MS, at least every MAX_POLL_MS. */
const POLL_MS = 500
const MAX_POLL_MS = 2_000
/** The pause after a query, in durations of the query, which takes 62 ms with 2,000 organizations. */
const PAUSE_FACTOR = 20

export interface PollerDeps {
  findDueOrganizations: () => Promise<string[]>
  onFound: (orgIds: readonly string[]) => void
  log: Log
}

/** Looks for organizations with due deliveries until `stop`. */
export function startPoller({ findDueOrganizations, onFound, log }: PollerDeps) {
  let isStopped = false
  let wanted = Promise.withResolvers<void>()
  const run = async () => {
    while (!isStopped) {
      wanted = Promise.withResolvers()
      const startedMs = performance.now()
      // a failure is followed by this pause too: its duration is not that of a query
      let pauseMs = POLL_MS
      try {
        onFound(await findDueOrganizations())
        const tookMs = performance.now() - startedMs
        pauseMs = Math.min(Math.max(POLL_MS, PAUSE_FACTOR * tookMs), MAX_POLL_MS)
      } catch (error) {
        log.rarely('warn', 'cannot look for deliveries that are due; trying again', {
          error: messageOf(error),
        })
      }
      await withTimeout(wanted.promise, pauseMs, undefined)
    }
  }
  void run()
  return {
    /** Looks at once; while it looks already, once more after that. */
    look: () => wanted.resolve(),
    stop() {
      isStopped = true
      wanted.resolve()
    },
  }
}
