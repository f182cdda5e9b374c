import { describe, expect, test } from 'bun:test'
import { RISK_TABLES } from '../../../src/features/risk/rollup.ts'
import { exportLines } from '../../../src/server/sync/export.ts'
import { newOrg, type Org, repeatingClient, testApp } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { given } from '../../support/records.ts'
import { type Ask, bodyOf, list, post, sync } from './requests.ts'

// A pull request has a state, times, commit and URL, which records may leave out.

const MERGED = {
  state: 'merged',
  merged_at: '2026-10-02T10:00:00+02:00',
  closed_at: '2026-10-02T08:00:00Z',
  merge_commit: 'abc1',
  url: 'https://github.com/acme/shop/pull/1',
  default_branch: 'trunk',
}
const SHOWN = {
  state: 'merged',
  merged_at: '2026-10-02T08:00:00.000Z',
  closed_at: '2026-10-02T08:00:00.000Z',
  url: 'https://github.com/acme/shop/pull/1',
}

const database = await testsDatabase()

const app = testApp(database.sql)

async function ownOrg(): Promise<{ ask: Ask; own: Org }> {
  const own = await newOrg(database.sql)
  return { ask: repeatingClient(app, own.key), own }
}

async function stateOf(ask: Ask, id = 'risk_1'): Promise<object> {
  const { state, merged_at, closed_at, url } = await bodyOf(await ask(`/v1/risk/${id}`))
  return { state, merged_at, closed_at, url }
}

async function exported(orgId: string): Promise<{ type: string }[]> {
  const lines = (await Array.fromAsync(exportLines(database.sql, orgId))).join('').trim().split('\n')
  return lines.map((line) => JSON.parse(line)).filter(({ type }) => type !== 'audit')
}

const pull = (more: object = {}) => given({ id: 'risk_1', ...more })

describe('a later record', () => {
  test('keeps what it does not say', async () => {
    const { ask, own } = await ownOrg()
    await sync(ask, [pull(MERGED)])
    expect(await stateOf(ask)).toEqual(SHOWN)
    expect(await sync(ask, [pull()])).toEqual({ created: 0, updated: 0, unchanged: 1 })
    expect(await sync(ask, [pull({ pr_title: 'New', state: null, url: null })])).toMatchObject({ updated: 1 })
    expect(await stateOf(ask)).toEqual(SHOWN)
    expect(await exported(own.orgId)).toEqual([
      expect.objectContaining({ ...SHOWN, merge_commit: 'abc1', default_branch: 'trunk' }),
    ])
  })

  test('of the same batch too', async () => {
    const { ask } = await ownOrg()
    await sync(ask, [pull(MERGED), pull({ pr_title: 'New' })])
    expect(await stateOf(ask)).toEqual(SHOWN)
  })

  test('with another state has none of the times that this excludes', async () => {
    const { ask } = await ownOrg()
    await sync(ask, [pull({ state: 'closed', closed_at: '2026-10-02T08:00:00Z' })])
    expect(await stateOf(ask)).toMatchObject({ state: 'closed', closed_at: SHOWN.closed_at })
    await sync(ask, [pull({ state: 'open' })])
    expect(await stateOf(ask)).toEqual({ state: 'open', merged_at: null, closed_at: null, url: null })
    await sync(ask, [pull({ merged_at: '2026-10-03T00:00:00Z' })])
    expect(await stateOf(ask)).toMatchObject({ state: 'merged', closed_at: null })
    await sync(ask, [pull({ closed_at: '2026-10-03T00:00:00Z' })])
    expect(await stateOf(ask)).toMatchObject({ state: 'merged', closed_at: '2026-10-03T00:00:00.000Z' })
  })

  test('does not compute the risk again', async () => {
    const { ask } = await ownOrg()
    const { impact_score: _i, regression_score: _r, security_score: _s, coupling_score: _c, ...bare } = pull()
    const files = [{ path: 'src/a.ts', additions: 1, deletions: 0, status: 'modified' }]
    const record = { ...bare, files, project: 'shop', author_email: 'ada@example.com' }
    await sync(ask, [record])
    const before = (await list(ask)).data
    const commit = { type: 'commit', project: 'shop', sha: 'c1', author_email: 'b@c.de', author_name: 'B' }
    await sync(ask, [
      { ...commit, committed_at: '2026-09-01T00:00:00Z', files: [{ ...files[0], status: 'added' }] },
    ])
    expect(await sync(ask, [{ ...record, ...MERGED }])).toMatchObject({ updated: 1 })
    expect((await list(ask)).data).toEqual(before)
    expect(await stateOf(ask)).toEqual(SHOWN)
  })
})

test.each([
  ['open', 'merged_at'],
  ['closed', 'merged_at'],
  ['open', 'closed_at'],
])('%s with %s is refused', async (state, field) => {
  const { ask } = await ownOrg()
  const response = await post(ask, [pull({ state, [field]: '2026-10-02T08:00:00Z' })])
  expect(response.status).toBe(400)
  expect((await bodyOf(response)).details[0].field).toBe(`records[0].${field}`)
})

test.each([
  ['state', 'gone'],
  ['url', 'ftp://example.com/1'],
  ['url', 'javascript:alert(1)'],
  ['merged_at', 'yesterday'],
  ['merge_commit', 'a b'],
])('%s %s is refused', async (field, value) => {
  const { ask } = await ownOrg()
  const response = await post(ask, [pull({ [field]: value })])
  expect(response.status).toBe(400)
  expect((await bodyOf(response)).details[0].field).toBe(`records[0].${field}`)
})

test('the list is filtered by state, with exact totals', async () => {
  const { ask, own } = await ownOrg()
  const states = ['open', 'merged', 'closed'] as const
  const made = Array.from({ length: 90 }, (_, index) => ({
    ...given({ id: `risk_${index}`, repo: `acme/r${index % 2}`, pr_number: index + 1 }),
    ...{ impact_score: index % 5 === 0 ? 0 : 70, created_at: `2026-10-0${1 + (index % 9)}T00:00:00Z` },
    ...(index % 3 === 0 ? {} : { state: states[index % 3] }),
  }))
  await sync(ask, made)
  for (const state of states) {
    const numbers = made.flatMap((record, index) => (states[index % 3] === state ? [record.pr_number] : []))
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list(ask, { state, page, per_page: 10 })))
    expect(pages.map(({ pagination }) => pagination.total)).toEqual([30, 30, 30, 30])
    const found = pages.flatMap(({ data }) => data.map(({ pr_number }: { pr_number: number }) => pr_number))
    expect(found.toSorted((a, b) => a - b)).toEqual(numbers)
  }
  expect((await list(ask, { state: 'merged', repo: 'acme/r1' })).pagination.total).toBe(15)
  expect((await list(ask, { state: 'merged', rating: 'medium' })).pagination.total).toBe(6)
  expect((await ask('/v1/risk?state=gone')).status).toBe(400)
  await sync(ask, [{ ...made[0], state: 'closed' }])
  expect((await list(ask, { state: 'open' })).pagination.total).toBe(29)
  expect((await list(ask, { state: 'closed' })).pagination.total).toBe(31)
  expect(await findDifferences(database.sql, own.orgId, RISK_TABLES)).toEqual([])
})
