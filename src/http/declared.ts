// The options of routes besides those of Elysia, and the table in which the hooks of `api.ts` find them.

import { Kind, type TObject, type TSchema } from '@sinclair/typebox'
import type { DocumentDecoration, InternalRoute } from 'elysia'
import type { Need } from '../accounts/keys/rights.ts'
import type { BodyOptions } from './body.ts'
import type { List } from './list-queries.ts'
import { queryReader } from './query.ts'

/**
 * Whether the responses name members. `true`: they do, and a caller whom the organization hides its members from gets
 * FORBIDDEN. 'left out': the handler leaves members out for this caller, when its `hidesMembers` is true. A function decides
 * by the query, false: no. Absent: no.
 */
export type Members = true | 'left out' | ((query: never) => boolean | 'left out')

/** An option that stays in the hooks of its route. */
const option =
  <Value>() =>
  (_value: Value) => ({})

/** The options as macros of Elysia. */
export const OPTIONS = {
  /** Who may call the route. */
  scope: option<Need>(),
  /** Is called before the body is read, and throws where it must not be; of a route without a scope. */
  before: option<(request: Request) => unknown>(),
  members: option<Members>(),
  /** The 200 is the list's `page`, also as CSV where it has columns, then with `per_page=all` of all rows. */
  list: option<List>(),
  reads: option<BodyOptions>(),
  /** Fields that the body may have, and which are not read. */
  ignores: option<readonly string[]>(),
  /** The statuses of errors that the document names besides those that every route has. */
  fails: option<readonly number[]>(),
}

/** The options of a route, as the hooks, the API's document and the tests of every route see them. */
export interface Declared
  extends Partial<{ [Name in keyof typeof OPTIONS]: Parameters<(typeof OPTIONS)[Name]>[0] }> {
  params?: TObject
  query?: TObject
  headers?: TObject
  body?: TSchema
  response?: TSchema | Record<number, TSchema>
  detail?: DocumentDecoration
}

/** Who has no key needs no larger body. A page of another site may send one without a type, with the browser's cookies. */
const READS_WITHOUT_KEY = { maxBytes: 4_096, needsType: true }

const isSchema = (response: object): response is TSchema => Kind in response

/** The schemas of a route's responses by status; `detail.responses` has those that are no JSON. */
export const responsesOf = ({ response = {} }: Declared): Record<string, TSchema> =>
  isSchema(response) ? { 200: response } : response

/** All that a route declares, with what is made of it once. */
function routeOf({ method, path, hooks }: InternalRoute) {
  const declared: Declared = hooks
  const { detail = {}, scope, query } = declared
  const { operationId = '', hide = false } = detail
  if (operationId === '' && !hide) throw new Error(`${method} ${path} declares no operationId`)
  const responses = responsesOf(declared)
  const [status = '200', another] = Object.keys(responses)
  return {
    reads: scope === undefined ? READS_WITHOUT_KEY : {},
    ...declared,
    operationId,
    responses,
    /** The status of what handlers return, where the route declares one other than 200. */
    success: status === '200' || another !== undefined ? undefined : Number(status),
    readValues: queryReader(query),
  }
}
export type Route = ReturnType<typeof routeOf>

/** The routes of the app, which it declares when it has all of them. */
export function createRoutes() {
  const routes = new Map<string, Record<string, Route>>()
  return {
    /** Throws where a route lacks a name in the document. */
    declare(all: readonly InternalRoute[]): void {
      for (const route of all) {
        const { method, path } = route
        routes.set(path, { ...routes.get(path), [method]: routeOf(route) })
      }
    },
    /** Finds what the route of a request declares. `pattern`: its path, as Elysia's `route`. */
    find({ method }: Request, pattern: string): Route {
      const operation = routes.get(pattern)?.[method === 'HEAD' ? 'GET' : method]
      if (operation === undefined) throw new Error(`${method} ${pattern} is not declared`)
      return operation
    },
  }
}
export type Routes = ReturnType<typeof createRoutes>

/** The fields of an object that a change of it does not have: who sends the whole object back may leave them in. */
export const fixedFields = (object: TObject, change: TObject): string[] =>
  Object.keys(object.properties).filter((name) => !(name in change.properties))
