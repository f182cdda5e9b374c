import { Elysia } from 'elysia'
import { ApiError } from '../errors.ts'
import type { Log } from '../log.ts'
import { createAccessLog } from './access-log.ts'
import type { Admission } from './admission.ts'
import { createAllow } from './allowed-methods.ts'
import type { BodyGate } from './body-semaphore.ts'
import { createErrorAnswer } from './errors.ts'
import { requestIdOf } from './request-id.ts'
import { type AnswerSet, answerText, setCorsHeaders, setPreflightHeaders } from './response.ts'

const MAX_URL_LENGTH = 8 * 1024
const VERSIONED = /^\/(?:api\/)?v1(?:\/|$)/
/** Behind `http://`; the host may be one letter, or missing. */
const HOST_START = 7

function pathOf(url: string): string {
  const start = url.indexOf('/', HOST_START)
  const end = url.indexOf('?', start)
  return url.slice(start, end === -1 ? undefined : end)
}

interface LifecycleDeps {
  log: Log
  admission: Admission
  bodies: Pick<BodyGate, 'leave'>
}

/**
 * What every request goes through, around its route: id, limit and CORS headers, errors, the answer's text, and a line
 * in the log. `app` is to be given routes; `flushAccessLog` writes the lines that are still held.
 */
export function lifecycle({ log, admission, bodies }: LifecycleDeps) {
  const accessLog = createAccessLog(log)
  const startedAt = new WeakMap<Request, number>()
  let allow: ((path: string) => string[]) | undefined
  const errorBody = createErrorAnswer({
    log,
    allow: (path) => {
      allow ??= createAllow(app.routes)
      return allow(path)
    },
  })
  const record = (request: Request, status: AnswerSet['status'], headers: AnswerSet['headers']) => {
    accessLog.record({
      method: request.method,
      path: pathOf(request.url),
      status: Number(status ?? 200),
      ms: performance.now() - (startedAt.get(request) ?? performance.now()),
      requestId: String(headers['x-request-id']),
      access: admission.knownAccessOf(request),
    })
  }

  // strictPath: `/v1/cost/` is not `/v1/cost`. normalize: bodies are checked as they came, nothing is dropped from them.
  const app = new Elysia({ strictPath: true, normalize: false, handler: { standardHostname: false } })
    .onRequest(async ({ request, set, server }) => {
      startedAt.set(request, performance.now())
      const { headers } = set
      headers['x-request-id'] = requestIdOf(request)
      headers['x-content-type-options'] = 'nosniff'
      if (VERSIONED.test(pathOf(request.url))) {
        setCorsHeaders(headers)
        const peer = () => server?.requestIP(request)?.address
        if (request.method === 'OPTIONS' && request.headers.has('origin')) {
          admission.show(request, headers, peer)
          setPreflightHeaders(headers)
          set.status = 204
          record(request, 204, headers)
          return ''
        }
        await admission.admit(request, headers, peer)
      }
      if (request.url.length - request.url.indexOf('/', HOST_START) > MAX_URL_LENGTH) {
        throw new ApiError('VALIDATION_ERROR', `The URL must have at most ${MAX_URL_LENGTH} bytes`, {
          status: 414,
        })
      }
      return undefined
    })
    .onError(({ error, request, set }) => {
      const requestId = String(set.headers['x-request-id'])
      return errorBody({ error, request, path: pathOf(request.url), requestId }, set)
    })
    .mapResponse(({ responseValue, set, request }) => {
      bodies.leave(request)
      // Files and ready answers keep what they are; Elysia adds the headers in `set`.
      if (responseValue instanceof Response || responseValue instanceof Blob) {
        record(request, responseValue instanceof Response ? responseValue.status : set.status, set.headers)
        return undefined
      }
      const text = answerText(responseValue, set, request, VERSIONED.test(pathOf(request.url)))
      record(request, set.status, set.headers)
      // Typed for a Response, which Elysia would copy with all its headers; text it makes one of with `set`.
      return text as unknown as Response
    })
  return { app, flushAccessLog: accessLog.flush }
}
