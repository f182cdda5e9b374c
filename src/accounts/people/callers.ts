import type { Role } from '../../analysis/records/member.ts'
import type { Log } from '../../base/log.ts'
import type { Plan } from '../../config.ts'
import type { Sql } from '../../database/client.ts'
import type { SchemaState } from '../../database/newer-schema.ts'
import type { Actor } from '../audit-log/append.ts'
import { type ParsedKey, sameHash } from '../keys/form.ts'
import { cutToRole, grants, type Rights, SCOPES_OF_ROLE, type Scope } from '../keys/model.ts'
import { type FoundKey, findKeys, touchKey } from '../keys/queries.ts'
import { createKeyCache } from './key-cache.ts'
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
 * A key acts for a program, and may be bound to one member; a person acts by the scopes of their role. `http/declared.ts`
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
