import type { ISql, Sql } from '../../database/client.ts'
import type { Rating } from '../risk/model.ts'

// Looks files up by their paths, in a fixed number of statements.

/** Authors of a file that are read, those with the most commits. */
const MAX_AUTHORS = 20
/** Commits of a file by which its pull requests are found, the latest ones. */
const MAX_COMMITS = 100
/** Pull requests that are looked through for a file, the newest ones. */
const MAX_RECENT = 500
/** Pull requests of a file in an answer, the newest ones. */
const MAX_PULL_REQUESTS = 5

/** The files that are asked for; without `project` those of every project. */
export interface Wanted {
  paths: string[]
  project?: string | undefined
}

/** The indexes begin with the project. */
const projectsOf = (sql: ISql, orgId: string, { project }: Wanted) =>
  project === undefined
    ? sql`array(select distinct d.project from expertise_domains d where d.org_id = ${orgId})`
    : sql`array[${project}]::text[]`

export interface StoredFile {
  path: string
  project: string
  commits: number
  additions: number
  deletions: number
  creator: string | null
  /** Empty for a file that was deleted. Members have their own addresses. */
  authors: { email: string; commits: number }[]
}

/** The histories of these files, by path and project. */
export const findFiles = async (sql: Sql, orgId: string, wanted: Wanted): Promise<StoredFile[]> =>
  await sql<StoredFile[]>`
  select
    n.path, f.project, f.commits, f.additions::double precision as additions, f.deletions::double precision as deletions,
    coalesce(o.member_email, f.creator_email) as creator, a.authors
  from unnest(${wanted.paths}::text[]) as n (path)
  cross join lateral (
    select f.project, f.commits, f.additions, f.deletions, f.creator_email, f.deleted
    from files f
    where f.org_id = ${orgId}
      and f.project = any (${projectsOf(sql, orgId, wanted)})
      and f.path = n.path
    offset 0
  ) f
  left join member_aliases o on o.org_id = ${orgId} and o.email = f.creator_email
  cross join lateral (
    select
      coalesce(json_agg(json_build_object('email', a.email, 'commits', a.commits) order by a.email), '[]') as authors
    from (
      select coalesce(l.member_email, a.author_email) as email, sum(a.commits) as commits
      from file_authors a
      left join member_aliases l on l.org_id = ${orgId} and l.email = a.author_email
      where a.org_id = ${orgId}
        and a.project = f.project
        and a.path = n.path
        and not f.deleted
      group by 1
      order by 2 desc, 1
      limit ${MAX_AUTHORS}
    ) a
  ) a
  order by n.path, f.project`

export interface Person {
  email: string
  /** Null for an author who is no member, whose address is not shown. */
  user_id: string | null
  display_name: string
}

/** The people with these addresses. */
export const findPeople = async (sql: Sql, orgId: string, emails: string[]): Promise<Person[]> =>
  await sql<Person[]>`
  select e.email, m.id as user_id, coalesce(m.display_name, nullif(c.author_name, ''), split_part(e.email, '@', 1)) as display_name
  from unnest(${emails}::text[]) as e (email)
  left join members m on m.org_id = ${orgId} and m.email = e.email
  left join lateral (
    select c.author_name
    from commits c
    where c.org_id = ${orgId}
      and c.author_email = e.email
      and m.id is null
    order by c.committed_at desc, c.sha desc
    limit 1
  ) c on true`

/** The newest pull requests that change a file, for each file that has some: by their commits, and the newest by their files. */
export const findPullRequests = async (sql: Sql, orgId: string, wanted: Wanted) =>
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
    where p.path = any (${wanted.paths}::text[])
      ${wanted.project === undefined ? sql`` : sql`and ${wanted.project} = any (k.projects)`}
  )
  select
    n.path,
    json_agg(
      json_build_object('repo', k.repo, 'pr_number', k.pr_number, 'rating', k.rating) order by k.created_at desc, k.id desc
    ) as found
  from unnest(${wanted.paths}::text[]) as n (path)
  cross join lateral (
    select k.repo, k.pr_number, k.rating, k.created_at, k.id
    from (
      select g.repo, g.pr_number
      from (
        select f.sha
        from commit_files f
        where f.org_id = ${orgId}
          and f.project = any (${projectsOf(sql, orgId, wanted)})
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
