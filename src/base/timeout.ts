/**
 * Resolves to the value of `promise`, or to `late` when that takes longer than `limitMs`; rejects as `promise` does.
 */
export async function withTimeout<Value, Late>(
  promise: Promise<Value>,
  limitMs: number,
  late: Late,
): Promise<Value | Late> {
  const timeout = Promise.withResolvers<Late>()
  const timer = setTimeout(timeout.resolve, limitMs, late)
  try {
    return await Promise.race([promise, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Calls `run`, which does not reject, now and every `ms`, unless the call before is in progress. `stop` waits for one that is in
 * progress.
 */
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
