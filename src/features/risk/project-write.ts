import type { ISql } from '../../database/client.ts'
import type { Renaming } from '../../database/rollups.ts'
import { findCounted, recountPullRequests } from '../usage/outcome-rollup.ts'

/**
 * Renames the project of pull requests; of those that name none it is their repository's name, with or without its owner.
 * Returns how many. Needs the locks of the organization and its history.
 */
export async function renameInRisks(tx: ISql, orgId: string, { from, to }: Renaming): Promise<number> {
  const renamed = await tx<{ repo: string; prNumber: number }[]>`
    select k.repo, k.pr_number as "prNumber"
    from pr_risks k
    where k.org_id = ${orgId}
      and ${from} = any (k.projects)`
  const before = await findCounted(tx, orgId, renamed)
  await tx`
    update pr_risks
    -- Citus refuses json_build_object of columns in an update
    set origin = (
      '{"branch": null, "commits": []}'::jsonb || coalesce(origin::jsonb, '{}') || jsonb_build_object('project', ${to}::text)
    )::json
    where org_id = ${orgId}
      and ${from} = any (projects)`
  await recountPullRequests(tx, orgId, before, await findCounted(tx, orgId, renamed))
  return renamed.length
}
