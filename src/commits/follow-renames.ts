import type { ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import { filesOfCommits, historyOfFiles, type ItemId } from './item-ids.ts'

// Finds the current name of each changed file. A rename moves all earlier history of the old name to the new
// name. The current name of a change is therefore found by following renames: the first one of its name after
// its commit, then the first one of the new name after that, and so on. The result depends only on the set of
// renames, not on the order in which they are synced.

/** A file's name just after a commit. */
export interface DatedName {
  project: string
  name: string
  at: string
  sha: string
}

/** The next rename of `x.name` after the commit `x.at, x.sha`, as the lateral table `r`. */
const nextRename = (tx: ISql, orgId: string) => tx`
  cross join lateral (
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
      ${nextRename(tx, orgId)}
    )
    select distinct x.project, x.name
    from x`
}

/**
 * Updates `commit_files.file`, the current name, for the files `affected` and the commits `added`. Returns
 * the new names that were set.
 */
export async function followRenames(
  tx: ISql,
  orgId: string,
  affected: readonly ItemId[],
  added: readonly ItemId[],
): Promise<ItemId[]> {
  return await tx<ItemId[]>`
    with recursive changes as (
      select f.project, f.sha, f.path, f.committed_at
      from ${historyOfFiles(tx, orgId, affected)}
      union
      select f.project, f.sha, f.path, f.committed_at
      from ${filesOfCommits(tx, orgId, added)}
    ),
    x (project, change_sha, change_path, step, name, at, sha) as (
      select c.project, c.sha, c.path, 0, c.path, c.committed_at, c.sha
      from changes c
      union all
      select x.project, x.change_sha, x.change_path, x.step + 1, r.path, r.committed_at, r.sha
      from x
      ${nextRename(tx, orgId)}
    ),
    latest as (
      select distinct on (x.project, x.change_sha, x.change_path) x.project, x.change_sha, x.change_path, x.name
      from x
      order by x.project, x.change_sha, x.change_path, x.step desc
    ),
    renamed as (
      update commit_files f
      set file = l.name
      from latest l
      where f.org_id = ${orgId}
        and f.project = l.project
        and f.sha = l.change_sha
        and f.path = l.change_path
        and f.file <> l.name
      returning f.project, f.file as name
    )
    select distinct r.project, r.name
    from renamed r`
}
