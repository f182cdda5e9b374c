import { beforeAll, describe, expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { checkRollups } from '../../../src/server/doctor/checks.ts'
import { erasePerson } from '../../../src/server/erasure/person.ts'
import { renameProject } from '../../../src/server/sync/project-write.ts'
import { repriceSessions } from '../../../src/server/sync/reprice.ts'
import { client, got, jsonPost, newOrg, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { asOrganization } from '../../support/rls.ts'
import type { Item } from './by-hand.ts'

// Cost, tokens and turns stand on the days on which they happened, through all that changes sessions. Sonnet 4.5 costs 3 and 15
// dollars a million tokens.

const database = await testsDatabase()
const NOW = new Date('2026-04-15T12:00:00.000Z')
const ACTOR = { userId: 'cli:test', ipAddress: null }
const SONNET = 'claude-sonnet-4-5'
const IN_HOUSE = { 'in-house': { input: 1, output: 10 } }

let prices = {}
const deps = () => ({
  sql: database.sql,
  now: () => NOW,
  storeContent: false,
  pricer: () => loadPricer(prices),
})

async function organization() {
  const { orgId, key } = await newOrg(database.sql, { scopes: ['read', 'write', 'admin'] })
  const ask = client(testApp(database.sql, { now: () => NOW, pricer: () => loadPricer(prices) }), key)
  const get = (path: string) => got<never>(ask(path))
  return {
    orgId,
    ask,
    get: get as <Body>(path: string) => Promise<Body>,
    async send(records: object[], query = '') {
      const response = await ask(`/v1/sync${query}`, jsonPost({ records }))
      expect([response.status, await response.clone().text()]).toEqual([200, expect.anything()])
    },
    /** Cost and sessions by day. */
    async days(query = '') {
      const { data } = (await get(`/v1/cost/breakdown?by=day&sort=key&order=asc&per_page=100${query}`)) as {
        data: Item[]
      }
      return data.map(({ key, cost, sessions }) => [key, cost, sessions])
    },
    doctor: async () => (await checkRollups(database.sql, false)).message,
    /** Rows of usage without ids of the organization. */
    usage: async () =>
      (
        await database.sql<{ row: string }[]>`
        select (to_jsonb(u) - 'org_id')::text as row
        from session_usage u
        where u.org_id = ${orgId}
        order by u.session_id, u.nth`
      ).map(({ row }) => row),
  }
}

const call = (started_at: string | null, more: object = {}) => ({
  ...{ role: 'assistant', model: SONNET, started_at, tokens: { input: 1000, output: 100 } },
  ...more,
})
/** One that begins ten minutes before the first of April. */
const session = (id: string, over: object = {}) => ({
  ...{ type: 'session', id: `sess_${id}`, project_name: 'shop', user_email: 'ada@example.com' },
  ...{ created_at: '2026-03-31T23:50:00Z', ended_at: '2026-04-02T00:10:00Z', source: 'claude-code' },
  turn_records: [
    { role: 'user', started_at: '2026-03-31T23:50:00Z' },
    call('2026-03-31T23:51:00Z'),
    call('2026-04-01T00:10:00Z'),
    call('2026-04-02T00:10:00Z', { model: 'claude-haiku-4-5' }),
  ],
  ...over,
})
const DAYS = [
  ['2026-03-31', 0.0045, 1],
  ['2026-04-01', 0.0045, 0],
  ['2026-04-02', 0.0015, 0],
]

describe('a session of three days', () => {
  let its: Awaited<ReturnType<typeof organization>>
  beforeAll(async () => {
    its = await organization()
    await its.send([{ type: 'budget', month: '2026-03', limit: 0.005 }, session('a')])
  })

  test('costs on each of them, and counts on the first', async () => {
    expect(await its.days()).toEqual(DAYS)
    expect(await its.get<object>('/v1/cost?group_by=month')).toMatchObject({
      total_cost: 0.0105,
      current_month: 0.006,
      by_period: [
        { period: '2026-03-01', cost: 0.0045 },
        { period: '2026-04-01', cost: 0.006 },
      ],
      by_project: [{ project: 'shop', cost: 0.0105 }],
      current_budget: { current_cost: 0.006, status: 'exceeded', projected_exceed_date: '2026-04-02' },
    })
    expect(await its.get<object>('/v1/cost?date_from=2026-04-02&date_to=2026-04-30')).toMatchObject({
      total_cost: 0.0015,
      by_project: [{ project: 'shop', cost: 0.0015 }],
    })
    const { data } = await its.get<{ data: object[] }>('/v1/cost/trend?granularity=month')
    expect(data).toMatchObject([
      { period: '2026-03-01', cost: 0.0045, sessions: 1, cumulative_cost: 0.0045 },
      { period: '2026-04-01', cost: 0.006, sessions: 0, cumulative_cost: 0.0105 },
    ])
  })

  test('each sum of it agrees, whatever it is read from', async () => {
    for (const filter of ['', '&min_cost=0.001', '&member=ada@example.com', '&project=shop', '&branch='])
      expect([filter, await its.days(filter)]).toEqual([filter, DAYS])
    const range = '&date_from=2026-04-01&date_to=2026-04-02'
    for (const by of ['project', 'member', 'agent', 'branch', 'ticket', 'team', 'week', 'month'])
      for (const more of ['', '&and_by=model'])
        for (const filter of ['', '&min_cost=0.001']) {
          const path = `/v1/cost/breakdown?by=${by}${more}${range}${filter}`
          const { total } = await its.get<{ total: Item }>(path)
          expect([path, total.cost, total.sessions, total.turns]).toEqual([path, 0.006, 0, 2])
        }
    const { data } = await its.get<{ data: Item[] }>('/v1/cost/breakdown?by=model&sort=key')
    expect(data.map(({ key, cost, sessions, tokens }) => [key, cost, sessions, tokens.input])).toEqual([
      [SONNET, 0.009, 1, 2000],
      ['claude-haiku-4-5', 0.0015, 1, 1000],
    ])
  })

  test('its kinds add up, in CSV too', async () => {
    const { total } = await its.get<{ total: Item }>('/v1/cost/breakdown?by=project')
    expect(total.cost_by_kind).toEqual({
      ...{ input: 0.007, output: 0.0035, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, other: 0 },
    })
    const csv = await its.ask('/v1/cost/breakdown?by=project', { headers: { accept: 'text/csv' } })
    expect((await csv.text()).trim().split('\r\n').at(-1)).toBe(
      'shop,1,4,3000,300,0,0,0.0105,1,0,0.007,0.0035,0,0,0,0',
    )
  })

  test('lists and quality have it on its first day alone', async () => {
    const totalIn = async (range: string) =>
      (await its.get<{ pagination: { total: number } }>(`/v1/sessions?${range}`)).pagination.total
    for (const filter of ['', '&member=ada@example.com', '&model=claude-haiku-4-5', '&min_cost=0.001']) {
      expect(await totalIn(`date_to=2026-03-31${filter}`)).toBe(1)
      expect(await totalIn(`date_from=2026-04-01${filter}`)).toBe(0)
    }
    expect(await its.get<object>('/v1/quality?date_from=2026-04-01')).toMatchObject({ total_sessions: 0 })
    const outcomes = await its.ask('/v1/outcomes')
    expect(((await outcomes.json()) as { data: object[] }).data).toMatchObject([
      { key: '2026-03-01', cost: 0.0105 },
    ])
  })
})

test('what has no time of its own, and stated totals and costs', async () => {
  const { send, days, doctor } = await organization()
  await send([session('total', { turn_records: [], model: SONNET, tokens: { input: 1000, output: 100 } })])
  expect(await days()).toEqual([['2026-03-31', 0.0045, 1]])
  await send([session('total', { turn_records: [call('2026-04-01T00:00:00Z'), call(null)] })])
  expect(await days()).toEqual([
    ['2026-03-31', 0.0045, 1],
    ['2026-04-01', 0.0045, 0],
  ])
  const beyond = call('2026-03-31T23:51:00Z', { role: 'unattributed' })
  await send([session('total', { turn_records: [call('2026-04-01T00:00:00Z'), beyond] })])
  expect(await days()).toEqual([
    ['2026-03-31', 0, 1],
    ['2026-04-01', 0.0045, 0],
    ['2026-04-02', 0.0045, 0],
  ])
  await send([session('total', { estimated_cost: 1 })])
  expect(await days()).toEqual([
    ['2026-03-31', 0.428572, 1],
    ['2026-04-01', 0.428571, 0],
    ['2026-04-02', 0.142857, 0],
  ])
  expect(await doctor()).toContain('agree')
})

test('any order of arrival gives the same rows', async () => {
  const records = ['a', 'b', 'c', 'd'].map((id, index) =>
    session(id, { created_at: `2026-03-31T23:5${index}:00Z`, project_name: index % 2 ? 'shop' : null }),
  )
  const [first, second] = [await organization(), await organization()]
  await first.send(records)
  for (const record of [...records].reverse()) await second.send([{ ...record, turn_records: [] }])
  for (const record of [...records].reverse()) await second.send([record])
  expect(await second.usage()).toEqual(await first.usage())
  expect(await first.doctor()).toContain('agree')
})

test('reprice, reassign, rename, erasure and deletion change it exactly', async () => {
  const { orgId, ask, send, days, get, doctor } = await organization()
  const house = session('house', { turn_records: [call('2026-04-01T00:00:00Z', { model: 'in-house' })] })
  await send([house, session('a')])
  expect(await days()).toEqual([
    ['2026-03-31', 0.0045, 2],
    ['2026-04-01', 0.0045, 0],
    ['2026-04-02', 0.0015, 0],
  ])
  prices = IN_HOUSE
  expect(await asOrganization(orgId, () => repriceSessions(deps(), orgId, ACTOR))).toBe(1)
  prices = {}
  const repriced: (string | number | null)[][] = [
    ['2026-03-31', 0.0045, 2],
    ['2026-04-01', 0.0065, 0],
    ['2026-04-02', 0.0015, 0],
  ]
  expect(await days()).toEqual(repriced)
  await send([{ ...session('a'), user_email: 'bob@example.com' }], '?reassign=true')
  expect(await days('&member=bob@example.com')).toEqual(DAYS)
  await asOrganization(orgId, () => renameProject(database.sql, orgId, ACTOR, { from: 'shop', to: 'store' }))
  expect(await days('&project=store')).toEqual(repriced)
  expect(await get<object>('/v1/cost?project=shop')).toMatchObject({ total_cost: 0 })
  const { pseudonym } = await asOrganization(orgId, () =>
    erasePerson(database.sql, orgId, ACTOR, 'bob@example.com'),
  )
  expect(await days(`&member=${pseudonym}`)).toEqual(DAYS)
  expect(await doctor()).toContain('agree')
  expect((await ask('/v1/sessions/sess_a', { method: 'DELETE' })).status).toBe(204)
  expect(await days()).toEqual([
    ['2026-03-31', 0, 1],
    ['2026-04-01', 0.002, 0],
  ])
  expect(await doctor()).toContain('agree')
})
