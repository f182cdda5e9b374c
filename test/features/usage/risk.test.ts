import { expect, test } from 'bun:test'
import { client, got, jsonPost, newOrg, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'

// A pull request with the sessions that worked on it.

const database = await testsDatabase()

const app = testApp(database.sql)
const owner = await newOrg(database.sql)

const send = (records: object[], { key } = owner) => got(client(app, key)('/v1/sync', jsonPost({ records })))

const pullRequest = (pr_number: number, more: object = {}) => ({
  ...{ type: 'pr_risk', id: `risk_${pr_number}`, repo: 'acme/checkout', pr_number, pr_title: 'Refunds' },
  ...{ files_changed: 2, created_at: '2026-06-10T00:00:00Z' },
  ...{ impact_score: 70, regression_score: 55, security_score: 60, coupling_score: 75 },
  ...more,
})
const session = (name: string, created_at: string, more: object = {}) => ({
  ...{ type: 'session', id: `sess_${name}`, project_name: 'checkout', created_at, turns: 3 },
  ...{ estimated_cost: 1.25, quality_score: 80, security_metadata: { findings: [{ severity: 'low' }] } },
  ...more,
})
const commit = (sha: string, committed_at: string, more: object = {}) => ({
  ...{ type: 'commit', project: 'checkout', sha, author_email: 'ada@example.com', author_name: 'Ada' },
  ...{ committed_at, files: [] },
  ...more,
})

interface Found {
  effective_lines: number
  ai_lines: number
  ai_share: number | null
  sessions: { data: { id: string }[]; count: number; cost: number; average_quality: number; findings: number }
}
const get = (id: string, key = owner.key) => got<Found>(client(app, key)(`/v1/risk/${id}`))

test('a pull request has the count, cost, quality and findings of its sessions, the newest first', async () => {
  await send([
    session('linked', '2026-06-01T00:00:00Z', {
      pull_requests: [{ repo: 'acme/checkout', number: 1 }],
      quality_score: 61.5,
    }),
    session('branch', '2026-06-02T00:00:00Z', { branch: 'refunds' }),
    pullRequest(1, { branch: 'refunds' }),
    pullRequest(3),
  ])
  expect((await get('risk_1')).sessions).toEqual({
    ...{ count: 2, cost: 2.5, average_quality: 70.75, findings: 2 },
    data: ['branch', 'linked'].map((name) =>
      expect.objectContaining({
        ...{ id: `sess_${name}`, project_name: 'checkout', estimated_cost: 1.25, part: 1.25 },
      }),
    ),
  })
  const none = { count: 0, cost: 0, average_quality: 0, findings: 0, data: [] }
  expect((await get('risk_3')).sessions).toEqual(none)
})

test('the lines of its commits, and those of agents', async () => {
  const aiOf = (lines: number, effective_lines: number) => ({
    ai: { lines, effective_lines, by_agent: { codex: lines }, provenance: 'transcript', sessions: [] },
  })
  const [first, second, other, plain] = ['1', '2', '3', '4'].map((digit) => digit.repeat(40)) as [
    ...[string, string, string, string],
  ]
  const time = '2026-06-11T00:00:00Z'
  const linesOf = async (id: string) => {
    const { effective_lines, ai_lines, ai_share } = await get(id)
    return [effective_lines, ai_lines, ai_share]
  }
  await send([pullRequest(20, { commits: [first, second, plain] }), commit(plain, time)])
  expect(await linesOf('risk_20')).toEqual([0, 0, null])
  await send([
    commit(first, time, aiOf(2, 5)),
    // a commit that the default branch has not, as before a squash, is still the pull request's
    commit(second, time, { ...aiOf(1, 4), on_default_branch: false }),
    commit(other, time, aiOf(100, 100)),
    commit(first, time, { ...aiOf(50, 50), project: 'elsewhere' }),
  ])
  expect(await linesOf('risk_20')).toEqual([9, 3, 0.333333])
})

test('the first 50 are shown, all are counted', async () => {
  const many = Array.from({ length: 60 }, (_, index) =>
    session(`many_${index}`, `2026-06-07T00:00:${String(index).padStart(2, '0')}Z`, {
      pull_requests: [{ repo: 'acme/checkout', number: 3 }],
    }),
  )
  await send(many)
  const { sessions } = await get('risk_3')
  expect([sessions.count, sessions.cost, sessions.data.length, sessions.data[0]?.id]).toEqual([
    60,
    75,
    50,
    'sess_many_59',
  ])
})
