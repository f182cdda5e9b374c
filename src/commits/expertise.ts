import type { ISql } from '../db/client.ts'
import { createDomain, type Domain, type DomainExpertise, type FileHistory } from '../scoring/ownership.ts'
import { distinctKeys, entriesOfCommits, type Key, keyTable } from './path-keys.ts'

/**
 * Adds the commits (`sign` 1) to the counts of their authors in the domains they touch, or takes them out (-1) before their
 * files move or go. Bots' commits count for nobody. Returns the domains, the directory as `name`.
 */
export async function countCommits(
  tx: ISql,
  orgId: string,
  commits: readonly Key[],
  sign: 1 | -1,
): Promise<Key[]> {
  if (commits.length === 0) return []
  return await tx<Key[]>`
    with counted as (
      insert into expertise_authors as a (org_id, project, directory, author_email, commits)
      select ${orgId}, f.project, f.directory, f.author_email, ${sign}::integer * count(distinct f.sha)
      from ${entriesOfCommits(tx, orgId, distinctKeys(commits))}
      where not f.bot
      group by f.project, f.directory, f.author_email
      on conflict (org_id, project, directory, author_email) do update set
        commits = a.commits + excluded.commits
      returning a.project, a.directory
    )
    select distinct c.project, c.directory as name
    from counted c`
}

/** Recomputes the expertise of these domains from their living files. Costs what these have: one row a file and author. */
export async function recount(tx: ISql, orgId: string, directories: readonly Key[]): Promise<void> {
  const domains = distinctKeys(directories)
  if (domains.length === 0) return
  const results: (Key & { result: DomainExpertise })[] = []
  let open: (Key & { domain: Domain }) | undefined
  const close = () => {
    if (open !== undefined)
      results.push({ project: open.project, name: open.name, result: open.domain.result() })
    open = undefined
  }
  for await (const { project, name, file } of livingFiles(tx, orgId, domains)) {
    if (open?.project !== project || open.name !== name) close()
    open ??= { project, name, domain: createDomain() }
    open.domain.add(file)
  }
  close()
  await storeDomains(tx, orgId, domains, results)
  await storeAuthors(tx, orgId, domains, results)
}

interface LivingRow {
  project: string
  directory: string
  path: string
  creator: string | null
  email: string
  commits: number
  last_at: string
}

/** Rows read at a time; a domain of any size takes some MB. */
const ROWS = 10_000

/** The files that count: living ones with a commit of somebody who is no bot, by domain and name. */
async function* livingFiles(
  tx: ISql,
  orgId: string,
  domains: readonly Key[],
): AsyncGenerator<Key & { file: FileHistory }> {
  let first: LivingRow | undefined
  let authors: FileHistory['authors'][number][] = []
  const taken = (row: LivingRow) => ({
    project: row.project,
    name: row.directory,
    file: { creator: row.creator, authors },
  })
  const pages = tx<LivingRow[]>`
    select
      f.project, f.directory, f.path, f.creator_email as creator, a.author_email as email, a.commits,
      to_char(a.last_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as last_at
    from ${keyTable(tx, domains)} as n (project, directory)
    join files f on f.org_id = ${orgId} and f.project = n.project and f.directory = n.directory
    join file_authors a on a.org_id = f.org_id and a.project = f.project and a.path = f.path
    where not f.deleted
      and f.commits > 0
    order by f.project, f.directory, f.path, a.author_email`.cursor(ROWS)
  for await (const page of pages) {
    for (const row of page) {
      if (first !== undefined && (first.path !== row.path || first.project !== row.project)) {
        yield taken(first)
        first = undefined
      }
      if (first === undefined) authors = []
      first ??= row
      authors.push({ email: row.email, commits: row.commits, lastAt: row.last_at })
    }
  }
  if (first !== undefined) yield taken(first)
}

type Results = readonly (Key & { result: DomainExpertise })[]

async function storeDomains(
  tx: ISql,
  orgId: string,
  domains: readonly Key[],
  results: Results,
): Promise<void> {
  await tx`
    delete from expertise_domains d
    using ${keyTable(tx, domains)} as n (project, directory)
    where d.org_id = ${orgId}
      and d.project = n.project
      and d.directory = n.directory`
  if (results.length === 0) return
  await tx`
    insert into expertise_domains (org_id, project, directory, files, bus_factor, primary_email)
    select ${orgId}, n.*
    from unnest(
      ${results.map((domain) => domain.project)}::text[],
      ${results.map((domain) => domain.name)}::text[],
      ${results.map(({ result }) => result.files)}::integer[],
      ${results.map(({ result }) => result.busFactor)}::integer[],
      ${results.map(({ result }) => result.primary)}::text[]
    ) as n`
}

/** Who is in the results gets their numbers, who is not loses them, and who has no commit left goes. */
async function storeAuthors(
  tx: ISql,
  orgId: string,
  domains: readonly Key[],
  results: Results,
): Promise<void> {
  const rows = results.flatMap(({ project, name, result }) =>
    result.authors.map((author) => ({ project, name, author })),
  )
  await tx`
    update expertise_authors a
    set score = w.score,
      files_owned = coalesce(w.files_owned, 0),
      ownership_percent = coalesce(w.ownership_percent, 0),
      last_at = w.last_at
    from (
      select e.project, e.directory, e.author_email, n.score, n.files_owned, n.ownership_percent, n.last_at
      from ${keyTable(tx, domains)} as k (project, directory)
      join expertise_authors e on e.org_id = ${orgId} and e.project = k.project and e.directory = k.directory
      left join unnest(
        ${rows.map((row) => row.project)}::text[],
        ${rows.map((row) => row.name)}::text[],
        ${rows.map((row) => row.author.email)}::text[],
        ${rows.map((row) => row.author.score)}::numeric[],
        ${rows.map((row) => row.author.filesOwned)}::integer[],
        ${rows.map((row) => row.author.ownershipPercent)}::numeric[],
        ${rows.map((row) => row.author.lastAt)}::timestamptz[]
      ) as n (project, directory, author_email, score, files_owned, ownership_percent, last_at)
        on n.project = e.project and n.directory = e.directory and n.author_email = e.author_email
    ) w
    where a.org_id = ${orgId}
      and a.project = w.project
      and a.directory = w.directory
      and a.author_email = w.author_email`
  await tx`
    delete from expertise_authors a
    using ${keyTable(tx, domains)} as n (project, directory)
    where a.org_id = ${orgId}
      and a.project = n.project
      and a.directory = n.directory
      and a.commits = 0`
}
