// Stores sessions of browsers: starts them at a sign-in, finds them at each request, and ends them; deletes what of sign-in has expired.

import type { Role } from '../../analysis/records/member.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { type FoundOrganization, foundColumns } from '../organizations/queries.ts'
import { hashToken, makeToken } from './tokens.ts'

/** A session of the browser ends when it was not used for so long, and so long after the sign-in. */
const IDLE_S = 12 * 3600
export const MAX_AGE_S = 7 * 24 * 3600

/** A session as admission needs it. `expiresInMs` counts from the statement, by the database's clock. */
export interface FoundSession extends FoundOrganization {
  /** SHA-256 of the cookie in hexadecimal. */
  id: string
  memberId: string
  email: string
  role: Role
  expiresInMs: number
}

/** Returns those of the sessions with these ids that have not ended, of members who are still there. */
export async function findSessions(sql: Sql, ids: readonly string[]): Promise<FoundSession[]> {
  return await sql<FoundSession[]>`
    select encode(b.token_hash, 'hex') as id, b.member_id as "memberId", m.email, m.role,
      ${foundColumns(sql)},
      (
        extract(epoch from least(
          b.last_used_at + ${IDLE_S} * interval '1 second',
          b.created_at + ${MAX_AGE_S} * interval '1 second'
        ) - clock_timestamp()) * 1000
      )::float8 as "expiresInMs"
    from browser_sessions b
    join organizations o on o.org_id = b.org_id
    join members m on m.org_id = b.org_id and m.id = b.member_id
    where b.token_hash in (select decode(i.id, 'hex') from unnest(${[...ids]}::text[]) i (id))
      and o.deleted_at is null
      and b.last_used_at > clock_timestamp() - ${IDLE_S} * interval '1 second'
      and b.created_at > clock_timestamp() - ${MAX_AGE_S} * interval '1 second'`
}

export async function findSession(sql: Sql, token: string): Promise<FoundSession | undefined> {
  const [session] = await findSessions(sql, [sessionIdOf(token)])
  return session
}

export const sessionIdOf = (token: string): string => Buffer.from(hashToken(token)).toString('hex')

/** Starts a session of the member; returns the token of its cookie. */
export async function startSession(tx: ISql, orgId: string, memberId: string): Promise<string> {
  const token = makeToken()
  await tx`
    insert into browser_sessions (token_hash, org_id, member_id, created_at, last_used_at)
    values (${hashToken(token)}, ${orgId}, ${memberId}, clock_timestamp(), clock_timestamp())`
  await tx`
    update accounts
    set last_signed_in_at = now()
    where org_id = ${orgId}
      and member_id = ${memberId}`
  return token
}

/** Ends the session with this token; whose it was, or undefined where there is none. */
export async function endSession(sql: ISql, token: string) {
  const [row] = await sql<{ orgId: string; memberId: string }[]>`
    delete from browser_sessions
    where token_hash = ${hashToken(token)}
    returning org_id as "orgId", member_id as "memberId"`
  return row
}

/** Notes that the session was used, unless that was noted less than a minute ago. */
export async function touchSession(sql: Sql, id: string): Promise<void> {
  await sql`
    update browser_sessions
    set last_used_at = statement_timestamp()
    where token_hash = ${Buffer.from(id, 'hex')}
      and last_used_at < statement_timestamp() - interval '1 minute'`
}

/** Deletes sessions that have ended, and invitations and devices whose time is over; returns how many. */
export async function deleteEnded(sql: Sql): Promise<number> {
  const sessions = await sql`
    delete from browser_sessions
    where last_used_at < now() - ${IDLE_S} * interval '1 second'
      or created_at < now() - ${MAX_AGE_S} * interval '1 second'`
  const invitations = await sql`
    delete from invitations
    where expires_at < now()`
  const devices = await sql`
    delete from device_requests
    where expires_at < now() - interval '1 hour'`
  return sessions.count + invitations.count + devices.count
}
