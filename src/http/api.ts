// The plugins by which routes declare what they need (declared.ts), and whose hooks check it before anything of a request is read.

import { Elysia } from 'elysia'
import type { Access } from '../accounts/people/callers.ts'
import { isObject } from '../analysis/agents/transcript/json.ts'
import { refuseUnlessValid } from '../analysis/records/problems.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config.ts'
import type { Sql } from '../database/client.ts'
import { accessOf, authorize, hidesMembersOf } from './admission.ts'
import { type Answer, checkResponse } from './answers.ts'
import { isSentPacked, readBody, readPacked } from './body.ts'
import { type CachedDeps, createCachedAnswer } from './cached-answer.ts'
import { context } from './context.ts'
import { OPTIONS, type Route, type Routes } from './declared.ts'
import { ALL, readQuery } from './query.ts'
import type { Change, EnqueueWrite, Gate } from './queues/gate.ts'
import type { Read } from './queues/places.ts'
import { wholeQuery } from './whole-list.ts'

/** A request waits 45 s for its writing (http/queues/gate.ts), longer than its connection may be idle otherwise. */
const WORK_TIMEOUT_S = 90

/** A parameter of a path with broken percent-encoding, for which Elysia gives null. No id has it: the result is NOT_FOUND. */
export const BROKEN = '\uFFFD'

/** PostgreSQL rejects NUL in a text. */
function replaceBroken(params: Record<string, string | null | undefined> = {}): void {
  for (const name in params) params[name] = (params[name] ?? BROKEN).replaceAll('\0', BROKEN)
}

/** The dependencies of routes that only read. */
export interface ReadDeps {
  api: Api
  /** Reads in a place of the organization's; `cached` takes one by itself. */
  read: Read
  config: Config
  now: () => Date
}

export interface RouteDeps extends ReadDeps {
  publicApi: PublicApi
  writes: Sql
  log: Log
  gate: Gate
  /** Runs `work` after the organization's earlier changes in this process. */
  enqueueWrite: EnqueueWrite
  /** The same with a transaction. */
  inTurn: Change
  server: () => { timeout(request: Request, seconds: number): void } | null
  /** The server's address without PUBLIC_URL: that of its listener. */
  listenUrl: () => string
}

interface ApiDeps extends Pick<RouteDeps, 'gate' | 'server'>, CachedDeps {
  routes: Routes
  answer: Answer
  /** Whether each response is checked by its schema. */
  checkResponses: boolean
}

/** A function that reads the body of a request, whose caller is allowed; null where the route takes none. */
const createBodyReader =
  ({ gate, server }: Pick<ApiDeps, 'gate' | 'server'>) =>
  async (
    { params: pathSchema, query, body, reads }: Route,
    request: Request,
    params: unknown,
    access: Access | undefined,
  ): Promise<unknown> => {
    if (body === undefined) return null
    // a wrong path or query is refused before the body is read
    if (pathSchema !== undefined) refuseUnlessValid(pathSchema, params)
    if (query !== undefined) readQuery(query, request.url)
    const owner = access?.orgId ?? 'those without a key'
    // small changes have memory of their own: what laptops send holds up no setting
    if (!isSentPacked(body)) return await readBody(request, reads, gate.pass(request, `changes of ${owner}`))
    const pass = gate.pass(request, owner, access?.actor.userId)
    const packed = await readPacked(request, reads, pass)
    server()?.timeout(request, WORK_TIMEOUT_S)
    await pass.takeWork(packed.bytes.length)
    return packed
  }

/** The plugins. `seed`: their hooks run once for routes of a plugin that is used in another. */
export function createApi({ routes, answer, checkResponses, ...deps }: ApiDeps) {
  const read = createBodyReader(deps)
  const cachedAnswer = createCachedAnswer(deps)

  /** The plugin of routes that need no key, or look for it by themselves. */
  const publicApi = new Elysia({ name: 'public-api', seed: 'public-api' })
    .use(context)
    .macro(OPTIONS)
    // Elysia's first stage of what is no GET
    .onParse({ as: 'scoped' }, async ({ admitted, request, route: pattern, params }) => {
      const route = routes.find(request, pattern)
      await route.before?.(request)
      const access = authorize(route, admitted)
      return await read(route, request, params, access)
    })
    .onTransform({ as: 'scoped' }, (call) => {
      const { request, params, body } = call
      const route = routes.find(request, call.route)
      if (request.method === 'GET' || request.method === 'HEAD') authorize(route, call.admitted)
      if (route.success !== undefined) call.set.status = route.success
      replaceBroken(params)
      if (isObject(body)) for (const name of route.ignores ?? []) Reflect.deleteProperty(body, name)
      const query = route.readValues(request.url)
      call.isWhole = route.list?.columns !== undefined && query.per_page === ALL
      if (call.isWhole) Object.assign(query, wholeQuery(request))
      // Elysia checks it next, and types it as what it reads itself
      call.query = query as typeof call.query
    })
    // Elysia checks no Response by the schemas of the route
    .onAfterHandle({ as: 'scoped' }, ({ responseValue, request, route: pattern, set, admitted }) => {
      if (checkResponses) checkResponse(routes.find(request, pattern).responses, responseValue, set.status)
      const response = answer(responseValue, set, request, admitted !== undefined)
      set.headers = {}
      return response
    })

  /** The plugin of routes below /v1: gives handlers their caller, who is allowed, and the functions by which they read. */
  const api = new Elysia({ name: 'api', seed: 'api' })
    .use(publicApi)
    .resolve(({ admitted, request, route: pattern, params, query, isWhole }) => {
      const route = routes.find(request, pattern)
      const access = accessOf(admitted)
      const { orgId, actor, onlyMember } = access
      const viewer = { onlyMember, hidesMembers: hidesMembersOf(access, route.members, query) }
      const reads = cachedAnswer({ route, request, params, query, isWhole, access, viewer })
      return { access, orgId, actor, ...viewer, viewer, ...reads }
    })
    .as('scoped')

  return { publicApi, api }
}
type PublicApi = ReturnType<typeof createApi>['publicApi']
export type Api = ReturnType<typeof createApi>['api']
