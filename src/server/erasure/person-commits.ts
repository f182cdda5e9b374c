import type { ISql, Sql } from '../../database/client.ts'
import { lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { counting } from '../../database/rollups.ts'
import { updateExpertise } from '../../features/commits/expertise.ts'
import type { ItemId } from '../../features/commits/item-ids.ts'
import { COMMIT_ROLLUP } from '../../features/commits/rollup.ts'
import { updateParts } from '../../features/usage/pull-request-write.ts'
import type { Erasure } from './person-tables.ts'

/** The names that the authors with these addresses have in commits. */
export async function findAuthorNames(sql: Sql, orgId: string, emails: readonly string[]): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select distinct c.author_name as name
    from commits c
    where c.org_id = ${orgId}
      and c.author_email = any(${[...emails]}::text[])`
  return rows.map(({ name }) => name)
}

/**
 * Gives the person's commits, and all that is computed of them, to the pseudonym: a project at a time, under the lock of
 * the history, and for a moment at its end under that of the organization. Returns how many commits.
 */
export async function eraseAuthor(erasure: Erasure): Promise<number> {
  const { email, aliases } = erasure.person
  let commits = 0
  // the own address last: the expertise of all of them is stored with it
  for (const address of [...aliases, email]) commits += await eraseAddress(erasure, address)
  return commits
}

async function eraseAddress({ sql, orgId, pseudonym }: Erasure, email: string): Promise<number> {
  const projects = await sql<{ project: string }[]>`
    select c.project from commits c where c.org_id = ${orgId} and c.author_email = ${email}
    union
    select e.project from expertise_authors e where e.org_id = ${orgId} and e.author_email = ${email}
    union
    select f.project from files f where f.org_id = ${orgId} and f.creator_email = ${email}`
  let commits = 0
  for (const { project } of projects) {
    commits += await sql.begin(async (tx) => {
      await lockHistory(tx, orgId)
      const renamed = await renameAuthor(tx, orgId, project, email, pseudonym)
      await renameInFiles(tx, orgId, project, email, pseudonym.email)
      await updateExpertise(tx, orgId, await renameInDomains(tx, orgId, project, email, pseudonym.email))
      await lockOrganization(tx, orgId)
      // the person's sessions have the pseudonym by now: they belonged to nothing until their commits had it too
      await updateParts(tx, orgId, { pullRequests: [], formerBranches: [], commits: renamed, members: [] })
      return renamed.length
    })
  }
  return commits
}

/** Returns the hashes of the commits. */
async function renameAuthor(
  tx: ISql,
  orgId: string,
  project: string,
  email: string,
  pseudonym: { email: string; name: string },
): Promise<string[]> {
  await tx`
    update commit_files
    set author_email = ${pseudonym.email}
    where org_id = ${orgId}
      and project = ${project}
      and author_email = ${email}`
  const ofBoth = tx`s.project = ${project} and s.member in (${email}, ${pseudonym.email})`
  return await counting(tx, orgId, [COMMIT_ROLLUP], { before: ofBoth, after: ofBoth }, async () => {
    const rows = await tx<{ sha: string }[]>`
      update commits
      set author_email = ${pseudonym.email}, author_name = ${pseudonym.name}
      where org_id = ${orgId}
        and project = ${project}
        and author_email = ${email}
      returning sha`
    return rows.map(({ sha }) => sha)
  })
}

/** Adds to the rows of the pseudonym: the person may have got commits since an earlier pass. */
async function renameInFiles(
  tx: ISql,
  orgId: string,
  project: string,
  email: string,
  pseudonym: string,
): Promise<void> {
  await tx`
    update files
    set creator_email = ${pseudonym}
    where org_id = ${orgId}
      and project = ${project}
      and creator_email = ${email}`
  await tx`
    insert into file_authors as a (org_id, project, path, author_email, commits, last_at)
    select f.org_id, f.project, f.path, ${pseudonym}, f.commits, f.last_at
    from file_authors f
    where f.org_id = ${orgId}
      and f.project = ${project}
      and f.author_email = ${email}
    on conflict (org_id, project, path, author_email) do update set
      commits = a.commits + excluded.commits,
      last_at = greatest(a.last_at, excluded.last_at)`
  await tx`
    delete from file_authors f
    where f.org_id = ${orgId}
      and f.project = ${project}
      and f.author_email = ${email}`
}

/** Adds to the rows of the pseudonym, too. Returns the domains, whose results `updateExpertise` then computes. */
async function renameInDomains(
  tx: ISql,
  orgId: string,
  project: string,
  email: string,
  pseudonym: string,
): Promise<ItemId[]> {
  await tx`
    insert into expertise_authors as a (org_id, project, directory, author_email, commits)
    select e.org_id, e.project, e.directory, ${pseudonym}, e.commits
    from expertise_authors e
    where e.org_id = ${orgId}
      and e.project = ${project}
      and e.author_email = ${email}
    on conflict (org_id, project, directory, author_email) do update set
      commits = a.commits + excluded.commits`
  return await tx<ItemId[]>`
    delete from expertise_authors e
    where e.org_id = ${orgId}
      and e.project = ${project}
      and e.author_email = ${email}
    returning e.project, e.directory as name`
}
