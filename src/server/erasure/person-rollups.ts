// Keeps the sums that count texts of a person, while these texts are replaced.

import { AUDIT_ROLLUP } from '../../accounts/audit-log/rollup.ts'
import type { ISql } from '../../database/client.ts'
import { addDifference, counting } from '../../database/rollups.ts'
import { COMMIT_ROLLUP, countsOfCommits } from '../../features/commits/rollup.ts'
import { RISK_ROLLUP } from '../../features/risk/rollup.ts'
import { findCounted, recountPullRequests } from '../../features/usage/outcome-rollup.ts'
import { findBranches, type PullRequestId, updateShares } from '../../features/usage/pull-request-write.ts'

/**
 * Does `write`, which replaces texts of rows of the table, and changes the rollups that count them: they are right after each
 * transaction, because records that come before the next one change them too. `rows`: the texts before and after it. Needs
 * the locks of the history and of the organization.
 */
export async function countingTexts(
  tx: ISql,
  orgId: string,
  table: string,
  rows: readonly Readonly<Record<string, string | null>>[],
  write: () => Promise<void>,
): Promise<void> {
  const ids = rows.map(({ id }) => id ?? '')
  switch (table) {
    case 'commits':
    case 'commit_ai': {
      const commits = rows.map(({ project, sha }) => ({ project: project ?? '', sha: sha ?? '' }))
      const counts = countsOfCommits(tx, orgId, commits)
      await addDifference(tx, orgId, COMMIT_ROLLUP, { before: counts, after: undefined })
      await write()
      return await addDifference(tx, orgId, COMMIT_ROLLUP, { before: undefined, after: counts })
    }
    case 'audit_log': {
      const of = tx`s.id = any(${ids}::text[])`
      return await counting(tx, orgId, [AUDIT_ROLLUP], { before: of, after: of }, write)
    }
    case 'pr_risks': {
      const [before, former] = await findPullRequests(tx, orgId, ids)
      const formerBranches = await findBranches(tx, orgId, former)
      const of = tx`s.id = any(${ids}::text[])`
      await counting(tx, orgId, [RISK_ROLLUP], { before: of, after: of }, write)
      const [after, latter] = await findPullRequests(tx, orgId, ids)
      await recountPullRequests(tx, orgId, before, after)
      // sessions of repositories and branches that have another name by now
      const pullRequests = [...former, ...latter]
      return await updateShares(tx, orgId, { pullRequests, formerBranches })
    }
    default:
      return await write()
  }
}

async function findPullRequests(tx: ISql, orgId: string, ids: readonly string[]) {
  const pullRequests = await tx<PullRequestId[]>`
    select k.repo, k.pr_number
    from pr_risks k
    where k.org_id = ${orgId}
      and k.id = any(${[...ids]}::text[])`
  return [await findCounted(tx, orgId, pullRequests), pullRequests] as const
}
