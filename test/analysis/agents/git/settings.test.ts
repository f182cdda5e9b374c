import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCommits } from '../../../../src/analysis/agents/git/commits.ts'
import { GitStopped, openGit, runGit } from '../../../../src/analysis/agents/git/run-git.ts'
import { testsFolder } from '../../../support/at-end.ts'

// The settings of a repository that somebody else made: none of them runs a program.

const folder = testsFolder()

const git = Bun.which('git')
const PATH = process.env.PATH ?? ''
afterAll(() => {
  process.env.PATH = PATH
})

/** A repository with two commits; git is run with the words of `run`. */
function repository(name: string) {
  const path = join(folder.path, name)
  mkdirSync(path)
  const run = (...args: string[]) => {
    const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
    const { exitCode, stdout, stderr } = Bun.spawnSync([git ?? '', ...who, '-C', path, ...args])
    if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
    return stdout.toString().trim()
  }
  run('init', '-q', '-b', 'main')
  for (const text of ['one\n', 'one\ntwo\n']) {
    writeFileSync(join(path, 'a.txt'), text)
    run('add', '.')
    run('commit', '-q', '-m', 'change')
  }
  return { path, run }
}

/** A repository whose last commit lacks contents; what it does with the settings, it does to fetch these. */
function partialClone(name: string, settings: Record<string, string>): string {
  const { path, run } = repository(name)
  const hash = run('rev-parse', 'HEAD~1:a.txt')
  rmSync(join(path, '.git/objects', hash.slice(0, 2), hash.slice(2)), { force: true })
  const all = {
    'core.repositoryformatversion': '1',
    'extensions.partialClone': 'origin',
    'remote.origin.promisor': 'true',
    ...settings,
  }
  for (const [key, value] of Object.entries(all)) run('config', key, value)
  return path
}

describe.skipIf(git === null || process.platform === 'win32')('a program that the settings name', () => {
  test.each([
    [
      'to log in',
      'ssh',
      (mark: string) => ({ 'remote.origin.url': 'ssh://h/r', 'core.sshCommand': `touch ${mark} #` }),
    ],
    [
      'to send',
      'file',
      (mark: string) => ({ 'remote.origin.url': folder.path, 'remote.origin.uploadpack': `touch ${mark} #` }),
    ],
  ])('%s is not run for missing contents, by a git that fetches these', async (_name, protocol, settings) => {
    const mark = join(folder.path, `run-${protocol}`)
    const path = partialClone(protocol, { ...settings(mark), [`protocol.${protocol}.allow`]: 'always' })
    // git 2.44 and earlier fetch them whatever this variable says
    const older = join(folder.path, `older-${protocol}`)
    mkdirSync(older)
    writeFileSync(join(older, 'git'), `#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec ${git} "$@"\n`)
    chmodSync(join(older, 'git'), 0o755)
    process.env.PATH = `${older}:${PATH}`
    const read = await Array.fromAsync(readCommits(path, {}))
    expect(read.map(({ files }) => files.map((file) => file.status))).toEqual([['added'], ['modified']])
    expect(existsSync(mark)).toBe(false)
  })
})

describe.skipIf(git === null || process.platform === 'win32')('a pipe or a device', () => {
  const pipe = join(folder.path, 'pipe')
  const makePipe = (path: string) => expect(Bun.spawnSync(['mkfifo', path]).success).toBe(true)

  test.each(['mailmap.file', 'core.attributesFile', 'core.excludesFile', 'diff.orderFile', 'include.path'])(
    'that %s names is not opened',
    async (setting) => {
      const { path, run } = repository(setting)
      if (!existsSync(pipe)) makePipe(pipe)
      run('config', setting, setting === 'mailmap.file' ? '/dev/zero' : pipe)
      const read = await Array.fromAsync(readCommits(path, {}))
      expect(read.map(({ files }) => files.map((file) => file.additions))).toEqual([[1], [1]])
    },
  )

  test('among the objects stops git when its time is over', async () => {
    const { path, run } = repository('objects')
    const hash = run('rev-parse', 'HEAD:a.txt')
    const object = join(path, '.git/objects', hash.slice(0, 2), hash.slice(2))
    rmSync(object, { force: true })
    makePipe(object)
    using opened = openGit(path, 300)
    await expect(runGit(opened, ['cat-file', 'blob', hash])).rejects.toThrow(GitStopped)
    // there is no time left for another command
    await expect(runGit(opened, ['rev-parse', 'HEAD'])).rejects.toThrow('took more than 60 s')
  })

  test('a repository keeps its origin, its linked worktrees and its mailmap', async () => {
    const { path, run } = repository('kept')
    run('remote', 'add', 'origin', 'https://example.com/acme/sh"op.git')
    writeFileSync(join(path, '.mailmap'), 'Ada Lovelace <ada@acme.dev> <ada@example.com>\n')
    run('worktree', 'add', '-q', '-b', 'other', join(folder.path, 'kept-other'))
    using opened = openGit(join(folder.path, 'kept-other'))
    expect((await runGit(opened, ['config', 'remote.origin.url'])).output).toBe(
      'https://example.com/acme/sh"op.git\n',
    )
    expect((await runGit(opened, ['symbolic-ref', 'HEAD'])).output).toBe('refs/heads/other\n')
    const read = await Array.fromAsync(readCommits(path, {}))
    expect(read.map(({ author_email }) => author_email)).toEqual(['ada@acme.dev', 'ada@acme.dev'])
  })
})
