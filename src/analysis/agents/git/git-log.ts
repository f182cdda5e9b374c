// Runs `git log` for the commits of a repository with their lines, and `git diff` for those of a pull request.

import { OperatorError } from '../../../base/errors.ts'
import { type LoggedCommit, type LoggedFile, type LogReading, parseLog } from './parse-log.ts'
import { type Git, spawnGit } from './run-git.ts'

export type Logged = LoggedCommit | { kind: 'unreadable'; sha: string; reason: string }

const TRAILERS = '%(trailers:key=Co-Authored-By,key=Assisted-By,unfold,separator=%x1f)'
const FORMAT = `%x01%H%x00%aN%x00%aE%x00%at%x00${TRAILERS}%x00%s`
const LOG = [
  ...['log', '--no-walk=unsorted', '--stdin', '-z', `--format=${FORMAT}`, '--encoding=UTF-8'],
  ...['--no-color', '--raw', '--no-abbrev', '--no-ext-diff', '--no-textconv', '--no-relative'],
  '--ignore-submodules=all',
]
/**
 * The lines of a patch are counted and looked at in one pass: `--numstat` would compare all files a second time. Without any
 * context git compares files in another way than it does there.
 */
const WITH_LINES = ['-p', '-U1', '--inter-hunk-context=0', '-M50%']
/** Works without the contents of files. */
const WITHOUT_LINES = ['-M100%']

/** After this many consecutive commits with missing contents, the rest is read without lines. */
const MAX_MISSING = 20

/**
 * The commits `shas` in this order. A patch fails at the first commit whose contents the clone lacks: that commit is read
 * without lines, and then the log goes on with the next. Where many lack them, those that are optional are not read.
 */
export async function* logCommits(
  git: Git,
  shas: readonly string[],
  reading: LogReading = {},
): AsyncGenerator<Logged> {
  let left = shas
  let missing = 0
  while (left.length > 0) {
    const isDropped = (sha: string) => missing >= MAX_MISSING && reading.isOptional?.(sha) === true
    const dropped = left.filter(isDropped)
    if (dropped.length > 0) {
      left = left.filter((sha) => !isDropped(sha))
      missing = 0
      for (const sha of dropped) yield { kind: 'unreadable', sha, reason: 'its contents are missing' }
    }
    const hasLines = missing < MAX_MISSING
    let done = 0
    for await (const commit of streamLog(git, left, hasLines, reading)) {
      yield commit
      done += 1
    }
    if (hasLines && done > 0) missing = 0
    const next = left[done]
    if (next === undefined) return
    yield await withoutLines(git, next, reading)
    left = left.slice(done + 1)
    missing += 1
  }
}

/** Returns the files that differ between two commits. Throws OperatorError where git fails. */
export async function diffFiles(git: Git, from: string, to: string): Promise<LoggedFile[]> {
  const flags = LOG.slice(LOG.indexOf('--no-color'))
  const { process, chunks, errors } = spawnGit(
    git,
    ['diff', '-z', ...flags, ...WITH_LINES, from, to],
    'ignore',
  )
  // read as the log of one commit
  async function* asLog() {
    yield new TextEncoder().encode(`\x01${to}\0\0\0\0\0\0`)
    yield* chunks
  }
  const files: LoggedFile[] = []
  for await (const commit of parseLog(asLog(), true)) files.push(...commit.files)
  if ((await process.exited) === 0) return files
  throw new OperatorError(`git diff fails: ${(await errors).trim()}`)
}

async function withoutLines(git: Git, sha: string, reading: LogReading): Promise<Logged> {
  const errors: string[] = []
  for await (const commit of streamLog(git, [sha], false, reading, (text) => errors.push(text))) return commit
  return { kind: 'unreadable', sha, reason: errors.join(' ').trim() || 'git log gave nothing' }
}

/** The commits of one run of git log. If git fails, its last commit may be incomplete and is left out. */
async function* streamLog(
  git: Git,
  shas: readonly string[],
  hasLines: boolean,
  reading: LogReading,
  onErrors: (text: string) => void = () => {},
): AsyncGenerator<LoggedCommit> {
  const args = [...LOG, ...(hasLines ? WITH_LINES : WITHOUT_LINES)]
  const { process, chunks, errors } = spawnGit(git, args, Buffer.from(`${shas.join('\n')}\n`))
  try {
    let commit: LoggedCommit | undefined
    for await (const next of parseLog(chunks, hasLines, reading)) {
      if (commit !== undefined) yield commit
      commit = next
    }
    if ((await process.exited) === 0 && commit !== undefined) yield commit
    else onErrors(await errors)
  } finally {
    process.kill('SIGKILL')
  }
}
