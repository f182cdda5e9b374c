import { AUDIT_ROLLUP } from '../../accounts/audit-log/rollup.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { addDifference, counting, type Rollup } from '../../database/rollups.ts'
import { COMMIT_ROLLUP, countsOfCommits } from '../../features/commits/rollup.ts'
import {
  countsOfParts,
  findCounted,
  OUTCOME_ROLLUP,
  recountPullRequests,
} from '../../features/usage/outcome-rollup.ts'
import { findBranches, updateParts } from '../../features/usage/pull-request-write.ts'
import { TICKET_ROLLUP } from '../../features/usage/rollup.ts'

type Texts = Readonly<Record<string, string | null>>
type Write = () => Promise<void>

/**
 * Does `write`, which replaces texts of rows of the table, and changes the rollups that count them: they are right after each
 * transaction, because records that come before the next one change them too. `rows`: the texts before and after it. Needs
 * the locks of the history and of the organization.
 */
export async function countingTexts(
  tx: ISql,
  orgId: string,
  table: string,
  rows: readonly Texts[],
  write: Write,
): Promise<void> {
  const all = (column: string) => rows.map((row) => row[column] ?? '')
  switch (table) {
    case 'commits':
    case 'commit_ai': {
      const commits = rows.map(({ project, sha }) => ({ project: project ?? '', sha: sha ?? '' }))
      return await around(tx, orgId, COMMIT_ROLLUP, countsOfCommits(tx, orgId, commits), write)
    }
    case 'audit_log': {
      const of = tx`s.id = any(${all('id')}::text[])`
      return await counting(tx, orgId, [AUDIT_ROLLUP], { before: of, after: of }, write)
    }
    case 'session_tickets': {
      const of = tx`s.session_id = any(${all('session_id')}::text[])`
      return await counting(tx, orgId, [TICKET_ROLLUP], { before: of, after: of }, write)
    }
    case 'pr_sessions':
      return await around(tx, orgId, OUTCOME_ROLLUP, countsOfParts(tx, orgId, all('session_id')), write)
    case 'pr_risks': {
      const [before, former] = await findPullRequests(tx, orgId, all('id'))
      const formerBranches = await findBranches(tx, orgId, former)
      await write()
      const [after, pullRequests] = await findPullRequests(tx, orgId, all('id'))
      await recountPullRequests(tx, orgId, before, after)
      // sessions that name a repository or branch of another name by now
      return await updateParts(tx, orgId, { pullRequests, formerBranches, commits: [], members: [] })
    }
    default:
      return await write()
  }
}

async function around(
  tx: ISql,
  orgId: string,
  rollup: Rollup,
  counts: Fragment,
  write: Write,
): Promise<void> {
  await addDifference(tx, orgId, rollup, { before: counts, after: undefined })
  await write()
  await addDifference(tx, orgId, rollup, { before: undefined, after: counts })
}

async function findPullRequests(tx: ISql, orgId: string, ids: readonly string[]) {
  const found = await tx<{ repo: string; prNumber: number }[]>`
    select k.repo, k.pr_number as "prNumber"
    from pr_risks k
    where k.org_id = ${orgId}
      and k.id = any(${[...ids]}::text[])`
  return [await findCounted(tx, orgId, found), found] as const
}
