import { existsSync, statSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { OperatorError } from '../../errors.ts'
import { type CommitRecord, MAX_PATH_BYTES } from '../../records/commit.ts'
import { type Author, addressesByName, isNoreply, nameKey } from './authors.ts'
import { type LoggedCommit, logCommits, runGit } from './git-log.ts'
import { createRepositoryFinder } from './project-name.ts'

interface GitOptions {
  /** The project of the commits; the repository's name by default. */
  project?: string | undefined
  /** Returns those of the commits that are stored already; they are not read. */
  known?: (project: string, shas: readonly string[]) => Promise<ReadonlySet<string>>
  onProgress?: (read: number, total: number) => void
}

/** The result of reading a repository. */
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

/** True for the folder of a repository: with a `.git` in it, or a bare one. */
export function isRepository(path: string): boolean {
  const has = (name: string) => existsSync(join(path, name))
  return (
    existsSync(path) &&
    statSync(path).isDirectory() &&
    (has('.git') || (has('HEAD') && has('objects') && has('refs')))
  )
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
  const project = (options.project ?? (await nameOf(root))).slice(0, 200)
  const { commits, merges, notes } = await listCommits(root)
  const known = (await options.known?.(project, [...commits.keys()])) ?? new Set<string>()
  const wanted = [...commits.keys()].filter((sha) => !known.has(sha))
  const result = { path, project, commits: 0, merges, known: commits.size - wanted.length, notes }
  let withoutLines = 0
  let addresses: ReadonlyMap<string, string> | undefined
  for await (const commit of logCommits(root, wanted)) {
    options.onProgress?.(result.commits, wanted.length)
    if (commit.kind === 'unreadable') {
      notes.push(`commit ${commit.sha} cannot be read: ${commit.reason}`)
      continue
    }
    if (!commit.hasLines) withoutLines += 1
    // most repositories have none, and reading all authors takes as long as listing the commits
    if (isNoreply(commit.email)) {
      addresses ??= addressesByName(await listAuthors(root))
      commit.email = addresses.get(nameKey(commit.name)) ?? commit.email
    }
    yield recordOf(project, commit, commits.get(commit.sha) ?? 0, notes)
    result.commits += 1
  }
  if (withoutLines > 0)
    notes.push(
      `${withoutLines} commits without line counts: the contents of their files are not in this clone`,
    )
  return result
}

/** The authors of the current branch, each name with each address once, `.mailmap` applied. */
async function listAuthors(root: string): Promise<Author[]> {
  const { code, output } = await runGit(root, ['log', '--format=%aN%x00%aE', 'HEAD'])
  if (code !== 0) return []
  return [...new Set(output.split('\n'))].flatMap((line) => {
    const [name, email] = line.split('\0')
    return name === undefined || email === undefined ? [] : [{ name, email }]
  })
}

async function nameOf(root: string): Promise<string> {
  const real = await realpath(root)
  return createRepositoryFinder()(real)?.name ?? basename(real)
}

/** A commit that is earlier than its parent by less than this is placed after it: clocks differ a little. */
const CLOCK_SKEW_MS = 10_000

interface Listing {
  /** The commit time by hash, in ms since 1970. */
  commits: Map<string, number>
  merges: number
  notes: string[]
}

/**
 * All commits with their times. Git's times are seconds, and a rebase writes many commits in one second: a commit that is
 * not later than its parent gets the time of the parent plus 1 ms, so that the order of times is the order of history.
 */
async function listCommits(root: string): Promise<Listing> {
  const listing: Listing = { commits: new Map(), merges: 0, notes: [] }
  if ((await runGit(root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).code === 1) {
    listing.notes.push('no commits on the current branch')
    return listing
  }
  const args = ['rev-list', '--topo-order', '--reverse', '--parents', '--timestamp', 'HEAD']
  const { code, output, errors } = await runGit(root, args)
  if (code !== 0) throw new OperatorError(`git refuses ${root}: ${errors.trim() || `exit code ${code}`}`)
  const shallow = await shallowCommits(root)
  const times = new Map<string, number>()
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
  if (shallow.size > 0)
    listing.notes.push(
      'a shallow clone: what is older than its first commits, and who made the files, is not known',
    )
  return listing
}

/** The first commits of a shallow clone: in git's output they add all files. */
async function shallowCommits(root: string): Promise<Set<string>> {
  const { output } = await runGit(root, ['rev-parse', '--git-path', 'shallow'])
  const text = await readFile(resolve(root, output.trim()), 'utf8').catch(() => '')
  return new Set(text.split('\n').filter((line) => line !== ''))
}

const MAX_FILES = 100_000
const MAX_SUBJECT = 1_000

function recordOf(project: string, commit: LoggedCommit, committedAt: number, notes: string[]): CommitRecord {
  const isStorable = ({ path, previousPath }: LoggedCommit['files'][number]) =>
    Buffer.byteLength(path) <= MAX_PATH_BYTES && Buffer.byteLength(previousPath ?? '') <= MAX_PATH_BYTES
  const files = commit.files.filter(isStorable).slice(0, MAX_FILES)
  const left = commit.files.length - files.length
  if (left > 0) notes.push(`commit ${commit.sha}: ${left} files are too many, or their names too long`)
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

/**
 * Git accepts any text as an e-mail address; an invalid one becomes a mailbox of the reserved domain `.invalid` (RFC
 * 2606).
 */
export function emailOf(text: string): string {
  const email = text.trim().slice(0, 320)
  if (/^[^\s@]+@[^\s@]+$/.test(email)) return email
  return `${email.replace(/[\s@]+/g, '-').slice(0, 200) || 'unknown'}@unknown.invalid`
}
