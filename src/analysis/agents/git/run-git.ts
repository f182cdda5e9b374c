// Runs git on repositories that somebody else may have made. A setting may name a program, a pipe or a device, and new settings
// come with new versions: git gets a folder of ours for the repository's, with its references and none of its settings.

import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { OperatorError } from '../../../base/errors.ts'
import { gitFolderOf, settingOf } from './project-name.ts'
import { NOT_REGULAR, readText } from './regular-file.ts'

/** Settings of git itself that would change the output, run programs. */
const SETTINGS = [
  ...['-c', 'core.fsmonitor=false', '-c', 'log.showSignature=false'],
  ...['-c', 'log.showRoot=true', '-c', 'diff.renameLimit=2000', '-c', 'core.quotePath=false'],
]
/** Time that all commands of a repository are waited for: that between them is not counted. */
const MAX_MS = 60_000
/** Bytes that a command says, where they are not read piece by piece: a list of two million commits. */
const MAX_OUTPUT = 256 * 1024 * 1024
const MAX_ERRORS = 64 * 1024
/** Memory of git in KiB, without the files that it maps. */
const MAX_MEMORY = 1024 * 1024

/** A repository while it is read. */
export interface Git extends Disposable {
  root: string
  leftMs: number
  env: Record<string, string | undefined>
}

/** Git was stopped: it took too much time, or said too much. What was read until then counts. */
export class GitStopped extends OperatorError {}

/** Prepares a repository to be read. `root`: a folder in it; `leftMs`: see `MAX_MS`. Throws OperatorError where there is none. */
export function openGit(root: string, leftMs = MAX_MS): Git {
  const passed: string[] = []
  const repository = findRepository(root, (path) => passed.push(path))
  if (repository === null) {
    const reason = passed.length === 0 ? 'not a git repository' : `${passed[0]} is ${NOT_REGULAR}`
    throw new OperatorError(`git refuses ${root}: ${reason}`)
  }
  const { worktree, gitFolder, common } = repository
  const folder = mkdtempSync(join(tmpdir(), 'cloud-analytics-git-'))
  const config = readText(join(common, 'config'), () => {}) ?? ''
  const lines = [
    ...['[core]', 'repositoryformatversion = 1', `bare = ${worktree === null}`, '[extensions]'],
    ...['objectFormat', 'refStorage'].flatMap((name) => {
      const value = settingOf(config, 'extensions', name.toLowerCase())
      return value === null ? [] : `${name} = ${quoted(value)}`
    }),
    ...['[remote "origin"]', `url = ${quoted(settingOf(config, 'remote "origin"', 'url') ?? '')}`],
  ]
  writeFileSync(join(folder, 'config'), `${lines.join('\n')}\n`)
  for (const file of [join(gitFolder, 'HEAD'), join(common, 'packed-refs'), join(common, 'shallow')]) {
    const text = readText(file, () => {})
    if (text !== null) writeFileSync(join(folder, basename(file)), text)
  }
  for (const name of ['refs', 'reftable'])
    if (existsSync(join(common, name))) symlinkSync(join(common, name), join(folder, name), 'junction')
  // hooks of git set GIT_DIR and other variables, which select another repository
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')))
  return {
    root,
    leftMs,
    env: {
      ...{ ...env, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', ...NO_FETCH },
      ...{ GIT_DIR: folder, GIT_OBJECT_DIRECTORY: join(common, 'objects') },
      ...(worktree === null ? {} : { GIT_WORK_TREE: worktree }),
      // without settings and attributes of the user, which a git before 2.32 finds in the home folder
      ...{ HOME: folder, XDG_CONFIG_HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_ATTR_NOSYSTEM: '1' },
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const quoted = (value: string): string => `"${value.replace(/["\\]/g, '\\$&').replace(/[\0\n\r]/g, ' ')}"`

/** The repository that a folder is in. `worktree`: null for a bare one. */
function findRepository(root: string, onPassed: (path: string) => void) {
  for (let folder = root; ; folder = dirname(folder)) {
    const gitFolder = gitFolderOf(folder, onPassed)
    if (gitFolder !== null) {
      const shared = readText(join(gitFolder, 'commondir'), onPassed)?.trim()
      const common = shared === undefined ? gitFolder : resolve(gitFolder, shared)
      return { gitFolder, common, worktree: gitFolder === folder ? null : folder }
    }
    if (dirname(folder) === folder) return null
  }
}

/** Runs git and waits for its exit. Throws OperatorError without a git program, GitStopped beyond the limits. */
export async function runGit(
  git: Git,
  args: readonly string[],
  input = '',
): Promise<{ code: number; output: string; errors: string }> {
  const { process, chunks, errors } = spawnGit(git, args, Buffer.from(input))
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of chunks) {
      size += chunk.length
      if (size > MAX_OUTPUT) throw stopped(git, `said more than ${MAX_OUTPUT / 1024 / 1024} MiB`)
      parts.push(chunk)
    }
    return { code: await process.exited, output: Buffer.concat(parts).toString(), errors: await errors }
  } finally {
    process.kill('SIGKILL')
  }
}

/**
 * A git before 2.45 fetches what a partial clone lacks, by the program that the repository's settings name; it does not know the
 * first variable. The second one, a list of protocols, comes before settings that allow one.
 */
const NO_FETCH = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' }

/** `chunks`: what git says; waiting for it is waiting for git. `errors`: the beginning of its errors, once it has ended. */
export function spawnGit<Input extends Buffer | 'pipe' | 'ignore'>(
  git: Git,
  args: readonly string[],
  stdin: Input,
) {
  const { root, env } = git
  const program = Bun.which('git')
  if (program === null)
    throw new OperatorError(
      `${root} is a git repository: reading it needs the git program, which is not on PATH`,
    )
  if (git.leftMs <= 0) throw tooLong(git)
  const command = [program, ...SETTINGS, '-C', root, ...args]
  // other systems have no such limit, or do not keep it
  const limited = ['/bin/sh', '-c', `ulimit -d ${MAX_MEMORY} 2>/dev/null; exec "$@"`, 'git', ...command]
  const process = Bun.spawn(globalThis.process.platform === 'linux' ? limited : command, {
    stdin,
    stdout: 'pipe',
    stderr: 'pipe',
    env,
  })
  return { process, chunks: chunksOf(git, process), errors: headOf(process.stderr) }
}

const stopped = ({ root }: Git, what: string) =>
  new GitStopped(`${root} was not read to its end: git ${what}`)
const tooLong = (git: Git) => stopped(git, `took more than ${MAX_MS / 1000} s`)

/** Yields the output of a process until the time of its repository is over. */
async function* chunksOf(
  git: Git,
  process: { stdout: AsyncIterable<Uint8Array>; kill(signal: 'SIGKILL'): void },
): AsyncGenerator<Uint8Array> {
  const chunks = process.stdout[Symbol.asyncIterator]()
  for (;;) {
    const startedMs = performance.now()
    const timer = setTimeout(() => process.kill('SIGKILL'), git.leftMs)
    const { done, value } = await chunks.next()
    clearTimeout(timer)
    git.leftMs -= performance.now() - startedMs
    if (git.leftMs <= 0) throw tooLong(git)
    if (done) return
    yield value
  }
}

/** The first bytes of a stream, which is read to its end: git waits for that. */
async function headOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    if (size < MAX_ERRORS) parts.push(chunk)
    size += chunk.length
  }
  return Buffer.concat(parts).toString('utf8', 0, MAX_ERRORS)
}
