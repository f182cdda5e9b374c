import type { ISql } from '../../database/client.ts'
import { addDifference, type Renaming } from '../../database/rollups.ts'
import { renameInCommitAi } from './ai-write.ts'
import { updateExpertise } from './expertise.ts'
import { distinctIds, type ItemId } from './item-ids.ts'
import { prepareCommit } from './prepare.ts'
import { commitPages, findKnownCommits } from './queries.ts'
import { COMMIT_ROLLUP, countsOfProjects } from './rollup.ts'
import { COMMITS_AT_A_TIME, replaceCommits, useCustomPlans } from './write.ts'

const TABLES = ['commits', 'commit_files', 'files', 'file_authors', 'expertise_authors', 'expertise_domains']

/**
 * Moves the commits of a project to another, which keeps those that it has already: afterwards its files and its expertise
 * are as if all had been sent to it. Returns how many commits the old one had. Needs the lock of the organization's
 * history; takes seconds for thousands of commits.
 */
export async function renameInCommits(tx: ISql, orgId: string, { from, to }: Renaming): Promise<number> {
  await useCustomPlans(tx)
  const known = await findKnownCommits(tx, orgId, to)
  const before = countsOfProjects(tx, orgId, [from, to])
  await addDifference(tx, orgId, COMMIT_ROLLUP, { before, after: undefined })
  let count = 0
  let domains: ItemId[] = []
  for await (const page of commitPages(tx, orgId, { project: from, size: COMMITS_AT_A_TIME })) {
    count += page.length
    const moved = page.flatMap((record) =>
      known.has(record.sha) ? [] : [prepareCommit({ ...record, project: to })],
    )
    if (moved.length === 0) continue
    domains = distinctIds([...domains, ...(await replaceCommits(tx, orgId, moved, () => false))])
  }
  await renameInCommitAi(tx, orgId, from, to)
  for (const table of count === 0 ? [] : TABLES) {
    await tx`
      delete from ${tx(table)} t
      where t.org_id = ${orgId}
        and t.project = ${from}`
  }
  const after = countsOfProjects(tx, orgId, [to])
  await addDifference(tx, orgId, COMMIT_ROLLUP, { before: undefined, after })
  await updateExpertise(tx, orgId, domains)
  return count
}
