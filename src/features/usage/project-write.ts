import type { ISql } from '../../database/client.ts'
import { moveProject, type Renaming } from '../../database/rollups.ts'
import { BRANCH_ROLLUP, TICKET_ROLLUP, USAGE_ROLLUP } from './rollup.ts'

/** Renames the project of what sessions used. Needs the organization's lock. */
export async function renameInUsage(tx: ISql, orgId: string, renaming: Renaming): Promise<void> {
  await tx`
    update session_usage
    set project = ${renaming.to}
    where org_id = ${orgId}
      and project = ${renaming.from}`
  await moveProject(tx, orgId, USAGE_ROLLUP, renaming)
  await moveProject(tx, orgId, BRANCH_ROLLUP, renaming)
  await moveProject(tx, orgId, TICKET_ROLLUP, renaming)
}
