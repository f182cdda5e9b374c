import type { Log } from '../log.ts'
import type { Access } from './admission.ts'

const FLUSH_MS = 100
const MAX_HELD = 512
const MAX_PATH_LENGTH = 200

/** One answered request. */
export interface AnsweredRequest {
  method: string
  /** Without the query string, which may hold what is nobody's business. */
  path: string
  status: number
  ms: number
  requestId: string
  access: Access | undefined
}

export interface AccessLog {
  record(answered: AnsweredRequest): void
  /** Writes what is held; to be called when the server has stopped. */
  flush(): void
}

/** Holds a line per request and writes them together, off the path of the answer. */
export function createAccessLog(log: Log): AccessLog {
  let held: AnsweredRequest[] = []
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
    record(answered) {
      held.push(answered)
      if (held.length >= MAX_HELD) return flush()
      if (timer !== undefined) return
      timer = setTimeout(flush, FLUSH_MS)
      timer.unref()
    },
  }
}
