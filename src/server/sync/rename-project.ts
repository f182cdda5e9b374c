import { type Actor, recordEntries } from '../../accounts/audit-log/append.ts'
import { OperatorError } from '../../base/errors.ts'
import type { Sql } from '../../database/client.ts'
import { lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { type Renaming, WITHOUT_PROJECT } from '../../database/rollups.ts'
import { renameInRules } from '../../features/alerts/rule-queries.ts'
import { renameInCommits } from '../../features/commits/project-write.ts'
import { renameInBudgets } from '../../features/cost/write.ts'
import { renameInRisks } from '../../features/risk/project-write.ts'
import { renameInFindings } from '../../features/security/project-write.ts'
import { renameInSessions } from '../../features/sessions/project-write.ts'
import { updatePartsOfProject } from '../../features/usage/pull-request-write.ts'

/** Counts the rows that have the new name. */
export interface Renamed {
  sessions: number
  commits: number
  pull_requests: number
}

/**
 * Renames a project of the organization everywhere, in one transaction; one that has the new name already is joined with it.
 * Commits, which take the longest, come before the organization's lock. Throws OperatorError when nothing has the old name.
 */
export async function renameProject(
  sql: Sql,
  orgId: string,
  actor: Actor,
  renaming: Renaming,
): Promise<Renamed> {
  const noProject = () => new OperatorError(`there is no project ${JSON.stringify(renaming.from)}`)
  // in the sums these are not names
  if (renaming.from === '' || renaming.from === WITHOUT_PROJECT) throw noProject()
  return await sql.begin(async (tx) => {
    await lockHistory(tx, orgId)
    const commits = await renameInCommits(tx, orgId, renaming)
    await lockOrganization(tx, orgId)
    const pull_requests = await renameInRisks(tx, orgId, renaming)
    const sessions = await renameInSessions(tx, orgId, renaming)
    await renameInFindings(tx, orgId, renaming)
    await renameInBudgets(tx, orgId, renaming)
    await renameInRules(tx, orgId, renaming)
    await updatePartsOfProject(tx, orgId, renaming.to)
    const renamed = { sessions, commits, pull_requests }
    if (sessions + commits + pull_requests === 0) throw noProject()
    await recordEntries(tx, orgId, actor, [
      { action: 'project.renamed', details: { ...renaming, ...renamed } },
    ])
    return renamed
  })
}
