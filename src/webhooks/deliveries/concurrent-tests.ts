import { tooMany } from '../../base/errors.ts'

/** Tests in flight to one endpoint from this process. */
const MAX_TESTS = 4
const RETRY_AFTER_S = 1

/** Runs `work`. Throws RATE_LIMITED when MAX_TESTS tests of the endpoint are in flight. */
export type TestLimit = <Result>(endpointId: string, work: () => Promise<Result>) => Promise<Result>

/** Limits concurrent tests: they are sent by the main thread, where the worker's limits do not apply. */
export function createTestLimit(): TestLimit {
  const inFlight = new Map<string, number>()
  return async (endpointId, work) => {
    const count = inFlight.get(endpointId) ?? 0
    if (count >= MAX_TESTS) {
      const message = `${MAX_TESTS} tests of this endpoint are in flight; try again`
      throw tooMany(message, RETRY_AFTER_S, { 'x-ratelimit-remaining': '0' })
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
