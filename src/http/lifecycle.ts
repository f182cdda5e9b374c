import { Elysia } from 'elysia'
import { ApiError } from '../errors.ts'
import { randomLowerAlnum } from '../ids.ts'
import type { Log } from '../log.ts'
import type { RequestMeter } from '../metrics/requests.ts'
import type { Gate } from '../organizations/gate.ts'
import { createAccessLog } from './access-log.ts'
import { type Admission, type Admitted, limitHeaders } from './admission.ts'
import { createErrorResponse } from './errors.ts'
import type { WindowName } from './rate-windows.ts'
import { BODY_HEADERS, cachedHeaders, isUnchanged } from './responses/cached-headers.ts'
import { CachedResponse } from './responses/cached-response.ts'
import { encodedBody, encodingOf } from './responses/compression.ts'
import {
  bodyOf,
  COMMON_HEADERS,
  CORS_HEADERS,
  PREFLIGHT_HEADERS,
  type ResponseSet,
  responseText,
} from './responses/response.ts'
import type { ResponseCache } from './responses/response-cache.ts'

const MAX_URL_LENGTH = 8 * 1024
const VERSIONED = /^\/(?:api\/|otlp\/)?v1(?:\/|$)/
/** The metrics count a request that matches no route, and a preflight, under these names of a route. */
const NO_ROUTE = 'none'
const PREFLIGHT = 'preflight'
const METHODS = ['DELETE', 'GET', 'PATCH', 'POST', 'PUT']
const SYNC = /^\/(?:api\/|otlp\/)?v1\/(?:sync|logs|metrics|traces)$/
/** Pages of any site may read these without a key; badges say so themselves. */
const OPEN = /^\/(?:docs\/json|health)$/
/** A provider sends browsers back here, to sign in. */
const CHANGING_GET = /^\/auth\/oidc\/callback$/
/** The host begins behind `http://`; it may be one letter, or missing. */
const HOST_START = 7

/** The path and query of a URL. */
export const targetOf = (url: string): string => url.slice(url.indexOf('/', HOST_START))

function pathOf(url: string): string {
  const start = url.indexOf('/', HOST_START)
  const end = url.indexOf('?', start)
  return url.slice(start, end === -1 ? undefined : end)
}

const VALID_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/
const INSTANCE = randomLowerAlnum(12)
let madeIds = 0

/** The client's X-Request-Id when it is valid, else a new id: unique, but not secret. */
function requestIdOf(request: Request): string {
  const given = request.headers.get('x-request-id')
  if (given !== null && VALID_REQUEST_ID.test(given)) return given
  madeIds += 1
  return `${INSTANCE}-${madeIds.toString(36)}`
}

/** The limit's window that a request below /v1 counts in. */
const windowOf = (method: string, path: string): WindowName =>
  method === 'POST' && SYNC.test(path) ? 'sync' : 'read'

/** Two Host headers arrive joined by a comma, which no name of a host contains. */
const hasTwoHosts = (request: Request): boolean => request.headers.get('host')?.includes(',') === true

/** The body as it is given to a Response: an HTTP/1.0 proxy closes the connection, and needs a length to know its end. */
const bodyFor = (request: Request, body: Uint8Array<ArrayBuffer>) =>
  request.headers.get('connection')?.toLowerCase() === 'close' ? body : bodyOf(body)

/** The state of a request from its arrival to its response, kept in Elysia's context. */
type Arrival = {
  startedAt: number
  /** Undefined outside /v1. */
  admitted: Admitted | undefined
}

interface LifecycleDeps {
  log: Log
  admission: Admission
  requests: RequestMeter
  gate: Pick<Gate, 'release'>
  cache: ResponseCache
  /** The disk on which an operator frees space for the database; `on its disk` unless given. */
  diskPlace?: string
  /** The error for requests that change something, while none may. */
  refusal?: () => ApiError | undefined
}

/**
 * Adds the steps that every request goes through around its route: id, limit and CORS headers, errors, the response's
 * text, and a line in the log. The caller adds routes to `app`; `flushAccessLog` writes the lines that are still
 * held.
 */
export function lifecycle({
  log,
  requests,
  admission,
  gate,
  cache,
  diskPlace = 'on its disk',
  refusal = () => undefined,
}: LifecycleDeps) {
  const accessLog = createAccessLog(log)
  const allowedMethods = (path: string): string[] => {
    const { static: plain, http } = app.router
    const taken = METHODS.filter(
      (method) => plain[path]?.[method] !== undefined || http.find(method, path) !== null,
    )
    return (taken.includes('GET') ? ['HEAD', ...taken] : taken).sort()
  }
  const errorResponse = createErrorResponse({ log, diskPlace, allowedMethods })
  const record = (
    request: Request,
    { startedAt, admitted }: Arrival,
    route: string,
    status: number,
    requestId: string,
  ) => {
    const ms = performance.now() - startedAt
    requests.of(request.method, route).record(status, ms)
    accessLog.record({
      method: request.method,
      path: pathOf(request.url),
      status,
      ms,
      requestId,
      access: admitted?.access,
    })
  }

  const countDecision = ({ access, limit, failure }: Admitted, window: WindowName) => {
    const meter = requests.limits[access === undefined ? 'address' : window]
    if (failure !== undefined) meter.failed.add()
    else if (limit.admitted) meter.allowed.add()
    else meter.refused.add()
  }

  // strictPath: `/v1/cost/` is not `/v1/cost`. normalize: bodies are checked as they came, nothing is dropped from them.
  const app = new Elysia({ strictPath: true, normalize: false, handler: { standardHostname: false } })
    .decorate({ startedAt: 0, admitted: undefined } as Arrival)
    // Sets `startedAt` and `admitted` on the context, from which the later hooks take them. The context is given to no
    // function: then Elysia would parse headers, cookies and query of each request.
    .onRequest(async (context) => {
      const { request, set } = context
      const { headers } = set
      context.startedAt = performance.now()
      headers['x-request-id'] = requestIdOf(request)
      Object.assign(headers, COMMON_HEADERS)
      const path = pathOf(request.url)
      const peer = () => app.server?.requestIP(request)?.address
      const isVersioned = VERSIONED.test(path)
      if (isVersioned || OPEN.test(path)) {
        Object.assign(headers, CORS_HEADERS)
        if (request.method === 'OPTIONS' && request.headers.has('origin')) {
          if (isVersioned) Object.assign(headers, limitHeaders(admission.peek(request, peer)))
          Object.assign(headers, PREFLIGHT_HEADERS)
          set.status = 204
          const arrival = { startedAt: context.startedAt, admitted: undefined }
          record(request, arrival, PREFLIGHT, 204, String(headers['x-request-id']))
          return ''
        }
      }
      if (isVersioned) {
        const window = windowOf(request.method, path)
        const admitted = await admission.admit(request, peer, window)
        countDecision(admitted, window)
        context.admitted = admitted
        Object.assign(headers, limitHeaders(admitted.limit))
      }
      const refused = CHANGING_GET.test(path) || !/^(GET|HEAD)$/.test(request.method) ? refusal() : undefined
      if (refused !== undefined) throw refused
      if (request.url.length - request.url.indexOf('/', HOST_START) > MAX_URL_LENGTH) {
        throw new ApiError('VALIDATION_ERROR', `The URL must have at most ${MAX_URL_LENGTH} bytes`, {
          status: 414,
        })
      }
      if (hasTwoHosts(request)) {
        throw new ApiError('VALIDATION_ERROR', 'Host: must be given once, as one host')
      }
      return undefined
    })
    .onError(({ error, request, set }) => {
      const requestId = String(set.headers['x-request-id'])
      return errorResponse({ error, request, path: pathOf(request.url), requestId }, set)
    })
    // `route` is undefined where no route takes the request, whatever its type
    .mapResponse(({ responseValue, set, request, startedAt, admitted, route: pattern }) => {
      gate.release(request)
      const arrival = { startedAt, admitted }
      const route = (pattern as string | undefined) ?? NO_ROUTE
      const requestId = String(set.headers['x-request-id'])
      // Files and complete responses keep what they are; Elysia adds the headers in `set`.
      if (responseValue instanceof Response || responseValue instanceof Blob) {
        const status = responseValue instanceof Response ? responseValue.status : set.status
        record(request, arrival, route, Number(status ?? 200), requestId)
        return undefined
      }
      if (responseValue instanceof CachedResponse) {
        const response = sendCached(responseValue, request, set)
        record(request, arrival, route, response.status, requestId)
        // Elysia returns a Response as it is where `set` has nothing; else it would copy it, with a stream of its body.
        set.headers = {}
        set.status = 200
        return response
      }
      const text = responseText(responseValue, set, request, admitted !== undefined)
      record(request, arrival, route, Number(set.status ?? 200), requestId)
      // Typed for a Response, which Elysia would copy with all its headers; text it makes one of with `set`.
      return text as unknown as Response
    })

  const sendCached = (response: CachedResponse, request: Request, { headers }: ResponseSet): Response => {
    const encoding = encodingOf(response, request.headers.get('accept-encoding'))
    Object.assign(headers, cachedHeaders(response, encoding))
    const init = { headers: headers as Record<string, string> }
    if (!isUnchanged(response, encoding, request))
      return new Response(bodyFor(request, encodedBody(response, encoding, cache.grow)), init)
    for (const name of BODY_HEADERS) delete headers[name]
    return new Response(null, { ...init, status: 304 })
  }
  return { app, flushAccessLog: accessLog.flush }
}
