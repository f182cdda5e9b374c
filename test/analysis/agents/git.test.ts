import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type RepositoryResult, readCommits } from '../../../src/analysis/agents/git/commits.ts'
import { isRepository } from '../../../src/analysis/agents/git/repository-files.ts'
import { problemOf } from '../../../src/analysis/records/check-record.ts'
import type { CommitRecord } from '../../../src/analysis/records/commit.ts'
import { isBot } from '../../../src/analysis/scoring/ownership.ts'
import { client, newOrg, testApp } from '../../support/api.ts'
import { testsFolder } from '../../support/at-end.ts'
import { testDatabase } from '../../support/postgres.ts'
import { git, STARTED } from './generated-history.ts'

const hasGit = Bun.which('git') !== null
if (!hasGit) process.stderr.write('git.test.ts: skipped, there is no git program\n')

const root = realpathSync(testsFolder().path)

interface Change {
  author?: string
  email?: string
  /** Seconds after 1 March 2026. */
  at: number
  write?: Record<string, string>
  remove?: string[]
}

let made = 0

function repository(): { path: string; commit: (change: Change) => string } {
  const path = join(root, `repository-${++made}`)
  mkdirSync(path)
  git(path, ['init', '-q', '-b', 'main'])
  return {
    path,
    commit({ author = 'Ada', email = 'ada@example.com', at, write = {}, remove = [] }) {
      for (const [name, text] of Object.entries(write)) {
        mkdirSync(dirname(join(path, name)), { recursive: true })
        writeFileSync(join(path, name), text)
      }
      for (const name of remove) rmSync(join(path, name))
      git(path, ['add', '-A'])
      const who = { GIT_AUTHOR_NAME: author, GIT_AUTHOR_EMAIL: email }
      git(path, ['commit', '-q', '--allow-empty', '-m', `at ${at}\n\nbody`], STARTED + at * 1_000, who)
      return git(path, ['rev-parse', 'HEAD']).trim()
    },
  }
}

async function read(path: string, options: Parameters<typeof readCommits>[1] = {}) {
  const commits: CommitRecord[] = []
  const reader = readCommits(path, options)
  let next = await reader.next()
  for (; !next.done; next = await reader.next()) commits.push(next.value)
  return { commits, result: next.value satisfies RepositoryResult }
}

const lines = (count: number, word = 'line') =>
  Array.from({ length: count }, (_, line) => `${word} ${line}\n`).join('')

describe.skipIf(!hasGit)('reading a repository', () => {
  test('commits with their files: added, changed, renamed, deleted, binary, and names of any kind', async () => {
    const { path, commit } = repository()
    const odd = 'src/Grüße "quoted"\tand\nbroken.ts'
    commit({
      at: 0,
      write: { 'src/a.ts': lines(10), 'b.bin': 'a\0b', [odd]: 'x\n', 'gone.ts': lines(3, 'gone') },
    })
    renameSync(join(path, 'src/a.ts'), join(path, 'src/moved.ts'))
    commit({ at: 60, write: { 'src/moved.ts': lines(11), [odd]: 'y\n' }, remove: ['gone.ts'] })
    const { commits, result } = await read(path)
    expect(commits.map(({ files }) => files)).toEqual([
      [
        { path: 'b.bin', status: 'added', additions: 0, deletions: 0 },
        { path: 'gone.ts', status: 'added', additions: 3, deletions: 0 },
        { path: odd, status: 'added', additions: 1, deletions: 0 },
        { path: 'src/a.ts', status: 'added', additions: 10, deletions: 0 },
      ],
      [
        { path: 'gone.ts', status: 'deleted', additions: 0, deletions: 3 },
        { path: odd, status: 'modified', additions: 1, deletions: 1 },
        { path: 'src/moved.ts', status: 'renamed', previous_path: 'src/a.ts', additions: 1, deletions: 0 },
      ],
    ])
    expect(commits[1]).toMatchObject({
      project: `repository-${made}`,
      author_email: 'ada@example.com',
      author_name: 'Ada',
      committed_at: '2026-03-01T00:01:00.000Z',
      subject: 'at 60',
    })
    expect(commits.map((record) => problemOf(record, 'it'))).toEqual([undefined, undefined])
    expect(result).toMatchObject({ commits: 2, merges: 0, known: 0, notes: [] })
  })

  test('merges are left out, .mailmap is applied, and the project has the name of origin', async () => {
    const { path, commit } = repository()
    git(path, ['remote', 'add', 'origin', 'git@example.com:acme/checkout.git'])
    commit({ at: 0, write: { a: 'a\n', '.mailmap': 'Ada Lovelace <ada@example.com> <old@example.com>\n' } })
    git(path, ['checkout', '-q', '-b', 'side'])
    commit({ at: 1, author: 'ada', email: 'old@example.com', write: { b: 'b\n' } })
    git(path, ['checkout', '-q', 'main'])
    commit({ at: 2, write: { c: 'c\n' } })
    git(path, ['merge', '-q', '--no-ff', '-m', 'merge', 'side'])
    const { commits, result } = await read(path)
    expect(result).toMatchObject({ project: 'checkout', commits: 3, merges: 1 })
    expect(
      commits.map(({ author_name, files }) => [author_name, files.map((file) => file.path)]),
    ).toContainEqual(['Ada Lovelace', ['b']])
    expect(new Set(commits.map(({ author_email }) => author_email))).toEqual(new Set(['ada@example.com']))
  })

  test('a noreply address is its author’s other one where the full name leaves no doubt', async () => {
    const { path, commit } = repository()
    const hidden = (login: string) => `123+${login}@users.noreply.github.com`
    const authors = [
      ['Ada Lovelace', 'ada@example.com', 'ada@example.com'],
      ['ada  lovelace', hidden('ada'), 'ada@example.com'],
      ['Ada Lovelace', 'ada@users.noreply.github.com', 'ada@example.com'],
      // one word is no full name
      ['Bob', 'bob@example.com', 'bob@example.com'],
      ['Bob', hidden('bob'), hidden('bob')],
      // two accounts, or two other addresses, may be two people
      ['Eve Adams', 'eve@example.com', 'eve@example.com'],
      ['Eve Adams', hidden('eve'), hidden('eve')],
      ['Eve Adams', hidden('adams'), hidden('adams')],
      ['Grace Hopper', 'grace@example.com', 'grace@example.com'],
      ['Grace Hopper', 'hopper@example.com', 'hopper@example.com'],
      ['Grace Hopper', hidden('grace'), hidden('grace')],
      // an address of several people is nobody’s
      ['Alan Turing', 'team@example.com', 'team@example.com'],
      ['Alonzo Church', 'team@example.com', 'team@example.com'],
      ['Alan Turing', hidden('alan'), hidden('alan')],
    ]
    for (const [at, [author = '', email = '']] of authors.entries()) commit({ at, author, email })
    const { commits } = await read(path)
    expect(commits.map(({ author_email }) => author_email)).toEqual(authors.map(([, , email = '']) => email))
  })

  test('commits of the same second, and after a small step back of the clock, are in the order of history', async () => {
    const { path, commit } = repository()
    const shas = [commit({ at: 5 }), commit({ at: 5 }), commit({ at: 3 }), commit({ at: 9 })]
    const { commits } = await read(path)
    expect(commits.map(({ sha }) => sha)).toEqual(shas)
    expect(commits.map(({ committed_at }) => committed_at.slice(17))).toEqual([
      '05.000Z',
      '05.001Z',
      '05.002Z',
      '09.000Z',
    ])
  })

  test('known commits are not read again', async () => {
    const { path, commit } = repository()
    const first = commit({ at: 0, write: { a: 'a\n' } })
    const second = commit({ at: 1, write: { a: 'b\n' } })
    const { commits, result } = await read(path, {
      project: 'web',
      known: async () => new Map([[first, true]]),
    })
    expect(commits.map(({ sha, project }) => [sha, project])).toEqual([[second, 'web']])
    expect(result.known).toBe(1)
  })

  test('a clone that lacks the contents of a file: that commit has no line counts, the others have', async () => {
    const { path, commit } = repository()
    commit({ at: 0, write: { 'a.ts': lines(4) } })
    commit({ at: 1, write: { 'big.bin': lines(500, 'big') } })
    commit({ at: 2, write: { 'a.ts': lines(6) } })
    const hash = git(path, ['rev-parse', 'HEAD:big.bin']).trim()
    rmSync(join(path, '.git/objects', hash.slice(0, 2), hash.slice(2)), { force: true })
    const { commits, result } = await read(path)
    expect(commits.map(({ files }) => files.map((file) => [file.path, file.status, file.additions]))).toEqual(
      [[['a.ts', 'added', 4]], [['big.bin', 'added', 0]], [['a.ts', 'modified', 2]]],
    )
    expect(result.notes).toEqual([expect.stringContaining('1 commit without line counts')])
  })

  test('a shallow clone does not make its first author the creator of everything', async () => {
    const { path, commit } = repository()
    commit({ at: 0, write: { a: 'a\n', b: 'b\n' } })
    commit({ at: 1, write: { a: 'c\n' } })
    commit({ at: 2, write: { b: 'c\n' } })
    const clone = join(root, 'shallow')
    git(root, ['clone', '-q', '--depth', '2', `file://${path}`, clone])
    const { commits, result } = await read(clone)
    expect(commits.map(({ files }) => files.map((file) => [file.path, file.status]))).toEqual([
      [['b', 'modified']],
    ])
    expect(result.notes).toEqual([expect.stringContaining('shallow')])
  })

  test('a bare repository, an empty one, and folders that are not repositories', async () => {
    const { path, commit } = repository()
    commit({ at: 0, write: { a: 'a\n' }, email: 'not an address' })
    git(root, ['clone', '-q', '--bare', path, join(root, 'bare.git')])
    git(join(root, 'bare.git'), ['remote', 'remove', 'origin'])
    expect(isRepository(join(root, 'bare.git'))).toBe(true)
    const { commits } = await read(join(root, 'bare.git'))
    expect(commits).toMatchObject([{ project: 'bare', author_email: 'not-an-address@unknown.invalid' }])
    const empty = repository()
    expect((await read(empty.path)).result).toMatchObject({
      commits: 0,
      notes: ['no commits on the current branch'],
    })
    expect(isRepository(root)).toBe(false)
    expect(isRepository(join(path, 'a'))).toBe(false)
  })
})

describe.skipIf(!hasGit)('sync of a repository', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.drop())

  async function sync(args: string[], path = process.env.PATH ?? '') {
    const program = Bun.spawn([process.execPath, resolve('src/main.ts'), 'sync', ...args, '--json'], {
      env: { ...process.env, DATABASE_URL: database.url, DATA_DIR: join(root, 'data'), PATH: path },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [text, errors, code] = await Promise.all([
      new Response(program.stdout).text(),
      new Response(program.stderr).text(),
      program.exited,
    ])
    return { code, errors, answer: text === '' ? null : JSON.parse(text) }
  }

  test('reads the commits, skips known ones, and reports a missing git program', async () => {
    const { slug, key } = await newOrg(database.sql)
    const { path, commit } = repository()
    commit({ at: 0, write: { 'src/a.ts': lines(9), 'src/b.ts': lines(9) } })
    commit({ at: 60, author: 'renovate[bot]', email: 'bot@renovateapp.com', write: { 'package.json': '{}' } })
    commit({ at: 120, author: 'Bob', email: 'bob@example.com', write: { 'src/a.ts': lines(8) } })
    const first = await sync([path, '--org', slug, '--project', 'web'])
    expect([first.code, first.errors]).toEqual([0, ''])
    expect(first.answer).toMatchObject({
      received: 3,
      created: 3,
      unchanged: 0,
      repositories: [{ project: 'web' }],
    })
    commit({ at: 180, author: 'Bob', email: 'bob@example.com', write: { 'docs/x.md': 'x\n' } })
    const second = await sync([path, '--org', slug, '--project', 'web'])
    expect(second.answer).toMatchObject({
      received: 4,
      created: 1,
      unchanged: 3,
      repositories: [{ known: 3 }],
    })
    const all = await sync([path, '--org', slug, '--project', 'web', '--all'])
    expect(all.answer).toMatchObject({ received: 4, created: 0, updated: 0, unchanged: 4 })
    const dry = await sync([path, '--dry-run'])
    expect(dry.answer.records).toHaveLength(4)
    const response = await client(testApp(database.sql), key)('/v1/team/expertise')
    expect(((await response.json()) as { domains: object[] }).domains).toEqual([
      { domain: 'web/docs', files: 1, bus_factor: 1, primary_owner_id: null },
      { domain: 'web/src', files: 2, bus_factor: 1, primary_owner_id: null },
    ])
    const missing = await sync([path, '--org', slug], join(root, 'nothing'))
    expect(missing.code).toBe(1)
    expect(missing.errors).toContain('needs the git program')
    expect(readdirSync(path)).toContain('src')
  }, 180_000)
})

test.each([
  ['dependabot[bot]', '49699333+dependabot[bot]@users.noreply.github.com', true],
  ['Renovate', 'x@example.com', true],
  ['renovate-bot', 'x@example.com', true],
  ['GitHub Action', 'action@github.com', true],
  ['Release', '41898282+github-actions[bot]@users.noreply.github.com', true],
  ['ci', 'acme-bot@example.com', true],
  ['Ada Abbot', 'abbot@example.com', false],
  ['Bot Svensson', 'bot.svensson@example.com', false],
  ['Ada', '1234+ada@users.noreply.github.com', false],
])('%s <%s> is a bot: %p', (name, email, expected) => {
  expect(isBot(name, email)).toBe(expected)
})
