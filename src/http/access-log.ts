import type { Access } from '../accounts/people/callers.ts'
import type { Log, LogFields } from '../base/log.ts'
import type { RequestMeter } from '../base/metrics/requests.ts'
import { pathOf } from './context.ts'

const FLUSH_MS = 100
const MAX_HELD = 512
const MAX_PATH_LENGTH = 200
/**
 * Lines a minute for requests without a valid key, which anybody can send: others are counted. Requests with a key have
 * the limit of their plan.
 */
const MAX_WITHOUT_KEY = 300
const MINUTE_MS = 60_000

/** A request that was answered, by the pattern of its route. */
interface AnsweredRequest {
  method: string
  url: string
  route: string
  status: number
  /** The time of the arrival by the monotonic clock. */
  startedAt: number
  requestId: string
  /** Undefined without a valid key. */
  access: Access | undefined
}
/** `path` has no query string, which may hold personal data. */
type LoggedRequest = Omit<AnsweredRequest, 'url' | 'route' | 'startedAt'> & { path: string; ms: number }

const fieldsOf = ({ method, path, status, ms, requestId, access }: LoggedRequest): LogFields => ({
  method,
  path: path.slice(0, MAX_PATH_LENGTH),
  status,
  ms: Math.round(ms * 10) / 10,
  request_id: requestId,
  ...(access !== undefined && {
    org_id: access.orgId,
    ...(access.keyId === null ? { user_id: access.person?.userId } : { key_id: access.keyId }),
  }),
})

/** Collects a line for each request and writes the lines together, outside the requests. */
export function createAccessLog(log: Log, now: () => number = () => performance.now()) {
  let minute = Number.NEGATIVE_INFINITY
  let withoutKey = 0
  const reportLeftOut = () => {
    if (withoutKey > MAX_WITHOUT_KEY)
      log.warn('requests without a valid key that have no line in the log', {
        count: withoutKey - MAX_WITHOUT_KEY,
      })
    withoutKey = 0
  }
  const isLeftOut = () => {
    if (now() - minute >= MINUTE_MS) {
      reportLeftOut()
      minute = now()
    }
    withoutKey += 1
    return withoutKey > MAX_WITHOUT_KEY
  }
  let held: LoggedRequest[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const requests = held
    held = []
    if (requests.length > 0) log.infoAll('request', requests.map(fieldsOf))
  }
  return {
    /** Writes the lines that are still held. Call it when the server has stopped. */
    flush() {
      flush()
      reportLeftOut()
    },
    record(request: LoggedRequest) {
      if (request.access === undefined && isLeftOut()) return
      held.push(request)
      if (held.length >= MAX_HELD) return flush()
      if (timer !== undefined) return
      timer = setTimeout(flush, FLUSH_MS)
      timer.unref()
    },
  }
}

export type RecordRequest = (request: AnsweredRequest) => void

/** Makes the function that counts and logs an answered request. */
export const recorder =
  (accessLog: Pick<ReturnType<typeof createAccessLog>, 'record'>, requests: RequestMeter): RecordRequest =>
  ({ url, route, startedAt, ...request }) => {
    const ms = performance.now() - startedAt
    requests.of(request.method, route).record(request.status, ms)
    accessLog.record({ ...request, path: pathOf(url), ms })
  }
