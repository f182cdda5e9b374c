// Every request below /v1 is admitted once, before it is routed: its key is looked up and it is counted, so that a 404
// carries the limit's headers too. A route that needs a key calls `accessOf`, which throws 401, 429 or 503.

import { KEY_LENGTH, type ParsedKey, parseKey } from '../accounts/keys/format.ts'
import { grants, type Need, scopesFor } from '../accounts/keys/rights.ts'
import { type Access, createCallers, type LookUp } from '../accounts/people/callers.ts'
import { cookieReader } from '../accounts/people/cookies.ts'
import type { VisibleMember } from '../accounts/people/visibility-queries.ts'
import { ApiError, tooMany } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { memoize } from '../base/memoize.ts'
import { asciiLower } from '../base/text.ts'
import type { Config } from '../config.ts'
import type { Sql } from '../database/client.ts'
import type { SchemaState } from '../database/newer-schema.ts'
import { clientOf, createAddressLimiter, type Server } from './address-limit.ts'
import type { Declared, Members } from './declared.ts'
import { createLimiter, type Decision, decisionAt } from './rate-limit.ts'
import { leaseRequests, type WindowName } from './rate-windows.ts'

/** Two headers arrive joined by a comma, which no key contains. */
const BEARER = /^bearer +([!-~]+)$/i
const UNAUTHORIZED = 'Missing or invalid API key'
const NOTHING_LEFT = 'The role of the member whose key this is allows nothing that the key is for'
/** Requests a minute of an address with keys that are not known; and as many for badges. */
const ADDRESS_LIMIT = 600
/** Presented keys that are kept parsed at most. */
const MAX_PARSED = 10_000

/** The limits: a window of the organization's, or that of badges, by the client's address. */
export type LimitName = WindowName | 'badge'

/** A request after its key and its limit were looked up, before it is routed. */
export interface Admitted {
  access: Access | undefined
  /** The limit in the headers: the organization's, or without a valid key that of the client's address. */
  limit: Decision
  failure?: unknown
}

interface AdmissionDeps {
  sql: Sql
  lookUp: LookUp
  config: Pick<Config, 'rateLimits' | 'trustProxy' | 'publicUrl'>
  log: Log
  now: () => Date
  server: () => Server
  /** Anything but `ok`: nothing is written, the time of a key's last use neither. */
  schema?: SchemaState
  /** The clock of the limit's minutes: the database's unless a test gives one. */
  windowClock?: (() => Date) | undefined
  /** The clock of the keys' cache in milliseconds: a monotonic one unless a test gives another. */
  keyClock?: (() => number) | undefined
}

const elapsedMs = () => performance.now()

/** The admission of one instance: its keys, its leases and its addresses are in memory. */
export function createAdmission(deps: AdmissionDeps) {
  const { sql, lookUp, config, log, now, server, schema = () => 'ok', windowClock, keyClock } = deps
  const addresses = createAddressLimiter(now, ADDRESS_LIMIT)
  const badges = createAddressLimiter(now, ADDRESS_LIMIT)
  const clock = keyClock ?? elapsedMs
  const callers = createCallers({ sql, lookUp, log, schema, clock })
  const cookieOf = cookieReader(config)
  const presentedKey = createPresentedKeys()
  const parts = new WeakMap<Request, Admitted>()
  const limiterOf = (window: WindowName) =>
    createLimiter({
      lease: (orgId, count) =>
        lookUp((from) => leaseRequests(from, orgId, window, count, windowClock?.() ?? null)),
      clock: windowClock === undefined ? elapsedMs : () => windowClock().getTime(),
    })
  const limiters = { read: limiterOf('read'), sync: limiterOf('sync') }

  const addressOf = (request: Request) => clientOf(request, server(), config.trustProxy)

  /** The well-formed key of a request, or the token of the session in its cookie. */
  const presentedBy = (request: Request): { key?: ParsedKey | undefined; token?: string | undefined } =>
    request.headers.has('authorization') ? { key: presentedKey(request) } : { token: cookieOf(request) }

  const findAccess = async (
    request: Request,
    { key, token }: ReturnType<typeof presentedBy>,
  ): Promise<Access | undefined> => {
    const { method, headers } = request
    const isChange = method !== 'GET' && method !== 'HEAD'
    let access: Access | undefined
    if (key !== undefined) access = await callers.byKey(key)
    // a change does not go by what is remembered of the session
    else if (token !== undefined) access = await callers.bySession(token, isChange)
    if (access === undefined || !isChange) return access
    const { person, actor } = access
    const isForged = person !== null && headers.get('x-csrf-token') !== person.csrfToken
    return { ...access, isForged, actor: { ...actor, ipAddress: addressOf(request).exact } }
  }

  return {
    /** Looks the key up and counts the request in the window; never throws. */
    async admit(request: Request, name: LimitName): Promise<Admitted> {
      let access: Access | undefined
      const presented = presentedBy(request)
      if (name === 'badge') {
        const limit = badges.take(addressOf(request).counted)
        // anybody may ask without a key, also while the database is away
        if (limit.admitted && request.headers.has('authorization'))
          access = await findAccess(request, presented).catch(() => undefined)
        return { access, limit }
      }
      try {
        access = await findAccess(request, presented)
        if (access === undefined) {
          const { counted } = addressOf(request)
          // without the form of a key there is no look-up, and nothing counts
          const isLookedUp = presented.key !== undefined || presented.token !== undefined
          return { access, limit: isLookedUp ? addresses.take(counted) : addresses.peek(counted) }
        }
        return { access, limit: await limiters[name].take(access.orgId, config.rateLimits[access.plan]) }
      } catch (failure) {
        if (access === undefined)
          return { access, limit: addresses.peek(addressOf(request).counted), failure }
        const perMinute = config.rateLimits[access.plan]
        const decision = limiters[name].peek(access.orgId, perMinute)
        return { access, limit: decision ?? decisionAt(now(), false, perMinute, 0), failure }
      }
    },
    forget: callers.forget,
    /** A GET that answers a part of a request, of the same caller: it is not counted again. */
    partOf(request: Request, admitted: Admitted | undefined, target: string, requestId: string): Request {
      const part = new Request(new URL(target, request.url).href, {
        headers: { 'x-request-id': requestId, authorization: request.headers.get('authorization') ?? '' },
        signal: request.signal,
      })
      if (admitted !== undefined) parts.set(part, admitted)
      return part
    },
    admittedBefore: (request: Request): Admitted | undefined => parts.get(request),
    /** The limit of the client's address, without counting the request: for preflights. */
    peek: (request: Request, name: LimitName): Decision =>
      (name === 'badge' ? badges : addresses).peek(addressOf(request).counted),
  }
}

export type Admission = ReturnType<typeof createAdmission>

/** The access of a request. Throws UNAUTHORIZED, RATE_LIMITED, FORBIDDEN for a person's request without their token, or what the database threw. */
export function accessOf(admitted: Admitted | undefined): Access {
  if (admitted === undefined) throw new Error('a route that needs a key lies outside /v1')
  const { access, limit, failure } = admitted
  if (failure !== undefined) throw failure
  if (!limit.admitted) throw tooMany(`More than ${limit.limit} requests in this minute`, limit.retryAfterS)
  if (access === undefined) throw new ApiError('UNAUTHORIZED', UNAUTHORIZED)
  if (access.scopes.length === 0) throw new ApiError('FORBIDDEN', NOTHING_LEFT)
  if (access.isForged) throw new ApiError('FORBIDDEN', 'X-CSRF-Token: must be the one of /v1/whoami')
  return access
}

/** The caller of a route, who may call it; undefined where anybody may. Throws as `accessOf`, and FORBIDDEN. */
export function authorize({ scope, members }: Declared, admitted: Admitted | undefined): Access | undefined {
  if (scope === undefined) return undefined
  const access = accessOf(admitted)
  refuseUnlessGranted(access, scope)
  if (access.mustHideMembers && members === true) throw hidden()
  return access
}

/** Throws FORBIDDEN, naming what is missing. */
export function refuseUnlessGranted({ scopes, plan, person }: Access, need: Need): void {
  const isDeveloper = need === 'admin or developer' && person?.role === 'developer'
  if (!isDeveloper && !grants(scopes, need)) {
    const [first = '', ...others] = scopesFor(need).map((scopes) => scopes.join(' and '))
    const names = first === need ? need : [first, ...others].join(', ').replace(/, (?=[^,]*$)/, ' or ')
    throw new ApiError('FORBIDDEN', `This needs an API key with the scope ${names}`)
  }
  if (need === 'webhooks' && plan === 'cloud_pro')
    throw new ApiError('FORBIDDEN', 'Webhooks need the plan cloud_team or cloud_enterprise')
}

/** Decides whether the response must leave members out. Throws FORBIDDEN where the query asks for what may not be seen. */
export function hidesMembersOf(
  { onlyMember, mustHideMembers }: Access,
  members: Members | undefined,
  query: unknown,
): boolean {
  if (onlyMember !== null && isOfAnother(onlyMember, query))
    throw new ApiError('FORBIDDEN', 'member: this organization shows developers only their own figures')
  if (!mustHideMembers) return false
  const hides = typeof members === 'function' ? members(query as never) : members
  if (hides === true) throw hidden()
  return hides === 'left out'
}

/** Whether the filter `member` of a query names somebody else: by an id, or an address in any case. */
function isOfAnother({ keys }: VisibleMember, query: unknown): boolean {
  const { member } = query as { member?: string }
  return member !== undefined && !keys.includes(member.includes('@') ? asciiLower(member) : member)
}

const hidden = () =>
  new ApiError('FORBIDDEN', 'This organization shows its members only to API keys with the scope team:read')

/** Returns the key that a request presents. The latest ones are parsed and hashed once. */
function createPresentedKeys(): (request: Request) => ParsedKey | undefined {
  const parse = memoize(parseKey, MAX_PARSED)
  return ({ headers }) => {
    const text = BEARER.exec(headers.get('authorization') ?? '')?.[1]
    return text?.length === KEY_LENGTH ? parse(text) : undefined
  }
}

export const limitHeaders = ({ limit, remaining, resetS }: Decision) => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(remaining),
  'X-RateLimit-Reset': String(resetS),
})
