// Finds the pull requests of a file, and a pull request's score by its number, for the tools for agents.

import type { Sql } from '../../database/client.ts'
import { type FileFilter, projectsOf } from '../members/file-queries.ts'
import type { Rating } from '../risk/model.ts'

/** Commits of a file by which its pull requests are found, the latest ones. */
const MAX_COMMITS = 100
/** Pull requests that are looked through for a file, the newest ones. */
const MAX_RECENT = 500
const MAX_PULL_REQUESTS = 5

/** The newest pull requests that change a file, for each file that has some: by their commits, and the newest by their files. */
export const findPullRequests = async (sql: Sql, orgId: string, filter: FileFilter) =>
  await sql<{ path: string; found: { repo: string; pr_number: number; rating: Rating }[] }[]>`
  with by_files as materialized (
    select p.path, k.repo, k.pr_number
    from (
      select k.repo, k.pr_number, k.origin, k.projects
      from pr_risks k
      where k.org_id = ${orgId}
      order by k.created_at desc, k.id desc
      limit ${MAX_RECENT}
    ) k
    cross join lateral json_array_elements_text(k.origin -> 'paths') as p (path)
    where p.path = any (${filter.paths}::text[])
      ${filter.project === undefined ? sql`` : sql`and ${filter.project} = any (k.projects)`}
  )
  select
    n.path,
    json_agg(
      json_build_object('repo', k.repo, 'pr_number', k.pr_number, 'rating', k.rating) order by k.created_at desc, k.id desc
    ) as found
  from unnest(${filter.paths}::text[]) as n (path)
  cross join lateral (
    select k.repo, k.pr_number, k.rating, k.created_at, k.id
    from (
      select g.repo, g.pr_number
      from (
        select f.sha
        from commit_files f
        where f.org_id = ${orgId}
          and f.project = any (${projectsOf(sql, orgId, filter)})
          and f.file = n.path
        order by f.committed_at desc
        limit ${MAX_COMMITS}
      ) f
      join pr_commits g on g.org_id = ${orgId} and g.sha = f.sha
      union
      select b.repo, b.pr_number
      from by_files b
      where b.path = n.path
    ) g
    join pr_risks k on k.org_id = ${orgId} and k.repo = g.repo and k.pr_number = g.pr_number
    order by k.created_at desc, k.id desc
    limit ${MAX_PULL_REQUESTS}
  ) k
  group by n.path`

/** The id of a pull request's risk score; undefined where there is none. */
export async function findRiskId(sql: Sql, orgId: string, repo: string, prNumber: number) {
  const [row] = await sql<{ id: string }[]>`
    select k.id
    from pr_risks k
    where k.org_id = ${orgId}
      and k.repo = ${repo}
      and k.pr_number = ${prNumber}`
  return row?.id
}
