import type { ISql } from '../db/client.ts'
import type { Renaming } from '../db/rollups.ts'

/**
 * Renames the project of pull requests; of those that name none it is their repository's name, with or without its owner.
 * Returns how many. Needs the lock of the organization's history.
 */
export async function renameInRisks(tx: ISql, orgId: string, { from, to }: Renaming): Promise<number> {
  const { count } = await tx`
    update pr_risks
    set origin = json_build_object(
      'project', ${to}::text, 'branch', origin->'branch', 'commits', coalesce(origin->'commits', '[]')
    )
    where org_id = ${orgId}
      and ${from} = any (projects)`
  return count
}
