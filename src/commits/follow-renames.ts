import type { ISql } from '../db/client.ts'
import { entriesOfCommits, entriesOfFiles, type Key } from './path-keys.ts'

// What a file is called now. A rename takes all that its old name stood for until then along, to the new name; so the name
// that an entry of history has now is found by going from rename to rename, each the first one after the last. It depends
// on the set of renames alone, not on the order in which they came to be known.

/** A name as it stood just after a commit. */
export interface Place {
  project: string
  name: string
  at: string | Date
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
 * The files, by the names they have now, whose history the new `renames`, or those of the `replaced` commits, may change.
 * Call it before anything of the batch is written: an entry that will lie elsewhere lies, until now, where the old name of
 * the rename that makes the difference leads to; and with a replaced one, where its new name leads to.
 */
export async function placesBefore(
  tx: ISql,
  orgId: string,
  renames: readonly Place[],
  replaced: readonly Key[],
): Promise<Key[]> {
  if (renames.length === 0 && replaced.length === 0) return []
  return await tx<Key[]>`
    with recursive x (project, name, at, sha) as (
      (
        select n.project, n.name, n.at, n.sha
        from unnest(
          ${renames.map((rename) => rename.project)}::text[],
          ${renames.map((rename) => rename.name)}::text[],
          ${renames.map((rename) => rename.at)}::timestamptz[],
          ${renames.map((rename) => rename.sha)}::text[]
        ) as n (project, name, at, sha)
        union all
        select f.project, p.name, f.committed_at, f.sha
        from ${entriesOfCommits(tx, orgId, replaced)}
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
 * Gives the entries of the files `moving` and of the commits `added` the names they have now. Returns the names of those
 * that moved.
 */
export async function followRenames(
  tx: ISql,
  orgId: string,
  moving: readonly Key[],
  added: readonly Key[],
): Promise<Key[]> {
  return await tx<Key[]>`
    with recursive entries as (
      select f.project, f.sha, f.path, f.committed_at
      from ${entriesOfFiles(tx, orgId, moving)}
      union
      select f.project, f.sha, f.path, f.committed_at
      from ${entriesOfCommits(tx, orgId, added)}
    ),
    x (project, entry_sha, entry_path, step, name, at, sha) as (
      select e.project, e.sha, e.path, 0, e.path, e.committed_at, e.sha
      from entries e
      union all
      select x.project, x.entry_sha, x.entry_path, x.step + 1, r.path, r.committed_at, r.sha
      from x
      ${nextRename(tx, orgId)}
    ),
    latest as (
      select distinct on (x.project, x.entry_sha, x.entry_path) x.project, x.entry_sha, x.entry_path, x.name
      from x
      order by x.project, x.entry_sha, x.entry_path, x.step desc
    ),
    moved as (
      update commit_files f
      set file = l.name
      from latest l
      where f.org_id = ${orgId}
        and f.project = l.project
        and f.sha = l.entry_sha
        and f.path = l.entry_path
        and f.file <> l.name
      returning f.project, f.file as name
    )
    select distinct m.project, m.name
    from moved m`
}
