import { OperatorError } from '../../errors.ts'

// What `git log` says, byte by byte. Names of files may hold anything but NUL, so everything is separated by NUL.

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
  /** False where the clone lacks the files' contents: then lines are 0 and only exact renames are seen. */
  hasLines: boolean
}

export type Logged = LoggedCommit | { kind: 'unreadable'; sha: string; reason: string }

/** Settings of the machine or of the repository must neither change what is read nor run programs, nor fetch what a clone lacks. */
const SETTINGS = [
  ...['-c', 'core.fsmonitor=false', '-c', 'protocol.allow=never', '-c', 'log.showSignature=false'],
  ...['-c', 'log.showRoot=true', '-c', 'diff.renameLimit=2000', '-c', 'core.quotePath=false'],
]
const FORMAT = '%x01%H%x00%aN%x00%aE%x00%s'
const LOG = [
  ...[
    'log',
    '--no-walk=unsorted',
    '--stdin',
    '-z',
    `--format=${FORMAT}`,
    '--encoding=UTF-8',
    '--no-color',
    '--raw',
  ],
  ...['--no-abbrev', '--no-ext-diff', '--no-textconv', '--no-relative', '--ignore-submodules=all'],
]
const WITH_LINES = ['--numstat', '-M50%']
/** Needs no file's contents. */
const WITHOUT_LINES = ['-M100%']

/** After so many commits in a row whose contents are missing, a clone is taken to have none. */
const MAX_MISSING = 20

/**
 * The commits `shas` in this order. `--numstat` ends at the first commit whose files' contents the clone lacks; that one is read
 * without lines, and the rest goes on.
 */
export async function* logCommits(root: string, shas: readonly string[]): AsyncGenerator<Logged> {
  let done = 0
  let missing = 0
  while (done < shas.length && missing < MAX_MISSING) {
    const before = done
    for await (const commit of streamLog(root, shas.slice(done), true)) {
      yield commit
      done += 1
    }
    missing = done > before ? 0 : missing
    const next = shas[done]
    if (next === undefined) return
    yield await withoutLines(root, next)
    done += 1
    missing += 1
  }
  while (done < shas.length) {
    for await (const commit of streamLog(root, shas.slice(done), false)) {
      yield commit
      done += 1
    }
    const next = shas[done]
    if (next === undefined) return
    yield await withoutLines(root, next)
    done += 1
  }
}

async function withoutLines(root: string, sha: string): Promise<Logged> {
  const errors: string[] = []
  for await (const commit of streamLog(root, [sha], false, (text) => errors.push(text))) return commit
  return { kind: 'unreadable', sha, reason: errors.join(' ').trim() || 'git log gave nothing' }
}

/** The commits that one run of git log gives before it ends, well or not; the last one it began may be cut and is left out then. */
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
  const following = async () => (await tokens.next()).value ?? ''
  let commit: LoggedCommit | undefined
  let files = new Map<string, LoggedFile>()
  for (let token = await tokens.next(); !token.done; token = await tokens.next()) {
    const text = token.value.replace(/^\n/, '')
    if (text.startsWith('\x01')) {
      if (commit !== undefined) yield { ...commit, files: [...files.values()] }
      files = new Map()
      const [name, email, subject] = [await following(), await following(), await following()]
      commit = { kind: 'commit', sha: text.slice(1), name, email, subject, files: [], hasLines }
    } else if (text.startsWith(':')) {
      const file = fileOf(text, await following())
      if (file.status === 'renamed') Object.assign(file, { previousPath: file.path, path: await following() })
      files.set(file.path, file)
    } else if (text !== '') {
      const [additions, deletions, path] = text.split(/\t/, 3)
      // a rename: the old name, then the new one
      if (path === '') await following()
      const file = files.get(
        path === '' ? await following() : text.slice(text.indexOf('\t', text.indexOf('\t') + 1) + 1),
      )
      // of binary files git says `-`
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

/** Runs git to its end. Throws OperatorError when there is no git program. */
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
  // a hook that runs us sets GIT_DIR and others, which would lead elsewhere
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')))
  return Bun.spawn([program, ...SETTINGS, '-C', root, ...args], {
    stdin: Buffer.from(input),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...env, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1' },
  })
}
