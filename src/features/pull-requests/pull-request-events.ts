import { type Actor, recordEntries } from '../../accounts/audit-log/append.ts'
import type { Sql } from '../../database/client.ts'
import { lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { keepEvent, type PullRequestEvent } from '../risk/event-queries.ts'
import { applyEvent } from '../risk/write.ts'
import { updateShares } from '../usage/pull-request-write.ts'

/**
 * Stores what a repository's host says of a pull request. One whose record did not come yet gets it with its record. An
 * event that is not newer than the latest changes nothing.
 */
export async function storePullRequestEvent(
  writes: Sql,
  orgId: string,
  actor: Actor,
  event: PullRequestEvent,
): Promise<void> {
  await writes.begin(async (tx) => {
    await lockHistory(tx, orgId)
    await lockOrganization(tx, orgId)
    if (!(await keepEvent(tx, orgId, event))) return
    const changed = await applyEvent(tx, orgId, event)
    if (changed === undefined) return
    await changed.updateRollups()
    await updateShares(tx, orgId, { ...changed, commits: [], members: [] })
    const details = { created: 0, updated: 1, ids: changed.updatedIds }
    await recordEntries(tx, orgId, actor, [{ action: 'pr_risk.synced', details }])
  })
}
