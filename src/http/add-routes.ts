import type { AnyElysia } from 'elysia'
import type { Gate } from '../organizations/gate.ts'
import { authorize } from './access.ts'
import { type Admitted, accessOf } from './admission.ts'
import { createBodyCheck, readBody, readPacked } from './body.ts'
import type { lifecycle } from './lifecycle.ts'
import { targetOf } from './lifecycle.ts'
import { queryReader } from './query-reader.ts'
import { cacheKeyOf, type ResponseSource } from './responses/cached-response.ts'
import { csvSource, prefersCsv } from './responses/csv.ts'
import { linkOfValue } from './responses/links.ts'
import type { ResponseSet } from './responses/response.ts'
import type { ResponseCache } from './responses/response-cache.ts'
import type { CheckResponse } from './responses/response-check.ts'
import type { Call, Route } from './route.ts'

/** The paths before those of the routes. */
const BASES = ['/v1', '/api/v1'] as const

interface AnswerDeps {
  gate: Gate
  cache: ResponseCache
  /** Undefined: responses are not checked. In production that took 15 % of a request. */
  checkResponse: CheckResponse | undefined
  /** The path that a proxy puts before ours, `` or `/analytics`. */
  prefix: string
}

/** A request, as Elysia gives it to a route. */
interface Routed {
  request: Request
  params: Record<string, string> | undefined
  set: ResponseSet
  admitted: Admitted | undefined
}

/** PostgreSQL rejects NUL in a text. U+FFFD stands for broken UTF-8 already, and no id has it: the result is NOT_FOUND. */
function replaceNul(params: Record<string, string>): void {
  for (const name in params) {
    const value = params[name]
    if (value?.includes('\0')) params[name] = value.replaceAll('\0', '\uFFFD')
  }
}

/** A request waits 45 s for its writing (organizations/gate.ts), longer than its connection may be idle otherwise. */
const WORK_TIMEOUT_S = 90

/**
 * A function that reads and checks the body of a route's request. Small changes have memory of their own: what laptops send
 * holds up no setting. Throws VALIDATION_ERROR.
 */
function bodyReader(
  { body }: Route,
  gate: Gate,
  app: Pick<AnyElysia, 'server'>,
): (request: Request, orgId: string) => unknown {
  if (body === undefined) return () => undefined
  const { schema, problems, ...options } = body
  if (options.packed === true) {
    return async (request, orgId) => {
      const pass = gate.pass(request, orgId)
      const body = await readPacked(request, options, pass)
      app.server?.timeout(request, WORK_TIMEOUT_S)
      await pass.takeWork(body.bytes.length)
      return body
    }
  }
  const check = createBodyCheck(schema, problems)
  return async (request, orgId) => {
    const value = await readBody(request, options, gate.pass(request, `changes of ${orgId}`))
    check(value)
    return value
  }
}

/**
 * Returns the source of a kept response. Its key contains everything that the response depends on besides the
 * organization's data.
 */
function sourceOf({ path, kept, csv, handler }: Route, call: Call): ResponseSource {
  const { params, query, access, hidesMembers, request } = call
  const further = typeof kept === 'function' ? kept() : {}
  const seen = { hidesMembers: hidesMembers || undefined, own: access.own?.keys.join(' ') }
  const source: ResponseSource = {
    key: cacheKeyOf(path, params, query as Record<string, unknown>, further, seen),
    compute: async () => (await handler(call)) as object,
  }
  if (csv === undefined) return source
  source.variesByAccept = true
  if (!prefersCsv(request.headers.get('accept'))) return source
  return csvSource(source, typeof csv === 'function' ? csv(query) : csv)
}

/** The way of every request of a route, once its key is known and it is counted: nothing is read before it is allowed. */
function answerOf(
  route: Route,
  { gate, cache, checkResponse, prefix }: AnswerDeps,
  app: Pick<AnyElysia, 'server'>,
) {
  const readQuery = route.query === undefined ? undefined : queryReader(route.query)
  const readBodyOf = bodyReader(route, gate, app)
  return async (base: string, { request, params = {}, set, admitted }: Routed) => {
    const access = accessOf(admitted)
    const { query, hidesMembers } = authorize(access, route, () => readQuery?.(request.url))
    replaceNul(params)
    const body = await readBodyOf(request, access.orgId)
    if (route.timeoutS !== undefined) app.server?.timeout(request, route.timeoutS)
    const call = { params, query, body, access, hidesMembers, request }
    const value = await (route.kept === undefined
      ? route.handler(call)
      : cache.respond(access.orgId, sourceOf(route, call)))
    // protobuf is written by its route
    if (!(value instanceof Response)) checkResponse?.(route.response, value)
    if (route.status !== 200) set.status = route.status
    if (route.location !== undefined)
      set.headers.location = `${prefix}${base}${route.location(value, params)}`
    const link = linkOfValue(targetOf(request.url), value, prefix)
    if (link !== undefined) set.headers.link = link
    return value
  }
}

/** Adds the routes to the app, below /v1 and /api/v1. */
export function addRoutes(
  app: ReturnType<typeof lifecycle>['app'],
  routes: readonly Route[],
  deps: AnswerDeps,
): void {
  for (const route of routes) {
    const answer = answerOf(route, deps, app)
    for (const base of route.alsoBelow === undefined ? BASES : [...BASES, route.alsoBelow]) {
      // The names are taken from the context here, and bodies are not: Elysia reads the handler's text, and would parse or
      // define what else the context has.
      app.route(route.method, `${base}${route.path}`, async ({ request, params, set, admitted }) =>
        answer(base, { request, params, set, admitted }),
      )
    }
  }
}
