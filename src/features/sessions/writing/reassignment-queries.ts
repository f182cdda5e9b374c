import type { SessionRecord } from '../../../analysis/records/session.ts'
import { type FieldProblem, forbidden, MAX_PROBLEMS, validationError } from '../../../base/errors.ts'
import type { ISql } from '../../../database/client.ts'
import { findMemberIds } from '../../usage/member-queries.ts'
import { type PreparedSession, sessionHash } from '../prepare.ts'
import type { StoredSession } from '../stored-queries.ts'

/**
 * A session that is sent with another user than the one it has keeps its own, or gets the other one if that is asked for,
 * else a VALIDATION_ERROR says so. To a member's key it is FORBIDDEN where that asks, and a session that is stored without
 * a user in either case.
 */
export type Reassignment = 'kept' | { isAsked: boolean; isMembersKey: boolean }

/** The user of a session, or of its record, which may leave both out. */
type User = Pick<SessionRecord, 'user_id' | 'user_email'>
type StoredUser = Pick<StoredSession, 'user_id' | 'user_email' | 'hash' | 'origin'>

/**
 * The sessions with their users: one that is sent without a user keeps the one that it has, in the database or by
 * an earlier record. Where it would get another user, or its first one by a member's key: the error that `Reassignment`
 * says, naming the records. A member's id and addresses are the same user. A session that is sent as it was when it was
 * stored is not a change, whoever has it now.
 */
export async function withUsers(
  tx: ISql,
  orgId: string,
  sessions: readonly PreparedSession[],
  stored: ReadonlyMap<string, StoredUser>,
  reassignment: Reassignment,
): Promise<readonly PreparedSession[]> {
  if (reassignment === 'kept') return withStoredUsers(sessions, stored)
  const { isAsked, isMembersKey } = reassignment
  const users = new Map<string, StoredUser | PreparedSession>([...stored].filter(([, row]) => hasUser(row)))
  const isAsStored = ({ id, hash }: PreparedSession) => {
    const row = stored.get(id)
    return row !== undefined && Buffer.compare(row.hash, hash) === 0
  }
  const different: Different[] = []
  const unowned: FieldProblem[] = []
  const result = sessions.map((session) => {
    const before = users.get(session.id)
    if (!hasUser(session)) return before === undefined ? session : withUser(session, before)
    users.set(session.id, session)
    // the user that telemetry states does not count against a transcript's, but a member's key takes no other member's
    const row = stored.get(session.id)
    const isTelemetry = row?.origin === 'telemetry'
    if (isTelemetry && !isMembersKey) return session
    if (isMembersKey && before === undefined && row !== undefined && !isTelemetry) {
      unowned.push({
        field: userField(session),
        message: 'the session is stored without a user, and this API key is a member’s',
      })
    }
    if (before === undefined || isSameUser(before, session) || isAsStored(session)) return session
    different.push({ session, before, isTelemetry })
    return session
  })
  if (unowned.length > 0) throw forbidden(...unowned.slice(0, MAX_PROBLEMS))
  const isAllowed = isAsked && !isMembersKey
  if (different.length > 0 && !isAllowed) await refuseOthers(tx, orgId, different, isAsked)
  return result
}

/** Telemetry's sessions, each with the user that it is stored with. */
const withStoredUsers = (sessions: readonly PreparedSession[], stored: ReadonlyMap<string, StoredUser>) =>
  sessions.map((session) => {
    const row = stored.get(session.id)
    return row !== undefined && hasUser(row) ? withUser(session, row) : session
  })

function withUser(
  { field, hash: _hash, telemetry, ...session }: PreparedSession,
  { user_id, user_email }: Pick<PreparedSession, 'user_id' | 'user_email'>,
): PreparedSession {
  const changed = { ...session, user_id, user_email }
  return { ...changed, ...(telemetry && { telemetry }), field, hash: sessionHash(changed) }
}

const hasUser = ({ user_id, user_email }: StoredUser | PreparedSession) =>
  user_id !== null || user_email !== null
const userField = ({ field, user_id }: PreparedSession): string =>
  `${field}.${user_id === null ? 'user_email' : 'user_id'}`

const isSameUser = (a: User, b: User) => a.user_id === b.user_id && a.user_email === b.user_email

interface Different {
  session: PreparedSession
  before: User
  /** Only telemetry tells of the session as it is stored. */
  isTelemetry: boolean
}

async function refuseOthers(tx: ISql, orgId: string, different: readonly Different[], isForbidden: boolean) {
  const users = different.flatMap(({ session, before }): User[] => [session, before])
  const people = await findPeopleOfUsers(tx, orgId, users)
  const problems = different
    .filter(({ session, before, isTelemetry }) =>
      isTelemetry ? people.isOtherMember(before, session) : people.keyOf(session) !== people.keyOf(before),
    )
    .slice(0, MAX_PROBLEMS)
    .map(
      ({ session }): FieldProblem => ({
        field: userField(session),
        message: isForbidden
          ? 'the session is another user’s, and this API key is a member’s'
          : 'the session has another user; ?reassign=true (sync --reassign) changes that',
      }),
    )
  if (problems.length === 0) return
  throw isForbidden ? forbidden(...problems) : validationError(...problems)
}

/** Tells members of the organization apart: a member's id and addresses are one person. */
interface People {
  /** The member's id, else the address; null without a user. */
  keyOf(user: User): string | null
  /** Whether the first is a member, and not the second person. */
  isOtherMember(user: User, own: User): boolean
}

export async function findPeopleOfUsers(tx: ISql, orgId: string, users: readonly User[]): Promise<People> {
  const emails = users.flatMap(({ user_id, user_email }) => (user_id == null ? (user_email ?? []) : []))
  const idOf = await findMemberIds(tx, orgId, [...new Set(emails)])
  const memberOf = ({ user_id, user_email }: User) => user_id ?? idOf.get(user_email ?? '') ?? null
  const keyOf = (user: User) => memberOf(user) ?? user.user_email ?? null
  return { keyOf, isOtherMember: (user, own) => memberOf(user) !== null && memberOf(user) !== keyOf(own) }
}
