// Finds who sends a request, by key or browser session, and what they may see.

import type { Role } from '../../analysis/records/member.ts'
import type { Log } from '../../base/log.ts'
import type { Plan } from '../../config.ts'
import type { Sql } from '../../database/client.ts'
import type { SchemaState } from '../../database/newer-schema.ts'
import { gathered } from '../../database/pools/gathered.ts'
import type { Actor } from '../audit-log/append.ts'
import { type ParsedKey, sameHash } from '../keys/format.ts'
import { type FoundKey, findKeys, touchKey } from '../keys/queries.ts'
import { cutToRole, grants, type Rights, SCOPES_OF_ROLE } from '../keys/rights.ts'
import type { Scope } from '../keys/scopes.ts'
import { type FoundSession, findSessions, sessionIdOf, touchSession } from './sign-in-queries.ts'
import { csrfTokenOf } from './tokens.ts'
import { findStanding, type VisibleMember } from './visibility-queries.ts'

/** Somebody who signed in. */
export interface Person {
  userId: string
  email: string
  role: Role
  csrfToken: string
}

/**
 * The access of a request: the organization of its key or signed-in person, their scopes, and the data that they may see.
 * A key acts for a program, and may be bound to one member; a person acts by the scopes of their role. `http/admission.ts`
 * compares it with the needs of the route before a handler runs.
 */
export interface Access {
  orgId: string
  keyId: string | null
  person: Person | null
  /** Whether a person's request changes something without the token of their pages: another site may have sent it. */
  isForged: boolean
  plan: Plan
  /** The organization's time zone, and whether another one waits. */
  zone: string
  isZoneChanging: boolean
  scopes: readonly Scope[]
  /** The key sends sessions of this member only; null: of any member. */
  memberEmail: string | null
  /** Whether no response may name a member: the setting `hide_members`, for a caller without the scope team:read. */
  mustHideMembers: boolean
  /** The caller sees only these figures, their own: the setting `member_visibility`; null: the caller sees everybody's. */
  onlyMember: VisibleMember | null
  /** Named in the audit log. The address is not determined for GET and HEAD, which change nothing. */
  actor: Actor
}

/** The rights by which the caller changes members: only a person who signed in acts as an owner, no key does. */
export const rightsOf = ({ scopes, person }: Pick<Access, 'scopes' | 'person'>): Rights => ({
  scopes,
  ownerId: person?.role === 'owner' ? person.userId : null,
})

/** Runs a small statement over a connection that slow reads do not take. Rejects when there is no answer in time. */
export type LookUp = <Result>(statement: (sql: Sql) => Promise<Result>) => Promise<Result>

/** Finds the access of keys and browsers' sessions, remembered for less than a second. `clock`: milliseconds, monotonic. */
export function createCallers({
  sql,
  lookUp,
  log,
  schema,
  clock,
}: {
  sql: Sql
  lookUp: LookUp
  log: Log
  schema: SchemaState
  clock: () => number
}) {
  const noting = (write: (sql: Sql, id: string) => Promise<void>) => (id: string) => {
    if (schema() !== 'ok') return
    write(sql, id).catch((error: unknown) => log.debug('last_used_at was not written', { id, error }))
  }
  const standingOf = async (orgId: string, email: string) =>
    await lookUp((from) => findStanding(from, orgId, email))
  const keys = createKeyCache({
    find: async (ids) => {
      const keyRows = await lookUp((from) => findKeys(from, ids))
      return await Promise.all(
        keyRows.map(async (key) => {
          const { orgId, memberEmail } = key
          if (memberEmail === null) return { ...key, access: accessBy({ ...key, onlyMember: null }) }
          const standing = await standingOf(orgId, memberEmail)
          const scopes = standing === undefined ? [] : cutToRole(key.scopes, standing.role)
          return { ...key, access: accessBy({ ...key, scopes, onlyMember: standing?.onlyMember ?? null }) }
        }),
      )
    },
    writeUse: noting(touchKey),
    clock,
  })
  const sessions = createKeyCache({
    find: async (ids) => {
      const rows = await lookUp((from) => findSessions(from, ids))
      return await Promise.all(
        rows.map(async (session) => {
          const { orgId, email, memberVisibility } = session
          const standing = memberVisibility === 'all' ? undefined : await standingOf(orgId, email)
          return { ...session, onlyMember: standing?.onlyMember ?? null }
        }),
      )
    },
    writeUse: noting(touchSession),
    clock,
  })
  return {
    async byKey({ id, hash }: ParsedKey): Promise<Access | undefined> {
      const match = await keys.find(id)
      if (match === undefined || !sameHash(match.hash, hash)) return undefined
      keys.noteUse(id)
      return match.access
    },
    /** The access by the token of a session. `isAnew`: what is remembered of it does not count. */
    async bySession(token: string, isAnew: boolean): Promise<Access | undefined> {
      const match = await sessions.find(sessionIdOf(token), isAnew)
      if (match === undefined) return undefined
      sessions.noteUse(match.id)
      return accessOfPerson(match, token)
    },
    /** Looks the organization's keys and sessions up again from now on: one of them has ended or changed. */
    forget(orgId: string) {
      keys.forget(orgId)
      sessions.forget(orgId)
    },
  }
}

/** The access of a request that changes nothing: neither its address nor whether another site sent it is determined. */
const accessOf = (
  {
    orgId,
    plan,
    zone,
    isZoneChanging,
    hideMembers,
    onlyMember,
  }: Pick<FoundKey, 'orgId' | 'plan' | 'zone' | 'isZoneChanging' | 'hideMembers'> &
    Pick<Access, 'onlyMember'>,
  scopes: readonly Scope[],
  caller: Pick<Access, 'keyId' | 'person' | 'memberEmail' | 'actor'>,
): Access => ({
  ...{ orgId, plan, zone, isZoneChanging, scopes, onlyMember, ...caller },
  isForged: false,
  mustHideMembers: hideMembers && !grants(scopes, 'team:read'),
})

function accessBy(key: FoundKey & Pick<Access, 'onlyMember'>): Access {
  const { id, scopes, memberEmail } = key
  const actor = { userId: `key_${id}`, ipAddress: null }
  return accessOf(key, scopes, { keyId: id, person: null, memberEmail, actor })
}

function accessOfPerson(session: FoundSession & Pick<Access, 'onlyMember'>, token: string): Access {
  const { id, memberId, email, role } = session
  // the token of their pages derives from the cookie: another site knows neither
  const person = { userId: memberId, email, role, csrfToken: csrfTokenOf(token) }
  const actor = { userId: memberId, ipAddress: null, session: id }
  return accessOf(session, SCOPES_OF_ROLE[role], { keyId: null, person, memberEmail: null, actor })
}

// A key, or a session of the browser, is looked up again before its entry is a second old, so that every instance refuses a
// revoked or expired one within a second. The instance that ends one forgets it at once.

/** A found key is valid for this long, counted from the time before the query was sent. */
const MAX_AGE_MS = 800
/** A key in use is looked up again in the background from this age on. */
const REFRESH_AGE_MS = 500
const MAX_KEYS = 20_000
const NOTE_EVERY_MS = 60_000

/** A value that can be looked up; `expiresInMs` is null when it never expires. */
interface Findable {
  id: string
  orgId: string
  expiresInMs: number | null
}

interface Entry<Found> {
  found: Found | undefined
  askedAt: number
  expiresAt: number
  isRefreshed: boolean
  notedAt: number
}

/** A cache in front of `find`. `writeUse` notes a key's use in the background. `clock`: milliseconds, never set back. */
export function createKeyCache<Found extends Findable>({
  find,
  writeUse,
  clock,
}: {
  find: (ids: readonly string[]) => Promise<Found[]>
  writeUse: (id: string) => void
  clock: () => number
}) {
  const entries = new Map<string, Entry<Found>>()
  const ask = gathered(async (ids) => new Map((await find(ids)).map((each) => [each.id, each])))

  let forgotten = 0
  const lookUp = async (id: string): Promise<Entry<Found>> => {
    const forgottenBefore = forgotten
    const askedAt = clock()
    const value = await ask(id)
    const expiresInMs = value?.expiresInMs ?? null
    const expiresAt = expiresInMs === null ? Infinity : askedAt + expiresInMs
    const notedAt = entries.get(id)?.notedAt ?? -Infinity
    const entry = { found: value, askedAt, expiresAt, isRefreshed: false, notedAt }
    // The one that was found first is dropped: to delete a key and set it again each time that it is looked up costs the
    // more the more there are.
    if (!entries.has(id) && entries.size >= MAX_KEYS) entries.delete(entries.keys().next().value ?? id)
    if (forgotten === forgottenBefore) entries.set(id, entry)
    return entry
  }

  const valid = (entry: Entry<Found>) => (clock() < entry.expiresAt ? entry.found : undefined)

  return {
    /** Undefined: no such key, or it is revoked or expired. `isAnew`: what is remembered does not count. */
    find(id: string, isAnew = false): Found | undefined | Promise<Found | undefined> {
      const entry = isAnew ? undefined : entries.get(id)
      const age = entry === undefined ? Infinity : clock() - entry.askedAt
      if (entry === undefined || age >= MAX_AGE_MS) return lookUp(id).then(valid)
      if (age >= REFRESH_AGE_MS && entry.found !== undefined && !entry.isRefreshed) {
        entry.isRefreshed = true
        // The error is ignored here: a request after MAX_AGE_MS looks the key up again and gets it.
        lookUp(id).catch(() => {})
      }
      return valid(entry)
    },
    /** Forgets the organization's keys, also those that are being looked up. */
    forget(orgId: string) {
      forgotten += 1
      for (const [id, { found }] of entries) if (found?.orgId === orgId) entries.delete(id)
    },
    /** Notes that the key was used: at most once a minute. */
    noteUse(id: string) {
      const entry = entries.get(id)
      if (entry === undefined || clock() - entry.notedAt < NOTE_EVERY_MS) return
      entry.notedAt = clock()
      writeUse(id)
    },
  }
}
