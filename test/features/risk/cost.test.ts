import { describe, expect, test } from 'bun:test'
import { newOrg, repeatingClient, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { given } from '../../support/records.ts'
import { type Ask, bodyOf, sync } from './requests.ts'

// A pull request has a cost: its sessions, and a part of each.

const database = await testsDatabase()

const app = testApp(database.sql)

const newClient = async (): Promise<Ask> => repeatingClient(app, (await newOrg(database.sql)).key)

const pull = (pr_number: number, created_at: string, more: object = {}) =>
  given({ id: `risk_${pr_number}`, pr_number, created_at, ...more })

const session = (name: string, created_at: string, estimated_cost: number, more: object = {}) => ({
  ...{ type: 'session', id: `sess_${name}`, project_name: 'shop', created_at, estimated_cost, turns: 1 },
  ...more,
})
const linkedTo = (...numbers: number[]) => ({
  pull_requests: numbers.map((number) => ({ repo: 'acme/shop', number })),
})

interface Sessions {
  cost: number
  data: { id: string; estimated_cost: number; part: number }[]
}
async function sessionsOf(ask: Ask, number: number): Promise<Sessions> {
  const response = await ask(`/v1/risk/risk_${number}`)
  expect(response.status).toBe(200)
  return (await bodyOf(response)).sessions
}

/** The parts of a pull request's sessions, by their names. */
async function partsOf(ask: Ask, number: number): Promise<Record<string, number>> {
  const { cost, data } = await sessionsOf(ask, number)
  const micros = data.reduce((sum, { part }) => sum + Math.round(part * 1e6), 0)
  expect(micros).toBe(Math.round(cost * 1e6))
  return Object.fromEntries(data.map(({ id, part }) => [id.slice('sess_'.length), part]))
}

describe('the list with include=cost', () => {
  test('has of each pull request what its own page has', async () => {
    const ask = await newClient()
    await sync(ask, [
      ...[1, 2, 3, 4, 5].map((day) => pull(day, `2026-06-0${day}T00:00:00Z`, { branch: `b${day}` })),
      session('two', '2026-06-01T12:00:00Z', 1.000001, linkedTo(1, 2)),
      session('three', '2026-06-02T12:00:00Z', 1, linkedTo(1, 2, 3)),
      session('branch', '2026-06-04T12:00:00Z', 0.5, { branch: 'b4' }),
    ])
    const pages = await Promise.all(
      [1, 2, 3].map(async (page) => bodyOf(await ask(`/v1/risk?include=cost&per_page=2&page=${page}`))),
    )
    const items: { pr_number: number; cost: number; sessions: number; state: string }[] = pages.flatMap(
      ({ data }) => data,
    )
    expect(items.map(({ pr_number, cost, sessions }) => [pr_number, cost, sessions])).toEqual([
      [5, 0, 0],
      [4, 0.5, 1],
      [3, 0.333334, 1],
      [2, 0.833334, 2],
      [1, 0.833333, 2],
    ])
    expect(items.map(({ state }) => state)).toEqual(['open', 'open', 'open', 'open', 'open'])
    for (const { pr_number, cost } of items) expect((await sessionsOf(ask, pr_number)).cost).toBe(cost)
    const [plain] = (await bodyOf(await ask('/v1/risk?per_page=1'))).data
    expect(plain).not.toHaveProperty('cost')
    expect(plain).not.toHaveProperty('sessions')
    expect(plain).not.toHaveProperty('state')
    for (const value of ['sessions', 'cost,state'])
      expect((await ask(`/v1/risk?include=${value}`)).status).toBe(400)
  })
})

describe('a branch', () => {
  test('counts from 30 days before the pull request was opened until it was merged', async () => {
    const ask = await newClient()
    const branch = { branch: 'refunds' }
    await sync(ask, [
      pull(1, '2026-06-10T00:00:00Z', { ...branch, state: 'merged', merged_at: '2026-06-12T00:00:00Z' }),
      session('too_early', '2026-05-10T23:59:59.999Z', 1, branch),
      session('early', '2026-05-11T00:00:00Z', 2, branch),
      session('open', '2026-06-11T23:59:59.999Z', 4, branch),
      session('merged', '2026-06-12T00:00:00Z', 8, branch),
      session('later', '2026-07-12T00:00:00Z', 16, branch),
    ])
    expect(await partsOf(ask, 1)).toEqual({ early: 2, open: 4 })
  })

  test('counts until the pull request was closed, and while it is open', async () => {
    const ask = await newClient()
    await sync(ask, [
      pull(1, '2026-06-10T00:00:00Z', { branch: 'a', closed_at: '2026-06-12T00:00:00Z' }),
      pull(2, '2026-06-10T00:00:00Z', { branch: 'b' }),
      ...['a', 'b'].map((branch) => session(branch, '2026-12-01T00:00:00Z', 1, { branch })),
    ])
    expect(await partsOf(ask, 1)).toEqual({})
    expect(await partsOf(ask, 2)).toEqual({ b: 1 })
  })

  test('used again belongs to the pull request that was open, of two the one opened last, else to the next', async () => {
    const ask = await newClient()
    const branch = { branch: 'fix' }
    const merged = (merged_at: string) => ({ ...branch, state: 'merged', merged_at })
    await sync(ask, [
      pull(1, '2026-06-01T00:00:00Z', merged('2026-06-05T00:00:00Z')),
      pull(2, '2026-06-10T00:00:00Z', merged('2026-06-20T00:00:00Z')),
      pull(3, '2026-06-15T00:00:00Z', merged('2026-06-18T00:00:00Z')),
      pull(4, '2026-07-01T00:00:00Z', branch),
      session('first', '2026-06-02T00:00:00Z', 1, branch),
      session('between', '2026-06-06T00:00:00Z', 2, branch),
      session('second', '2026-06-12T00:00:00Z', 3, branch),
      session('both', '2026-06-16T00:00:00Z', 4, branch),
      session('second_again', '2026-06-19T00:00:00Z', 5, branch),
      session('next', '2026-06-21T00:00:00Z', 6, branch),
      session('fourth', '2026-08-01T00:00:00Z', 7, branch),
    ])
    expect(await partsOf(ask, 1)).toEqual({ first: 1 })
    expect(await partsOf(ask, 2)).toEqual({ between: 2, second: 3, second_again: 5 })
    expect(await partsOf(ask, 3)).toEqual({ both: 4 })
    expect(await partsOf(ask, 4)).toEqual({ next: 6, fourth: 7 })
  })

  test('of the same name in another project does not count', async () => {
    const ask = await newClient()
    const branch = { branch: 'fix' }
    await sync(ask, [
      pull(1, '2026-06-01T00:00:00Z', { ...branch, project: 'shop' }),
      pull(2, '2026-06-02T00:00:00Z', { ...branch, project: 'pay' }),
      session('shop', '2026-06-03T00:00:00Z', 1, branch),
    ])
    expect(await partsOf(ask, 1)).toEqual({ shop: 1 })
    expect(await partsOf(ask, 2)).toEqual({})
  })

  test.each([
    ['main', undefined, false],
    ['master', undefined, false],
    ['trunk', 'trunk', false],
    ['main', 'trunk', true],
    ['trunk', undefined, true],
  ])('%s of a repository with the default branch %s', async (branch, default_branch, counts) => {
    const ask = await newClient()
    await sync(ask, [
      pull(1, '2026-06-01T00:00:00Z', { branch, default_branch }),
      session('branch', '2026-06-02T00:00:00Z', 100, { branch }),
      session('linked', '2026-06-02T00:00:00Z', 3, { branch, ...linkedTo(1) }),
    ])
    expect(await partsOf(ask, 1)).toEqual(counts ? { branch: 100, linked: 3 } : { linked: 3 })
  })
})

describe('a session', () => {
  test('of several pull requests is divided in equal parts, the last has the rest', async () => {
    const ask = await newClient()
    await sync(ask, [
      ...[1, 2, 3, 10].map((number) => pull(number, '2026-06-01T00:00:00Z')),
      pull(4, '2026-06-01T00:00:00Z', { repo: 'Acme/shop' }),
      session('three', '2026-06-02T00:00:00Z', 0.000_005, linkedTo(10, 3, 2)),
      session('two', '2026-06-02T00:00:00Z', 999_999.999_999, {
        pull_requests: [
          { repo: 'acme/shop', number: 1 },
          { repo: 'Acme/shop', number: 4 },
        ],
      }),
    ])
    expect(await partsOf(ask, 2)).toEqual({ three: 0.000_001 })
    expect(await partsOf(ask, 3)).toEqual({ three: 0.000_001 })
    expect(await partsOf(ask, 10)).toEqual({ three: 0.000_003 })
    expect(await partsOf(ask, 4)).toEqual({ two: 499_999.999_999 })
    expect(await partsOf(ask, 1)).toEqual({ two: 500_000 })
  })

  test('with a link to a stored pull request is none of its branch', async () => {
    const ask = await newClient()
    const branch = { branch: 'fix' }
    await sync(ask, [
      pull(1, '2026-06-01T00:00:00Z', branch),
      pull(2, '2026-06-01T00:00:00Z'),
      session('linked', '2026-06-02T00:00:00Z', 1, { ...branch, ...linkedTo(2) }),
      session('elsewhere', '2026-06-02T00:00:00Z', 2, { ...branch, ...linkedTo(3) }),
    ])
    expect(await partsOf(ask, 1)).toEqual({ elsewhere: 2 })
    expect(await partsOf(ask, 2)).toEqual({ linked: 1 })
    await sync(ask, [pull(3, '2026-06-01T00:00:00Z')])
    expect(await partsOf(ask, 1)).toEqual({})
    expect(await partsOf(ask, 3)).toEqual({ elsewhere: 2 })
  })

  test('with a commit of a pull request is none of its branch, also under another address of its user', async () => {
    const ask = await newClient()
    const ada = { type: 'member', email: 'ada@example.com', aliases: ['ada@home.example'] }
    await sync(ask, [
      { ...ada, display_name: 'Ada', role: 'developer', joined_at: '2026-01-01T00:00:00Z' },
      pull(1, '2026-06-01T00:00:00Z', { branch: 'fix' }),
      pull(2, '2026-06-01T00:00:00Z', { commits: ['aaa1'] }),
      pull(3, '2026-06-01T00:00:00Z', { commits: ['aaa1', 'bbb2'], project: 'pay' }),
      ...['shop', 'pay'].map((project) => ({
        ...{ type: 'commit', project, sha: 'aaa1', author_email: 'ada@home.example', author_name: 'Ada' },
        ...{ committed_at: '2026-06-02T01:00:00Z', files: [] },
      })),
      session('committed', '2026-06-02T00:00:00Z', 1, {
        ...{ branch: 'fix', user_email: 'ada@example.com', ended_at: '2026-06-02T02:00:00Z' },
      }),
      // it began more than 30 days before the commit
      session('long', '2026-05-02T00:30:00Z', 4, {
        ...{ branch: 'fix', user_email: 'ada@example.com', ended_at: '2026-06-02T02:00:00Z' },
      }),
      session('other', '2026-06-02T00:00:00Z', 2, {
        ...{ branch: 'fix', user_email: 'bob@example.com', ended_at: '2026-06-02T02:00:00Z' },
      }),
    ])
    expect(await partsOf(ask, 1)).toEqual({ long: 4, other: 2 })
    expect(await partsOf(ask, 2)).toEqual({ committed: 1 })
    expect(await partsOf(ask, 3)).toEqual({})
  })
})

test('no cost is counted twice: a branch used again, a head named main, a session of two', async () => {
  const ask = await newClient()
  const branch = { branch: 'fix' }
  await sync(ask, [
    pull(1, '2026-06-01T00:00:00Z', { ...branch, state: 'merged', merged_at: '2026-06-03T00:00:00Z' }),
    pull(2, '2026-06-20T00:00:00Z', branch),
    pull(3, '2026-06-20T00:00:00Z'),
    pull(4, '2026-06-20T00:00:00Z', { branch: 'main' }),
    session('first', '2026-06-02T00:00:00Z', 10, branch),
    session('second', '2026-06-19T00:00:00Z', 29, branch),
    session('shared', '2026-06-21T00:00:00Z', 3, { ...branch, ...linkedTo(2, 3) }),
    session('main', '2026-06-19T00:00:00Z', 103, { branch: 'main' }),
  ])
  const costs = await Promise.all([1, 2, 3, 4].map(async (number) => (await sessionsOf(ask, number)).cost))
  expect(costs).toEqual([10, 30.5, 1.5, 0])
  expect((await sessionsOf(ask, 3)).data).toEqual([
    expect.objectContaining({ id: 'sess_shared', estimated_cost: 3, part: 1.5 }),
  ])
})
