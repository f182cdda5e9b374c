import type { ISql } from '../db/client.ts'
import { distinctKeys, entriesOfCommits, entriesOfFiles, type Key, keyTable } from './path-keys.ts'

/**
 * Brings `files` and `file_authors` up to date: the files `moving` are counted anew from their whole histories, the others
 * that the commits `added` touched are added to. Returns the directories (as `name`) these files lie in.
 */
export async function rebuildFiles(
  tx: ISql,
  orgId: string,
  moving: readonly Key[],
  added: readonly Key[],
): Promise<Key[]> {
  const anew = distinctKeys(moving)
  const gone = await deleteFiles(tx, orgId, anew)
  await addToAuthors(tx, orgId, anew, added)
  const touched = await addToFiles(tx, orgId, anew, added)
  return [...gone, ...touched]
}

async function deleteFiles(tx: ISql, orgId: string, files: readonly Key[]): Promise<Key[]> {
  if (files.length === 0) return []
  await tx`
    delete from file_authors a
    using ${keyTable(tx, files)} as n (project, path)
    where a.org_id = ${orgId}
      and a.project = n.project
      and a.path = n.path`
  return await tx<Key[]>`
    with gone as (
      delete from files f
      using ${keyTable(tx, files)} as n (project, path)
      where f.org_id = ${orgId}
        and f.project = n.project
        and f.path = n.path
      returning f.project, f.directory as name
    )
    select distinct g.project, g.name
    from gone g`
}

/** The entries to count: all of the files `anew`, and those of the commits `added` in other files. */
const entriesOf = (tx: ISql, orgId: string, anew: readonly Key[], added: readonly Key[]) => tx`
  anew (project, file) as materialized (
    select n.*
    from ${keyTable(tx, anew)} n
  ),
  entries as (
    select f.*
    from ${entriesOfFiles(tx, orgId, anew)}
    union all
    select f.*
    from ${entriesOfCommits(tx, orgId, added)}
    where not exists (
      select 1
      from anew w
      where w.project = f.project
        and w.file = f.file
    )
  )`

async function addToAuthors(
  tx: ISql,
  orgId: string,
  anew: readonly Key[],
  added: readonly Key[],
): Promise<void> {
  await tx`
    with ${entriesOf(tx, orgId, anew, added)}
    insert into file_authors as a (org_id, project, path, author_email, commits, last_at)
    select ${orgId}, e.project, e.file, e.author_email, count(distinct e.sha), max(e.committed_at)
    from entries e
    where not e.bot
    group by e.project, e.file, e.author_email
    on conflict (org_id, project, path, author_email) do update set
      commits = a.commits + excluded.commits,
      last_at = greatest(a.last_at, excluded.last_at)`
}

/**
 * The creator is the author of the earliest commit that added the file (nobody when that is a bot); the latest entry tells
 * whether it lives. Both are kept with their times, so that what comes late still takes its place.
 */
async function addToFiles(
  tx: ISql,
  orgId: string,
  anew: readonly Key[],
  added: readonly Key[],
): Promise<Key[]> {
  const isEarlier = tx`
    excluded.created_at is not null
    and (f.created_at is null or (excluded.created_at, excluded.created_sha) < (f.created_at, f.created_sha))`
  const isLater = tx`(excluded.last_at, excluded.last_sha) > (f.last_at, f.last_sha)`
  return await tx<Key[]>`
    with ${entriesOf(tx, orgId, anew, added)},
    touched as (
      insert into files as f (
        org_id, project, path, commits, additions, deletions, loc,
        creator_email, created_at, created_sha, first_at, last_at, last_sha, deleted
      )
      select
        ${orgId}, e.project, e.file,
        count(distinct e.sha) filter (where not e.bot),
        coalesce(sum(e.additions) filter (where not e.bot), 0),
        coalesce(sum(e.deletions) filter (where not e.bot), 0),
        sum(e.additions - e.deletions),
        (array_agg(case when e.bot then null else e.author_email end order by e.committed_at, e.sha)
          filter (where e.status = 'added'))[1],
        min(e.committed_at) filter (where e.status = 'added'),
        (array_agg(e.sha order by e.committed_at, e.sha) filter (where e.status = 'added'))[1],
        min(e.committed_at),
        max(e.committed_at),
        (array_agg(e.sha order by e.committed_at desc, e.sha desc))[1],
        -- a commit that both deletes a name and gives it to another file leaves it living
        (array_agg(e.status = 'deleted' order by e.committed_at desc, e.sha desc, e.status = 'deleted'))[1]
      from entries e
      group by e.project, e.file
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
