import { expect, test } from 'bun:test'
import type { Pricer } from '../../../src/analysis/scoring/prices.ts'
import { rebuildTables } from '../../../src/database/derived-tables.ts'
import { USAGE_TABLES } from '../../../src/features/usage/check.ts'
import { client, got, jsonPost, newOrg, testApp } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { memberRecord, sessionRecord } from '../../support/records.ts'
import { type Item, KEYS, makeRecords, type Session, sumsByHand, TEAMS } from './by-hand.ts'

// Breakdowns against sums by hand over the list and the details of the sessions.

/** All pages are read within a minute. */
const UNLIMITED = { cloud_pro: 1e9, cloud_team: 1e9, cloud_enterprise: 1e9 }

/** Prices `large` only. */
const costOf = ({ model, tokens }: { model: string; tokens: { output?: number } }) =>
  model === 'large' ? BigInt(tokens.output ?? 0) * 2_500_000n : undefined
const pricer = async (): Promise<Pricer> => ({
  cost: costOf,
  divided(usage) {
    const cost = costOf(usage)
    return cost === undefined ? undefined : { costs: [0n, cost, 0n, 0n, 0n], terms: [] }
  },
})

/** More by hand: `BREAKDOWN_SESSIONS=10000 bun test test/features/usage/breakdown.test.ts -t 'each key and pair'`, some minutes. */
const SESSIONS = Number(process.env.BREAKDOWN_SESSIONS ?? 400)
const FILTERS = [
  '',
  '&project=p1',
  '&date_from=2026-02-10&date_to=2026-04-20',
  '&member=ada@example.com&date_to=2026-03-05',
  '&agent=codex&project=p0',
  '&model=large',
  '&model=large&member=user_bob&project=p1',
  '&branch=main',
  '&branch=',
  '&branch=&project=p1&model=large',
  '&ticket=',
  '&team=payments&project=p1',
  '&team=&date_to=2026-04-20',
  '&min_cost=0.5&max_cost=2&has_findings=true',
  '&min_quality=60&max_quality=80&date_from=2026-03-01',
]

const database = await testsDatabase()

const app = testApp(database.sql, { pricer, config: { rateLimits: UNLIMITED } })
const owner = await newOrg(database.sql)
const send = (records: object[], query = '') =>
  got(client(app, owner.key)(`/v1/sync${query}`, jsonPost({ records })))
// half of the members come after their sessions, and some sessions change
const [first, second] = [makeRecords(SESSIONS, 1), makeRecords(SESSIONS / 4, 2)]
await send([memberRecord('ada', { team: TEAMS.user_ada })])
// two large requests: the second has sums of days and months that are there, and of others
await send(first.slice(0, SESSIONS / 2))
await send(first.slice(SESSIONS / 2))
await send(second, '?reassign=true')
await send([memberRecord('bob', { team: TEAMS.user_bob, joined_at: '2026-01-02T00:00:00Z' })])

const ask = <Body>(path: string) => got<Body>(client(app, owner.key)(path))

/** Every session that matches, from the pages of the list, each in full. */
async function sessionsOf(filters: string): Promise<Session[]> {
  const found: Session[] = []
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await ask<{ data: { id: string }[]; pagination: { total: number } }>(
      `/v1/sessions?per_page=100&page=${page}${filters}`,
    )
    for (const { id } of data) found.push(details.get(id) ?? (await detailOf(id)))
    if (data.length < 100) {
      expect(found).toHaveLength(pagination.total)
      return found
    }
  }
}

const details = new Map<string, Session>()
async function detailOf(id: string): Promise<Session> {
  const detail = await ask<Session>(`/v1/sessions/${id}`)
  details.set(id, detail)
  return detail
}

const micros = (dollars: number) => Math.round(dollars * 1e6)

/** The item without what is not summed by hand; its kinds of cost add up to it. */
function withoutKinds({ cost_by_kind, ...item }: Item) {
  const kinds = Object.values(cost_by_kind)
  expect(kinds.reduce((sum, cost) => sum + micros(cost), 0)).toBe(micros(item.cost))
  return item
}

test('an empty branch or ticket is what has none', async () => {
  const all = await sessionsOf('')
  const idsOf = (sessions: Session[]) => sessions.map(({ id }) => id).sort()
  const without = all.filter(({ branch }) => branch === null)
  expect(without.length).toBeGreaterThan(0)
  expect(idsOf(await sessionsOf('&branch='))).toEqual(idsOf(without))
  const untracked = all.filter(({ branch }) => !/SHOP-\d/.test(branch ?? ''))
  expect(untracked.length).toBeGreaterThan(without.length)
  expect(idsOf(await sessionsOf('&ticket='))).toEqual(idsOf(untracked))
})

for (const filters of FILTERS) {
  test(`each key and pair ${filters}`, async () => {
    const sessions = await sessionsOf(filters)
    expect(sessions.length).toBeGreaterThan(0)
    const model = /&model=(\w+)/.exec(filters)?.[1]
    for (const by of KEYS) {
      for (const andBy of [undefined, ...KEYS.filter((key) => key !== by)]) {
        const expected = sumsByHand(sessions, by, andBy, model)
        const data: Item[] = []
        for (let page = 1; ; page += 1) {
          const answer = await ask<{ data: Item[]; pagination: object; total: Item }>(
            `/v1/cost/breakdown?by=${by}${andBy === undefined ? '' : `&and_by=${andBy}`}${filters}&per_page=100&page=${page}`,
          )
          data.push(...answer.data)
          expect(answer.pagination).toEqual({ page, per_page: 100, total: expected.items.length })
          const { share, ...total } = withoutKinds(answer.total)
          expect(total).toEqual(expected.total as never)
          expect(share).toBe(total.cost > 0 ? 1 : 0)
          if (answer.data.length < 100) break
        }
        const shares = data.map(({ share, cost }) => [share, cost / expected.total.cost])
        for (const [share = 0, exact = 0] of shares)
          expect(Math.abs(share - exact)).toBeLessThanOrEqual(5.1e-7)
        expect(data.map(withoutKinds).map(({ share: _share, ...item }) => item)).toEqual(
          expected.items as never,
        )
      }
    }
  }, 600_000)
}

test('the largest values of a second key, and the others summed', async () => {
  const { items } = sumsByHand(await sessionsOf(''), 'month', 'branch')
  const costs = new Map<string | null, number>()
  for (const { and_key = null, cost } of items) costs.set(and_key, (costs.get(and_key) ?? 0) + micros(cost))
  const largest = [...costs].sort(([, a], [, b]) => b - a)[0]?.[0]
  for (const sort of ['cost', 'key']) {
    const { data, total } = await ask<{ data: Item[]; total: Item }>(
      `/v1/cost/breakdown?by=month&and_by=branch&top=1&sort=${sort}&per_page=100`,
    )
    const months = [...new Set(items.map(({ key }) => key))]
    for (const month of months) {
      const of = (
        list: readonly (Item | (typeof items)[number])[],
        isLargest: (key: string | null) => boolean,
      ) =>
        list
          .filter(({ key, and_key = null }) => key === month && isLargest(and_key))
          .reduce((sum, { cost }) => sum + micros(cost), 0)
      expect(of(data, (key) => key === largest)).toBe(of(items, (key) => key === largest))
      expect(of(data, (key) => key === '(others)')).toBe(of(items, (key) => key !== largest))
    }
    expect(data).toHaveLength(2 * months.length)
    expect(micros(total.cost)).toBe([...costs.values()].reduce((a, b) => a + b, 0))
  }
})

test('the values of a second key that cost most, and those that changed most', async () => {
  const own = await newOrg(database.sql)
  const as = async <Body>(path: string) => (await (await client(app, own.key)(path)).json()) as Body
  const session = (project_name: string, month: number, estimated_cost: number) => ({
    ...sessionRecord(`sess_${project_name}${month}`, { project_name, estimated_cost, model: project_name }),
    created_at: `2026-0${month}-05T10:00:00Z`,
  })
  const costs = { a: [50, 50], b: [40, 41], c: [30, 30], d: [9, 1], e: [2, 0], f: [0, 8] }
  const records = Object.entries(costs).flatMap(([name, ofMonths]) =>
    ofMonths.flatMap((cost, index) => (cost === 0 ? [] : [session(name, index + 1, cost)])),
  )
  expect((await client(app, own.key)('/v1/sync', jsonPost({ records }))).status).toBe(200)
  const path =
    '/v1/cost/breakdown?by=day&and_by=project&date_from=2026-02-01&date_to=2026-02-28&compare=2026-01-01..2026-01-31'
  const shown = async (more: string) =>
    (await as<{ data: { and_key: string }[] }>(`${path}${more}`)).data.map(({ and_key }) => and_key).sort()
  expect(await shown('&top=4')).toEqual(['(others)', 'a', 'b', 'c', 'f'])
  // f and d changed by 8; of one day what has no cost any more is not a row
  expect(await shown('&top=4&top_by=cost_and_change')).toEqual(['(others)', 'a', 'b', 'd', 'f'])
  expect(
    (await client(app, own.key)('/v1/cost/breakdown?by=day&and_by=project&top_by=cost_and_change')).status,
  ).toBe(400)
  const days = await as<{ data: object[] }>('/v1/cost/first-days?by=project')
  expect(days.data).toEqual(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => ({
      key,
      first_day: key === 'f' ? '2026-02-05' : '2026-01-05',
    })),
  )
})

test('compared with the equally long range before', async () => {
  const range = '&date_from=2026-03-01&date_to=2026-03-30'
  const earlier = '&date_from=2026-01-30&date_to=2026-02-28'
  for (const keys of [
    'by=member',
    'by=model',
    'by=project&and_by=branch&top=2',
    'by=week',
    'by=agent&and_by=day',
  ]) {
    const path = `/v1/cost/breakdown?${keys}&per_page=100`
    const [now, was] = await Promise.all(
      [`${range}&compare=previous`, earlier].map((query) =>
        ask<{ data: (Item & { previous?: object; sessions: number })[]; total: Item & { sessions: number } }>(
          `${path.replace('&top=2', query === earlier ? '' : '&top=2')}${query}`,
        ),
      ),
    )
    if (now === undefined || was === undefined) throw new Error(keys)
    expect([keys, now.total]).toMatchObject([
      keys,
      { previous: { cost: was.total.cost, sessions: was.total.sessions } },
    ])
    const isByTime = /week|day/.test(keys)
    const top = new Set(now.data.map(({ and_key }) => and_key))
    for (const { key, and_key, previous } of now.data) {
      const same = was.data.filter(
        (item) =>
          item.key === key &&
          (item.and_key === and_key || (and_key === '(others)' && !top.has(item.and_key))),
      )
      const cost = same.reduce((sum, item) => sum + micros(item.cost), 0) / 1e6
      const sessions = same.reduce((sum, item) => sum + item.sessions, 0)
      expect([keys, key, and_key, previous]).toEqual([
        keys,
        key,
        and_key,
        isByTime ? undefined : { cost, sessions },
      ])
    }
  }
  const [previous, days] = await Promise.all(
    ['previous', '2026-01-30..2026-02-28'].map((compare) =>
      ask<object>(`/v1/cost/breakdown?by=project&sort=change${range}&compare=${compare}`),
    ),
  )
  expect(days).toEqual(previous ?? {})
  const ofAllTime = '/v1/cost/breakdown?by=branch&per_page=100&compare=2026-01-30..2026-02-28'
  const [sorted, unsorted] = await Promise.all(
    [`${ofAllTime}&sort=change`, ofAllTime].map((query) => ask<{ data: Item[]; total: object }>(query)),
  )
  expect(sorted?.total).toEqual(unsorted?.total ?? {})
  expect(sorted?.data.map(({ key }) => key).sort()).toEqual(unsorted?.data.map(({ key }) => key).sort() ?? [])
  const without = await ask<{ total: object }>(`/v1/cost/breakdown?by=agent${range}`)
  expect(without.total).not.toHaveProperty('previous')
  const first = '&date_from=0001-01-01&date_to=2026-12-31&compare=previous'
  expect((await ask<{ total: object }>(`/v1/cost/breakdown?by=agent${first}`)).total).toMatchObject({
    previous: { cost: 0, sessions: 0 },
  })
})

test('sorted by change, with keys that only the range before has', async () => {
  type Row = Item & { sessions: number; share: number; previous: { cost: number; sessions: number } }
  const [from, to] = ['&date_from=2026-03-01', '&date_to=2026-03-30']
  const earlier = '&date_from=2026-01-30&date_to=2026-02-28'
  let goneKeys = 0
  for (const keys of ['by=project', 'by=member', 'by=project&and_by=branch', 'by=model&and_by=agent&top=1']) {
    for (const filter of ['', '&min_cost=2.2&min_quality=75']) {
      const path = `/v1/cost/breakdown?${keys}&per_page=100${filter}`
      const [changes, now, was] = await Promise.all([
        ask<{ data: Row[]; pagination: { total: number }; total: object }>(
          `${path}${from}${to}&compare=previous&sort=change`,
        ),
        ask<{ data: Row[]; total: object }>(`${path}${from}${to}&compare=previous`),
        ask<{ data: Row[] }>(`${path.replace('&top=1', '')}${earlier}`),
      ])
      expect(changes.total).toEqual(now.total)
      const name = ({ key, and_key }: Item) => JSON.stringify([key, and_key])
      const isOf = new Set(now.data.map(name))
      const gone = changes.data.filter((item) => !isOf.has(name(item)))
      goneKeys += gone.length
      for (const item of gone) expect(item).toMatchObject({ cost: 0, sessions: 0, share: 0 })
      if (!keys.includes('top')) {
        const before = was.data.filter((item) => !isOf.has(name(item)))
        expect(gone.map(name).sort()).toEqual(before.map(name).sort())
      }
      expect(changes.data.filter((item) => isOf.has(name(item)))).toHaveLength(now.data.length)
      expect(changes.pagination.total).toBe(changes.data.length)
      const sizes = changes.data.map(({ cost, previous }) => Math.abs(micros(cost) - micros(previous.cost)))
      expect(sizes).toEqual([...sizes].sort((a, b) => b - a))
      const before = changes.data.reduce((sum, { previous }) => sum + micros(previous.cost), 0)
      expect(before).toBe(was.data.reduce((sum, { cost }) => sum + micros(cost), 0))
    }
  }
  expect(goneKeys).toBeGreaterThan(0)
  const path = `/v1/cost/breakdown?by=project&and_by=branch${from}${to}&compare=previous&sort=change`
  const all = await ask<{ data: Row[] }>(`${path}&per_page=100`)
  const turned = await ask<{ data: Row[] }>(`${path}&per_page=100&order=asc`)
  const sizes = (rows: Row[]) =>
    rows.map(({ cost, previous }) => Math.abs(micros(cost) - micros(previous.cost)))
  expect(sizes(turned.data)).toEqual(sizes(all.data).reverse())
  const second = await ask<{ data: Row[] }>(`${path}&per_page=2&page=2`)
  expect(second.data).toEqual(all.data.slice(2, 4))
})

test('sort and order', async () => {
  const keysOf = async (query: string) =>
    (await ask<{ data: Item[] }>(`/v1/cost/breakdown?by=project&and_by=agent&${query}`)).data
  const { items } = sumsByHand(await sessionsOf(''), 'project', 'agent')
  const tokens = (item: (typeof items)[number]) =>
    Object.values(item.tokens).reduce((sum, count) => sum + count, 0)
  const names = (list: { key: string | null; and_key?: string | null }[]) =>
    list.map(({ key, and_key }) => [key, and_key])
  const byKeys = names([...items]).sort((a, b) =>
    `${a[0]} ${a[1] ?? '\uffff'}`.localeCompare(`${b[0]} ${b[1] ?? '\uffff'}`),
  )
  expect(names(await keysOf('sort=key&order=asc'))).toEqual(byKeys)
  expect(names(await keysOf('sort=tokens&order=asc'))).toEqual(
    names([...items].sort((a, b) => tokens(a) - tokens(b))),
  )
  const bySessions = (await keysOf('sort=sessions')) as unknown as { sessions: number }[]
  const counts = bySessions.map(({ sessions }) => sessions)
  expect(counts).toEqual([...counts].sort((a, b) => b - a))
})

test('the stored usage is what the details give, also after a rebuild', async () => {
  expect(await findDifferences(database.sql, owner.orgId, USAGE_TABLES)).toEqual([])
  await database.sql`
    update usage_rollups
    set cost_other = cost_other + 1
    where org_id = ${owner.orgId}`
  expect(await findDifferences(database.sql, owner.orgId, USAGE_TABLES)).not.toEqual([])
  await database.sql.begin((tx) => rebuildTables(tx, owner.orgId, USAGE_TABLES))
  expect(await findDifferences(database.sql, owner.orgId, USAGE_TABLES)).toEqual([])
})

test('wrong parameters are named', async () => {
  const detailsOf = async (query: string) => {
    const response = await client(app, owner.key)(`/v1/cost/breakdown${query}`)
    const body = (await response.json()) as { details: { field: string }[] }
    return [response.status, body.details.map(({ field }) => field)]
  }
  expect(await detailsOf('')).toEqual([400, ['by']])
  expect(await detailsOf('?by=owner&sort=name')).toEqual([400, ['by', 'sort']])
  expect(await detailsOf('?by=day&and_by=day')).toEqual([400, ['and_by']])
  expect(await detailsOf('?by=agent&sort=change')).toEqual([400, ['sort']])
  const compared = '&date_from=2026-03-01&date_to=2026-03-30&compare=previous&sort=change'
  for (const keys of ['by=day', 'by=week', 'by=month', 'by=agent&and_by=month'])
    expect(await detailsOf(`?${keys}${compared}`)).toEqual([400, ['sort']])
  expect(await detailsOf('?by=day&top=3&compare=previous')).toEqual([400, ['top', 'compare']])
  expect(await detailsOf('?by=day&and_by=model&top=51&compare=year')).toEqual([400, ['top', 'compare']])
  expect(await detailsOf('?by=day&min_cost=2&max_cost=1&min_quality=101')).toEqual([
    400,
    ['min_cost', 'min_quality'],
  ])
})

test('without sessions', async () => {
  const other = await newOrg(database.sql)
  const response = await client(app, other.key)('/v1/cost/breakdown?by=model')
  expect(await response.json()).toMatchObject({
    data: [],
    pagination: { total: 0 },
    total: { sessions: 0, turns: 0, cost: 0, share: 0, unpriced_tokens: 0 },
  })
})
