// Counts requests, and writes a line of the log for each: the lines are written together, outside the requests.

import type { Access } from '../accounts/people/callers.ts'
import type { Log, LogFields } from '../base/log.ts'
import type { RequestMeter } from '../base/metrics/requests.ts'
import { pathOf } from './context.ts'

const FLUSH_MS = 100
const MAX_HELD = 512
const MAX_PATH_LENGTH = 200
/** Lines a minute for requests without a valid key, which anybody can send: others are counted. */
const MAX_WITHOUT_KEY = 300
const MINUTE_MS = 60_000

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

export type RecordRequest = (request: AnsweredRequest) => void

/** The line has no query string, which may hold personal data. */
const fieldsOf = ({
  method,
  url,
  status,
  ms,
  requestId,
  access,
}: AnsweredRequest & { ms: number }): LogFields => ({
  method,
  path: pathOf(url).slice(0, MAX_PATH_LENGTH),
  status,
  ms: Math.round(ms * 10) / 10,
  request_id: requestId,
  ...(access !== undefined && {
    org_id: access.orgId,
    ...(access.keyId === null ? { user_id: access.person?.userId } : { key_id: access.keyId }),
  }),
})

/** Probes ask many times a minute. */
const PROBES = new Set<unknown>(['/live', '/ready', '/health'])
const levelOf = ({ path }: LogFields) => (PROBES.has(path) ? 'debug' : 'info')

export function createAccessLog(log: Log, requests: Pick<RequestMeter, 'of'>, now = () => performance.now()) {
  let minute = Number.NEGATIVE_INFINITY
  let withoutKey = 0
  const reportLeftOut = () => {
    const count = withoutKey - MAX_WITHOUT_KEY
    if (count > 0) log.warn('requests without a valid key that have no line in the log', { count })
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
  let held: (AnsweredRequest & { ms: number })[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (held.length > 0) log.all('request', held.map(fieldsOf), levelOf)
    held = []
  }
  const record: RecordRequest = (request) => {
    const ms = performance.now() - request.startedAt
    requests.of(request.method, request.route).record(request.status, ms)
    if (request.access === undefined && !PROBES.has(pathOf(request.url)) && isLeftOut()) return
    held.push({ ...request, ms })
    if (held.length >= MAX_HELD) return flush()
    timer ??= setTimeout(flush, FLUSH_MS).unref()
  }
  return {
    record,
    /** Writes the lines that are still held. Call it when the server has stopped. */
    flush() {
      flush()
      reportLeftOut()
    },
  }
}
