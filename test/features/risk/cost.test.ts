import { expect, test } from 'bun:test'
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

test('the list with include=cost has of each pull request what its own page has', async () => {
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

test('a branch counts until the pull request was closed, and while it is open', async () => {
  const ask = await newClient()
  await sync(ask, [
    pull(1, '2026-06-10T00:00:00Z', { branch: 'a', closed_at: '2026-06-12T00:00:00Z' }),
    pull(2, '2026-06-10T00:00:00Z', { branch: 'b' }),
    ...['a', 'b'].map((branch) => session(branch, '2026-12-01T00:00:00Z', 1, { branch })),
  ])
  expect(await partsOf(ask, 1)).toEqual({})
  expect(await partsOf(ask, 2)).toEqual({ b: 1 })
})

test('a session with a link to a stored pull request is none of its branch', async () => {
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
