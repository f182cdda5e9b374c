import { withTimeout } from '../../base/timeout.ts'

interface ReadLimits {
  /** A value is given again for this long without another read. */
  keepMs: number
  /** A caller waits at most this long. */
  limitMs: number
}

/**
 * Calls of the returned function share one read in flight, and what it gave for `keepMs`: scrapes do not pile up on a slow
 * database. Undefined when the read failed or is not done in time; the next call waits for the same read.
 */
export function createCachedRead<Value>(
  read: () => Promise<Value>,
  { keepMs, limitMs }: ReadLimits,
): () => Promise<Value | undefined> {
  let last: { value: Value | undefined; atMs: number } | undefined
  let inFlight: Promise<Value | undefined> | undefined
  return async () => {
    if (last !== undefined && performance.now() - last.atMs < keepMs) return last.value
    inFlight ??= read()
      .catch(() => undefined)
      .then((value) => {
        last = { value, atMs: performance.now() }
        inFlight = undefined
        return value
      })
    return await withTimeout(inFlight, limitMs, undefined)
  }
}
