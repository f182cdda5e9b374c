// The plugin by which routes declare what they need. `scope` says who may call a route; its steps check it before anything
// of the request is read. The other macros only keep their value in the route's hooks, where `scope`, the API's document
// and the tests of every route find it.

import { Kind, type TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Need } from '../accounts/keys/rights.ts'
import { inZone } from '../accounts/organizations/zone-queries.ts'
import type { Access } from '../accounts/people/callers.ts'
import { isObject } from '../analysis/agents/transcript/json.ts'
import { problemsBySchema, refined, refuseUnlessValid } from '../analysis/records/problems.ts'
import { UTC } from '../base/dates.ts'
import { JsonText } from '../base/json-text.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config.ts'
import type { Sql } from '../database/client.ts'
import { lean } from '../database/statement-parts.ts'
import { type Admitted, accessOf } from './admission.ts'
import { type BodyOptions, isPacked, readBody, readPacked } from './body.ts'
import { type Arrived, context } from './context.ts'
import {
  type Declared,
  describeNeed,
  hidesMembersOf,
  type Members,
  refuseUnlessGranted,
  securityOf,
} from './declared.ts'
import type { List } from './list-queries.ts'
import { ALL, queryReader, readQuery } from './query.ts'
import type { Change, EnqueueWrite, Gate } from './queues/gate.ts'
import type { Read } from './queues/places.ts'
import { csvSource, prefersCsv } from './responses/csv.ts'
import { CachedResponse, type Computed, cacheKeyOf } from './responses/response.ts'
import type { ResponseCache } from './responses/response-cache.ts'
import { type Viewer, type WholeLists, wholeQuery } from './whole-list.ts'

/** A request waits 45 s for its writing (http/queues/gate.ts), longer than its connection may be idle otherwise. */
const WORK_TIMEOUT_S = 90

/** Who has no key needs no larger body. A page of another site may send one without a type, with the browser's cookies. */
const READS_WITHOUT_KEY = { maxBytes: 4_096, needsType: true }

/** The dependencies of routes that only read. */
export interface ReadDeps {
  api: Api
  /** Reads in a place of the organization's; `cached` takes one by itself. */
  read: Read
  config: Config
  now: () => Date
}

export interface RouteDeps extends ReadDeps {
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

interface ApiDeps extends Pick<RouteDeps, 'gate' | 'server'> {
  sql: Sql
  cache: ResponseCache
  wholeLists: WholeLists
  /** Whether Elysia checks each response by its schema. */
  checkResponses: boolean
}

/** The parts of Elysia's context that the hooks use. */
interface Step extends Arrived {
  request: Request
  set: { status?: number | string }
  params: Record<string, string> | undefined
  query: Record<string, unknown>
  body: unknown
  /** Whether all rows of the list are asked for. */
  isWhole?: boolean
}

type Valid = Required<Pick<Step, 'request' | 'query' | 'isWhole'>> & { params: Record<string, string> }

/** The caller as handlers know it, when everything is checked. */
type Allowed = Pick<Access, 'orgId' | 'actor'> &
  Viewer & {
    access: Access
    viewer: Viewer
    /** Reads by the organization's time zone. */
    inZone: <Result>(work: (zone: string) => Promise<Result>) => Promise<Result>
  }
/** Answers from memory, or by what `read` reads; the list with all of its rows where they are asked for. Typed as what is read. */
type Cached<Answer extends Computed = Computed> = {
  cached: <Value extends Answer>(read: (sql: Sql, zone: string) => Promise<Value>) => Promise<Value>
}

/** A parameter of a path with broken percent-encoding, for which Elysia gives null. No id has it: the result is NOT_FOUND. */
export const BROKEN = '\uFFFD'

/** PostgreSQL rejects NUL in a text. */
function replaceBroken(params: Record<string, string | null>): void {
  for (const name in params) params[name] = (params[name] ?? BROKEN).replaceAll('\0', BROKEN)
}

const isSchema = (response: object): response is TSchema => Kind in response

/** Who may send requests to a route: by a key or session, or, without `need`, anybody whom `before` does not refuse. */
interface Callers {
  need?: Need
  before?: ((request: Request) => unknown) | undefined
}

/** The hooks of a route. Elysia reads their text to know what they use: arrow functions in minified code too, methods not. */
function hooksOf(route: Declared, { need, before }: Callers, deps: ApiDeps) {
  const { sql, gate, cache, wholeLists, checkResponses, server } = deps
  const reader = lean(sql)
  const { detail, params: pathSchema, query: querySchema, body: bodySchema } = route
  const { list, ignores = [], response = {} } = route
  const hasCsv = list?.columns !== undefined
  if (detail?.operationId === undefined) throw new Error('a route declares no operationId')
  const { operationId } = detail
  const reads = route.reads ?? (need === undefined ? READS_WITHOUT_KEY : {})
  // `detail.responses` has those that are no JSON
  const responses = Object.entries(isSchema(response) ? { 200: response } : response)
  const [[status] = [], another] = responses
  /** The status of what handlers return, where the route declares one other than 200. */
  const success = status !== '200' && another === undefined ? status && Number(status) : undefined
  const valuesOf = queryReader(querySchema)
  const isCached = list !== undefined || route.cached !== undefined

  const allowed = (admitted: Admitted | undefined): Access | undefined => {
    if (need === undefined) return undefined
    const access = accessOf(admitted)
    refuseUnlessGranted(access, need, route)
    return access
  }
  /** Answers from memory, or by what the handler reads. */
  const cachedFor =
    ({ request, query, params, isWhole }: Valid, orgId: string, viewer: Viewer, inZone: Allowed['inZone']) =>
    (read: (sql: Sql, zone: string) => Promise<Computed>): Promise<CachedResponse | Response> =>
      inZone(async (zone) => {
        const isCsv = hasCsv && prefersCsv(request.headers.get('accept'))
        const columns = isCsv ? list?.columns?.(query as never) : undefined
        if (isWhole && list !== undefined && columns !== undefined) {
          const { statement } = await list.whole(sql, orgId, query, { ...viewer, zone })
          return await wholeLists.send(request, { orgId, columns, itemOf: list.itemOf, statement })
        }
        const further = {
          ...(zone !== UTC && { zone }),
          ...(typeof route.cached === 'function' && route.cached(zone)),
        }
        const member = viewer.onlyMember?.id
        const more = { ...further, hidesMembers: viewer.hidesMembers || undefined, onlyMember: member }
        const json = { key: cacheKeyOf(operationId, params, query, more), variesByAccept: hasCsv }
        const source = columns === undefined ? json : csvSource(json, columns)
        return await cache.respond(orgId, source, () => read(reader, zone))
      })

  return {
    ...(need !== undefined && { needs: need, detail: { ...detail, description: describeNeed(need, route) } }),
    ...(responses.length > 0 && {
      response: Object.fromEntries(
        responses.map(([status, schema]) => [status, responseSchema(schema, checkResponses)]),
      ),
    }),

    /** Elysia's first stage of what is no GET. Nothing of a body is read before the request is allowed; null: it takes none. */
    parse: async ({ admitted, request, params }: Step): Promise<unknown> => {
      await before?.(request)
      const access = allowed(admitted)
      const owner = access?.orgId ?? 'those without a key'
      if (bodySchema === undefined) return null
      // a wrong path or query is refused before the body is read
      if (pathSchema !== undefined) refuseUnlessValid(pathSchema, params)
      if (querySchema !== undefined) readQuery(querySchema, request.url)
      // small changes have memory of their own: what laptops send holds up no setting
      if (!isPacked(bodySchema))
        return await readBody(request, reads, gate.pass(request, `changes of ${owner}`))
      const pass = gate.pass(request, owner, access?.actor.userId)
      const packed = await readPacked(request, reads, pass)
      server()?.timeout(request, WORK_TIMEOUT_S)
      await pass.takeWork(packed.bytes.length)
      return packed
    },

    /** Reads what Elysia checks next. */
    transform: ({ admitted, request, set, params, body }: Step): { query: object; isWhole: boolean } => {
      if (request.method === 'GET' || request.method === 'HEAD') allowed(admitted)
      if (success !== undefined) set.status = success
      if (params !== undefined) replaceBroken(params)
      if (isObject(body)) for (const name of ignores) Reflect.deleteProperty(body, name)
      const query = valuesOf(request.url)
      const isWhole = hasCsv && query.per_page === ALL
      return { query: isWhole ? { ...query, ...wholeQuery(request) } : query, isWhole }
    },

    /** Gives handlers the caller, who is allowed. */
    resolve: ({ admitted, request, query, params = {}, isWhole = false }: Step) => {
      const access = admitted?.access
      if (need === undefined || access === undefined) return undefined
      const { orgId, actor, onlyMember } = access
      const viewer = { onlyMember, hidesMembers: hidesMembersOf(access, route.members, query) }
      const byZone: Allowed['inZone'] = (work) => inZone(sql, access, work)
      const allowed: Allowed = { access, orgId, actor, ...viewer, viewer, inZone: byZone }
      if (!isCached) return allowed
      const cached = cachedFor({ request, query, params, isWhole }, orgId, viewer, byZone)
      if (list === undefined) return { ...allowed, cached }
      const page = () => cached((sql, zone) => list.page(sql, orgId, query, { ...viewer, zone }))
      return { ...allowed, cached, page }
    },
  }
}

/** Hooks that give handlers what is `Known`: Elysia's types do not see what `introspect` adds. */
const giving = <Known>(hooks: object) => hooks as { resolve: () => Known }

/** The plugin of routes below /v1. */
export const createApi = (deps: ApiDeps) =>
  new Elysia({ name: 'api' }).use(context).macro({
    members: (_named: Members) => ({}),
    /**
     * The 200 is kept in memory until the organization's data change: it must depend on nothing else but the request, whose
     * figures may be seen, whether members are hidden, the time zone, and what the function returns. The handler reads in `cached`.
     */
    cached: (_further: true | ((zone: string) => Record<string, string>)) => giving<Cached>({}),
    /** The 200 is the list's `page`, also as CSV where it has columns, then with `per_page=all` of all rows. Kept as `cached`. */
    list: (_list: List) => giving<{ page: () => Promise<JsonText> }>({}),
    reads: (_options: BodyOptions) => ({}),
    /** Fields that the body may have, and which are not read. */
    ignores: (_fields: readonly string[]) => ({}),
    /** The statuses of errors that the document names besides those that every route has. */
    fails: (_statuses: readonly number[]) => ({}),
    /** Who may call the route. */
    scope: (need: Need) =>
      giving<Allowed>({
        introspect: (route: Declared) => Object.assign(route, hooksOf(route, { need }, deps)),
        detail: { security: securityOf(need) },
      }),
    /** Anybody may, with no key. A function is called before the body is read, and throws where it must not be. */
    open: (before: true | ((request: Request) => unknown)) =>
      giving<undefined>({
        introspect: (route: Declared) =>
          Object.assign(route, hooksOf(route, before === true ? {} : { before }, deps)),
      }),
  })

export type Api = ReturnType<typeof createApi>

// Schemas of responses, as Elysia gets them: it checks responses in tests and under `bun run dev`. In production that
// took 15 % of a request.

/** A handler may return the text of its JSON. */
const sentFor = (value: unknown): unknown => {
  if (value instanceof JsonText) return JSON.parse(value.text)
  return value instanceof CachedResponse ? JSON.parse(new TextDecoder().decode(value.body)) : value
}

const isJson = (value: unknown) =>
  !(value instanceof CachedResponse) || value.source.contentType === undefined

/** The schema for Elysia, of what is sent. It is a copy: Elysia closes the objects that it gets. */
const responseSchema = (schema: TSchema, isChecked: boolean): TSchema =>
  isChecked && schema.type !== 'void'
    ? refined(schema, (value) => (isJson(value) ? problemsBySchema(schema, sentFor(value)) : []))
    : { ...schema, noValidate: true }
