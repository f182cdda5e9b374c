// Reads what risk is computed from: commits, owners, findings of files.

import type { ISql } from '../../database/client.ts'
import { unnest } from '../../database/rows.ts'
import type { CommittedChange } from './history.ts'
import type { OpenFindings } from './sensitive-paths.ts'

/** A score considers at most this many commits, the latest ones. */
export const MAX_COMMITS = 2_000
/** The authors of a file are counted in at most this many of its latest changes. */
const MAX_OWN_CHANGES = 200

/** A commit's place in the history: commits have an order by time, then by sha. */
export interface HistoryPlace {
  at: Date
  sha: string
}

/** A stored commit; `at` is its time in milliseconds. */
export interface StoredChange extends CommittedChange {
  sha: string
}

export interface HistoryRange {
  project: string
  /** Exclusive. */
  after: HistoryPlace
  /** Exclusive. */
  before: Date
  /** A range with more commits is cut to the latest or the earliest. */
  keep: 'latest' | 'earliest'
  limit: number
}

/** Commits of the project in the range by time, without bots' and those of more than 30 files: from an index. */
export async function commitsIn(
  tx: ISql,
  orgId: string,
  { project, after, before, keep, limit }: HistoryRange,
): Promise<StoredChange[]> {
  const rows = await tx<(Pick<StoredChange, 'sha' | 'files'> & { committed_at: Date })[]>`
    select c.sha, c.committed_at, f.files
    from (
      select c.sha, c.committed_at
      from commits c
      where c.org_id = ${orgId}
        and c.project = ${project}
        and (c.committed_at, c.sha) > (${after.at}, ${after.sha})
        and c.committed_at < ${before}
        and c.files <= 30
        and not c.bot
      ${keep === 'latest' ? tx`order by c.committed_at desc, c.sha desc` : tx`order by c.committed_at, c.sha`}
      limit ${limit}
    ) c
    cross join lateral (
      select
        json_agg(
          json_build_object('path', f.path, 'file', f.file, 'deleted', f.status = 'deleted') order by f.path
        ) as files
      from commit_files f
      where f.org_id = ${orgId}
        and f.project = ${project}
        and f.sha = c.sha
    ) f
    where f.files is not null
    order by c.committed_at, c.sha`
  return rows.map(({ committed_at, ...row }) => ({ ...row, at: committed_at.getTime() }))
}

/** The current number of lines of these files, by current name; files without a known number are left out. */
export async function linesOf(tx: ISql, orgId: string, project: string, files: readonly string[]) {
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

interface Touched {
  change: number
  file: string
  /** The time of the change: only earlier commits count. */
  before: string
}

/** Counts for each change its files whose latest 200 changes before it have at most one author. */
export async function countSingleOwned(
  tx: ISql,
  orgId: string,
  project: string,
  touched: readonly Touched[],
): Promise<Map<number, number>> {
  const rows = await tx<{ change: number; single_owned: string }[]>`
    with latest as materialized (
      select n.change, n.file, l.committed_at, l.sha, l.author_email
      from ${unnest(tx, touched, { change: 'integer', file: 'text', before: 'timestamptz' })}
      left join lateral (
        select f.committed_at, f.sha, f.author_email
        from commit_files f
        where f.org_id = ${orgId}
          and f.project = ${project}
          and f.file = n.file
          and f.committed_at < n.before
          and not f.bot
        order by f.committed_at desc, f.sha desc
        limit 1
      ) l on true
    ),
    places as materialized (
      select distinct l.file, l.committed_at, l.sha, l.author_email
      from latest l
      where l.sha is not null
    ),
    shared as materialized (
      select p.file, p.committed_at, p.sha
      from places p
      where exists (
        select 1
        from (
          select f.author_email
          from commit_files f
          where f.org_id = ${orgId}
            and f.project = ${project}
            and f.file = p.file
            and (f.committed_at, f.sha) <= (p.committed_at, p.sha)
            and not f.bot
          order by f.committed_at desc, f.sha desc
          limit ${MAX_OWN_CHANGES}
        ) o
        where o.author_email <> p.author_email
      )
    )
    select l.change, count(*) as single_owned
    from latest l
    where (l.file, l.committed_at, l.sha) not in (select s.file, s.committed_at, s.sha from shared s)
      or l.sha is null
    group by l.change`
  return new Map(rows.map((row) => [row.change, Number(row.single_owned)]))
}

/** The open findings in the files with these keys, of current or former names, by key; files without any are left out. */
export async function findingsIn(tx: ISql, orgId: string, project: string, fileKeys: readonly string[]) {
  const keys = fileKeys.map((fileKey) => ({ fileKey }))
  const rows = await tx<(OpenFindings & { file_key: string })[]>`
    select encode(r.file_key, 'hex') as file_key, r.critical, r.high, r.medium, r.low
    from ${unnest(tx, keys, { file_key: ['bytea', ({ fileKey }) => fileKey] })}
    join file_risks r on r.org_id = ${orgId} and r.project = ${project} and r.file_key = n.file_key`
  return new Map(rows.map(({ file_key, ...findings }) => [file_key, findings]))
}
