import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { ApiError } from '../../base/errors.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { lockOrganization } from '../../database/org-lock.ts'
import { writeFindings } from '../../features/security/write.ts'
import { rememberDeleted } from '../../features/sessions/deleted-queries.ts'
import { deleteSessions } from '../../features/sessions/writing/write.ts'
import { findSessions, findSizes, inBatchesOfBytes, SESSIONS_AT_A_TIME } from './queries.ts'

/** Deletes sessions with everything that was computed of them. Needs the organization's lock. Returns how many there were. */
export async function removeSessions(tx: ISql, orgId: string, ids: readonly string[]): Promise<number> {
  const deleted = await deleteSessions(tx, orgId, ids)
  await writeFindings(tx, orgId, ids)
  return deleted
}

/**
 * Deletes those of the sessions that are stored, in batches, each with its audit entry, and remembers them, so that a sync
 * does not store them again. Returns their ids. With a member's key, whose address is `memberEmail`, another's session is
 * FORBIDDEN.
 */
export async function deleteByIds(
  sql: Sql,
  orgId: string,
  actor: Actor,
  sessionIds: readonly string[],
  memberEmail: string | null = null,
): Promise<string[]> {
  const deleted: string[] = []
  const ids = [...new Set(sessionIds)]
  for (let start = 0; start < ids.length; start += SESSIONS_AT_A_TIME) {
    const some = ids.slice(start, start + SESSIONS_AT_A_TIME)
    // sessions that are not stored need no lock, which would make every response in memory out of date
    const sizes = await findSizes(sql, orgId, sql`s.id = any(${some}::text[])`, SESSIONS_AT_A_TIME)
    for (const batch of inBatchesOfBytes(sizes))
      deleted.push(...(await sql.begin((tx) => deleteBatch(tx, orgId, actor, batch, memberEmail))))
  }
  return deleted
}

async function deleteBatch(
  tx: ISql,
  orgId: string,
  actor: Actor,
  sessionIds: readonly string[],
  memberEmail: string | null,
): Promise<string[]> {
  await lockOrganization(tx, orgId)
  const sessions = await findSessions(tx, orgId, sessionIds)
  if (memberEmail !== null && sessions.some(({ email }) => email !== memberEmail))
    throw new ApiError('FORBIDDEN', `this API key is for sessions of ${memberEmail}`)
  const ids = sessions.map(({ id }) => id)
  if (ids.length === 0) return []
  await removeSessions(tx, orgId, ids)
  await rememberDeleted(tx, orgId, ids)
  await recordEntry(tx, orgId, actor, 'session.deleted', { deleted: ids.length, ids })
  return ids
}
