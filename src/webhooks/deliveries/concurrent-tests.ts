import { tooMany } from '../../base/errors.ts'
import type { RouteDeps } from '../../http/api.ts'

/** Tests in flight to one endpoint from this process. */
const MAX_TESTS = 4
const RETRY_AFTER_S = 1

/** Added to the time of the attempt, for the database; then the server closes the connection. */
const MARGIN_S = 30

type Work<Result> = () => Promise<Result>
/** Runs `work` for a request. Throws RATE_LIMITED when MAX_TESTS tests of the endpoint are in flight. */
export type TestLimit = <Result>(endpointId: string, request: Request, work: Work<Result>) => Promise<Result>

/** Limits concurrent tests: they are sent by the main thread, where the worker's limits do not apply. */
export function createTestLimit(timeoutMs: number, server: RouteDeps['server']): TestLimit {
  const inFlight = new Map<string, number>()
  return async (endpointId, request, work) => {
    const count = inFlight.get(endpointId) ?? 0
    if (count >= MAX_TESTS) {
      const message = `${MAX_TESTS} tests of this endpoint are in flight; try again`
      throw tooMany(message, RETRY_AFTER_S, { 'x-ratelimit-remaining': '0' })
    }
    inFlight.set(endpointId, count + 1)
    server()?.timeout(request, Math.ceil(timeoutMs / 1_000) + MARGIN_S)
    try {
      return await work()
    } finally {
      const left = (inFlight.get(endpointId) ?? 1) - 1
      if (left === 0) inFlight.delete(endpointId)
      else inFlight.set(endpointId, left)
    }
  }
}
