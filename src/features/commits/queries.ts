// Reads the hashes of stored commits, for a sync of a project, and commits as records, for the export.

import type { CommitAi, CommitFile, CommitRecord } from '../../analysis/records/commit.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { pagesOf } from '../../database/rows.ts'

/** Returns the hashes of the project's commits, each with whether it counts as on the default branch. */
export async function findKnownCommits(sql: ISql, orgId: string, project: string) {
  const rows = await sql<{ sha: string; counts: boolean }[]>`
    select c.sha, a.on_default_branch is not false as counts
    from commits c
    left join commit_ai a
      on a.org_id = ${orgId}
      and a.project = c.project
      and a.sha = c.sha
    where c.org_id = ${orgId}
      and c.project = ${project}`
  return new Map(rows.map(({ sha, counts }) => [sha, counts]))
}

/** The number of commits that `commitPages` yields. */
export async function countStoredCommits(sql: Sql, orgId: string): Promise<number> {
  const [row] = await sql<{ commits: string }[]>`
    select count(*) as commits
    from commits c
    where c.org_id = ${orgId}`
  return Number(row?.commits ?? 0)
}

interface CommitRow
  extends Pick<CommitRecord, 'project' | 'sha' | 'author_email' | 'author_name' | 'subject' | 'survival'> {
  committed_at: Date
  files: CommitFile[] | null
  ai: CommitAi | null
  on_default_branch: boolean | null
}

/** The commits of the organization, or of a project of it, as records, ordered by project and hash. */
export async function* commitPages(
  sql: ISql,
  orgId: string,
  { project, size }: { project?: string; size: number },
): AsyncGenerator<CommitRecord[]> {
  const read = (after: { project: string; sha: string }) => commitsAfter(sql, orgId, after, project, size)
  for await (const rows of pagesOf(size, { project: '', sha: '' }, read))
    yield rows.map(({ ai, survival, on_default_branch, ...row }) => ({
      type: 'commit',
      ...row,
      ...(ai === null ? {} : { ai }),
      ...(survival == null ? {} : { survival }),
      ...(on_default_branch === null ? {} : { on_default_branch }),
      committed_at: row.committed_at.toISOString(),
      files: row.files ?? [],
    }))
}

async function commitsAfter(
  sql: ISql,
  orgId: string,
  after: { project: string; sha: string },
  project: string | undefined,
  size: number,
): Promise<CommitRow[]> {
  return await sql<CommitRow[]>`
    select
      c.project, c.sha, c.author_email, c.author_name, c.committed_at, c.subject, f.files,
      case
        when a.provenance is not null then json_build_object(
          'lines', a.lines, 'effective_lines', a.effective_lines, 'by_agent', a.by_agent, 'provenance', a.provenance,
          'sessions', a.sessions
        )
      end as ai,
      (
        select json_agg(json_build_object('days', v.days, 'lines', v.lines) order by v.days)
        from (values (14, a.survival_14), (30, a.survival_30)) as v (days, lines)
        where v.lines is not null
      ) as survival,
      a.on_default_branch
    from (
      select c.project, c.sha, c.author_email, c.author_name, c.committed_at, c.subject
      from commits c
      where c.org_id = ${orgId}
        and (c.project, c.sha) > (${after.project}, ${after.sha})
        ${project === undefined ? sql`` : sql`and c.project = ${project}`}
      order by c.project, c.sha
      limit ${size}
    ) c
    left join commit_ai a on a.org_id = ${orgId} and a.project = c.project and a.sha = c.sha
    left join lateral (
      select json_agg(
        json_strip_nulls(
          json_build_object(
            'path', f.path, 'additions', f.additions, 'deletions', f.deletions,
            'status', f.status, 'previous_path', f.previous_path
          )
        )
        order by f.path
      ) as files
      from commit_files f
      where f.org_id = ${orgId}
        and f.project = c.project
        and f.sha = c.sha
    ) f on true
    order by c.project, c.sha`
}
