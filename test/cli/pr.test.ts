import { afterAll, afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { MARKER } from '../../src/cli/pr/markdown.ts'
import { jsonInit } from '../support/api.ts'
import { testsFolder } from '../support/at-end.ts'
import { run, runJson, testsServer } from '../support/cli.ts'
import { testsDatabase } from '../support/postgres.ts'

// `pr` in a job of GitHub Actions, of GitLab CI, and by hand; the hosts are servers of the test.

setDefaultTimeout(180_000)
const folder = testsFolder()
const clone = join(folder.path, 'clone')
const sha = { base: '', head: '' }

async function git(...args: string[]): Promise<string> {
  const names = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'init.defaultBranch=main']
  const child = Bun.spawn(['git', ...names, '-C', clone, ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env.PATH ?? '', HOME: folder.path, GIT_CONFIG_NOSYSTEM: '1' },
  })
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${errors}`)
  return output.trim()
}

const database = await testsDatabase()
const env = { DATA_DIR: folder.path, DATABASE_URL: database.url }
await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_enterprise'], env)
const server = await testsServer('serve', env)
const made = [
  'key',
  'create',
  '--org',
  'acme',
  '--name',
  'ci',
  '--scopes',
  'risk:write,risk:read,sessions:write,commits:write',
]
const { key } = await runJson(made, env)
const signedIn = { ...env, HOME: folder.path, CLOUD_ANALYTICS_SERVER: server.url, CLOUD_ANALYTICS_KEY: key }
await Bun.write(join(clone, 'README.md'), 'one\n')
await git('init', '-q')
await git('remote', 'add', 'origin', 'https://example.com/acme/checkout.git')
await git('add', '.')
await git('commit', '-qm', 'begin')
sha.base = await git('rev-parse', 'HEAD')
await git('checkout', '-qb', 'refunds')
await git('mv', 'README.md', 'READ ME.md')
await Bun.write(join(clone, 'src/pay.ts'), 'a\nb\n')
await git('add', '.')
await git('commit', '-qm', 'Refund twice')
sha.head = await git('rev-parse', 'HEAD')
await git('branch', 'alone', await git('commit-tree', '-m', 'alone', 'HEAD^{tree}'))
const sync = (records: object[]) =>
  fetch(`${server.url}/v1/sync`, jsonInit('POST', { records }, { authorization: `Bearer ${key}` }))
const session = {
  ...{ type: 'session', id: 'sess_a', project_name: 'checkout', created_at: new Date(Date.now() - 60_000) },
  ...{ branch: 'refunds', estimated_cost: 2.5, turns: 3 },
}
await sync([session])

interface Comment {
  id: number
  body: string
  user?: { login: string }
  author?: { username: string }
}
let comments: Comment[] = []
/** The token's user by REST and by GraphQL; null: that way tells none, as for the token of a job. */
let user: string | null = 'ada'
let viewer: string | null = null
/** The host takes the comments of this user. */
const writer = () => user ?? viewer ?? 'github-actions[bot]'
const asked: string[] = []
/** A host of repositories: comments of either API. */
const host = Bun.serve({
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    const token = request.headers.get('authorization') ?? request.headers.get('private-token')
    asked.push(`${request.method} ${pathname} ${token}`)
    if (pathname.endsWith('/user')) {
      const status = user === null ? 403 : 200
      return Response.json(pathname.startsWith('/api/v4') ? { username: user } : { login: user }, { status })
    }
    if (pathname === '/graphql')
      return Response.json(viewer === null ? {} : { data: { viewer: { login: viewer } } })
    if (request.method === 'GET') return Response.json(comments)
    const { body } = (await request.json()) as Comment
    const id = Number(pathname.split('/').at(-1))
    const by = { user: { login: writer() }, author: { username: writer() } }
    if (request.method === 'POST') comments.push({ id: comments.length + 1, body, ...by })
    else comments = comments.map((comment) => (comment.id === id ? { ...comment, body } : comment))
    return Response.json({})
  },
})
afterAll(() => host.stop(true))
afterEach(() => {
  comments = []
  user = 'ada'
  viewer = null
  asked.length = 0
})

const pr = (args: string[], more: Record<string, string> = {}) =>
  run(['pr', ...args], { ...signedIn, ...more }, undefined, clone)

async function githubJob(fields: object = {}): Promise<Record<string, string>> {
  const path = join(folder.path, 'event.json')
  const told = {
    ...{
      number: 7,
      title: 'Refund twice',
      state: 'open',
      created_at: new Date(Date.now() - 1_000).toISOString(),
    },
    ...{ merged_at: null, closed_at: null, html_url: 'https://example.com/acme/checkout/pull/7' },
    ...{ base: { sha: sha.base, ref: 'main' }, head: { sha: sha.head, ref: 'refunds' }, ...fields },
  }
  const repository = { full_name: 'acme/checkout', default_branch: 'main' }
  await Bun.write(path, JSON.stringify({ pull_request: told, repository }))
  const api = `http://127.0.0.1:${host.port}`
  return { GITHUB_EVENT_PATH: path, GITHUB_API_URL: api, GITHUB_TOKEN: 'ghs_test' }
}

test('in GitHub Actions it sends the pull request, shows it and keeps one comment', async () => {
  const summary = join(folder.path, 'summary.md')
  const job = { ...(await githubJob()), GITHUB_STEP_SUMMARY: summary }
  comments = [{ id: 1, body: 'first!' }]
  for (let count = 0; count < 2; count += 1) {
    const { code, stdout, stderr } = await pr(['--comment'], job)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('### Risk ')
    expect(stdout).toContain('1 AI coding session worked on it: **$2.50**')
    expect(stdout).toContain('Which of its lines agents wrote is not known.')
  }
  expect(comments.map(({ id, body }) => [id, body.split('\n')[1]?.slice(0, 9)])).toEqual([
    [1, undefined],
    [2, '### Risk '],
  ])
  expect(asked.at(-1)).toBe('PATCH /repos/acme/checkout/issues/comments/2 Bearer ghs_test')
  expect((await Bun.file(summary).text()).match(/### Risk/g)).toHaveLength(2)
  const commit = {
    ...{ type: 'commit', project: 'checkout', sha: sha.head, author_email: 'ada@example.com' },
    ...{ author_name: 'Ada', committed_at: '2026-06-01T00:00:00Z', files: [] },
    ai: {
      lines: 3,
      effective_lines: 8,
      by_agent: { 'claude-code': 3 },
      provenance: 'transcript',
      sessions: [],
    },
  }
  await sync([commit])
  expect((await pr([], job)).stdout).toContain('Agents wrote 3 of its 8 effective lines (**38 %**).')
  const shown = await pr(['--json'], job)
  expect(JSON.parse(shown.stdout)).toMatchObject({
    ...{ repo: 'acme/checkout', pr_number: 7, pr_title: 'Refund twice', files_changed: 2, state: 'open' },
    sessions: { count: 1, cost: 2.5 },
  })
})

test('it changes no comment of somebody else, whatever it begins with', async () => {
  const job = await githubJob()
  const marked = (login: string) => ({ id: 1, body: `${MARKER}\nan earlier text`, user: { login } })
  for (const [by, seen] of [
    [{ user: 'ada' }, 'ada'],
    [{ viewer: 'build[bot]' }, 'build[bot]'],
    [{}, 'github-actions[bot]'],
  ] as [{ user?: string; viewer?: string }, string][]) {
    user = by.user ?? null
    viewer = by.viewer ?? null
    comments = [marked('mallory')]
    for (let count = 0; count < 2; count += 1) expect((await pr(['--comment'], job)).code).toBe(0)
    expect(comments.map(({ id, user: of }) => [id, of?.login])).toEqual([
      [1, 'mallory'],
      [2, seen],
    ])
    expect(comments[0]?.body).toBe(`${MARKER}\nan earlier text`)
  }
})

test('in GitLab CI, by the variables of the merge request', async () => {
  const job = {
    ...{ CI_MERGE_REQUEST_IID: '9', CI_MERGE_REQUEST_TITLE: 'Refunds', CI_MERGE_REQUEST_PROJECT_ID: '42' },
    ...{ CI_MERGE_REQUEST_DIFF_BASE_SHA: sha.base, CI_COMMIT_SHA: sha.head, CI_DEFAULT_BRANCH: 'main' },
    ...{ CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'refunds', CI_PROJECT_PATH: 'group/checkout' },
    ...{ CI_API_V4_URL: `http://127.0.0.1:${host.port}/api/v4`, GITLAB_TOKEN: 'glpat-test' },
  }
  for (let count = 0; count < 2; count += 1) expect((await pr(['--comment'], job)).code).toBe(0)
  expect(comments).toHaveLength(1)
  expect(asked).toEqual([
    'GET /api/v4/user glpat-test',
    'GET /api/v4/projects/42/merge_requests/9/notes glpat-test',
    'POST /api/v4/projects/42/merge_requests/9/notes glpat-test',
    'GET /api/v4/user glpat-test',
    'GET /api/v4/projects/42/merge_requests/9/notes glpat-test',
    'PUT /api/v4/projects/42/merge_requests/9/notes/1 glpat-test',
  ])
})

test('by hand, and where the risk is too high it fails', async () => {
  const { code, stdout, stderr } = await pr(['--base', 'main', '--number', '3'])
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('| Regression |')
  // scores that another program gave are kept while the files are the same
  const { risk_score: risk, repo } = JSON.parse(
    (await pr(['--base', 'main', '--number', '3', '--json'])).stdout,
  )
  expect([repo, risk < 81]).toEqual(['acme/checkout', true])
  expect((await pr(['--base', 'main', '--number', '3', '--fail-on', 'critical'])).code).toBe(0)
  for (const [args, exit, message] of [
    [[], 2, 'no pull request'],
    [['--base', 'main'], 2, '--base needs --number'],
    [
      ['--base', 'nowhere', '--number', '3'],
      1,
      'this clone has no nowhere: run git fetch origin nowhere:refs/remotes/origin/nowhere\n',
    ],
    [['--base', 'f'.repeat(40), '--number', '3'], 1, `run git fetch origin ${'f'.repeat(40)}\n`],
    [['--base', 'main', '--head', 'alone', '--number', '3'], 1, 'main and alone have no commit in common'],
    [['--base', 'main', '--number', '3', '--comment'], 2, '--comment needs a job'],
    [['--base', 'main', '--number', '3', '--fail-on', 'low'], 2, '--fail-on'],
  ] as const) {
    const refused = await pr([...args])
    expect([args, refused.code, refused.stderr]).toEqual([args, exit, expect.stringContaining(message)])
  }
  const without = await pr(['--comment'], { ...(await githubJob()), GITHUB_TOKEN: '' })
  expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('--comment needs GITHUB_TOKEN')])
})

test('a job that has checked out a commit has its branches at the remote only', async () => {
  const detached = join(folder.path, 'detached')
  await git('clone', '-q', '--no-checkout', `file://${clone}`, detached)
  const there = async (...args: string[]) =>
    await run([...args, '--number', '3', '--json'], signedIn, undefined, detached)
  await git('-C', detached, 'checkout', '-q', '--detach', 'origin/refunds')
  await git('-C', detached, 'branch', '-q', '-D', 'refunds', 'main').catch(() => {})
  for (const args of [[], ['--head', 'refunds'], ['--base', 'origin/main']]) {
    const { code, stderr } = await there('pr', '--base', 'main', ...args)
    expect([args, code, stderr]).toEqual([args, 0, ''])
  }
  await git('-C', detached, 'update-ref', '-d', 'refs/remotes/origin/main')
  const gone = await there('pr', '--base', 'main')
  expect([gone.code, gone.stderr]).toEqual([
    1,
    'error: this clone has no main: run git fetch origin main:refs/remotes/origin/main\n',
  ])
  await git('-C', detached, 'fetch', '-q', 'origin', 'main:refs/remotes/origin/main')
  expect((await there('pr', '--base', 'main')).code).toBe(0)
})

test('a shallow clone is named with what to set', async () => {
  const shallow = join(folder.path, 'shallow')
  await git('clone', '-q', '--depth', '1', `file://${clone}`, shallow)
  const { code, stderr } = await run(['pr', '--base', 'HEAD', '--number', '1'], signedIn, undefined, shallow)
  expect([code, stderr]).toEqual([1, expect.stringContaining('fetch-depth: 0')])
})
