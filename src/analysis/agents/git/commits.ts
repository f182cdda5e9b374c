// Reads commits of repositories as records, with their authors and the lines that agents wrote, for `sync`.

import { realpath } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { OperatorError } from '../../../base/errors.ts'
import { plural } from '../../../base/text.ts'
import { type CommitAi, type CommitRecord, MAX_PATH_BYTES } from '../../records/commit.ts'
import { addressesByName, isNoreply, listAuthors, nameKey } from './authors.ts'
import { createReach, findCommits } from './default-branch.ts'
import { type Logged, logCommits } from './git-log.ts'
import { GENERATED, HEAD_LINES, type LoggedCommit, type LogReading } from './parse-log.ts'
import { createRepositoryFinder } from './project-name.ts'
import { readText } from './regular-file.ts'
import { checkFiles } from './repository-files.ts'
import { type Git, GitStopped, openGit, runGit } from './run-git.ts'

/** The fields of a commit's record that its content does not decide. */
export type Attributed = Pick<CommitRecord, 'ai' | 'survival'>

export interface History {
  git: Git
  /** The repository's name, whatever its project is called. */
  repository: string
  project: string
  /** The commit time by hash, in ms since 1970, in the order of history. */
  commits: ReadonlyMap<string, number>
  /** The commits that are stored already. */
  known: { has(sha: string): boolean }
}

/** A commit, and what agents wrote of it: undefined where that is as it was, or not known. */
export interface ReadCommit {
  commit: Logged
  attributed: Attributed | undefined
}

/** Says what agents wrote of commits while these are read. */
export interface Attributing {
  needs(sha: string): boolean
  /** Whether the lines of a file are wanted. */
  wants: NonNullable<LogReading['wants']>
  read(log: AsyncIterable<Logged>): AsyncIterable<ReadCommit>
}

export interface GitOptions {
  /** The project of the commits; the repository's name by default. */
  project?: string | undefined
  /**
   * Returns the project's commits that are stored already, each with whether the default branch had it. They are read again
   * where that has changed, also those of other branches and of none.
   */
  known?: ((project: string) => Promise<ReadonlyMap<string, boolean>>) | undefined
  /** Whether known commits of the current branch are read too. */
  resend?: boolean
  attribute?: ((history: History) => Promise<Attributing>) | undefined
  onProgress?: (read: number, total: number) => void
}

export interface RepositoryResult {
  path: string
  project: string
  /** The number of records. */
  commits: number
  /** Merge commits, which are left out. */
  merges: number
  /** Commits left out because they are stored already. */
  known: number
  /** Sentences about missing data. */
  notes: string[]
}

/**
 * The commits of the repository's current branch as records, oldest first, without merge commits, whose changes are in other
 * commits. Applies `.mailmap`, and gives commits with a noreply address of GitHub to the address that their author's full
 * name has: see `addressesByName`. Throws OperatorError if the git program is missing or fails.
 */
export async function* readCommits(
  path: string,
  options: GitOptions,
): AsyncGenerator<CommitRecord, RepositoryResult> {
  const root = resolve(path)
  checkFiles(root)
  const repository = await repoName(root)
  const project = (options.project ?? repository).slice(0, 200)
  const result = { path, project, commits: 0, merges: 0, known: 0, notes: [] as string[] }
  using git = openGit(root)
  try {
    yield* readFrom(git, repository, options, result)
  } catch (error) {
    if (!(error instanceof GitStopped)) throw error
    result.notes.push(`${error.message}; after ${plural(result.commits, 'commit')}, the next run reads on`)
  }
  return result
}

async function* readFrom(
  git: Git,
  repository: string,
  options: GitOptions,
  result: RepositoryResult,
): AsyncGenerator<CommitRecord> {
  const { project, notes } = result
  const { times, commits, merges, notes: missing, isShallow } = await listCommits(git)
  notes.push(...missing)
  const stored = (await options.known?.(project)) ?? new Map<string, boolean>()
  const reach = await createReach(git, times, isShallow)
  const isOnDefault = (sha: string) => reach(sha) ?? stored.get(sha)
  const hasChanged = (sha: string) => isOnDefault(sha) !== stored.get(sha)
  const elsewhere = await listElsewhere(
    git,
    [...stored.keys()].filter((sha) => !times.has(sha) && hasChanged(sha)),
  )
  const sentShas = options.resend === true ? new Set<string>() : stored
  const attributing = await options.attribute?.({ git, repository, project, commits, known: sentShas })
  const isNew = (sha: string) => !sentShas.has(sha) || hasChanged(sha)
  const here = [...commits.keys()].filter((sha) => isNew(sha) || attributing?.needs(sha))
  const shasToRead = [...here, ...elsewhere.keys()]
  Object.assign(result, { merges, known: commits.size - here.length })
  let withoutLines = 0
  let addresses: ReadonlyMap<string, string> | undefined
  const generated = shasToRead.length === 0 ? undefined : await generatedFiles(git)
  const log = logCommits(git, shasToRead, {
    generated,
    wants: attributing?.wants,
    isOptional: (sha) => commits.has(sha) && !isNew(sha),
  })
  let read = 0
  for await (const { commit, attributed } of attributing?.read(log) ?? unattributed(log)) {
    options.onProgress?.(read, shasToRead.length)
    read += 1
    // the stored commit may have lines
    if (!isNew(commit.sha) && (attributed === undefined || commit.kind === 'unreadable')) {
      result.known += 1
      continue
    }
    if (commit.kind === 'unreadable') {
      notes.push(`commit ${commit.sha} cannot be read: ${commit.reason}`)
      continue
    }
    if (!commit.hasLines && (sentShas.has(commit.sha) || elsewhere.has(commit.sha))) {
      // the stored commit may have lines
      if (commits.has(commit.sha)) result.known += 1
      continue
    }
    if (!commit.hasLines) withoutLines += 1
    // most repositories have none, and reading all authors takes as long as listing the commits
    if (isNoreply(commit.email)) {
      addresses ??= addressesByName(await listAuthors(git))
      commit.email = addresses.get(nameKey(commit.name)) ?? commit.email
    }
    const at = commits.get(commit.sha) ?? elsewhere.get(commit.sha) ?? 0
    const isOn = isOnDefault(commit.sha)
    yield {
      ...recordOf(project, commit, at, notes),
      ...(commit.hasLines ? (attributed ?? { ai: aiOf(commit) }) : {}),
      ...(isOn === undefined ? {} : { on_default_branch: isOn }),
    }
    result.commits += 1
  }
  if (withoutLines > 0)
    notes.push(
      `${plural(withoutLines, 'commit')} without line counts: the contents of their files are not in this clone`,
    )
}

async function* unattributed(log: AsyncIterable<Logged>): AsyncGenerator<ReadCommit> {
  for await (const commit of log) yield { commit, attributed: undefined }
}

/** A person may be called Claude: the address decides, where no trailer says that somebody was assisted. */
const TRAILER =
  /<(?:noreply@(?:anthropic|openai)\.com|cursoragent@cursor\.com|(?:\d+\+)?copilot@users\.noreply\.github\.com)>|^assisted-by:/im

/** The counts of a commit whose lines have no known agent. */
export const aiOf = ({ files, trailers }: LoggedCommit): CommitAi => ({
  lines: 0,
  effective_lines: files.reduce((sum, { effective }) => sum + effective, 0),
  by_agent: {},
  provenance: TRAILER.test(trailers.replaceAll('\x1f', '\n')) ? 'trailer' : 'none',
  sessions: [],
})

/** The files of the current branch whose first lines say that a program writes them. */
async function generatedFiles(git: Git): Promise<Map<string, boolean>> {
  const { output } = await runGit(git, ['grep', '-z', '-n', '-I', '-F', '-e', GENERATED, 'HEAD'])
  const matches = output.matchAll(/^HEAD:([^\0]*)\0(\d+)\0/gm)
  return new Map(
    [...matches].flatMap(([, path = '', line]) =>
      Number(line) <= HEAD_LINES ? [[path, true] as const] : [],
    ),
  )
}

async function repoName(root: string): Promise<string> {
  const real = await realpath(root)
  return createRepositoryFinder()(real)?.name ?? basename(real)
}

/** A commit that is earlier than its parent by less than this is placed after it: clocks differ a little. */
const CLOCK_SKEW_MS = 10_000

interface Listing {
  /** The commit time by hash, in ms since 1970, of all commits. */
  times: ReadonlyMap<string, number>
  /** The times without those of merges and of the first commits of a shallow clone, which are not read. */
  commits: Map<string, number>
  merges: number
  notes: string[]
  isShallow: boolean
}

/**
 * All commits that `tips` reach, with their times. Git's times are seconds, and a rebase writes many commits in one second: a
 * commit that is not later than its parent gets the time of the parent plus 1 ms, so that the order of times is the order of
 * history.
 */
async function listCommits(git: Git, tips: readonly string[] = ['HEAD']): Promise<Listing> {
  const times = new Map<string, number>()
  const listing: Listing = { times, commits: new Map(), merges: 0, notes: [], isShallow: false }
  if ((await runGit(git, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).code === 1) {
    listing.notes.push('no commits on the current branch')
    return listing
  }
  const args = ['rev-list', '--topo-order', '--reverse', '--parents', '--timestamp', '--stdin']
  const { code, output, errors } = await runGit(git, args, tips.map((tip) => `${tip}\n`).join(''))
  if (code !== 0) throw new OperatorError(`git refuses ${git.root}: ${errors.trim() || `exit code ${code}`}`)
  const shallow = await shallowCommits(git)
  listing.isShallow = shallow.size > 0
  for (const line of output.split('\n')) {
    const [seconds, sha, ...parents] = line.split(' ')
    if (sha === undefined) continue
    let at = Math.max(0, Number(seconds) * 1_000)
    for (const parent of parents) {
      const before = times.get(parent) ?? Number.NEGATIVE_INFINITY
      if (at <= before && before - at < CLOCK_SKEW_MS) at = before + 1
    }
    times.set(sha, at)
    if (parents.length > 1) listing.merges += 1
    else if (!shallow.has(sha)) listing.commits.set(sha, at)
  }
  if (listing.isShallow)
    listing.notes.push(
      'a shallow clone: what is older than its first commits, and who made the files, is not known',
    )
  return listing
}

/** Returns those of the commits that are in this clone, with their times. */
async function listElsewhere(git: Git, shas: readonly string[]): Promise<Map<string, number>> {
  if (shas.length === 0) return new Map()
  const hashes = await findCommits(git, shas)
  const tips = shas.filter((sha, index) => hashes[index] === sha)
  if (tips.length === 0) return new Map()
  const { commits } = await listCommits(git, tips)
  const tipSet = new Set(tips)
  return new Map([...commits].filter(([sha]) => tipSet.has(sha)))
}

/** The first commits of a shallow clone: in git's output they add all files. */
async function shallowCommits(git: Git): Promise<Set<string>> {
  const { output } = await runGit(git, ['rev-parse', '--git-path', 'shallow'])
  const text = readText(resolve(git.root, output.trim()), () => {}) ?? ''
  return new Set(text.split('\n').filter((line) => line !== ''))
}

const MAX_SUBJECT = 1_000

function recordOf(project: string, commit: LoggedCommit, committedAt: number, notes: string[]): CommitRecord {
  const isStorable = ({ path, previousPath }: LoggedCommit['files'][number]) =>
    Buffer.byteLength(path) <= MAX_PATH_BYTES && Buffer.byteLength(previousPath ?? '') <= MAX_PATH_BYTES
  const files = commit.files.filter(isStorable)
  const left = commit.filesLeft + commit.files.length - files.length
  if (left > 0)
    notes.push(`commit ${commit.sha}: without ${plural(left, 'file')}: too many, or too long a name`)
  return {
    type: 'commit',
    project,
    sha: commit.sha,
    author_email: emailOf(commit.email),
    author_name: commit.name.slice(0, 500).toWellFormed(),
    committed_at: new Date(committedAt).toISOString(),
    subject: commit.subject.slice(0, MAX_SUBJECT).toWellFormed(),
    files: files.map(({ path, status, previousPath, additions, deletions }) => ({
      path,
      additions,
      deletions,
      status,
      ...(previousPath === null ? {} : { previous_path: previousPath }),
    })),
  }
}

/** Git accepts any text as an address; an invalid one becomes a mailbox of the reserved domain `.invalid` (RFC 2606). */
export function emailOf(text: string): string {
  const email = text.trim().slice(0, 320)
  if (/^[^\s@]+@[^\s@]+$/.test(email)) return email
  return `${email.replace(/[\s@]+/g, '-').slice(0, 200) || 'unknown'}@unknown.invalid`
}
