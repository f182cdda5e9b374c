import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Need } from '../keys/model.ts'
import type { Access } from '../people/callers.ts'
import type { Api } from './api.ts'
import { type BodyOptions, type MoreProblems, packedBody } from './body.ts'
import type { CsvColumns } from './responses/csv.ts'

// A route below /v1 is declared once, by `read` or `action`. From the declaration come who may call it (access.ts), how a
// request is answered (add-routes.ts), the key under which its response is kept, its place in the API's document
// (openapi/document.ts), and its cases in the proofs of isolation and of hidden members (test/http).

export type { RouteDeps } from './api.ts'

/** An authorized request, as its handler gets it. */
export interface Call<Query = unknown, Body = unknown, Name extends string = string> {
  /** The values in the path, by name. */
  params: Readonly<Record<Name, string>>
  query: Query
  body: Body
  access: Omit<Access, 'mustHideMembers'>
  /** Whether the response must leave members out; false unless the route is declared to do so. */
  hidesMembers: boolean
  request: Request
}

/**
 * Whether the responses name members: always; with some queries; or not where members are hidden, since the handler leaves
 * them out then. Absent: never. A key that the organization hides its members from gets FORBIDDEN for one that would.
 */
type NamesMembers<Query> = true | 'left out' | ((query: Query) => boolean | 'left out')

/** The API's document takes these texts of a route besides its schemas. */
interface Described {
  /** Generated clients name their functions by it. */
  id: string
  summary: string
  /** The summary unless given. */
  description?: string
  /** One of `openapi/text.ts`. */
  tag: string
}

/** Routes of both kinds declare these fields. */
interface Declared<Query extends TObject> extends Described {
  /** Read strictly from the raw query string, with its defaults. */
  query?: Query
  namesMembers?: NamesMembers<Static<Query>>
}

interface Read<Path extends string, Query extends TObject> extends Declared<Query> {
  /** The body of the 200. */
  response: TSchema
  /** The 200 is a page of a list, which may be asked for as CSV with these columns. */
  csv?: CsvColumns<never> | ((query: Static<Query>) => CsvColumns<never>)
  /**
   * The response is kept in memory until the organization's data change: it must depend on nothing else but the request,
   * whose figures may be seen, whether members are hidden, and what the function returns.
   */
  kept?: true | (() => Record<string, string>)
  handler: (call: Call<Static<Query>, undefined, NamesIn<Path>>) => unknown
}

interface Action<Path extends string, Query extends TObject, Body extends TSchema>
  extends Declared<Query>,
    BodyOptions {
  body?: Body
  /** Finds problems of a body that its schema cannot express; they are reported together with the schema's. */
  problems?: MoreProblems
  /** Request headers that the handler reads, all optional. */
  headers?: TObject
  /** A further path below which the route is served; the document leaves it out. */
  alsoBelow?: string
  /** The status of success and the schema of its body. */
  response: Readonly<Record<number, TSchema>>
  /** The path below /v1 of what was made: for a 201. */
  location?: (made: never, params: Readonly<Record<NamesIn<Path>, string>>) => string
  /** The connection may be silent this long, when that is longer than the server's own limit. */
  timeoutS?: number
  handler: (call: Call<Static<Query>, Static<Body>, NamesIn<Path>>) => unknown
}

/** The names of the parameters in a path. */
type NamesIn<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | NamesIn<`/${More}`>
    : Rest
  : never

/** A declared route. */
export interface Route extends Described {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below /v1, with its parameters as `:name`. */
  path: string
  scope: Need
  query?: TObject
  namesMembers?: NamesMembers<unknown>
  headers?: TObject
  /** Absent for a route without a body. */
  body?: BodyOptions & { schema: TSchema; problems?: MoreProblems }
  /** The status of success. */
  status: number
  response: TSchema
  csv?: CsvColumns<unknown> | ((query: unknown) => CsvColumns<unknown>)
  kept?: true | (() => Record<string, string>)
  location?: (made: unknown, params: Readonly<Record<string, string>>) => string
  timeoutS?: number
  alsoBelow?: string
  handler: (call: Call) => unknown
}

/** Declares a GET, which changes nothing. */
export const read = <const Path extends string, Query extends TObject = TObject>(
  path: Path,
  scope: Need,
  declared: Read<Path, Query>,
): Route => ({ ...(declared as unknown as Route), method: 'GET', path, scope, status: 200 })

/** Declares a route that changes something. */
export function action<
  const Path extends string,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
>(
  method: Exclude<Route['method'], 'GET'>,
  path: Path,
  scope: Need,
  { body, problems, maxBytes, types, optional, packed, response, ...declared }: Action<Path, Query, Body>,
): Route {
  const [[status, schema]] = Object.entries(response) as [[string, TSchema]]
  return {
    // a handler takes the values that the schemas of its own declaration describe
    ...(declared as unknown as Route),
    method,
    path,
    scope,
    body: body && { schema: body, problems, maxBytes, types, optional, packed },
    status: Number(status),
    response: schema,
  } as Route
}

/** The routes of features that declare them by `read` and `action`, as Elysia's. */
export function legacyRoutes(
  routes: readonly Route[],
  api: Api,
  server: () => { timeout(request: Request, seconds: number): void } | null,
) {
  const app = new Elysia().use(api)
  for (const route of routes) {
    const {
      method,
      path,
      scope,
      query,
      headers,
      body,
      response,
      status,
      csv,
      kept,
      namesMembers: members,
    } = route
    app.route(
      method,
      path,
      async ({ params, query, body, access, hidesMembers, request, set, path: asked }) => {
        if (route.timeoutS !== undefined) server()?.timeout(request, route.timeoutS)
        const value = await route.handler({ params, query, body, access, hidesMembers, request } as never)
        if (status !== 200) set.status = status
        if (route.location !== undefined) {
          const [base] = /^(\/api|\/otlp)?\/v1/.exec(asked) ?? []
          set.headers.location = `${base}${route.location(value, params as never)}`
        }
        return value as never
      },
      {
        ...{ scope, query, headers, csv, members, cached: kept, check: body?.problems },
        ...(scope === 'webhooks' && { plan: 'cloud_team' as const }),
        ...(body && {
          body: body.packed === true ? packedBody(body.schema) : body.schema,
          reads: body,
        }),
        response: { [status]: response },
        detail: {
          operationId: route.id,
          summary: route.summary,
          description: route.description,
          tags: [route.tag],
        },
      } as never,
    )
  }
  return app
}
