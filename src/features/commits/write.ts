import { findZone } from '../../accounts/organizations/zone-queries.ts'
import { findChanges, type WriteResult } from '../../analysis/records/changes.ts'
import type { SentRecord } from '../../analysis/records/records.ts'
import { dayOf } from '../../base/dates.ts'
import { forbidden, MAX_PROBLEMS } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import { addDifference, type Renaming } from '../../database/rollups.ts'
import { deleteFrom, insert, unnest } from '../../database/rows.ts'
import { analyzeGrownTables } from '../../database/statistics.ts'
import { commitKeyOf, findAiChanges, renameInCommitAi, upsertAi } from './ai-write.ts'
import { countCommits, updateExpertise } from './expertise.ts'
import { rebuildFiles } from './file-history.ts'
import { affectedFiles, type DatedName, followRenames } from './follow-renames.ts'
import { deleteItems, distinctIds, eachTime, historyOfFiles, type ItemId, idTable } from './item-ids.ts'
import { type PreparedCommit, prepareCommit } from './prepare.ts'
import { commitPages, findKnownCommits } from './queries.ts'
import { COMMIT_ROLLUP, countsOfCommits, countsOfProjects } from './rollup.ts'

/** Commits written together: the parameters and rows of a statement are some MB, however large the batch is. */
export const COMMITS_AT_A_TIME = 2_500
const REPLACED = 'the commit is stored with other content, which an API key of a member does not change'

/**
 * Writes the batch's commit records and updates the files' histories and the expertise of every domain they change. Needs
 * the lock of the organization's history; takes seconds for thousands of commits, so call it before the organization is
 * locked. Commits may come in any order and in any batches: the same commits give the same results.
 * The cost depends on the batch and on the histories of the files it renames, not on what else is stored.
 */
export async function writeCommits(
  tx: ISql,
  orgId: string,
  sent: readonly SentRecord<'commit'>[],
  { pause = () => undefined, mayReplace = true }: CommitOptions = {},
): Promise<WriteResult> {
  const commits = sent.map(({ record }) => prepareCommit(record))
  const stored = await findHashes(tx, orgId, commits)
  const ofAgents = await findAiChanges(tx, orgId, sent)
  const withAi = new Set(ofAgents.map(commitKeyOf))
  const { rows, ...result } = findChanges<StoredCommit, PreparedCommit>(commits, stored, {
    keyOf: commitKeyOf,
    idOf: ({ sha }) => sha,
    // the lines that agents wrote of a commit may change alone
    isSame(commit, before) {
      const key = commitKeyOf(commit)
      return commit.hash === before.hash && (before !== stored.get(key) || !withAi.has(key))
    },
  })
  const contents = rows.filter((commit) => commit.hash !== stored.get(commitKeyOf(commit))?.hash)
  const isStored = (commit: PreparedCommit) => stored.has(commitKeyOf(commit))
  if (!mayReplace) refuseReplaced(sent, contents.filter(isStored))
  if (rows.length === 0) return result
  const count = async (sign: 'before' | 'after', some: typeof rows) => {
    for (let start = 0; start < some.length; start += COMMITS_AT_A_TIME) {
      const counts = countsOfCommits(tx, orgId, some.slice(start, start + COMMITS_AT_A_TIME))
      await addDifference(tx, orgId, COMMIT_ROLLUP, { before: undefined, after: undefined, [sign]: counts })
    }
  }
  await useCustomPlans(tx)
  await count('before', rows.filter(isStored))
  await upsertAi(tx, orgId, ofAgents)
  if (contents.length > 0) await writeContents(tx, orgId, contents, isStored, pause)
  await count('after', rows)
  return result
}

/** Needs `useCustomPlans`. */
async function writeContents(
  tx: ISql,
  orgId: string,
  rows: readonly PreparedCommit[],
  isStored: (commit: PreparedCommit) => boolean,
  pause: () => Promise<void> | undefined,
): Promise<void> {
  let domains: ItemId[] = []
  for (let start = 0; start < rows.length; start += COMMITS_AT_A_TIME) {
    const some = rows.slice(start, start + COMMITS_AT_A_TIME)
    domains = distinctIds([...domains, ...(await replaceCommits(tx, orgId, some, isStored))])
    await pause()
  }
  await updateExpertise(tx, orgId, domains)
}

interface CommitOptions {
  /** Called between groups of commits; may throw to give the batch up. */
  pause?: () => Promise<void> | undefined
  /** Whether a stored commit may be replaced by one with other content; else FORBIDDEN naming the records. */
  mayReplace?: boolean
}

function refuseReplaced(sent: readonly SentRecord<'commit'>[], replaced: readonly PreparedCommit[]): void {
  if (replaced.length === 0) return
  const keys = new Set(replaced.map(commitKeyOf))
  const problems = sent
    .filter(({ record }) => keys.has(commitKeyOf(record)))
    .map(({ prefix }) => ({ field: `${prefix}sha`, message: REPLACED }))
  throw forbidden(...problems.slice(0, MAX_PROBLEMS))
}

/** Arrays have one id or thousands: a generic plan for both read whole histories, in 17 s instead of 0.3 s. */
export async function useCustomPlans(tx: ISql): Promise<void> {
  await tx`set local plan_cache_mode = force_custom_plan`
}

interface StoredCommit {
  project: string
  sha: string
  hash: string
}

const itemIdOf = ({ project, sha }: PreparedCommit): ItemId => ({ project, name: sha })

/** Writes the commits and histories of their files. Needs `useCustomPlans`. Returns the domains for `updateExpertise`. */
async function replaceCommits(
  tx: ISql,
  orgId: string,
  commits: readonly PreparedCommit[],
  isStored: (commit: PreparedCommit) => boolean,
): Promise<ItemId[]> {
  const replaced = commits.filter(isStored).map(itemIdOf)
  const added = commits.map(itemIdOf)
  const affected = await affectedFiles(tx, orgId, renamesOf(commits), replaced)
  const history = await commitsOf(tx, orgId, affected, replaced)
  const before = await countCommits(tx, orgId, history, -1)
  for (const table of ['commit_files', 'commits']) await deleteItems(tx, orgId, table, replaced, 'sha')
  await insertCommits(tx, orgId, commits)
  await insertFiles(tx, orgId, commits)
  await analyzeGrownTables(tx, ['commits', 'commit_files', 'files', 'file_authors'])
  const renamed = await followRenames(tx, orgId, affected, added)
  const changed = await rebuildFiles(tx, orgId, [...affected, ...renamed], added)
  const after = await countCommits(tx, orgId, [...history, ...added], 1)
  return [...before, ...after, ...changed]
}

/** The old names of renamed files, with the commits that renamed them. */
const renamesOf = (commits: readonly PreparedCommit[]): DatedName[] =>
  commits.flatMap(({ project, sha, committedAt, files }) =>
    files.flatMap(({ previousPath }) =>
      previousPath === null ? [] : [{ project, name: previousPath, at: committedAt, sha }],
    ),
  )

async function findHashes(tx: ISql, orgId: string, commits: readonly PreparedCommit[]) {
  const rows = await tx<StoredCommit[]>`
    select c.project, c.sha, encode(c.content_hash, 'hex') as hash
    from ${unnest(tx, commits, { project: 'text', sha: 'text' })}
    cross join lateral (
      select c.project, c.sha, c.content_hash
      from commits c
      where c.org_id = ${orgId}
        and c.project = n.project
        and c.sha = n.sha
      ${eachTime(tx)}
    ) c`
  return new Map(rows.map((row) => [commitKeyOf(row), row]))
}

async function commitsOf(tx: ISql, orgId: string, files: readonly ItemId[], commits: readonly ItemId[]) {
  if (files.length === 0) return [...commits]
  return await tx<ItemId[]>`
    select distinct f.project, f.sha as name
    from ${historyOfFiles(tx, orgId, files)}
    union
    select n.project, n.sha
    from ${idTable(tx, commits, 'sha')}`
}

const lineSum = (commit: PreparedCommit, pick: 'additions' | 'deletions'): number =>
  commit.files.reduce((sum, file) => sum + file[pick], 0)

async function insertCommits(tx: ISql, orgId: string, commits: readonly PreparedCommit[]): Promise<void> {
  const zone = await findZone(tx, orgId)
  await insert(tx, orgId, 'commits', commits, {
    project: 'text',
    sha: 'text',
    author_email: ['text', ({ authorEmail }) => authorEmail],
    author_name: ['text', ({ authorName }) => authorName],
    committed_at: ['timestamptz', ({ committedAt }) => committedAt],
    day: ['date', ({ committedAt }) => dayOf(committedAt, zone)],
    subject: 'text',
    files: ['integer', ({ files }) => files.length],
    additions: ['bigint', (commit) => lineSum(commit, 'additions')],
    deletions: ['bigint', (commit) => lineSum(commit, 'deletions')],
    bot: 'boolean',
    content_hash: ['bytea', ({ hash }) => hash],
  })
}

/** The columns that the rows of a commit's files copy from the commit. */
const COMMIT_COLUMNS = {
  commit: 'integer',
  project: 'text',
  sha: 'text',
  author_email: ['text', ({ authorEmail }: PreparedCommit) => authorEmail],
  committed_at: ['timestamptz', ({ committedAt }: PreparedCommit) => committedAt],
  bot: 'boolean',
} as const

/** Rows of one insert: some MB of parameters. */
const FILES_PER_STATEMENT = 10_000

async function insertFiles(tx: ISql, orgId: string, commits: readonly PreparedCommit[]): Promise<void> {
  const rows = commits.flatMap(({ files }, commit) => files.map((file) => ({ ...file, commit })))
  const ids = commits.map((fields, commit) => ({ ...fields, commit }))
  for (let start = 0; start < rows.length; start += FILES_PER_STATEMENT) {
    const some = rows.slice(start, start + FILES_PER_STATEMENT)
    await tx`
      insert into commit_files (
        org_id, project, sha, path, file, previous_path, status, additions, deletions, author_email, committed_at, bot
      )
      select
        ${orgId}, c.project, c.sha, n.path, n.path, n.previous_path, n.status,
        n.additions, n.deletions, c.author_email, c.committed_at, c.bot
      from ${unnest(tx, some, {
        commit: 'integer',
        path: 'text',
        previous_path: ['text', ({ previousPath }) => previousPath],
        status: 'text',
        additions: 'integer',
        deletions: 'integer',
      })}
      join ${unnest(tx, ids, COMMIT_COLUMNS, 'c')} on c.commit = n.commit`
  }
}

const TABLES = ['commits', 'commit_files', 'files', 'file_authors', 'expertise_authors', 'expertise_domains']

/**
 * Moves the commits of a project to another, which keeps those that it has already: afterwards its files and its expertise
 * are as if all had been sent to it. Returns how many commits the old one had. Needs the lock of the organization's
 * history; takes seconds for thousands of commits.
 */
export async function renameInCommits(tx: ISql, orgId: string, { from, to }: Renaming): Promise<number> {
  await useCustomPlans(tx)
  const commits = await findKnownCommits(tx, orgId, to)
  const before = countsOfProjects(tx, orgId, [from, to])
  await addDifference(tx, orgId, COMMIT_ROLLUP, { before, after: undefined })
  let count = 0
  let domains: ItemId[] = []
  for await (const page of commitPages(tx, orgId, { project: from, size: COMMITS_AT_A_TIME })) {
    count += page.length
    const moved = page.flatMap((record) =>
      commits.has(record.sha) ? [] : [prepareCommit({ ...record, project: to })],
    )
    if (moved.length === 0) continue
    domains = distinctIds([...domains, ...(await replaceCommits(tx, orgId, moved, () => false))])
  }
  await renameInCommitAi(tx, orgId, from, to)
  for (const table of count === 0 ? [] : TABLES)
    await deleteFrom(tx, orgId, table, tx`and t.project = ${from}`)
  const after = countsOfProjects(tx, orgId, [to])
  await addDifference(tx, orgId, COMMIT_ROLLUP, { before: undefined, after })
  await updateExpertise(tx, orgId, domains)
  return count
}
