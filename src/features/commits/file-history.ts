// Counts who changed each file, and how often, in `files` and `file_authors`: the files `renamed` are counted again from
// their whole histories; to the counts of the others that the commits `added` changed, these commits are added. Returns the
// directories of all these files.

import type { ISql } from '../../database/client.ts'
import { deleteItems, distinctIds, filesOfCommits, historyOfFiles, type ItemId, idTable } from './item-ids.ts'

export async function rebuildFiles(
  tx: ISql,
  orgId: string,
  renamed: readonly ItemId[],
  added: readonly ItemId[],
): Promise<ItemId[]> {
  const recounted = distinctIds(renamed)
  const before = await deleteFiles(tx, orgId, recounted)
  await addToAuthors(tx, orgId, recounted, added)
  const after = await addToFiles(tx, orgId, recounted, added)
  return [...before, ...after]
}

async function deleteFiles(tx: ISql, orgId: string, files: readonly ItemId[]): Promise<ItemId[]> {
  if (files.length === 0) return []
  await deleteItems(tx, orgId, 'file_authors', files, 'path')
  return await tx<ItemId[]>`
    with deleted as (
      delete from files f
      using ${idTable(tx, files, 'path')}
      where f.org_id = ${orgId}
        and f.project = n.project
        and f.path = n.path
      returning f.project, f.directory as name
    )
    select distinct d.project, d.name
    from deleted d`
}

/** The changes to count, as `changes`: all of the files `recounted`, and those of the commits `added` in other files. */
const changesToCount = (
  tx: ISql,
  orgId: string,
  recounted: readonly ItemId[],
  added: readonly ItemId[],
) => tx`
  recounted as materialized (
    select n.*
    from ${idTable(tx, recounted, 'path')}
  ),
  changes as (
    select f.*
    from ${historyOfFiles(tx, orgId, recounted)}
    union all
    select f.*
    from ${filesOfCommits(tx, orgId, added)}
    -- a hash of few names, whatever the planner expects; as a join it compared each change with each name
    where (f.project, f.file) not in (
      select r.project, r.path
      from recounted r
    )
  )`

async function addToAuthors(tx: ISql, orgId: string, recounted: readonly ItemId[], added: readonly ItemId[]) {
  await tx`
    with ${changesToCount(tx, orgId, recounted, added)}
    insert into file_authors as a (org_id, project, path, author_email, commits, last_at)
    select ${orgId}, c.project, c.file, c.author_email, count(distinct c.sha), max(c.committed_at)
    from changes c
    where not c.bot
    group by c.project, c.file, c.author_email
    on conflict (org_id, project, path, author_email) do update set
      commits = a.commits + excluded.commits,
      last_at = greatest(a.last_at, excluded.last_at)`
}

/** The creator is the author of the earliest commit that added the file; the latest change says whether it is deleted. */
async function addToFiles(tx: ISql, orgId: string, recounted: readonly ItemId[], added: readonly ItemId[]) {
  const isEarlier = tx`
    excluded.created_at is not null
    and (f.created_at is null or (excluded.created_at, excluded.created_sha) < (f.created_at, f.created_sha))`
  const isLater = tx`(excluded.last_at, excluded.last_sha) > (f.last_at, f.last_sha)`
  return await tx<ItemId[]>`
    with ${changesToCount(tx, orgId, recounted, added)},
    touched as (
      insert into files as f (
        org_id, project, path, commits, additions, deletions, loc,
        creator_email, created_at, created_sha, first_at, last_at, last_sha, deleted
      )
      select
        ${orgId}, c.project, c.file,
        count(distinct c.sha) filter (where not c.bot),
        coalesce(sum(c.additions) filter (where not c.bot), 0),
        coalesce(sum(c.deletions) filter (where not c.bot), 0),
        sum(c.additions - c.deletions),
        (array_agg(case when c.bot then null else c.author_email end order by c.committed_at, c.sha)
          filter (where c.status = 'added'))[1],
        min(c.committed_at) filter (where c.status = 'added'),
        (array_agg(c.sha order by c.committed_at, c.sha) filter (where c.status = 'added'))[1],
        min(c.committed_at),
        max(c.committed_at),
        (array_agg(c.sha order by c.committed_at desc, c.sha desc))[1],
        -- a name is not deleted if a commit deletes a file and renames another to its name
        (array_agg(c.status = 'deleted' order by c.committed_at desc, c.sha desc, c.status = 'deleted'))[1]
      from changes c
      group by c.project, c.file
      on conflict (org_id, project, path) do update set
        commits = f.commits + excluded.commits,
        additions = f.additions + excluded.additions,
        deletions = f.deletions + excluded.deletions,
        loc = f.loc + excluded.loc,
        creator_email = case when ${isEarlier} then excluded.creator_email else f.creator_email end,
        created_at = case when ${isEarlier} then excluded.created_at else f.created_at end,
        created_sha = case when ${isEarlier} then excluded.created_sha else f.created_sha end,
        first_at = least(f.first_at, excluded.first_at),
        last_at = case when ${isLater} then excluded.last_at else f.last_at end,
        last_sha = case when ${isLater} then excluded.last_sha else f.last_sha end,
        deleted = case when ${isLater} then excluded.deleted else f.deleted end
      returning f.project, f.directory as name
    )
    select distinct t.project, t.name
    from touched t`
}
