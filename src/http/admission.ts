import { KEY_LENGTH, type ParsedKey, parseKey, sameHash } from '../accounts/keys/form.ts'
import { grants } from '../accounts/keys/model.ts'
import { type Access, createCallers, type LookUp } from '../accounts/people/callers.ts'
import { cookieReader } from '../accounts/people/cookies.ts'
import { SCOPES_OF_ROLE } from '../accounts/people/roles.ts'
import { type FoundSession, sessionIdOf } from '../accounts/people/sign-in-queries.ts'
import { csrfTokenOf } from '../accounts/people/tokens.ts'
import { ApiError, tooMany } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config.ts'
import type { Sql } from '../database/client.ts'
import type { SchemaState } from '../database/newer-schema.ts'
import { clientOf, createAddressLimiter, type Server } from './address-limit.ts'
import { createLimiter, type Decision, decisionAt } from './rate-limit.ts'
import { leaseRequests, type WindowName } from './rate-windows.ts'

// Every request below /v1 is admitted once, before it is routed: its key is looked up and it is counted, so
// that a 404 carries the limit's headers too. A route that needs a key calls `accessOf`, which throws 401,
// 429 or 503.

/** Two headers arrive joined by a comma, which no key contains. */
const BEARER = /^bearer ([!-~]+)$/i
const HEADER_LENGTH = 'Bearer '.length + KEY_LENGTH
const UNAUTHORIZED = 'Missing or invalid API key'
const NOTHING_LEFT = 'The role of the member whose key this is allows nothing that the key is for'
/** Presented keys whose parsed form is kept at most. */
const MAX_PARSED = 10_000

/** The limits: a window of the organization's, or that of badges, by the client's address. */
export type LimitName = WindowName | 'badge'
/** Badges a minute of an address. */
const BADGES_A_MINUTE = 600

/** A request after its key and its limit were looked up, before it is routed. */
export interface Admitted {
  /** Undefined without a valid key. */
  access: Access | undefined
  /** The limit in the headers: the organization's, or without a valid key that of the client's address. */
  limit: Decision
  /** The error that prevented the look-up of the key or the limit. */
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
/** Calls `next` at once where the value is in memory. */
const whenFound = <Found, Result>(found: Found | Promise<Found>, next: (found: Found) => Result) =>
  found instanceof Promise ? found.then(next) : next(found)
const isReading = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD'

/** The admission of one instance: its keys, its leases and its addresses are in memory. */
export function createAdmission(deps: AdmissionDeps) {
  const { sql, lookUp, config, log, now, server, schema = () => 'ok', windowClock, keyClock } = deps
  const addresses = createAddressLimiter(now)
  const badges = createAddressLimiter(now, BADGES_A_MINUTE)
  const clock = keyClock ?? elapsedMs
  const { keys, sessions, forget } = createCallers({ sql, lookUp, log, schema, clock })
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
  const exactAddressOf = (request: Request) => (isReading(request) ? null : addressOf(request).exact)

  /** The access of the key, or of the session in the cookie. */
  const findAccess = (request: Request): Access | undefined | Promise<Access | undefined> => {
    const key = presentedKey(request)
    if (key !== undefined) {
      return whenFound(keys.find(key.id), (found) => {
        if (found === undefined || !sameHash(found.hash, key.hash)) return undefined
        keys.noteUse(found.id)
        const { access } = found
        const ipAddress = exactAddressOf(request)
        return ipAddress === null ? access : { ...access, actor: { ...access.actor, ipAddress } }
      })
    }
    const token = request.headers.has('authorization') ? undefined : cookieOf(request)
    if (token === undefined) return undefined
    // a change does not go by what is remembered of the session
    return whenFound(sessions.find(sessionIdOf(token), !isReading(request)), (found) => {
      if (found === undefined) return undefined
      sessions.noteUse(found.id)
      return accessOfPerson(found, token, request, exactAddressOf(request))
    })
  }

  const count = (access: Access, window: WindowName): Admitted | Promise<Admitted> => {
    const perMinute = config.rateLimits[access.plan]
    const limit = limiters[window].take(access.orgId, perMinute)
    if (!(limit instanceof Promise)) return { access, limit }
    return limit.then(
      (leased) => ({ access, limit: leased }),
      (failure: unknown) => ({
        access,
        limit: limiters[window].peek(access.orgId, perMinute) ?? decisionAt(now(), false, perMinute, 0),
        failure,
      }),
    )
  }

  return {
    /** Looks the key up and counts the request in the window; never throws. */
    admit(request: Request, name: LimitName): Admitted | Promise<Admitted> {
      if (name === 'badge') return { access: undefined, limit: badges.take(addressOf(request).counted) }
      const admitted = (access: Access | undefined): ReturnType<typeof count> =>
        access === undefined
          ? { access, limit: addresses.take(addressOf(request).counted) }
          : count(access, name)
      const access = findAccess(request)
      if (!(access instanceof Promise)) return admitted(access)
      return access.then(admitted, (failure: unknown) => ({
        access: undefined,
        limit: addresses.peek(addressOf(request).counted),
        failure,
      }))
    },
    forget,
    /** A GET that answers a part of a request, of the same caller: it is not counted again. */
    partOf(request: Request, admitted: Admitted | undefined, target: string, requestId: string): Request {
      const part = new Request(new URL(target, request.url).href, {
        headers: { 'x-request-id': requestId, authorization: request.headers.get('authorization') ?? '' },
        signal: request.signal,
      })
      if (admitted !== undefined) parts.set(part, admitted)
      return part
    },
    /** Returns the admission of the request that this one is a part of. */
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

/** Returns the key that a request presents. The latest ones are parsed and hashed once. */
function createPresentedKeys(): (request: Request) => ParsedKey | undefined {
  const parsed = new Map<string, ParsedKey>()
  return ({ headers }) => {
    const header = headers.get('authorization')
    if (header?.length !== HEADER_LENGTH) return undefined
    const known = parsed.get(header)
    if (known !== undefined) return known
    const key = parseKey(BEARER.exec(header)?.[1] ?? '')
    if (key === undefined) return undefined
    if (parsed.size >= MAX_PARSED) parsed.clear()
    parsed.set(header, key)
    return key
  }
}

/** The token of their session derives from the cookie: another site knows neither. */
function accessOfPerson(
  session: FoundSession & Pick<Access, 'onlyMember'>,
  token: string,
  request: Request,
  ipAddress: string | null,
): Access {
  const { id, orgId, memberId, plan, email, role, hideMembers, onlyMember } = session
  const scopes = SCOPES_OF_ROLE[role]
  const csrfToken = csrfTokenOf(token)
  return {
    orgId,
    keyId: null,
    person: { userId: memberId, email, role, csrfToken },
    isForged: !isReading(request) && request.headers.get('x-csrf-token') !== csrfToken,
    plan,
    scopes,
    memberEmail: null,
    mustHideMembers: hideMembers && !grants(scopes, 'team:read'),
    onlyMember,
    actor: { userId: memberId, ipAddress, session: id },
  }
}

/** X-RateLimit-*. */
export const limitHeaders = ({ limit, remaining, resetS }: Decision) => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(resetS),
})
