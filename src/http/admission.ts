import type { Actor } from '../audit/log/append.ts'
import type { Config, Plan } from '../config.ts'
import type { Sql } from '../db/client.ts'
import { ApiError } from '../errors.ts'
import { type ParsedKey, parseKey, sameHash } from '../keys/form.ts'
import type { Scope } from '../keys/model.ts'
import { type FoundKey, findKeys, touchKey } from '../keys/queries.ts'
import type { Log } from '../log.ts'
import { clientAddress, createAddressLimiter, exactAddress } from './address-limit.ts'
import { createKeyCache } from './key-cache.ts'
import { createLimiter, type Decision } from './rate-limit.ts'
import { leaseRequests } from './rate-windows.ts'

// Every request below /v1 is admitted once, before it is routed: its key is looked up and it is counted, so that a
// 404 carries the limit's headers too. What came of it is thrown later, by `accessOf`, where a route needs the key.

const BEARER = /^bearer ([!-~]+)$/i
const TOUCH_EVERY_MS = 60_000
const MAX_TOUCHED = 10_000
const UNAUTHORIZED = 'Missing or invalid API key'

/** Who asks: the organization of the key and what the key may do. */
export interface Access {
  orgId: string
  keyId: string
  plan: Plan
  scopes: readonly Scope[]
  /** Who the audit log names. The address is not looked up for GET and HEAD, which change nothing. */
  actor: Actor
}

/** The headers that an answer will have. */
export type Headers = Record<string, string | number>

export interface Admission {
  /** Counts the request and puts the limit's headers into `headers`; never rejects. */
  admit(request: Request, headers: Headers, peer: () => string | undefined): void | Promise<void>
  /** Puts the limit's headers into `headers` without counting: for preflights. */
  show(request: Request, headers: Headers, peer: () => string | undefined): void
  /** Who asks. Throws UNAUTHORIZED, RATE_LIMITED, or what the database threw. The request must have been admitted. */
  accessOf(request: Request): Access
  /** The same, undefined instead of an error: for logs. */
  knownAccessOf(request: Request): Access | undefined
}

interface AdmissionDeps {
  sql: Sql
  config: Pick<Config, 'rateLimits' | 'trustProxy'>
  log: Log
  now: () => Date
  /** The clock of the limit's minutes: the database's unless a test gives one. */
  windowClock?: (() => Date) | undefined
  /** The clock of the keys' cache in milliseconds: the time that passes unless a test gives one. */
  keyClock?: (() => number) | undefined
}

type Outcome = { access: Access } | { refusal: unknown; access?: Access }

const elapsedMs = () => performance.now()

/** The admission of one instance: its keys, its leases and its addresses are in memory. */
export function createAdmission({ sql, config, log, now, windowClock, keyClock }: AdmissionDeps): Admission {
  const outcomes = new WeakMap<Request, Outcome>()
  const addresses = createAddressLimiter(now)
  const findKey = createKeyCache({ find: (ids) => findKeys(sql, ids), clock: keyClock ?? elapsedMs })
  const limiter = createLimiter({
    lease: (orgId, count) => leaseRequests(sql, orgId, count, windowClock?.() ?? null),
    clock: windowClock === undefined ? elapsedMs : () => windowClock().getTime(),
  })
  const touch = createTouch((keyId) => touchKey(sql, keyId), log)

  const addressOf = (request: Request, peer: () => string | undefined) =>
    clientAddress(peer(), request.headers.get('x-forwarded-for'), config.trustProxy)

  const callerOf = (request: Request, peer: () => string | undefined) =>
    request.method === 'GET' || request.method === 'HEAD'
      ? null
      : exactAddress(peer(), request.headers.get('x-forwarded-for'), config.trustProxy)

  const refuseCaller = (request: Request, headers: Headers, peer: () => string | undefined) => {
    const decision = addresses.take(addressOf(request, peer))
    setLimitHeaders(headers, decision)
    outcomes.set(request, { refusal: decision.admitted ? unauthorized() : rateLimited(decision) })
  }

  const decide = (request: Request, headers: Headers, access: Access, decision: Decision) => {
    setLimitHeaders(headers, decision)
    outcomes.set(request, decision.admitted ? { access } : { refusal: rateLimited(decision), access })
  }

  const count = (request: Request, headers: Headers, access: Access): void | Promise<void> => {
    const limit = config.rateLimits[access.plan]
    touch(access.keyId)
    const decision = limiter.take(access.orgId, limit)
    if (!(decision instanceof Promise)) return decide(request, headers, access, decision)
    return decision.then(
      (late) => decide(request, headers, access, late),
      (error) => {
        setLimitHeaders(headers, limiter.peek(access.orgId, limit) ?? unknownWindow(limit, now()))
        outcomes.set(request, { refusal: error, access })
      },
    )
  }

  return {
    admit(request, headers, peer) {
      const key = presentedKey(request)
      if (key === undefined) return refuseCaller(request, headers, peer)
      const found = findKey(key.id)
      if (!(found instanceof Promise)) {
        const access = accessBy(key, found, () => callerOf(request, peer))
        return access === undefined ? refuseCaller(request, headers, peer) : count(request, headers, access)
      }
      return found.then(
        (late) => {
          const access = accessBy(key, late, () => callerOf(request, peer))
          return access === undefined ? refuseCaller(request, headers, peer) : count(request, headers, access)
        },
        (error) => {
          setLimitHeaders(headers, addresses.peek(addressOf(request, peer)))
          outcomes.set(request, { refusal: error })
        },
      )
    },
    show: (request, headers, peer) => setLimitHeaders(headers, addresses.peek(addressOf(request, peer))),
    accessOf(request) {
      const outcome = outcomes.get(request)
      if (outcome === undefined)
        throw new Error('a route behind `access` lies outside /v1: nobody admitted the request')
      if ('refusal' in outcome) throw outcome.refusal
      return outcome.access
    },
    knownAccessOf: (request) => outcomes.get(request)?.access,
  }
}

/** The key of the Authorization header. Two headers arrive joined by a comma, which no key's form has. */
function presentedKey(request: Request): ParsedKey | undefined {
  const header = request.headers.get('authorization')
  const text = header === null ? undefined : BEARER.exec(header)?.[1]
  return text === undefined ? undefined : parseKey(text)
}

function accessBy(
  key: ParsedKey,
  found: FoundKey | undefined,
  ipAddress: () => string | null,
): Access | undefined {
  if (found === undefined || !sameHash(found.hash, key.hash)) return undefined
  const { orgId, id, plan, scopes } = found
  return { orgId, keyId: id, plan, scopes, actor: { userId: `key_${id}`, ipAddress: ipAddress() } }
}

/** Notes a key's use in the background, at most once a minute. */
function createTouch(write: (keyId: string) => Promise<void>, log: Log): (keyId: string) => void {
  const touchedAt = new Map<string, number>()
  return (keyId) => {
    const at = elapsedMs()
    if (at - (touchedAt.get(keyId) ?? -Infinity) < TOUCH_EVERY_MS) return
    if (touchedAt.size >= MAX_TOUCHED) touchedAt.clear()
    touchedAt.set(keyId, at)
    write(keyId).catch((error: unknown) =>
      log.debug('last_used_at was not written', { key_id: keyId, error }),
    )
  }
}

/** Says in X-RateLimit-* what the limiter decided. */
export function setLimitHeaders(headers: Headers, decision: Decision): void {
  headers['x-ratelimit-limit'] = String(decision.limit)
  headers['x-ratelimit-remaining'] = String(decision.remaining)
  headers['x-ratelimit-reset'] = String(decision.resetS)
}

/** The database is away and knows the window: the headers say what holds without it. */
function unknownWindow(limit: number, now: Date): Decision {
  const resetS = (Math.floor(now.getTime() / 60_000) + 1) * 60
  return { admitted: false, limit, remaining: 0, resetS, retryAfterS: 1 }
}

const unauthorized = () => new ApiError('UNAUTHORIZED', UNAUTHORIZED)

const rateLimited = (decision: Decision) =>
  new ApiError('RATE_LIMITED', `More than ${decision.limit} requests in this minute`, {
    headers: { 'retry-after': String(decision.retryAfterS) },
  })
