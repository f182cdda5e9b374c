import { expect, test } from 'bun:test'
import { client, got, jsonPost, newOrg, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'

// The share of merged pull requests of a rating that a fix followed: docs/risk.md.

const database = await testsDatabase()

const ask = client(testApp(database.sql), (await newOrg(database.sql)).key)

/** A merged pull request whose commit changed a file of its own. */
const pullRequest = (number: number, more: object = {}) => [
  {
    ...{ type: 'pr_risk', id: `risk_${number}`, repo: 'acme/shop', pr_number: number, project: 'shop' },
    ...{ pr_title: `Fix part ${number}`, files_changed: 1, created_at: '2026-03-01T00:00:00Z' },
    ...{ impact_score: 10, regression_score: 10, security_score: 10, coupling_score: 10 },
    ...{ state: 'merged', merged_at: '2026-03-02T00:00:00Z', commits: [`own${number}`], ...more },
  },
  commit(`own${number}`, '2026-03-01', `Fix part ${number}`, [`src/part-${number}.ts`]),
]
const commit = (sha: string, day: string, subject: string, paths: string[], author = 'Ada') => ({
  ...{ type: 'commit', project: 'shop', sha, author_email: 'ada@example.com', author_name: author, subject },
  ...{ committed_at: `${day}T00:00:00Z` },
  files: paths.map((path) => ({ path, additions: 2, deletions: 1, status: 'modified' })),
})
const part = (number: number) => [`src/part-${number}.ts`]

const send = (records: object[]) => got(ask('/v1/sync', jsonPost({ records })))
const rate = async (id: string) => (await got(ask(`/v1/risk/${id}`))).fix_rate

test('a fix of one of its files within 30 days, by people and of few files', async () => {
  const many = Array.from({ length: 31 }, (_, index) => `src/part-${index}.ts`)
  await send([
    ...Array.from({ length: 19 }, (_, index) => pullRequest(index + 1)).flat(),
    ...pullRequest(100, { impact_score: 50, regression_score: 50, security_score: 50, coupling_score: 50 }),
    ...pullRequest(101, { state: 'open', merged_at: null }),
    ...pullRequest(102, { state: 'closed', merged_at: null, closed_at: '2026-03-02T00:00:00Z' }),
    // followed
    commit('f19', '2026-03-03', 'fix: rounding', ['docs/a.md', ...part(19)]),
    commit('f1', '2026-04-01', 'Revert "Add a cart"', part(1)),
    commit('f2', '2026-03-20', 'Correct a defect of the sum', part(2)),
    // not followed: too late, before, no fix, of no product, by a bot, too large, by the pull request itself
    commit('n3', '2026-04-02', 'fix: rounding', part(3)),
    commit('n4', '2026-03-01', 'fix: rounding', part(4)),
    commit('n5', '2026-03-10', 'Add fixtures for the cart', part(5)),
    commit('n6', '2026-03-10', 'fix typo', part(6)),
    commit('n7', '2026-03-10', 'fix: rounding', part(7), 'dependabot[bot]'),
    commit('n8', '2026-03-10', 'fix: everything', many),
    commit('n9', '2026-03-02', 'Fix part 9 (#9)', part(9)),
    { ...commit('n10', '2026-03-10', 'fix: rounding', part(10)), project: 'other' },
    // that of another rating
    commit('f100', '2026-03-10', 'hotfix of the cart', part(100)),
  ])
  const low = { rating: 'low', pull_requests: 19, followed_by_fix: 3, share: null }
  expect(await rate('risk_5')).toEqual(low)
  // one that is not merged is told of the others
  expect(await rate('risk_101')).toEqual(low)
  expect(await rate('risk_100')).toEqual({
    ...{ rating: 'medium', pull_requests: 1, followed_by_fix: 1, share: null },
  })
})

test('from 20 on there is a share; a squashed commit has the files too, and nothing known is no fix', async () => {
  await send([
    ...pullRequest(20, { commits: [], merge_commit: 'squashed' }),
    commit('squashed', '2026-03-02', 'Fix part 20 (#20)', part(200)),
    commit('f20', '2026-03-09', 'fix: rounding', part(200)),
  ])
  expect(await rate('risk_5')).toEqual({
    ...{ rating: 'low', pull_requests: 20, followed_by_fix: 4, share: 0.2 },
  })
  const [unknown] = pullRequest(21, { commits: [] })
  await send([unknown as object])
  expect(await rate('risk_5')).toMatchObject({ pull_requests: 21, followed_by_fix: 4, share: 0.190476 })
})
