import type { ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import type { CommittedChange } from './history.ts'
import type { OpenFindings } from './sensitive-paths.ts'

/** A score considers at most this many commits, the latest ones. */
export const MAX_COMMITS = 2_000
/** The authors of a file are counted in at most this many of its latest changes. */
const MAX_OWN_CHANGES = 200

interface ChangeRow {
  sha: string
  committed_at: Date
  path: string
  file: string
  deleted: boolean
}

/**
 * The project's latest MAX_COMMITS commits in the range, in order of time, without those of bots and those with more than
 * 30 files. Read from an index: the cost does not depend on the length of the history.
 */
export async function commitsIn(
  tx: ISql,
  orgId: string,
  { project, from, before }: { project: string; from: Date; before: Date },
): Promise<CommittedChange[]> {
  const rows = await tx<ChangeRow[]>`
    select c.sha, c.committed_at, f.path, f.file, f.deleted
    from (
      select c.sha, c.committed_at
      from commits c
      where c.org_id = ${orgId}
        and c.project = ${project}
        and c.committed_at >= ${from}
        and c.committed_at < ${before}
        and c.files <= 30
        and not c.bot
      order by c.committed_at desc, c.sha desc
      limit ${MAX_COMMITS}
    ) c
    cross join lateral (
      select f.path, f.file, f.status = 'deleted' as deleted
      from commit_files f
      where f.org_id = ${orgId}
        and f.project = ${project}
        and f.sha = c.sha
      -- keeps the planner from reading all of the project's files to join them
      offset 0
    ) f
    order by c.committed_at, c.sha, f.path`
  const commits: CommittedChange[] = []
  let files: ChangeRow[] = []
  let sha: string | undefined
  for (const row of rows) {
    if (row.sha !== sha) {
      files = []
      commits.push({ at: row.committed_at.getTime(), files })
      sha = row.sha
    }
    files.push(row)
  }
  return commits
}

/** The current number of lines of these files, by current name; files without a known number are left out. */
export async function linesOf(
  tx: ISql,
  orgId: string,
  project: string,
  files: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx<{ path: string; loc: string }[]>`
    select n.path, f.loc
    from unnest(${[...files]}::text[]) as n (path)
    cross join lateral (
      select f.loc
      from files f
      where f.org_id = ${orgId}
        and f.project = ${project}
        and f.path = n.path
      offset 0
    ) f`
  return new Map(rows.map(({ path, loc }) => [path, Number(loc)]))
}

/** A file of a change, by its current name. */
interface Touched {
  change: number
  file: string
  /** The time of the change: only earlier commits count. */
  before: string
}

/** For each change, the number of its files whose latest 200 changes have at most one author. */
export async function countSingleOwned(
  tx: ISql,
  orgId: string,
  project: string,
  touched: readonly Touched[],
): Promise<Map<number, number>> {
  const rows = await tx<{ change: number; single_owned: string }[]>`
    select n.change, count(*) as single_owned
    from ${unnest(tx, touched, { change: 'integer', file: 'text', before: 'timestamptz' })}
    where (
      select count(distinct l.author_email)
      from (
        select f.author_email
        from commit_files f
        where f.org_id = ${orgId}
          and f.project = ${project}
          and f.file = n.file
          and f.committed_at < n.before
          and not f.bot
        order by f.committed_at desc, f.sha desc
        limit ${MAX_OWN_CHANGES}
      ) l
    ) <= 1
    group by n.change`
  return new Map(rows.map((row) => [row.change, Number(row.single_owned)]))
}

/** The open findings in the files of each change, each once per file; `fileKey`: of a current or former name of a file. */
export async function findingsIn(
  tx: ISql,
  orgId: string,
  project: string,
  named: readonly { change: number; fileKey: string }[],
): Promise<Map<number, OpenFindings>> {
  const rows = await tx<({ change: number } & Record<keyof OpenFindings, string>)[]>`
    select
      n.change, sum(r.critical) as critical, sum(r.high) as high, sum(r.medium) as medium, sum(r.low) as low
    from ${unnest(tx, named, { change: 'integer', file_key: ['bytea', ({ fileKey }) => fileKey] })}
    join file_risks r on r.org_id = ${orgId} and r.project = ${project} and r.file_key = n.file_key
    group by n.change`
  return new Map(
    rows.map(({ change, critical, high, medium, low }) => [
      change,
      { critical: Number(critical), high: Number(high), medium: Number(medium), low: Number(low) },
    ]),
  )
}
