// Functions of time: a limit for a promise, a repeated task, and pauses of a long loop in which other requests are served.

/** The value of `promise`, or `late` when that takes longer than `limitMs`; rejects as `promise` does. */
export async function withTimeout<Value, Late>(promise: Promise<Value>, limitMs: number, late: Late) {
  const timeout = Promise.withResolvers<Late>()
  const timer = setTimeout(timeout.resolve, limitMs, late)
  try {
    return await Promise.race([promise, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Calls `run`, which does not reject, now and every `ms`, one call at a time. `stop` waits for the call in progress. */
export function repeat(run: () => Promise<void>, ms: number): { stop(): Promise<void> } {
  let running: Promise<void> | undefined
  const begin = () => {
    running ??= run().finally(() => {
      running = undefined
    })
  }
  begin()
  const timer = setInterval(begin, ms)
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

/** A large batch takes a second or more to check and score: other requests are served in between. */
const PAUSE_AFTER_MS = 20

/** A function to await in a long loop: after `afterMs` of work it awaits `turn`, by default that the event loop ran. */
export function createPause(turn: () => Promise<void> = () => Bun.sleep(0), afterMs = PAUSE_AFTER_MS) {
  let since = performance.now()
  return () => {
    if (performance.now() - since < afterMs) return undefined
    return turn().then(() => {
      since = performance.now()
    })
  }
}
