import { tooMany } from '../../base/errors.ts'
import type { RouteDeps } from '../../http/api.ts'
import { createAtOnce } from '../../http/at-once.ts'

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
  const begin = createAtOnce()
  return async (endpointId, request, work) => {
    const end = begin({ [endpointId]: MAX_TESTS })
    if (end === undefined) {
      const message = `${MAX_TESTS} tests of this endpoint are in flight; try again`
      throw tooMany(message, RETRY_AFTER_S, { 'X-RateLimit-Remaining': '0' })
    }
    server()?.timeout(request, Math.ceil(timeoutMs / 1_000) + MARGIN_S)
    try {
      return await work()
    } finally {
      end()
    }
  }
}
