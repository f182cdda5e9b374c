import { ApiError } from '../../errors.ts'

/** Of one endpoint in this process. */
const MAX_TESTS = 4
const RETRY_AFTER_S = 1

/** Does `work` unless MAX_TESTS tests of the endpoint are in flight: then it throws RATE_LIMITED. */
export type TestGate = <Result>(endpointId: string, work: () => Promise<Result>) => Promise<Result>

/** The gate of one instance. Tests send from the thread that answers requests, and do not pass the worker's queue. */
export function createTestGate(): TestGate {
  const inFlight = new Map<string, number>()
  return async (endpointId, work) => {
    const count = inFlight.get(endpointId) ?? 0
    if (count >= MAX_TESTS) {
      throw new ApiError('RATE_LIMITED', `${MAX_TESTS} tests of this endpoint are in flight; try again`, {
        headers: { 'retry-after': String(RETRY_AFTER_S), 'x-ratelimit-remaining': '0' },
      })
    }
    inFlight.set(endpointId, count + 1)
    try {
      return await work()
    } finally {
      const left = (inFlight.get(endpointId) ?? 1) - 1
      if (left === 0) inFlight.delete(endpointId)
      else inFlight.set(endpointId, left)
    }
  }
}
