import type { Log } from '../log.ts'
import type { Access } from './admission.ts'

const FLUSH_MS = 100
const MAX_HELD = 512
const MAX_PATH_LENGTH = 200

interface LoggedRequest {
  method: string
  /** Without the query string, which may hold personal data. */
  path: string
  status: number
  ms: number
  requestId: string
  access: Access | undefined
}

interface AccessLog {
  record(request: LoggedRequest): void
  /** Writes the lines that are still held. Call it when the server has stopped. */
  flush(): void
}

/** Collects a line for each request and writes the lines together, outside the requests. */
export function createAccessLog(log: Log): AccessLog {
  let held: LoggedRequest[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const lines = held
    held = []
    for (const { method, path, status, ms, requestId, access } of lines) {
      log.info('request', {
        method,
        path: path.slice(0, MAX_PATH_LENGTH),
        status,
        ms: Math.round(ms * 10) / 10,
        request_id: requestId,
        ...(access === undefined ? {} : { org_id: access.orgId, key_id: access.keyId }),
      })
    }
  }
  return {
    flush,
    record(request) {
      held.push(request)
      if (held.length >= MAX_HELD) return flush()
      if (timer !== undefined) return
      timer = setTimeout(flush, FLUSH_MS)
      timer.unref()
    },
  }
}
