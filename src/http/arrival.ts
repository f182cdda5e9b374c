// Begins every request, before it is routed: its id, the headers of its response, its key and its limit.

import { Elysia } from 'elysia'
import { ApiError } from '../base/errors.ts'
import type { RequestMeter } from '../base/metrics/requests.ts'
import type { RecordRequest } from './access-log.ts'
import { type Admission, type Admitted, type LimitName, limitHeaders } from './admission.ts'
import { context, pathOf, targetOf } from './context.ts'
import { HttpError } from './failure.ts'
import { COMMON_HEADERS, CORS_HEADERS, PREFLIGHT_HEADERS } from './responses/response.ts'

const MAX_URL_LENGTH = 8 * 1024
const VERSIONED = /^\/(?:api\/|otlp\/)?v1(?:\/|$)/
const SYNC = /^\/(?:api\/|otlp\/)?v1\/(?:sync|logs|metrics|traces)$/
/** The tools for agents change nothing, and need a key as the routes below /v1 do, but no page of another site reads them. */
const MCP = '/mcp'
/** Badges need no key and have a limit of their own. */
const BADGE = /^\/api\/badge\//
/** Pages of any site may read these without a key. */
const OPEN = /^\/(?:docs\/json|health)$/
/** A provider sends browsers back here, to sign in. */
const CHANGING_GET = /^\/auth\/oidc\/callback$/
/** The metrics count these under a name of a route. */
const [PREFLIGHT, OPTIONS] = ['preflight', 'options']

const VALID_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The client's X-Request-Id when it is valid, else a new id. */
function requestIdOf({ headers }: Request): string {
  const id = headers.get('x-request-id')
  return id !== null && VALID_REQUEST_ID.test(id) ? id : crypto.randomUUID()
}

/** The limit that a request counts in; undefined for what has none. */
function limitOf(method: string, path: string): LimitName | undefined {
  if (BADGE.test(path)) return 'badge'
  if (!VERSIONED.test(path) && path !== MCP) return undefined
  return method === 'POST' && SYNC.test(path) ? 'sync' : 'read'
}

const isPreflight = ({ headers }: Request): boolean =>
  headers.has('origin') && headers.has('access-control-request-method')

/** Two Host headers arrive joined by a comma, which no name of a host contains. */
const hasTwoHosts = (request: Request): boolean => request.headers.get('host')?.includes(',') === true

/** Data that are gone are written no more; an operator has to bring them back first. */
export const dataRemoved = () =>
  new ApiError('BUSY', 'The data directory was removed; nothing was stored', { retryAfterS: 60 })

interface ArrivalDeps {
  admission: Admission
  limits: RequestMeter['limits']
  record: RecordRequest
  /** The error for requests that change something, while none may. */
  refusal: () => ApiError | undefined
  /** The methods that a path takes; empty for an unknown one. */
  allowOf: (path: string) => string
}

/** Admits requests: nothing of them is read but their headers. */
export const arrival = ({ admission, limits, record, refusal, allowOf }: ArrivalDeps) => {
  const countDecision = ({ access, limit, failure }: Admitted, name: LimitName) => {
    const meter = limits[access === undefined && name !== 'badge' ? 'address' : name]
    if (failure !== undefined) meter.failed.add()
    else if (limit.admitted) meter.allowed.add()
    else meter.refused.add()
  }
  return (
    new Elysia()
      .use(context)
      // The context is given to no function: then Elysia would parse headers, cookies and query of each request.
      .onRequest(async (arrived) => {
        const { request, set } = arrived
        const { method, url } = request
        const { headers } = set
        arrived.startedAt = performance.now()
        arrived.requestId = requestIdOf(request)
        headers['X-Request-Id'] = arrived.requestId
        Object.assign(headers, COMMON_HEADERS)
        const path = pathOf(url)
        const name = limitOf(method, path)
        if (path !== MCP && (name !== undefined || OPEN.test(path))) {
          Object.assign(headers, CORS_HEADERS)
          if (method === 'OPTIONS' && isPreflight(request)) {
            if (name !== undefined) Object.assign(headers, limitHeaders(admission.peek(request, name)))
            Object.assign(headers, PREFLIGHT_HEADERS)
            set.status = 204
            const { startedAt, requestId } = arrived
            record({ method, url, route: PREFLIGHT, status: 204, startedAt, requestId, access: undefined })
            return ''
          }
        }
        if (name !== undefined) {
          const before = admission.admittedBefore(request)
          const admitted = before ?? (await admission.admit(request, name))
          if (before === undefined) countDecision(admitted, name)
          arrived.admitted = admitted
          Object.assign(headers, limitHeaders(admitted.limit))
        }
        const allow = method === 'OPTIONS' ? allowOf(path) : ''
        if (allow !== '') {
          Object.assign(headers, { Allow: allow, 'cache-control': 'no-store' })
          set.status = 204
          const { startedAt, requestId, admitted } = arrived
          record({ method, url, route: OPTIONS, status: 204, startedAt, requestId, access: admitted?.access })
          return ''
        }
        const changes = CHANGING_GET.test(path) || !(/^(GET|HEAD)$/.test(method) || path === MCP)
        const refused = changes ? refusal() : undefined
        if (refused !== undefined) throw refused
        if (targetOf(url).length > MAX_URL_LENGTH) {
          const message = `The URL must have at most ${MAX_URL_LENGTH} bytes`
          throw new HttpError(new ApiError('VALIDATION_ERROR', message), { status: 414 })
        }
        if (hasTwoHosts(request))
          throw new ApiError('VALIDATION_ERROR', 'Host: must be given once, as one host')
        return undefined
      })
  )
}
