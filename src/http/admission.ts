import type { Actor } from '../audit-log/append.ts'
import type { Config, Plan } from '../config.ts'
import type { Sql } from '../db/client.ts'
import type { SchemaState } from '../db/newer-schema.ts'
import { ApiError } from '../errors.ts'
import { KEY_LENGTH, type ParsedKey, parseKey, sameHash } from '../keys/form.ts'
import { grants, type Scope } from '../keys/model.ts'
import { type FoundKey, findKeys, touchKey } from '../keys/queries.ts'
import type { Log } from '../log.ts'
import { cookieReader } from '../people/cookies.ts'
import { SCOPES_OF_ROLE } from '../people/roles.ts'
import { type FoundSession, findSessions, sessionIdOf, touchSession } from '../people/sign-in-queries.ts'
import { csrfTokenOf } from '../people/tokens.ts'
import { findOwn, type Own } from '../people/visibility-queries.ts'
import type { Role } from '../records/member.ts'
import { clientAddress, createAddressLimiter, exactAddress } from './address-limit.ts'
import { createKeyCache } from './key-cache.ts'
import { createLimiter, type Decision } from './rate-limit.ts'
import { leaseRequests, type WindowName } from './rate-windows.ts'

// Every request below /v1 is admitted once, before it is routed: its key is looked up and it is counted, so
// that a 404 carries the limit's headers too. A route that needs a key calls `accessOf`, which throws 401,
// 429 or 503.

/** Two headers arrive joined by a comma, which no key contains. */
const BEARER = /^bearer ([!-~]+)$/i
const HEADER_LENGTH = 'Bearer '.length + KEY_LENGTH
const UNAUTHORIZED = 'Missing or invalid API key'
/** Presented keys whose parsed form is kept at most. */
const MAX_PARSED = 10_000

/** Somebody who signed in. */
export interface Person {
  userId: string
  email: string
  role: Role
  csrfToken: string
}

/**
 * The access of a request: the organization of its key or signed-in person, their scopes, and the data that they may see.
 * A key acts for a program, and may be bound to one member; a person acts by the scopes of their role. `http/access.ts`
 * compares it with the needs of the route before a handler runs.
 */
export interface Access {
  orgId: string
  /** Null for a person. */
  keyId: string | null
  /** Null for a key. */
  person: Person | null
  /** Whether a person's request changes something without the token of their pages: another site may have sent it. */
  isForged: boolean
  plan: Plan
  scopes: readonly Scope[]
  /** The key sends sessions of this member only; null: of any member. */
  memberEmail: string | null
  /** Whether no answer may name a member: the organization hides them from keys without the scope team:read. */
  mustHideMembers: boolean
  /** The caller sees only these figures, their own; null: the caller sees everybody's. */
  own: Own | null
  /** Named in the audit log. The address is not determined for GET and HEAD, which change nothing. */
  actor: Actor
}

/** A request after its key and its limit were looked up, before it is routed. */
export interface Admitted {
  /** Undefined without a valid key. */
  access: Access | undefined
  /** The limit in the headers: the organization's, or without a valid key that of the client's address. */
  limit: Decision
  /** The error that prevented the look-up of the key or the limit. */
  failure?: unknown
}

/** Returns the address of the connection's other end. */
type Peer = () => string | undefined

/**
 * Runs a small statement that many requests wait for, over a connection that slow reads do not take. Rejects when there is
 * no answer in time: on a connection that was lost unnoticed, all requests would wait for ever.
 */
export type LookUp = <Result>(statement: (sql: Sql) => Promise<Result>) => Promise<Result>

interface AdmissionDeps {
  sql: Sql
  lookUp: LookUp
  config: Pick<Config, 'rateLimits' | 'trustProxy' | 'publicUrl'>
  log: Log
  now: () => Date
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
  const { sql, lookUp, config, log, now, schema = () => 'ok', windowClock, keyClock } = deps
  const addresses = createAddressLimiter(now)
  const clock = keyClock ?? elapsedMs
  const noting = (write: (sql: Sql, id: string) => Promise<void>) => (id: string) => {
    if (schema() !== 'ok') return
    write(sql, id).catch((error: unknown) => log.debug('last_used_at was not written', { id, error }))
  }
  const withOwn = async <Found extends FoundKey | FoundSession>(
    found: readonly Found[],
  ): Promise<(Found & Pick<Access, 'own'>)[]> =>
    await Promise.all(
      found.map(async (one) => {
        const email = 'email' in one ? one.email : one.memberEmail
        const own =
          one.memberVisibility === 'all' || email === null
            ? null
            : await lookUp((from) => findOwn(from, one.orgId, email))
        return { ...one, own }
      }),
    )
  const keys = createKeyCache({
    find: async (ids) => {
      const found = await withOwn(await lookUp((from) => findKeys(from, ids)))
      return found.map((key) => ({ ...key, access: accessBy(key) }))
    },
    writeUse: noting(touchKey),
    clock,
  })
  const sessions = createKeyCache({
    find: async (ids) => withOwn(await lookUp((from) => findSessions(from, ids))),
    writeUse: noting(touchSession),
    clock,
  })
  const cookieOf = cookieReader(config)
  const presentedKey = createPresentedKeys()
  const limiterOf = (window: WindowName) =>
    createLimiter({
      lease: (orgId, count) =>
        lookUp((from) => leaseRequests(from, orgId, window, count, windowClock?.() ?? null)),
      clock: windowClock === undefined ? elapsedMs : () => windowClock().getTime(),
    })
  const limiters = { read: limiterOf('read'), sync: limiterOf('sync') }

  const forwardedOf = (request: Request) => request.headers.get('x-forwarded-for')
  const addressOf = (request: Request, peer: Peer) =>
    clientAddress(peer(), forwardedOf(request), config.trustProxy)
  const exactAddressOf = (request: Request, peer: Peer) =>
    request.method === 'GET' || request.method === 'HEAD'
      ? null
      : exactAddress(peer(), forwardedOf(request), config.trustProxy)

  const count = (access: Access, window: WindowName): Admitted | Promise<Admitted> => {
    const perMinute = config.rateLimits[access.plan]
    const limit = limiters[window].take(access.orgId, perMinute)
    if (!(limit instanceof Promise)) return { access, limit }
    return limit.then(
      (leased) => ({ access, limit: leased }),
      (failure: unknown) => ({
        access,
        limit: limiters[window].peek(access.orgId, perMinute) ?? unknownWindow(perMinute, now()),
        failure,
      }),
    )
  }

  return {
    /** Looks the key up and counts the request in the window; never throws. */
    admit(request: Request, peer: Peer, window: WindowName): Admitted | Promise<Admitted> {
      const withoutKey = (): Admitted => ({
        access: undefined,
        limit: addresses.take(addressOf(request, peer)),
      })
      const whenFound = <Found>(
        found: Found | Promise<Found>,
        next: (found: Found) => ReturnType<typeof count>,
      ) => {
        if (!(found instanceof Promise)) return next(found)
        return found.then(next, (failure: unknown) => ({
          access: undefined,
          limit: addresses.peek(addressOf(request, peer)),
          failure,
        }))
      }
      const key = presentedKey(request)
      if (key !== undefined) {
        return whenFound(keys.find(key.id), (found) => {
          if (found === undefined || !sameHash(found.hash, key.hash)) return withoutKey()
          keys.noteUse(found.id)
          const { access } = found
          const ipAddress = exactAddressOf(request, peer)
          return count(
            ipAddress === null ? access : { ...access, actor: { ...access.actor, ipAddress } },
            window,
          )
        })
      }
      const token = request.headers.has('authorization') ? undefined : cookieOf(request)
      if (token === undefined) return withoutKey()
      return whenFound(sessions.find(sessionIdOf(token)), (found) => {
        if (found === undefined) return withoutKey()
        sessions.noteUse(found.id)
        return count(accessOfPerson(found, token, request, exactAddressOf(request, peer)), window)
      })
    },
    /** The limit of the client's address, without counting the request: for preflights. */
    peek: (request: Request, peer: Peer): Decision => addresses.peek(addressOf(request, peer)),
  }
}

export type Admission = ReturnType<typeof createAdmission>

/** The access of a request. Throws UNAUTHORIZED, RATE_LIMITED, FORBIDDEN for a person's request without their token, or what the database threw. */
export function accessOf(admitted: Admitted | undefined): Access {
  if (admitted === undefined) throw new Error('a route that needs a key lies outside /v1')
  const { access, limit, failure } = admitted
  if (failure !== undefined) throw failure
  if (!limit.admitted) throw rateLimited(limit)
  if (access === undefined) throw new ApiError('UNAUTHORIZED', UNAUTHORIZED)
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

/** The access by a key of a request that changes nothing: its address is not determined. */
function accessBy(found: FoundKey & Pick<Access, 'own'>): Access {
  const { orgId, id, plan, scopes, memberEmail, hideMembers, own } = found
  const mustHideMembers = hideMembers && !grants(scopes, 'team:read')
  return {
    orgId,
    keyId: id,
    person: null,
    isForged: false,
    plan,
    scopes,
    memberEmail,
    mustHideMembers,
    own,
    actor: { userId: `key_${id}`, ipAddress: null },
  }
}

/** The token of their session derives from the cookie: another site knows neither. */
function accessOfPerson(
  { orgId, memberId, plan, email, role, hideMembers, own }: FoundSession & Pick<Access, 'own'>,
  token: string,
  { method, headers }: Request,
  ipAddress: string | null,
): Access {
  const scopes = SCOPES_OF_ROLE[role]
  const csrfToken = csrfTokenOf(token)
  return {
    orgId,
    keyId: null,
    person: { userId: memberId, email, role, csrfToken },
    isForged: method !== 'GET' && method !== 'HEAD' && headers.get('x-csrf-token') !== csrfToken,
    plan,
    scopes,
    memberEmail: null,
    mustHideMembers: hideMembers && !grants(scopes, 'team:read'),
    own,
    actor: { userId: memberId, ipAddress },
  }
}

/** X-RateLimit-*. */
export const limitHeaders = ({ limit, remaining, resetS }: Decision) => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(resetS),
})

/** Makes the limit in the headers while the database cannot be reached. */
function unknownWindow(limit: number, now: Date): Decision {
  const resetS = (Math.floor(now.getTime() / 60_000) + 1) * 60
  return { admitted: false, limit, remaining: 0, resetS, retryAfterS: 1 }
}

const rateLimited = (decision: Decision) =>
  new ApiError('RATE_LIMITED', `More than ${decision.limit} requests in this minute`, {
    headers: { 'retry-after': String(decision.retryAfterS) },
  })
