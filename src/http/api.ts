import { Kind, type TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Need } from '../accounts/keys/model.ts'
import type { Change, EnqueueWrite, Gate } from '../accounts/organizations/gate.ts'
import type { Access } from '../accounts/people/callers.ts'
import { problemsBySchema } from '../analysis/records/problems.ts'
import { type FieldProblem, validationError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config.ts'
import type { Sql } from '../database/client.ts'
import { type Admitted, accessOf } from './admission.ts'
import { type BodyOptions, isPacked, readBody, readPacked } from './body.ts'
import { type Arrived, type Call, context } from './context.ts'
import {
  type Declared,
  describeNeed,
  hidesMembersOf,
  type Members,
  refuseUnlessGranted,
  securityOf,
} from './declared.ts'
import { ALL, MAX_PER_PAGE } from './query.ts'
import { firstOfEach, queryReader, readQuery } from './query-reader.ts'
import { CachedResponse, cacheKeyOf, type ResponseSource } from './responses/cached-response.ts'
import { csvSource, prefersCsv } from './responses/csv.ts'
import type { ResponseCache } from './responses/response-cache.ts'
import { responseSchema } from './responses/response-schema.ts'
import { type CsvList, problemsOfAll, type Seen, type WholeLists } from './whole-list.ts'

// The plugin by which routes declare what they need. `scope` says who may call a route; its steps check it before anything
// of the request is read. The other macros only keep their value in the route's hooks, where `scope`, the API's document
// and the tests of every route find it.

/** A request waits 45 s for its writing (accounts/organizations/gate.ts), longer than its connection may be idle otherwise. */
const WORK_TIMEOUT_S = 90

/** Who has no key needs no larger body. A page of another site may send one without a type, with the browser's cookies. */
const READS_WITHOUT_KEY = { maxBytes: 4_096, needsType: true }

/** The dependencies of routes that only read. */
export interface ReadDeps {
  api: Api
  /** Connections for short reads; handlers of cached routes have those of their request as `sql` in the context. */
  sql: Sql
  config: Config
  now: () => Date
}

/** The dependencies of routes. */
export interface RouteDeps extends ReadDeps {
  /** Connections for transactions. */
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

interface ApiDeps extends Pick<RouteDeps, 'sql' | 'gate' | 'server'> {
  cache: ResponseCache
  wholeLists: WholeLists
  /** Whether Elysia checks each response by its schema. */
  checkResponses: boolean
}

/** The parts of Elysia's context that the steps use. */
interface Step extends Arrived {
  request: Request
  set: { status?: number | string }
  params: Record<string, string> | undefined
  query: Record<string, unknown>
  body: unknown
}

/** The caller as handlers know it, when everything is checked, and the connections to read by. */
type Allowed = Pick<Access, 'orgId' | 'actor'> & Seen & { access: Access; seen: Seen; sql: Sql }
type Checked = Step & Allowed & { call: Call }

/** A parameter of a path with broken percent-encoding, for which Elysia gives null. No id has it: the result is NOT_FOUND. */
export const BROKEN = '\uFFFD'

/** PostgreSQL rejects NUL in a text. */
function replaceBroken(params: Record<string, string | null>): void {
  for (const name in params) params[name] = (params[name] ?? BROKEN).replaceAll('\0', BROKEN)
}

const isSchema = (response: object): response is TSchema => Kind in response

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Who may send requests to a route: by a key or session, or, without `need`, anybody whom `before` does not refuse. */
interface Callers {
  need?: Need
  before?: ((request: Request) => unknown) | undefined
}

/**
 * The steps of a route's requests, in their order; `declare` completes the route's options. Elysia reads the text of its
 * hooks to know what they use: it reads arrow functions in minified code too, methods it does not.
 */
function createSteps({ need, before }: Callers, deps: ApiDeps) {
  const { sql, gate, cache, wholeLists, checkResponses, server } = deps
  let route: Declared = {}
  /** The status of what handlers return, where the route declares one other than 200. */
  let success: number | undefined
  let readValues: ReturnType<typeof queryReader>

  const allowed = (admitted: Admitted | undefined): Access | undefined => {
    if (need === undefined) return undefined
    const access = accessOf(admitted)
    refuseUnlessGranted(access, need, route)
    return access
  }
  const columnsOf = (query: unknown) =>
    typeof route.csv?.columns === 'function' ? route.csv.columns(query) : (route.csv?.columns ?? {})
  const sourceOf = (request: Request, key: string, query: unknown): ResponseSource => {
    if (route.csv === undefined) return { key }
    const source = { key, variesByAccept: true }
    if (!prefersCsv(request.headers.get('accept'))) return source
    return csvSource(source, columnsOf(query))
  }

  const steps = {
    declare(hook: Declared) {
      const { detail, query, body, response, cached, csv } = hook
      if (detail?.operationId === undefined) throw new Error('a route declares no operationId')
      route = { ...hook }
      readValues = queryReader(query)
      if (need !== undefined)
        Object.assign(hook, { needs: need, detail: { ...detail, description: describeNeed(need, route) } })
      // both are checked before Elysia would: one error names all that is wrong
      if (query !== undefined) hook.query = { ...query, noValidate: true }
      if (body !== undefined) hook.body = { ...body, noValidate: true }
      // `detail.responses` has those that are no JSON
      if (response !== undefined) {
        const responses = isSchema(response) ? { 200: response } : response
        const [status, another] = Object.keys(responses)
        if (status !== '200' && another === undefined) success = Number(status)
        hook.response = Object.fromEntries(
          Object.entries(responses).map(([status, schema]) => [
            status,
            responseSchema(schema, checkResponses),
          ]),
        )
      }
      if (cached !== undefined || csv !== undefined)
        Object.assign(hook, { cached: true, beforeHandle: steps.findCached, afterHandle: steps.keep })
    },

    /** Elysia's first stage. Nothing of a body is read before the request is allowed; null: the route takes none. */
    parse: async ({ admitted, request }: Step): Promise<unknown> => {
      await before?.(request)
      const access = allowed(admitted)
      const owner = access?.orgId ?? 'those without a key'
      const { body, query, reads = need === undefined ? READS_WITHOUT_KEY : {} } = route
      if (body === undefined) return null
      // small changes have memory of their own: what laptops send holds up no setting
      if (!isPacked(body)) return await readBody(request, reads, gate.pass(request, `changes of ${owner}`))
      // a large body is not read where the query is wrong
      if (query !== undefined) readQuery(query, request.url)
      const pass = gate.pass(request, owner, access?.actor.userId)
      const packed = await readPacked(request, reads, pass)
      server()?.timeout(request, WORK_TIMEOUT_S)
      await pass.takeWork(packed.bytes.length)
      return packed
    },

    /** Reads the query and checks what was sent. Throws VALIDATION_ERROR with all that is wrong. */
    transform: ({ admitted, request, set, params, body }: Step): { query: object; call: Call } => {
      allowed(admitted)
      if (success !== undefined) set.status = success
      if (params !== undefined) replaceBroken(params)
      if (isObject(body)) for (const name of route.ignores ?? []) Reflect.deleteProperty(body, name)
      const problems: FieldProblem[] = []
      const query = readValues(request.url, problems)
      const isWhole = route.csv !== undefined && query.per_page === ALL
      if (isWhole) {
        problems.push(...problemsOfAll(request))
        query.per_page = MAX_PER_PAGE
      }
      const sent = { query, body: isObject(body) ? body : {}, headers: request.headers }
      problems.push(
        ...problemsBySchema(route.query, query),
        ...(isPacked(route.body) ? [] : problemsBySchema(route.body, body)),
        ...(route.check?.(sent) ?? []),
      )
      if (problems.length > 0) throw validationError(...firstOfEach(problems))
      return { query, call: { isWhole, pending: undefined } }
    },

    /** Gives handlers the caller, who is allowed. */
    resolve: ({ admitted, query }: Step): Allowed | undefined => {
      const access = admitted?.access
      if (need === undefined || access === undefined) return undefined
      const { orgId, actor, onlyMember } = access
      const seen = { onlyMember, hidesMembers: hidesMembersOf(access, route.members, query) }
      return { access, orgId, actor, ...seen, seen, sql }
    },

    /** The kept response, or all rows; undefined where this request computes it, for all that wait for it. */
    findCached: async (context: Checked) => {
      const { orgId, seen, query, params = {}, request, call } = context
      const { csv } = route
      if (call.isWhole && csv !== undefined) {
        const rows = (sql: Sql) => csv.all(sql, orgId, query, seen)
        return await wholeLists.send(request, { orgId, columns: columnsOf(query), rows })
      }
      const further = typeof route.cached === 'function' ? route.cached() : {}
      const member = seen.onlyMember?.keys.join(' ')
      const kept = { ...further, hidesMembers: seen.hidesMembers || undefined, onlyMember: member }
      const key = cacheKeyOf(String(route.detail?.operationId), params, query, kept)
      const found = await cache.find(orgId, sourceOf(request, key, query))
      if (found instanceof CachedResponse) return found
      // `errors` rejects it where the handler fails
      call.pending = found
      context.sql = found.sql ?? sql
      return undefined
    },

    /** Gives the handler's value to all that wait for the response. */
    keep: ({ call, responseValue }: Step & { responseValue: object }) => {
      const response = call?.pending?.resolve(responseValue)
      if (call !== undefined) call.pending = undefined
      return response
    },
  }
  return steps
}

/** The plugin of routes below /v1. */
export const createApi = (deps: ApiDeps) =>
  new Elysia({ name: 'api' }).use(context).macro({
    members: (_named: Members) => ({}),
    /**
     * The 200 is kept in memory until the organization's data change: it must depend on nothing else but the request, whose
     * figures may be seen, whether members are hidden, and what the function returns.
     */
    cached: (_further: true | (() => Record<string, string>)) => ({}),
    /**
     * The 200 is a page of a list, which may be asked for as CSV, made of the handler's `pageText`, or with `per_page=all` of
     * all rows. It is kept as by `cached`.
     */
    csv: (_list: CsvList<never, never>) => ({}),
    /** Options of the reader of the body. */
    reads: (_options: BodyOptions) => ({}),
    /** Fields that the body may have, and which are not read. */
    ignores: (_fields: readonly string[]) => ({}),
    /** Finds problems that schemas cannot express; they are reported together with those of the schemas. */
    check: (_find: (sent: never) => FieldProblem[]) => ({}),
    /** The statuses of errors that the document names besides those that every route has. */
    fails: (_statuses: readonly number[]) => ({}),
    /** Who may call the route. */
    scope: (need: Need) => ({
      ...hooksOf<Allowed>(createSteps({ need }, deps)),
      detail: { security: securityOf(need) },
    }),
    /** Anybody may, with no key. A function is called before the body is read, and throws where it must not be. */
    open: (before: true | ((request: Request) => unknown)) =>
      hooksOf<undefined>(createSteps({ before: before === true ? undefined : before }, deps)),
  })

/** The hooks without the types of Elysia's context, which has more than the steps use; handlers get what is `Known`. */
const hooksOf = <Known>({ declare, parse, transform, resolve }: ReturnType<typeof createSteps>) => ({
  introspect: declare as never,
  parse: parse as never,
  transform: transform as never,
  resolve: resolve as never as () => Known,
})

export type Api = ReturnType<typeof createApi>
