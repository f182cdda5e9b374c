import { expect, test } from 'bun:test'
import { renameProject } from '../../../src/server/sync/project-write.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { commitRecord, given } from '../../support/records.ts'
import { asOrganization } from '../../support/rls.ts'
import { account, finding, session } from '../erasure/account.ts'

const database = await testsDatabase()

const ACTOR = { userId: 'cli:test', ipAddress: null }

const rename = ({ orgId }: { orgId: string }, from: string, to: string) =>
  asOrganization(orgId, () => renameProject(database.sql, orgId, ACTOR, { from, to }))

const commit = (project: string, number: number, files: object[], author = 'ada@example.com') =>
  commitRecord(`sha-${number}`, {
    project,
    author_email: author,
    committed_at: new Date(Date.UTC(2026, 8, 1, 0, number)).toISOString(),
    subject: `Change ${number}`,
    files,
  })

const file = (path: string, status = 'modified', more: object = {}) => ({
  ...{ path, status, additions: 10, deletions: 2 },
  ...more,
})

/** Records of `sess_<name><n>` and more in a project; `other` has a part of them too. */
function recordsOf(project: string, other: string): object[] {
  const detail = (n: number) => ({
    user_email: n % 2 === 0 ? 'ada@example.com' : 'bob@example.com',
    source: 'claude-code',
    branch: 'fix-cart',
    model: n % 3 === 0 ? 'a-model' : 'b-model',
    turns: n % 7,
    estimated_cost: n / 4,
    quality_score: n % 100,
    tokens: { input: n, output: 1, cache_read: 2, cache_creation: 3 },
    files_touched: [`src/${n % 4}.ts`, `web/${n % 5}.ts`],
    security_metadata: { findings: n % 3 === 0 ? [finding(`src/${n % 4}.ts`, n % 2 ? 'high' : 'low')] : [] },
  })
  const day = (n: number) => `2026-${n % 2 ? '09' : '10'}-${String((n % 25) + 1).padStart(2, '0')}`
  return [
    ...Array.from({ length: 40 }, (_, n) =>
      session(`a${n}`, day(n), { ...detail(n), project_name: project }),
    ),
    ...Array.from({ length: 25 }, (_, n) =>
      session(`b${n}`, day(n + 3), { ...detail(n + 3), project_name: other }),
    ),
    session('elsewhere', '2026-10-01', { ...detail(6), project_name: 'elsewhere' }),
    commit(project, 1, [file('src/0.ts', 'added'), file('web/1.ts', 'added')]),
    commit(project, 2, [file('src/0.ts')], 'bob@example.com'),
    // the file that the other project's commit renames
    commit(other, 3, [file('src/new.ts', 'renamed', { previous_path: 'src/0.ts' })]),
    commit(other, 4, [file('web/1.ts'), file('README.md', 'added')], 'bob@example.com'),
    // both projects have this commit
    commit(other, 1, [file('src/0.ts', 'added'), file('web/1.ts', 'added')]),
    commit('elsewhere', 5, [file('src/0.ts', 'added')]),
    given({ pr_number: 1, project, branch: 'fix-cart', commits: ['sha-1'] }),
    given({ pr_number: 2, project: other, branch: 'fix-cart' }),
    given({ pr_number: 3, project: 'elsewhere', branch: 'fix-cart' }),
    given({ repo: `acme/${project}`, pr_number: 4, branch: 'fix-cart' }),
    given({ repo: `acme/${project}`, pr_number: 5 }),
    ...[project, 'elsewhere'].map((of) => ({
      ...{ type: 'note', id: `note_${of === project}`, day: '2026-10-01', text: 'A note', project: of },
    })),
    { type: 'budget', month: '2026-10', limit: 5, project },
  ]
}

const PATHS = [
  ...[
    '/v1/projects',
    '/v1/quality',
    '/v1/security',
    '/v1/security/heatmap',
    '/v1/team/expertise',
    '/v1/cost',
  ],
  ...['/v1/cost/breakdown?by=project', '/v1/cost/breakdown?by=project&and_by=member'],
  ...[
    '/v1/sessions?project=shop&sort=estimated_cost',
    '/v1/sessions?project=shop&sort=turns&page=2&per_page=20',
  ],
  ...['/v1/security/heatmap?project=shop&date_from=2026-09-03&date_to=2026-10-04'],
]

async function answersOf({ get }: Pick<Awaited<ReturnType<typeof account>>, 'get'>) {
  const { data: risks } = (await get('/v1/risk')) as unknown as { data: { id: string }[] }
  const paths = [...PATHS, ...risks.map(({ id }) => `/v1/risk/${id}`)]
  return await Promise.all(paths.map(async (path) => [path, await get(path)] as const))
}

/** Exports all but the audit log. */
const exported = async (a: Awaited<ReturnType<typeof account>>) =>
  (await a.export()).split('\n').filter((line) => !line.includes('"type":"audit"'))

test.each(['shop', 'cart'])('a project is renamed everywhere, where the other is %s', async (other) => {
  const renamed = await account(database)
  await renamed.sync(recordsOf('cart', other))
  const expected = await account(database)
  // pull requests whose records name no project are of the repository's name
  await expected.sync(
    recordsOf('shop', 'shop').map((record) =>
      'pr_number' in record && (record.pr_number === 4 || record.pr_number === 5)
        ? { ...record, repo: 'acme/cart', project: 'shop' }
        : record,
    ),
  )
  const both = other === 'cart'
  expect(await rename(renamed, 'cart', 'shop')).toEqual({
    sessions: both ? 65 : 40,
    commits: both ? 4 : 2,
    pull_requests: both ? 4 : 3,
  })
  expect(await renamed.doctor()).toStartWith('agree')
  expect(await exported(renamed)).toEqual(await exported(expected))
  expect(await answersOf(renamed)).toEqual(await answersOf(expected))
  const { data } = await renamed.get('/v1/audit?action=project.renamed')
  expect(data).toEqual([
    expect.objectContaining({
      user_id: 'cli:test',
      details: expect.objectContaining({ from: 'cart', to: 'shop', sessions: both ? 65 : 40 }),
    }),
  ])
})

test('equal commits are one, and what is sent under the old name is stored under it again', async () => {
  const a = await account(database)
  const records = recordsOf('cart', 'shop')
  await a.sync(records)
  await rename(a, 'cart', 'shop')
  const again = recordsOf('shop', 'shop')
  const sent = again.filter((record) => 'sha' in record)
  expect(await a.sync(sent)).toMatchObject({ created: 0, updated: 0, unchanged: sent.length })
  const old = records.filter((record) => 'id' in record && record.id === 'sess_a1')
  expect(await a.sync(old)).toMatchObject({ updated: 1 })
  expect(await a.get('/v1/sessions/sess_a1')).toMatchObject({ project_name: 'cart' })
  expect(await a.doctor()).toStartWith('agree')
})

test('long lists keep their order and their pages', async () => {
  const a = await account(database)
  const many = (name: string, project: string) =>
    Array.from({ length: 1_500 }, (_, n) =>
      session(`${name}${n}`, '2026-10-01', {
        project_name: project,
        estimated_cost: (n * 7) % 1_000,
        turns: n,
      }),
    )
  await a.sync([...many('a', 'cart'), ...many('b', 'shop')])
  await rename(a, 'cart', 'shop')
  expect(await a.doctor()).toStartWith('agree')
  const page = await a.get('/v1/sessions?project=shop&sort=turns&order=asc&page=60&per_page=50')
  expect(page.pagination.total).toBe(3_000)
  expect((page.data as { turns: number }[]).map(({ turns }) => turns)).toEqual(
    Array.from({ length: 50 }, (_, n) => Math.floor((2_950 + n) / 2)),
  )
})

test('an unknown project changes nothing, in this organization and in others', async () => {
  const [a, b] = [await account(database), await account(database)]
  await b.sync(recordsOf('cart', 'shop'))
  const before = [await a.export(), await b.export()]
  await expect(rename(a, 'cart', 'shop')).rejects.toThrow('there is no project "cart"')
  expect([await a.export(), await b.export()]).toEqual(before)
})
