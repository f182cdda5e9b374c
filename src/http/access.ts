import type { TObject, TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Config } from '../config.ts'
import type { Sql } from '../db/client.ts'
import { ApiError } from '../errors.ts'
import { grants, type Need, scopesFor } from '../keys/model.ts'
import type { Log } from '../log.ts'
import { type Access, type Admitted, accessOf } from './admission.ts'
import { type BodyOptions, createBodyCheck, type MoreProblems, readBody, readPacked } from './body.ts'
import type { BodySemaphore } from './body-semaphore.ts'
import { queryReader, uncheckedQuery } from './query-reader.ts'
import type { ResponseCache } from './responses/response-cache.ts'
import type { ResponseSchemas } from './responses/response-check.ts'

// The checks of a route behind a key, in this order: key and limit (`access`), then scope, path, query and body
// (`guard`).

/** What every feature's routes are made from. */
export interface RouteDeps {
  sql: Sql
  config: Config
  log: Log
  now: () => Date
  bodies: BodySemaphore
  cache: ResponseCache
}

/** The plugin of every route that needs a key: handlers get `access`. Throws UNAUTHORIZED or RATE_LIMITED. */
export const access = ({ bodies }: Pick<RouteDeps, 'bodies'>) =>
  new Elysia()
    .decorate('admitted', undefined as Admitted | undefined)
    .decorate('bodies', bodies)
    .decorate('guarded', undefined as Guard | undefined)
    .derive({ as: 'scoped' }, ({ admitted }) => ({ access: accessOf(admitted) }))

/** Throws FORBIDDEN, naming what is missing, unless the key has the scope and the plan includes it. */
function checkScope(access: Access, need: Need): void {
  const isDeveloper = need === 'admin or developer' && access.person?.role === 'developer'
  if (!isDeveloper && !grants(access.scopes, need)) {
    const missing = need.includes(' ')
      ? scopesFor(need)
          .join(', ')
          .replace(/, (?=[^,]*$)/, ' or ')
      : need
    throw new ApiError('FORBIDDEN', `This needs an API key with the scope ${missing}`)
  }
  if (need === 'webhooks' && access.plan === 'cloud_pro') {
    throw new ApiError('FORBIDDEN', 'Webhooks need the plan cloud_team or cloud_enterprise')
  }
}

/** Throws FORBIDDEN where the organization hides its members from the key. */
export function refuseHidden({ hidesMembers }: Pick<Access, 'hidesMembers'>): void {
  if (!hidesMembers) return
  throw new ApiError(
    'FORBIDDEN',
    'This organization shows its members only to API keys with the scope team:read',
  )
}

/** PostgreSQL rejects NUL in a text. U+FFFD stands for broken UTF-8 already, and no id has it: the result is NOT_FOUND. */
function replaceNul(params: Record<string, string>): void {
  for (const name in params) {
    const value = params[name]
    if (value?.includes('\0')) params[name] = value.replaceAll('\0', '\uFFFD')
  }
}

/**
 * What a route takes and gives. `query`, `body` and, by status, `response` are schemas; the rest is how the body is read.
 * Responses are checked where the app is told to (tests, `bun run dev`): in production that took 15 % of a request.
 */
interface RouteSchemas extends Partial<BodyOptions> {
  /** The answers name members: FORBIDDEN for keys that the organization hides them from. */
  namesMembers?: boolean
  /** The 200 is a page of a list, which may be asked for as CSV. */
  csv?: boolean
  query?: TObject
  body?: TSchema
  /** What is wrong with a body besides its schema: reported together. */
  problems?: MoreProblems
  response: ResponseSchemas
}

/** What the API's document says of a guarded route besides its schemas. */
export interface Guard {
  scope: Need
  /** Undefined for a route without a body. */
  body: (BodyOptions & { schema: TSchema }) | undefined
  response: ResponseSchemas
  csv: boolean
}

const guards = new WeakMap<object, Guard>()

/** What `guard` was called with, by the `transform` it made; undefined for any other function. */
export const guardOf = (transform: object): Guard | undefined => guards.get(transform)

interface GuardContext {
  access: Access
  bodies: BodySemaphore
  request: Request
  params: Record<string, string>
  query: unknown
  body: unknown
  guarded: Guard | undefined
}

interface GuardHooks {
  transform: (context: GuardContext) => void | Promise<void>
}

/** Elysia must not read the body: it is read after the check of the scope. */
const leaveUnread = () => null

/**
 * Route options of every route behind `access`: the key must have the scope (FORBIDDEN); then the query string is read by
 * the schema `query`, strictly and with its defaults, and the body as JSON, which has to match the schema `body`
 * (VALIDATION_ERROR). Neither is read before.
 */
export function guard<const Schemas extends RouteSchemas>(
  scope: Need,
  schemas: Schemas,
): GuardHooks & Pick<Schemas, keyof Schemas & ('query' | 'body')>
export function guard(
  scope: Need,
  { query, body, problems, response, namesMembers = false, csv = false, ...options }: RouteSchemas,
) {
  const checkBody =
    body === undefined || options.packed === true ? undefined : createBodyCheck(body, problems)
  const readQuery = query === undefined ? undefined : queryReader(query)
  const guarded = {
    scope,
    body: body === undefined ? undefined : { ...options, schema: body },
    response,
    csv,
  }
  // `context` is neither destructured, since Elysia takes `query` and `body` from it, nor given to a function: then
  // Elysia would parse headers, cookies and query of each request, for whatever that function may read.
  const checkOnly = (context: GuardContext): void => {
    checkScope(context.access, scope)
    if (namesMembers) refuseHidden(context.access)
    context.guarded = guarded
    replaceNul(context.params)
    if (readQuery !== undefined) context.query = readQuery(context.request.url)
  }
  const checkAndRead = async (context: GuardContext): Promise<void> => {
    checkScope(context.access, scope)
    if (namesMembers) refuseHidden(context.access)
    context.guarded = guarded
    replaceNul(context.params)
    if (readQuery !== undefined) context.query = readQuery(context.request.url)
    const places = context.bodies.placesOf(context.request, context.access.orgId)
    const read = options.packed === true ? readPacked : readBody
    context.body = await read(context.request, options, places)
    checkBody?.(context.body)
  }
  const transform = body === undefined ? checkOnly : checkAndRead
  guards.set(transform, guarded)
  return {
    transform,
    ...(query && { query: uncheckedQuery(query) }),
    // for the handler's types; checked above, since Elysia would report the first problems only, and fill in defaults
    ...(body && { body: { ...body, noValidate: true }, parse: leaveUnread }),
  }
}
