import { OperatorError } from '../../../base/errors.ts'
import { type LoggedCommit, type LoggedFile, type LogReading, parseLog } from './parse-log.ts'

export type Logged = LoggedCommit | { kind: 'unreadable'; sha: string; reason: string }

/** Settings of the user or the repository must not change the output, run programs, or fetch missing objects. */
const SETTINGS = [
  ...['-c', 'core.fsmonitor=false', '-c', 'log.showSignature=false'],
  ...['-c', 'log.showRoot=true', '-c', 'diff.renameLimit=2000', '-c', 'core.quotePath=false'],
]
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
  root: string,
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
    for await (const commit of streamLog(root, left, hasLines, reading)) {
      yield commit
      done += 1
    }
    if (hasLines && done > 0) missing = 0
    const next = left[done]
    if (next === undefined) return
    yield await withoutLines(root, next, reading)
    left = left.slice(done + 1)
    missing += 1
  }
}

/** Returns the files that differ between two commits. Throws OperatorError where git fails. */
export async function diffFiles(root: string, from: string, to: string): Promise<LoggedFile[]> {
  const flags = LOG.slice(LOG.indexOf('--no-color'))
  const process = spawnGit(root, ['diff', '-z', ...flags, ...WITH_LINES, from, to], 'ignore')
  // read as the log of one commit
  async function* asLog() {
    yield new TextEncoder().encode(`\x01${to}\0\0\0\0\0\0`)
    yield* process.stdout
  }
  const files: LoggedFile[] = []
  for await (const commit of parseLog(asLog(), true)) files.push(...commit.files)
  if ((await process.exited) === 0) return files
  throw new OperatorError(`git diff fails: ${(await new Response(process.stderr).text()).trim()}`)
}

async function withoutLines(root: string, sha: string, reading: LogReading): Promise<Logged> {
  const errors: string[] = []
  for await (const commit of streamLog(root, [sha], false, reading, (text) => errors.push(text)))
    return commit
  return { kind: 'unreadable', sha, reason: errors.join(' ').trim() || 'git log gave nothing' }
}

/** The commits of one run of git log. If git fails, its last commit may be incomplete and is left out. */
async function* streamLog(
  root: string,
  shas: readonly string[],
  hasLines: boolean,
  reading: LogReading,
  onErrors: (text: string) => void = () => {},
): AsyncGenerator<LoggedCommit> {
  const args = [...LOG, ...(hasLines ? WITH_LINES : WITHOUT_LINES)]
  const process = spawnGit(root, args, Buffer.from(`${shas.join('\n')}\n`))
  try {
    let commit: LoggedCommit | undefined
    for await (const next of parseLog(process.stdout, hasLines, reading)) {
      if (commit !== undefined) yield commit
      commit = next
    }
    if ((await process.exited) === 0 && commit !== undefined) yield commit
    else onErrors(await new Response(process.stderr).text())
  } finally {
    process.kill()
  }
}

/** Runs git and waits for its exit. Throws OperatorError without a git program. */
export async function runGit(
  root: string,
  args: readonly string[],
  input = '',
): Promise<{ code: number; output: string; errors: string }> {
  const process = spawnGit(root, args, Buffer.from(input))
  const [output, errors, code] = await Promise.all([
    new Response(process.stdout).text(),
    new Response(process.stderr).text(),
    process.exited,
  ])
  return { code, output, errors }
}

/**
 * A git before 2.45 fetches what a partial clone lacks, by the program that the repository's settings name; it does not know the
 * first variable. The second one, a list of protocols, comes before settings that allow one.
 */
const NO_FETCH = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' }

export function spawnGit<Input extends Buffer | 'pipe' | 'ignore'>(
  root: string,
  args: readonly string[],
  stdin: Input,
) {
  const program = Bun.which('git')
  if (program === null)
    throw new OperatorError(
      `${root} is a git repository: reading it needs the git program, which is not on PATH`,
    )
  // git hooks set GIT_DIR and other variables, which select another repository
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')))
  return Bun.spawn([program, ...SETTINGS, '-C', root, ...args], {
    stdin,
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...env, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', ...NO_FETCH },
  })
}
