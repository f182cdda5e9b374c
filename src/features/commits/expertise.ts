// Computes and stores who knows each directory, again when commits or addresses change; members/expertise-queries.ts reads it.

import {
  createDomain,
  type Domain,
  type DomainExpertise,
  type FileHistory,
} from '../../analysis/scoring/ownership.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import { compareText } from '../../base/text.ts'
import type { ISql } from '../../database/client.ts'
import { insert, unnest } from '../../database/rows.ts'
import { deleteItems, distinctIds, eachTime, filesOfCommits, type ItemId, idTable } from './item-ids.ts'

/** Adds commits (`sign` 1) to their authors' counts by domain, or subtracts them, without bots. Returns the domains. */
export async function countCommits(tx: ISql, orgId: string, commits: readonly ItemId[], sign: 1 | -1) {
  if (commits.length === 0) return []
  return await tx<ItemId[]>`
    with counted as (
      insert into expertise_authors as a (org_id, project, directory, author_email, commits)
      select ${orgId}, f.project, f.directory, f.author_email, ${sign}::integer * count(distinct f.sha)
      from ${filesOfCommits(tx, orgId, distinctIds(commits))}
      where not f.bot
      group by f.project, f.directory, f.author_email
      on conflict (org_id, project, directory, author_email) do update set
        commits = a.commits + excluded.commits
      returning a.project, a.directory
    )
    select distinct c.project, c.directory as name
    from counted c`
}

/** Computes the expertise of domains in which these addresses, now another member's, have commits. Needs the history's lock. */
export async function updateExpertiseOf(tx: ISql, orgId: string, addresses: readonly string[]) {
  if (addresses.length === 0) return
  const domains = await tx<ItemId[]>`
    select distinct e.project, e.directory as name
    from expertise_authors e
    where e.org_id = ${orgId}
      and e.author_email = any(${[...addresses]}::text[])`
  // commits need the same: arrays have one domain or hundreds
  await tx`set local plan_cache_mode = force_custom_plan`
  await updateExpertise(tx, orgId, domains)
}

/** The members' own addresses by their aliases. */
async function ownAddresses(tx: ISql, orgId: string): Promise<Map<string, string>> {
  const rows = await tx<{ email: string; member_email: string }[]>`
    select l.email, l.member_email
    from member_aliases l
    where l.org_id = ${orgId}`
  return new Map(rows.map(({ email, member_email }) => [email, member_email]))
}

type FileAuthors = FileHistory['authors'][number][]

/** The history with all addresses of a member as one, the own one; authors by address, the order in which sums are made. */
function withoutAliases(
  { creator, authors }: FileHistory,
  addresses: ReadonlyMap<string, string>,
): FileHistory {
  const emailOf = (email: string) => addresses.get(email) ?? email
  if (!authors.some(({ email }) => addresses.has(email)))
    return { creator: creator === null ? null : emailOf(creator), authors }
  const merged = new Map<string, FileAuthors[number]>()
  for (const author of authors) {
    const email = emailOf(author.email)
    const sums = merged.get(email)
    merged.set(email, {
      email,
      commits: author.commits + (sums?.commits ?? 0),
      lastAt: sums !== undefined && sums.lastAt > author.lastAt ? sums.lastAt : author.lastAt,
    })
  }
  return {
    creator: creator === null ? null : emailOf(creator),
    authors: [...merged.values()].sort((a, b) => compareText(a.email, b.email)),
  }
}

/** Computes the expertise of these domains: reads one row a file. A member with aliases is one author, with the own address. */
export async function updateExpertise(tx: ISql, orgId: string, directories: readonly ItemId[]) {
  const domains = distinctIds(directories)
  if (domains.length === 0) return
  const addresses = await ownAddresses(tx, orgId)
  const results: (ItemId & { result: DomainExpertise })[] = []
  let current: (ItemId & { domain: Domain }) | undefined
  const finish = () => {
    if (current !== undefined)
      results.push({ project: current.project, name: current.name, result: current.domain.result() })
    current = undefined
  }
  for await (const page of domainFiles(tx, orgId, domains)) {
    for (const { project, directory: name, ...file } of page) {
      if (current?.project !== project || current.name !== name) finish()
      current ??= { project, name, domain: createDomain() }
      current.domain.add(withoutAliases(file, addresses))
    }
  }
  finish()
  await storeDomains(tx, orgId, domains, results)
  await storeAuthors(tx, orgId, domains, results)
}

interface FileRow extends Pick<FileHistory, 'creator'> {
  project: string
  directory: string
  authors: FileAuthors
}

/** Files read at a time: some MB, whatever the size of the domain. */
const FILES = 1_000

/** The files that count, by domain and name: those that are not deleted and have a commit of an author who is no bot. */
const domainFiles = (tx: ISql, orgId: string, domains: readonly ItemId[]) =>
  tx<FileRow[]>`
    select f.project, f.directory, f.creator_email as creator, a.authors
    from ${idTable(tx, domains, 'directory')}
    cross join lateral (
      select f.project, f.directory, f.path, f.creator_email
      from files f
      where f.org_id = ${orgId}
        and f.project = n.project
        and f.directory = n.directory
        and not f.deleted
        and f.commits > 0
      ${eachTime(tx)}
    ) f
    cross join lateral (
      select
        json_agg(
          json_build_object(
            'email', a.author_email, 'commits', a.commits, 'lastAt', to_char(a.last_at at time zone 'UTC', ${TIME_PATTERN})
          )
          order by a.author_email
        ) as authors
      from file_authors a
      where a.org_id = ${orgId}
        and a.project = f.project
        and a.path = f.path
    ) a
    where a.authors is not null
    order by f.project, f.directory, f.path`.cursor(FILES)

type Results = readonly (ItemId & { result: DomainExpertise })[]

async function storeDomains(tx: ISql, orgId: string, domains: readonly ItemId[], results: Results) {
  await deleteItems(tx, orgId, 'expertise_domains', domains, 'directory')
  await insert(tx, orgId, 'expertise_domains', results, {
    project: 'text',
    directory: ['text', ({ name }) => name],
    files: ['integer', ({ result }) => result.files],
    bus_factor: ['integer', ({ result }) => result.busFactor],
    primary_email: ['text', ({ result }) => result.primary],
  })
}

/** Stores the authors' results, clears those of authors that have none, and deletes authors without commits. */
async function storeAuthors(tx: ISql, orgId: string, domains: readonly ItemId[], results: Results) {
  const authors = results.flatMap(({ project, name, result }) =>
    result.authors.map((author) => ({ project, directory: name, ...author })),
  )
  // upserts find each row by its key; updates would join, by org_id alone if the planner expects one row
  await tx`
    insert into expertise_authors as a (org_id, project, directory, author_email, commits)
    select ${orgId}, e.project, e.directory, e.author_email, e.commits
    from ${idTable(tx, domains, 'directory')}
    cross join lateral (
      select e.project, e.directory, e.author_email, e.commits
      from expertise_authors e
      where e.org_id = ${orgId}
        and e.project = n.project
        and e.directory = n.directory
        and e.score is not null
        and (e.project, e.directory, e.author_email) not in (
          select c.project, c.directory, c.author_email
          from ${scoresTable(tx, authors)}
        )
      ${eachTime(tx)}
    ) e
    on conflict (org_id, project, directory, author_email) do update set
      score = null,
      files_owned = 0,
      ownership_percent = 0,
      last_at = null`
  // every author with a score has a row already, with the number of commits, but for members who have commits only
  // with aliases
  await tx`
    insert into expertise_authors as a (
      org_id, project, directory, author_email, commits, score, files_owned, ownership_percent, last_at
    )
    select ${orgId}, c.project, c.directory, c.author_email, 0, c.score, c.files_owned, c.ownership_percent, c.last_at
    from ${scoresTable(tx, authors)}
    on conflict (org_id, project, directory, author_email) do update set
      score = excluded.score,
      files_owned = excluded.files_owned,
      ownership_percent = excluded.ownership_percent,
      last_at = excluded.last_at
    where (a.score, a.files_owned, a.ownership_percent, a.last_at) is distinct from
      (excluded.score, excluded.files_owned, excluded.ownership_percent, excluded.last_at)`
  await tx`
    delete from expertise_authors a
    using ${idTable(tx, domains, 'directory')}
    where a.org_id = ${orgId}
      and a.project = n.project
      and a.directory = n.directory
      and a.commits = 0
      and a.score is null`
}

type ScoredAuthor = DomainExpertise['authors'][number] & { project: string; directory: string }

const scoresTable = (tx: ISql, authors: readonly ScoredAuthor[]) =>
  unnest(
    tx,
    authors,
    {
      project: 'text',
      directory: 'text',
      author_email: ['text', ({ email }) => email],
      score: 'numeric',
      files_owned: ['integer', ({ filesOwned }) => filesOwned],
      ownership_percent: ['numeric', ({ ownershipPercent }) => ownershipPercent],
      last_at: ['timestamptz', ({ lastAt }) => lastAt],
    },
    'c',
  )
