import { OperatorError } from '../../errors.ts'

// A parser for the output of `git log -z`. File names may contain any byte but NUL, so all fields end with NUL.

export interface LoggedFile {
  path: string
  status: 'added' | 'modified' | 'deleted' | 'renamed'
  previousPath: string | null
  additions: number
  deletions: number
}

export interface LoggedCommit {
  kind: 'commit'
  sha: string
  name: string
  email: string
  subject: string
  files: LoggedFile[]
  /** False if the clone lacks the contents of the files: then lines are 0 and only exact renames are detected. */
  hasLines: boolean
}

type Logged = LoggedCommit | { kind: 'unreadable'; sha: string; reason: string }

/** Settings of the user or the repository must not change the output, run programs, or fetch missing objects. */
const SETTINGS = [
  ...['-c', 'core.fsmonitor=false', '-c', 'protocol.allow=never', '-c', 'log.showSignature=false'],
  ...['-c', 'log.showRoot=true', '-c', 'diff.renameLimit=2000', '-c', 'core.quotePath=false'],
]
const FORMAT = '%x01%H%x00%aN%x00%aE%x00%s'
const LOG = [
  ...['log', '--no-walk=unsorted', '--stdin', '-z', `--format=${FORMAT}`, '--encoding=UTF-8'],
  ...['--no-color', '--raw', '--no-abbrev', '--no-ext-diff', '--no-textconv', '--no-relative'],
  '--ignore-submodules=all',
]
const WITH_LINES = ['--numstat', '-M50%']
/** Works without the contents of files. */
const WITHOUT_LINES = ['-M100%']

/** After this many consecutive commits with missing contents, the rest is read without lines. */
const MAX_MISSING = 20

/**
 * The commits `shas` in this order. `--numstat` fails at the first commit whose contents the clone lacks: that commit is
 * read without lines, and then the log goes on with the next.
 */
export async function* logCommits(root: string, shas: readonly string[]): AsyncGenerator<Logged> {
  let done = 0
  let missing = 0
  while (done < shas.length) {
    const before = done
    const hasLines = missing < MAX_MISSING
    for await (const commit of streamLog(root, shas.slice(done), hasLines)) {
      yield commit
      done += 1
    }
    if (hasLines && done > before) missing = 0
    const next = shas[done]
    if (next === undefined) return
    yield await withoutLines(root, next)
    done += 1
    missing += 1
  }
}

/** Returns the files that differ between two commits. Throws OperatorError where git fails. */
export async function diffFiles(root: string, from: string, to: string): Promise<LoggedFile[]> {
  const flags = LOG.slice(LOG.indexOf('--no-color'))
  const process = spawnGit(root, ['diff', '-z', ...flags, ...WITH_LINES, from, to], '')
  // read as the log of one commit
  async function* asLog() {
    yield new TextEncoder().encode(`\x01${to}\0\0\0\0`)
    yield* process.stdout
  }
  const files: LoggedFile[] = []
  for await (const commit of parseLog(asLog(), true)) files.push(...commit.files)
  if ((await process.exited) === 0) return files
  throw new OperatorError(`git diff fails: ${(await new Response(process.stderr).text()).trim()}`)
}

async function withoutLines(root: string, sha: string): Promise<Logged> {
  const errors: string[] = []
  for await (const commit of streamLog(root, [sha], false, (text) => errors.push(text))) return commit
  return { kind: 'unreadable', sha, reason: errors.join(' ').trim() || 'git log gave nothing' }
}

/** The commits of one run of git log. If git fails, its last commit may be incomplete and is left out. */
async function* streamLog(
  root: string,
  shas: readonly string[],
  hasLines: boolean,
  onErrors: (text: string) => void = () => {},
): AsyncGenerator<LoggedCommit> {
  const args = [...LOG, ...(hasLines ? WITH_LINES : WITHOUT_LINES)]
  const process = spawnGit(root, args, `${shas.join('\n')}\n`)
  try {
    let commit: LoggedCommit | undefined
    for await (const next of parseLog(process.stdout, hasLines)) {
      if (commit !== undefined) yield commit
      commit = next
    }
    if ((await process.exited) === 0 && commit !== undefined) yield commit
    else onErrors(await new Response(process.stderr).text())
  } finally {
    process.kill()
  }
}

async function* parseLog(bytes: AsyncIterable<Uint8Array>, hasLines: boolean): AsyncGenerator<LoggedCommit> {
  const tokens = splitAtNul(bytes)
  const nextText = async () => (await tokens.next()).value ?? ''
  let commit: LoggedCommit | undefined
  let files = new Map<string, LoggedFile>()
  for (let token = await tokens.next(); !token.done; token = await tokens.next()) {
    const text = token.value.replace(/^\n/, '')
    if (text.startsWith('\x01')) {
      if (commit !== undefined) yield { ...commit, files: [...files.values()] }
      files = new Map()
      const [name, email, subject] = [await nextText(), await nextText(), await nextText()]
      commit = { kind: 'commit', sha: text.slice(1), name, email, subject, files: [], hasLines }
    } else if (text.startsWith(':')) {
      const file = fileOf(text, await nextText())
      if (file.status === 'renamed') Object.assign(file, { previousPath: file.path, path: await nextText() })
      files.set(file.path, file)
    } else if (text !== '') {
      const [additions, deletions, path] = text.split(/\t/, 3)
      // a rename: the old name, then the new name
      if (path === '') await nextText()
      const file = files.get(
        path === '' ? await nextText() : text.slice(text.indexOf('\t', text.indexOf('\t') + 1) + 1),
      )
      // `-` for binary files
      if (file !== undefined)
        Object.assign(file, { additions: Number(additions) || 0, deletions: Number(deletions) || 0 })
    }
  }
  if (commit !== undefined) yield { ...commit, files: [...files.values()] }
}

const STATUS: Record<string, LoggedFile['status']> = { A: 'added', C: 'added', D: 'deleted', R: 'renamed' }

/** `:100644 100644 <hash> <hash> R085` */
function fileOf(text: string, path: string): LoggedFile {
  const letter = text.slice(text.lastIndexOf(' ') + 1).charAt(0)
  return { path, status: STATUS[letter] ?? 'modified', previousPath: null, additions: 0, deletions: 0 }
}

async function* splitAtNul(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
      yield bytes.toString('utf8', start, end)
      start = end + 1
    }
    rest = bytes.subarray(start)
  }
  if (rest.length > 0) yield rest.toString('utf8')
}

/** Runs git and waits for its exit. Throws OperatorError without a git program. */
export async function runGit(
  root: string,
  args: readonly string[],
): Promise<{ code: number; output: string; errors: string }> {
  const process = spawnGit(root, args, '')
  const [output, errors, code] = await Promise.all([
    new Response(process.stdout).text(),
    new Response(process.stderr).text(),
    process.exited,
  ])
  return { code, output, errors }
}

function spawnGit(root: string, args: readonly string[], input: string) {
  const program = Bun.which('git')
  if (program === null)
    throw new OperatorError(
      `${root} is a git repository: reading it needs the git program, which is not on PATH`,
    )
  // git hooks set GIT_DIR and other variables, which select another repository
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')))
  return Bun.spawn([program, ...SETTINGS, '-C', root, ...args], {
    stdin: Buffer.from(input),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...env, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1' },
  })
}
