// Finds the current name of each changed file. A rename moves all earlier history of the old name to the new
// name. The current name of a change is therefore found by following renames: the first one of its name after
// its commit, then the first one of the new name after that, and so on. The result depends only on the set of
// renames, not on the order in which they are synced.

import type { ISql } from '../../database/client.ts'
import { unnest } from '../../database/rows.ts'
import { filesOfCommits, historyOfFiles, type ItemId } from './item-ids.ts'

/** A file's name just after a commit. */
export interface DatedName {
  project: string
  name: string
  at: string
  sha: string
}

/** The next rename of `x.name` after the commit `x.at, x.sha`, as the table `r`, to be joined. */
const nextRename = (tx: ISql, orgId: string) => tx`
  lateral (
    select f.path, f.committed_at, f.sha
    from commit_files f
    where f.org_id = ${orgId}
      and f.project = x.project
      and f.previous_path = x.name
      and f.status = 'renamed'
      and (f.committed_at, f.sha) > (x.at, x.sha)
    order by f.committed_at, f.sha, f.path
    limit 1
  ) r`

/**
 * The files, by current name, whose history the new `renames` or those of the `replaced` commits may change.
 * Call it before the batch is written: until then, the changes that a new rename moves have the current name
 * of its old name, and those that a replaced rename moved have the current name of its new name.
 */
export async function affectedFiles(
  tx: ISql,
  orgId: string,
  renames: readonly DatedName[],
  replaced: readonly ItemId[],
): Promise<ItemId[]> {
  if (renames.length === 0 && replaced.length === 0) return []
  return await tx<ItemId[]>`
    with recursive x (project, name, at, sha) as (
      (
        select n.project, n.name, n.at, n.sha
        from ${unnest(tx, renames, { project: 'text', name: 'text', at: 'timestamptz', sha: 'text' })}
        union all
        select f.project, p.name, f.committed_at, f.sha
        from ${filesOfCommits(tx, orgId, replaced)}
        cross join lateral (values (f.path), (f.previous_path)) as p (name)
        where p.name is not null
      )
      union
      select x.project, r.path, r.committed_at, r.sha
      from x
      cross join ${nextRename(tx, orgId)}
    )
    select distinct x.project, x.name
    from x`
}

/** A change that renames a file. `time` is the rank of its commit in the order of renames. */
interface Rename {
  project: string
  sha: string
  path: string
  previous_path: string
  time: number
}

/**
 * Updates `commit_files.file`, the current name, for the files `affected` and the commits `added`. Returns
 * the new names that were set. The cost grows with the number of changes and renames, however long the chains of
 * renames are: each rename is followed once.
 */
export async function followRenames(
  tx: ISql,
  orgId: string,
  affected: readonly ItemId[],
  added: readonly ItemId[],
): Promise<ItemId[]> {
  const changes = tx`
    select f.project, f.sha, f.path, f.committed_at
    from ${historyOfFiles(tx, orgId, affected)}
    union
    select f.project, f.sha, f.path, f.committed_at
    from ${filesOfCommits(tx, orgId, added)}`
  // latest first; the smallest path of a commit last, which is the one that a name follows
  const renames = await tx<Rename[]>`
    with recursive names (project, name) as (
      select c.project, c.path
      from (${changes}) c
      union
      select f.project, f.path
      from names n
      join commit_files f
        on f.org_id = ${orgId} and f.project = n.project and f.previous_path = n.name and f.status = 'renamed'
    )
    select
      f.project, f.sha, f.path, f.previous_path,
      dense_rank() over (order by f.committed_at, f.sha)::integer as time
    from names n
    join commit_files f
      on f.org_id = ${orgId} and f.project = n.project and f.previous_path = n.name and f.status = 'renamed'
    order by f.committed_at desc, f.sha desc, f.path desc`
  // new rows have their path as name
  if (renames.length === 0 && affected.length === 0) return []
  // materialized: joined with the rest, of an organization that is not in the statistics each change was compared with all
  return await tx<ItemId[]>`
    with latest as materialized (
      select x.project, x.sha, x.name as path, coalesce(n.current, x.name) as name
      from (
        select c.project, c.path as name, c.committed_at as at, c.sha
        from (${changes}) c
      ) x
      left join ${nextRename(tx, orgId)} on true
      left join ${unnest(tx, currentNames(renames), { project: 'text', sha: 'text', path: 'text', current: 'text' })}
        on n.project = x.project and n.sha = r.sha and n.path = r.path
    ),
    renamed as (
      update commit_files f
      set file = l.name
      from latest l
      where f.org_id = ${orgId}
        and f.project = l.project
        and f.sha = l.sha
        and f.path = l.path
        and f.file <> l.name
      returning f.project, f.file as name
    )
    select distinct r.project, r.name
    from renamed r`
}

/** The renames, from the latest on, with the `current` name: that of the next rename of the new name. */
function currentNames(renames: readonly Rename[]): (Rename & { current: string })[] {
  const fileKey = ({ project }: Rename, name: string): string => `${project}\0${name}`
  const followed = new Map<string, string>()
  const dated = renames.map((rename) => ({ ...rename, current: rename.path }))
  for (let start = 0; start < dated.length; ) {
    let end = start
    while (dated[end]?.time === dated[start]?.time) end += 1
    const ofCommit = dated.slice(start, end)
    // the renames of one commit do not follow each other
    for (const rename of ofCommit) rename.current = followed.get(fileKey(rename, rename.path)) ?? rename.path
    for (const rename of ofCommit) followed.set(fileKey(rename, rename.previous_path), rename.current)
    start = end
  }
  return dated
}
