// Deletes the sessions of days that their organizations do not keep, in batches, each with an audit entry that counts it,
// and plans and limits that ended before. Days are whole (UTC), so that there is something to do once a day.

import { recordEntry, SYSTEM } from '../../accounts/audit-log/append.ts'
import { inBatches, sumBy } from '../../base/batches.ts'
import type { Sql } from '../../database/client.ts'
import { inOrganization } from '../../database/org-lock.ts'
import { deleteSeatsBefore, hasOldSeats } from '../../features/seats/retention-queries.ts'
import { firstKeptDay } from '../../features/sessions/deleted-queries.ts'
import {
  findSizes,
  inBatchesOfBytes,
  isExpired,
  listRetentions,
  onlyExpired,
  SESSIONS_AT_A_TIME,
} from './queries.ts'

export async function deleteExpiredSessions(sql: Sql, now: Date): Promise<number> {
  return await sumBy(await listRetentions(sql), async ({ orgId, days }) => {
    const firstDay = firstKeptDay(days, now)
    await deleteOldSeats(sql, orgId, firstDay)
    return await inBatches(SESSIONS_AT_A_TIME, () => deleteOldest(sql, orgId, firstDay))
  })
}

async function deleteOldSeats(sql: Sql, orgId: string, firstDay: string): Promise<void> {
  if (!(await hasOldSeats(sql, orgId, firstDay))) return
  await inOrganization(sql, orgId, async (tx) => {
    const { plans, windows } = await deleteSeatsBefore(tx, orgId, firstDay)
    const note = (action: string, deleted: number) =>
      deleted > 0 && recordEntry(tx, orgId, SYSTEM, action, { deleted, before: firstDay })
    await note('plan.expired', plans)
    await note('limit.expired', windows)
  })
}

async function deleteOldest(sql: Sql, orgId: string, firstDay: string): Promise<number> {
  // read before the lock, which makes every response in memory out of date: most minutes there is nothing
  const expired = await findSizes(sql, orgId, isExpired(sql, firstDay), SESSIONS_AT_A_TIME)
  return await sumBy(inBatchesOfBytes(expired), (ids) => deleteBatch(sql, orgId, firstDay, ids))
}

async function deleteBatch(sql: Sql, orgId: string, firstDay: string, sessionIds: readonly string[]) {
  // loaded here, since the thread needs nothing else of what writes sessions
  const { removeSessions } = await import('./delete-sessions.ts')
  return await inOrganization(sql, orgId, async (tx) => {
    const ids = await onlyExpired(tx, orgId, firstDay, sessionIds)
    const deleted = await removeSessions(tx, orgId, ids)
    if (deleted === 0) return 0
    await recordEntry(tx, orgId, SYSTEM, 'session.expired', { deleted, before: firstDay })
    return deleted
  })
}
