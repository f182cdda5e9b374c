import type { Own } from '../../accounts/people/visibility-queries.ts'
import { createDomain, type FileHistory } from '../../analysis/scoring/ownership.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { unnest } from '../../database/rows.ts'
import { ownAddresses, withoutAliases } from '../commits/expertise.ts'
import type { Rating } from '../risk/model.ts'
import { authorNames } from '../team/expertise-queries.ts'

// Looks files up by their paths, in a fixed number of statements.

/** Authors of a file that are read, those with the most commits. */
const MAX_AUTHORS = 100
/** Commits of a file by which its pull requests are found, the latest ones. */
const MAX_COMMITS = 100
/** Owners and pull requests of a file in an answer. */
const MAX_OF_FILE = 5

/** The files that are asked for; without `project` those of every project. */
export interface Wanted {
  paths: readonly string[]
  project?: string | undefined
}

/** The indexes begin with the project. */
const projectsOf = (sql: ISql, orgId: string, { project }: Wanted) =>
  project === undefined
    ? sql`array(select distinct d.project from expertise_domains d where d.org_id = ${orgId})`
    : sql`array[${project}]::text[]`

const pathTable = (sql: ISql, { paths }: Wanted) =>
  unnest(
    sql,
    paths.map((path) => ({ path })),
    { path: 'text' },
  )

interface Churn {
  commits: number
  additions: number
  deletions: number
}

/** The changes of the files by path; those without any are left out. */
export async function findChurn(sql: Sql, orgId: string, wanted: Wanted): Promise<Map<string, Churn>> {
  const rows = await sql<({ path: string } & Record<keyof Churn, string>)[]>`
    select n.path, sum(f.commits) as commits, sum(f.additions) as additions, sum(f.deletions) as deletions
    from ${pathTable(sql, wanted)}
    cross join lateral (
      select f.commits, f.additions, f.deletions
      from files f
      where f.org_id = ${orgId}
        and f.project = any (${projectsOf(sql, orgId, wanted)})
        and f.path = n.path
      offset 0
    ) f
    group by n.path`
  return new Map(
    rows.map(({ path, commits, additions, deletions }) => [
      path,
      { commits: Number(commits), additions: Number(additions), deletions: Number(deletions) },
    ]),
  )
}

/** Somebody who knows files, by how much of them they wrote; `user_id` is null for an author who is no member. */
export interface Knowing {
  user_id: string | null
  display_name: string
  score: number
}

export interface Knowledge {
  /** The owners of each file, as `docs/scoring.md` has them, by path. */
  owners: Map<string, Knowing[]>
  /** All authors, by their score over all of the files. */
  people: Knowing[]
  /** The projects that have one of the files. */
  projects: Set<string>
}

/** Who wrote these files. With `own` only what that member wrote. */
export async function findKnowledge(
  sql: Sql,
  orgId: string,
  wanted: Wanted,
  own: Own | null,
): Promise<Knowledge> {
  const addresses = await ownAddresses(sql, orgId)
  const all = createDomain()
  const byPath = new Map<string, ReturnType<typeof createDomain>>()
  const projects = new Set<string>()
  for (const { path, project, ...history } of await findHistories(sql, orgId, wanted)) {
    const file = withoutAliases(history, addresses)
    const ofPath = byPath.get(path) ?? createDomain()
    ofPath.add(file)
    all.add(file)
    byPath.set(path, ofPath)
    projects.add(project)
  }
  if (byPath.size === 0) return { owners: new Map(), people: [], projects }
  const { authors } = all.result()
  const known = await findPeople(
    sql,
    orgId,
    authors.map(({ email }) => email),
  )
  const knowing = (found: readonly { email: string; score: number }[]) =>
    found
      .map(({ email, score }) => ({ ...personOf(known, email), score }))
      .filter(({ user_id }) => own === null || user_id === own.id)
      .toSorted((a, b) => b.score - a.score)
  const ownersOf = (domain: ReturnType<typeof createDomain>) =>
    knowing(domain.result().authors.filter(({ filesOwned }) => filesOwned > 0)).slice(0, MAX_OF_FILE)
  return {
    owners: new Map([...byPath].map(([path, domain]) => [path, ownersOf(domain)])),
    people: knowing(authors),
    projects,
  }
}

type FileOfProject = FileHistory & { path: string; project: string }

/** The histories of those files that are not deleted, by path and project. */
async function findHistories(sql: Sql, orgId: string, wanted: Wanted): Promise<FileOfProject[]> {
  return await sql<FileOfProject[]>`
    select n.path, f.project, f.creator_email as creator, a.authors
    from ${pathTable(sql, wanted)}
    cross join lateral (
      select f.project, f.creator_email
      from files f
      where f.org_id = ${orgId}
        and f.project = any (${projectsOf(sql, orgId, wanted)})
        and f.path = n.path
        and not f.deleted
        and f.commits > 0
      offset 0
    ) f
    cross join lateral (
      select
        json_agg(
          json_build_object(
            'email', a.author_email, 'commits', a.commits,
            'lastAt', to_char(a.last_at at time zone 'UTC', ${TIME_PATTERN})
          )
          order by a.author_email
        ) as authors
      from (
        select a.author_email, a.commits, a.last_at
        from file_authors a
        where a.org_id = ${orgId}
          and a.project = f.project
          and a.path = n.path
        order by a.commits desc, a.author_email
        limit ${MAX_AUTHORS}
      ) a
    ) a
    where a.authors is not null
    order by n.path, f.project`
}

type Person = Omit<Knowing, 'score'>

async function findPeople(sql: Sql, orgId: string, emails: string[]): Promise<Map<string, Person>> {
  const members = await sql<(Person & { email: string })[]>`
    select m.email, m.id as user_id, m.display_name
    from members m
    where m.org_id = ${orgId}
      and m.email = any (${emails}::text[])`
  const found = new Map<string, Person>(members.map(({ email, ...member }) => [email, member]))
  const others = emails.filter((email) => !found.has(email))
  for (const [email, display_name] of await authorNames(sql, orgId, others))
    if (display_name !== '') found.set(email, { user_id: null, display_name })
  return found
}

// the address of somebody who is no member is not shown
const personOf = (known: ReadonlyMap<string, Person>, email: string): Person =>
  known.get(email) ?? { user_id: null, display_name: email.split('@')[0] ?? email }

export interface PullRequest {
  repo: string
  pr_number: number
  rating: Rating
}

/** The newest pull requests that change each of the files, by path: by the files and the commits of their records. */
export async function findPullRequests(
  sql: Sql,
  orgId: string,
  wanted: Wanted,
): Promise<Map<string, PullRequest[]>> {
  const rows = await sql<(PullRequest & { path: string })[]>`
    select n.path, p.repo, p.pr_number, p.rating
    from ${pathTable(sql, wanted)}
    cross join lateral (
      select k.repo, k.pr_number, k.rating, k.created_at
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
        group by g.repo, g.pr_number
      ) g
      join pr_risks k on k.org_id = ${orgId} and k.repo = g.repo and k.pr_number = g.pr_number
      order by k.created_at desc, k.id desc
      limit ${MAX_OF_FILE}
    ) p
    order by n.path, p.created_at desc`
  const found = new Map<string, PullRequest[]>()
  for (const { path, ...pullRequest } of rows) {
    const known = found.get(path)
    if (known === undefined) found.set(path, [pullRequest])
    else known.push(pullRequest)
  }
  return found
}

/** The id of a pull request's risk score. */
export async function findRiskId(
  sql: Sql,
  orgId: string,
  repo: string,
  prNumber: number,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select k.id
    from pr_risks k
    where k.org_id = ${orgId}
      and k.repo = ${repo}
      and k.pr_number = ${prNumber}`
  return row?.id
}
