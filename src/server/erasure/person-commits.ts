// Erases a person from commits.

import { inBatches } from '../../base/batches.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { countCommits, updateExpertise } from '../../features/commits/expertise.ts'
import { rebuildFiles } from '../../features/commits/file-history.ts'
import { filesOfCommits, type ItemId, idTable } from '../../features/commits/item-ids.ts'
import { useCustomPlans } from '../../features/commits/write.ts'
import { updateShares } from '../../features/usage/pull-request-write.ts'
import { countingTexts } from './person-rollups.ts'
import type { Erasure } from './person-tables.ts'

/** Commits of one transaction: their files are counted again from their whole histories. */
const BATCH = 200

export async function findAuthorNames(sql: Sql, orgId: string, emails: readonly string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select distinct c.author_name as name
    from commits c
    where c.org_id = ${orgId}
      and c.author_email = any(${[...emails]}::text[])`
  return rows.map(({ name }) => name)
}

/**
 * Gives the person's commits to the pseudonym and computes again what follows from them: under the lock of the history, and for
 * a moment at the end of each batch under that of the organization. Returns how many commits.
 */
export const eraseAuthor = ({ sql, orgId, person, pseudonym }: Erasure): Promise<number> =>
  inBatches(BATCH, () =>
    sql.begin(async (tx) => {
      await lockHistory(tx, orgId)
      await useCustomPlans(tx)
      const commits = await findCommits(tx, orgId, [person.email, ...person.aliases])
      if (commits.length === 0) return 0
      const counted = await countCommits(tx, orgId, commits, -1)
      const rows = commits.map(({ project, name }) => ({ project, sha: name }))
      await countingTexts(tx, orgId, 'commits', rows, () => renameAuthor(tx, orgId, commits, pseudonym))
      const files = await tx<ItemId[]>`
        select distinct f.project, f.file as name
        from ${filesOfCommits(tx, orgId, commits)}`
      const domains = await rebuildFiles(tx, orgId, files, [])
      await countCommits(tx, orgId, commits, 1)
      await updateExpertise(tx, orgId, [...counted, ...domains])
      await lockOrganization(tx, orgId)
      // the person's sessions have the pseudonym by now: they belonged to nothing until their commits had it too
      const hashes = commits.map(({ name }) => name)
      await updateShares(tx, orgId, { commits: hashes })
      return commits.length
    }),
  )

const findCommits = (tx: ISql, orgId: string, emails: readonly string[]): Promise<ItemId[]> => tx<ItemId[]>`
  select c.project, c.sha as name
  from commits c
  where c.org_id = ${orgId}
    and c.author_email = any(${[...emails]}::text[])
  order by c.project, c.sha
  limit ${BATCH}`

async function renameAuthor(
  tx: ISql,
  orgId: string,
  commits: readonly ItemId[],
  { email, name }: Erasure['pseudonym'],
): Promise<void> {
  await tx`
    update commits c
    set author_email = ${email}, author_name = ${name}
    from ${idTable(tx, commits, 'sha')}
    where c.org_id = ${orgId}
      and c.project = n.project
      and c.sha = n.sha`
  await tx`
    update commit_files f
    set author_email = ${email}
    from ${idTable(tx, commits, 'sha')}
    where f.org_id = ${orgId}
      and f.project = n.project
      and f.sha = n.sha`
}
