import { describe, expect, test } from 'bun:test'
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readCommits } from '../../../src/analysis/agents/git/commits.ts'
import { createRepositoryFinder, nameOfRemote } from '../../../src/analysis/agents/git/project-name.ts'
import type { ReadOptions } from '../../../src/analysis/agents/read-sessions.ts'
import { testsFolder } from '../../support/at-end.ts'
import { git as runGit } from './generated-history.ts'
import { readAll } from './reading.ts'

const hasGit = Bun.which('git') !== null
if (!hasGit) process.stderr.write('projects.test.ts: skipped, there is no git program\n')

const root = realpathSync(testsFolder().path)

const git = (folder: string, ...args: string[]): string => runGit(folder, args)

let made = 0

/** A repository in `<new folder>/<name>` with a commit. */
function repository(name: string, origin?: string): string {
  const path = join(root, `${++made}`, name)
  mkdirSync(join(path, 'web'), { recursive: true })
  git(path, 'init', '-q', '-b', 'main')
  git(path, 'commit', '-q', '--allow-empty', '-m', 'first')
  if (origin !== undefined) git(path, 'remote', 'add', 'origin', origin)
  return path
}

async function read(files: Record<string, object[]>, options: Partial<ReadOptions> = {}) {
  const folder = join(root, `read-${++made}`)
  for (const [name, lines] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }
  return await readFolder(folder, options)
}

const readFolder = async (folder: string, options: Partial<ReadOptions> = {}) =>
  (await readAll([folder], options)).records

let lines = 0

/** A line of Claude Code, which edits `file` in `cwd` at this minute. */
const edit = (cwd: string, file: string, minute = 0, sessionId = 's1') => ({
  type: 'assistant',
  uuid: `u${++lines}`,
  sessionId,
  cwd,
  timestamp: `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z`,
  requestId: `r${lines}`,
  message: {
    id: `m${lines}`,
    role: 'assistant',
    model: 'claude-haiku-4-5',
    usage: { input_tokens: 1, output_tokens: 1 },
    content: [{ type: 'tool_use', id: `t${lines}`, name: 'Edit', input: { file_path: file } }],
  },
})

async function placeOf(cwd: string, file: string, options: Partial<ReadOptions> = {}) {
  const [record] = await read({ 's.jsonl': [edit(cwd, file)] }, options)
  return [record?.project_name, ...(record?.files_touched ?? [])]
}

async function commitsProject(path: string): Promise<string> {
  const reader = readCommits(path, {})
  let next = await reader.next()
  while (!next.done) next = await reader.next()
  return next.value.project
}

describe.skipIf(!hasGit)('one project for one repository', () => {
  test('in its folder, a subfolder, a linked worktree and a clone of another name, as its commits', async () => {
    const main = repository('checkout-of-mine', 'git@example.com:acme/shop.git')
    const linked = join(dirname(main), 'fix-cart')
    git(main, 'worktree', 'add', '-q', linked, '-b', 'fix')
    mkdirSync(join(linked, 'web'))
    for (const folder of [main, join(main, 'web'), linked, join(linked, 'web')])
      expect(await placeOf(folder, join(folder, 'a.ts'))).toEqual([
        'shop',
        folder.endsWith('web') ? 'web/a.ts' : 'a.ts',
      ])
    expect(await placeOf(linked, join(main, 'src/a.ts'))).toEqual(['shop', 'src/a.ts'])
    expect(await commitsProject(main)).toBe('shop')
    expect(await commitsProject(linked)).toBe('shop')
  })

  test('without a remote it is the folder of the main worktree', async () => {
    const main = repository('shop')
    const linked = join(dirname(main), 'fix-cart')
    git(main, 'worktree', 'add', '-q', linked, '-b', 'fix')
    for (const folder of [main, join(main, 'web'), linked]) {
      expect((await placeOf(folder, 'a.ts'))[0]).toBe('shop')
    }
    expect(await commitsProject(linked)).toBe('shop')
  })

  test('a bare repository names its worktrees, a submodule itself', async () => {
    const main = repository('lib')
    const bare = join(dirname(main), 'shop.git')
    git(dirname(main), 'clone', '-q', '--bare', main, bare)
    git(bare, 'remote', 'remove', 'origin')
    const linked = join(dirname(main), 'fix-cart')
    git(bare, 'worktree', 'add', '-q', linked, '-b', 'fix')
    expect(await placeOf(linked, join(linked, 'a.ts'))).toEqual(['shop', 'a.ts'])
    expect([await commitsProject(bare), await commitsProject(linked)]).toEqual(['shop', 'shop'])
    const outer = repository('outer', 'https://example.com/acme/outer')
    git(outer, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', main, 'vendor/lib')
    const inner = join(outer, 'vendor/lib')
    expect(await placeOf(inner, join(inner, 'a.ts'))).toEqual(['lib', 'a.ts'])
  })

  test('without a repository it is the folder, and so where the folder is gone', async () => {
    const plain = join(root, `${++made}`, 'notes')
    mkdirSync(plain, { recursive: true })
    expect(await placeOf(plain, join(plain, 'a.md'))).toEqual(['notes', 'a.md'])
    const main = repository('checkout-of-mine', 'https://example.com/acme/shop.git')
    const gone = join(main, 'gone')
    expect(await placeOf(gone, join(gone, 'a.ts'))).toEqual(['gone', 'a.ts'])
    const worktree = join(main, '.claude/worktrees/fix-cart')
    expect(await placeOf(worktree, join(worktree, 'a.ts'))).toEqual(['shop', 'a.ts'])
    expect(await placeOf('/gone/shop/.worktrees/fix', '/gone/shop/.worktrees/fix/a.ts')).toEqual([
      'shop',
      'a.ts',
    ])
  })

  test('what the agent recorded counts where the folder is gone', async () => {
    const codex = (cwd: string) => [
      {
        timestamp: '2026-03-01T10:00:00.000Z',
        type: 'session_meta',
        payload: { id: 'c1', cwd, git: { repository_url: 'https://example.com/acme/recorded.git' } },
      },
      {
        timestamp: '2026-03-01T10:00:01.000Z',
        type: 'response_item',
        payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] },
      },
    ]
    const projectOf = async (cwd: string) => (await read({ 'c.jsonl': codex(cwd) }))[0]?.project_name
    expect(await projectOf('/gone/folder')).toBe('recorded')
    expect(await projectOf(repository('x', 'https://example.com/acme/shop'))).toBe('shop')
  })

  test('the folder of the earliest line names it, whatever the names of the files', async () => {
    const early = edit('/gone/early', '/gone/early/a.ts', 1)
    const late = edit('/gone/late', '/gone/late/b.ts', 2)
    for (const files of [
      { 'a.jsonl': [late], 'b.jsonl': [early] },
      { 'a.jsonl': [early], 'b.jsonl': [late] },
      { 'a.jsonl': [late, early] },
    ]) {
      const [record] = await read(files)
      expect(record).toMatchObject({ project_name: 'early', files_touched: ['a.ts', 'b.ts'] })
    }
    const many = Array.from({ length: 60 }, (_, n) => edit(`/gone/f${n}`, 'a.ts', 59 - (n % 60)))
    expect((await read({ 'a.jsonl': many }))[0]?.project_name).toBe('f59')
    expect((await read({ 'a.jsonl': many.toReversed() }))[0]?.project_name).toBe('f59')
  })

  test('--project wins; from the folder it is the one in which the session began', async () => {
    const main = repository('checkout-of-mine', 'https://example.com/acme/shop.git')
    const web = join(main, 'web')
    expect(await placeOf(web, join(web, 'a.ts'), { project: 'given' })).toEqual(['given', 'web/a.ts'])
    expect(await placeOf(web, join(web, 'a.ts'), { projectFrom: 'folder' })).toEqual(['web', 'web/a.ts'])
  })
})

test('a transcript of Windows is read the same everywhere', async () => {
  expect(await placeOf('C:\\work\\shop', 'C:\\work\\shop\\src\\auth\\login.ts')).toEqual([
    'shop',
    'src/auth/login.ts',
  ])
  expect(await placeOf('C:\\Users\\ada\\shop', 'C:\\Users\\ada\\.ssh\\id_rsa')).toEqual([
    'shop',
    '~/.ssh/id_rsa',
  ])
})

test('the record of a session does not say which system read it', async () => {
  const [record] = await read({ 's.jsonl': [edit('/gone/shop', 'a.ts')] })
  // this byte of the header of gzip names the system: a program on Windows would write 10 here
  expect(Buffer.from(record?.parts ?? '', 'base64')[9]).toBe(255)
})

describe('Gemini’s folders', () => {
  const chat = (file: string) => [
    { sessionId: 'g1', projectHash: 'f'.repeat(64), startTime: '2026-03-01T10:00:00.000Z', kind: 'main' },
    {
      id: 'm1',
      timestamp: '2026-03-01T10:00:01.000Z',
      type: 'gemini',
      content: 'x',
      model: 'gemini-2.5-pro',
      tokens: { input: 1, output: 1, cached: 0, thoughts: 0, tool: 0, total: 2 },
      toolCalls: [{ id: 't1', name: 'write_file', args: { file_path: file }, status: 'success' }],
    },
  ]
  const hash = (folder: string) => new Bun.CryptoHasher('sha256').update(folder).digest('hex')

  async function placed(name: string, beside: Record<string, string>, file = '/home/ada/web-shop/src/a.ts') {
    const home = join(root, `gemini-${++made}`)
    const files = { ...beside, [`tmp/${name}/chats/session-1.jsonl`]: chat(file).map(json).join('\n') }
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(home, path)), { recursive: true })
      writeFileSync(join(home, path), text)
    }
    const [record] = await readFolder(join(home, 'tmp'))
    return [record?.project_name, ...(record?.files_touched ?? [])]
  }
  const json = (value: unknown) => JSON.stringify(value)
  const projects = json({ projects: { '/home/ada/web-shop': 'shop-2', '/home/ada/other': 'other' } })

  test.each([
    ['.project_root', 'shop-2', { 'tmp/shop-2/.project_root': '/home/ada/web-shop\n' }],
    ['projects.json', 'shop-2', { 'projects.json': projects }],
    ['projects.json, a hash as name', hash('/home/ada/web-shop'), { 'projects.json': projects }],
  ])('from %s', async (_source, name, beside) => {
    expect(await placed(name, beside)).toEqual(['web-shop', 'src/a.ts'])
  })

  test('a repository names it; without any source it is the hash, and no path has a home folder', async () => {
    const main = hasGit ? repository('mine', 'https://example.com/acme/shop.git') : '/gone/shop'
    const place = { 'tmp/x/.project_root': join(main, hasGit ? 'web' : '') }
    expect((await placed('x', place))[0]).toBe('shop')
    expect(await placed('x', {})).toEqual(['gemini-ffffffff', '~/web-shop/src/a.ts'])
    expect(await placed('x', { 'projects.json': '{"projects":[' })).toContain('gemini-ffffffff')
  })
})

test.each([
  ['https://example.com/acme/shop.git', 'shop'],
  ['https://user:secret@example.com/acme/shop/', 'shop'],
  ['git@example.com:shop.git', 'shop'],
  ['ssh://git@example.com:22/acme/shop.git', 'shop'],
  ['C:\\repositories\\shop.git', 'shop'],
  ['/srv/shop/.git', 'shop'],
  ['../shop', 'shop'],
  ['.', null],
  ['', null],
])('the name of the remote %s is %s', (url, name) => {
  expect(nameOfRemote(url)).toBe(name)
})

test('a URL of many slashes', () => {
  const slashes = '/'.repeat(100_000)
  expect(nameOfRemote(`https://example.com/a/shop${slashes}.git${slashes}`)).toBe('shop')
  expect(nameOfRemote(`https://example.com/a${slashes}shop \n`)).toBe('shop')
})

test.skipIf(!hasGit)('settings of git in any form', () => {
  const nameWith = (config: string) => {
    const path = repository('folder')
    writeFileSync(join(path, '.git/config'), config)
    return createRepositoryFinder()(path)?.name
  }
  expect(nameWith('[Remote "origin"]\n\tURL = "https://example.com/a/sh\\"op" # c\n')).toBe('sh"op')
  expect(nameWith('[remote "origin"]\nurl=x/shop ; a comment\nurl = x/mirror\n')).toBe('shop')
  expect(nameWith('[remote "upstream"]\n\turl = x/other\n[core]\n\turl = x/no\n')).toBe('folder')
  expect(nameWith('')).toBe('folder')
})

test('10,000 sessions in a folder look at it once', () => {
  const main = hasGit ? repository('shop') : root
  const find = createRepositoryFinder()
  const first = find(join(main, 'web'))
  rmSync(main, { recursive: true })
  expect(find(join(main, 'web'))).toBe(first)
  expect(createRepositoryFinder()(join(main, 'web'))).toBeNull()
})
