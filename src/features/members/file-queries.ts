// Finds files by their paths, with authors and their names, in a fixed number of statements.

import type { ISql, Sql } from '../../database/client.ts'
import { shownName } from './expertise-queries.ts'

/** Authors of a file that are read, those with the most commits. */
const MAX_AUTHORS = 20

/** The files that are asked for; without `project` those of every project. */
export interface FileFilter {
  paths: string[]
  project?: string | undefined
}

/** The indexes begin with the project. */
export const projectsOf = (sql: ISql, orgId: string, { project }: FileFilter) =>
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
export const findFiles = async (sql: Sql, orgId: string, filter: FileFilter): Promise<StoredFile[]> =>
  await sql<StoredFile[]>`
  select
    n.path, f.project, f.commits, f.additions::double precision as additions, f.deletions::double precision as deletions,
    coalesce(o.member_email, f.creator_email) as creator, a.authors
  from unnest(${filter.paths}::text[]) as n (path)
  cross join lateral (
    select f.project, f.commits, f.additions, f.deletions, f.creator_email, f.deleted
    from files f
    where f.org_id = ${orgId}
      and f.project = any (${projectsOf(sql, orgId, filter)})
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

/** Paths of a list of files with one name. */
const MAX_NAMED = 20

/** The files with this name in any folder; none where the name alone is a file. */
export async function findNamed(sql: Sql, orgId: string, name: string): Promise<string[]> {
  const rows = await sql<{ path: string }[]>`
    select distinct f.path
    from files f
    where f.org_id = ${orgId}
      and not f.deleted
      and (f.path = ${name} or right(f.path, char_length(${`/${name}`}::text)) = ${`/${name}`})
    order by f.path
    limit ${MAX_NAMED}`
  const paths = rows.map(({ path }) => path)
  return paths.includes(name) ? [] : paths
}

export interface Person {
  email: string
  /** Null for an author who is no member, whose address is not shown. */
  user_id: string | null
  display_name: string
}

/** The people with these addresses. */
export const findPeople = async (sql: Sql, orgId: string, emails: string[]): Promise<Person[]> =>
  await sql<Person[]>`
  select p.email, p.user_id, n.display_name
  from (
    select e.email, m.id as user_id, m.display_name
    from unnest(${emails}::text[]) as e (email)
    left join members m on m.org_id = ${orgId} and m.email = e.email
  ) p
  ${shownName(sql, orgId)}`
