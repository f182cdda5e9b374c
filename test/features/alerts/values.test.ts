import { expect, test } from 'bun:test'
import { addDays, UTC } from '../../../src/base/dates.ts'
import { windowAt } from '../../../src/features/alerts/evaluate.ts'
import { type Watched, WINDOWS } from '../../../src/features/alerts/model.ts'
import { readTop, readValues } from '../../../src/features/alerts/value-queries.ts'
import { asker, newOrg } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { memberRecord, sessionRecord } from '../../support/records.ts'
import { webhookApp } from '../../support/webhook-api.ts'
import { makeRecords } from '../usage/by-hand.ts'

// The figures of alerts against breakdowns and lists of the API.

const NOW = new Date('2026-03-12T12:00:00Z')
const CLOCK = { now: NOW, zone: UTC }
const TODAY = '2026-03-12'

const database = await testsDatabase()
const owner = await newOrg(database.sql, { scopes: ['read', 'write', 'webhooks', 'admin'] })
const ask = asker(webhookApp(database, { now: () => NOW }), owner.key)
const budgets = [
  { limit: 50 },
  { project: 'p1', limit: 20 },
  { member: 'user_ada', limit: 10 },
  { team: 'web', limit: 5 },
]
const sent = await ask('POST', '/v1/sync', {
  records: [
    ...[memberRecord('ada', { team: 'payments' }), memberRecord('bob', { team: 'web' })],
    ...budgets.map((budget) => ({ type: 'budget', month: '2025-03', ...budget })),
    ...makeRecords(600, 7),
  ],
})
expect([sent.status, sent.text.slice(0, 200)]).toEqual([200, expect.any(String)] as never)

const watched = (over: Partial<Watched>): Watched => ({
  ...{
    metric: 'cost',
    scope: {},
    each: null,
    window: 'month',
    above: 1,
    no_data: 'ok',
    renotify_minutes: null,
  },
  ...over,
})
const read = (over: Partial<Watched>) => readValues(database.sql, owner.orgId, watched(over), CLOCK)

const rangeOf = (window: Watched['window'], back: number) => ({
  date_from: windowAt(window, TODAY, -back),
  date_to: addDays(windowAt(window, TODAY, 1 - back), -1),
})

/** Sums by key of the API. */
async function breakdown(query: Record<string, string>) {
  const { body } = await ask('GET', `/v1/cost/breakdown?per_page=100&${new URLSearchParams(query)}`)
  type Item = { key: string | null; cost: number; unpriced_tokens: number }
  return body as unknown as { data: Item[]; total: Item }
}

const SCOPES: Watched['scope'][] = [
  ...[{}, { project: 'p1' }, { member: 'user_ada' }, { team: 'web' }, { model: 'large' }, { agent: 'codex' }],
  ...[
    { project: 'p0', member: 'user_bob' },
    { team: 'payments', model: 'small' },
    { project: 'p2', agent: 'claude-code' },
  ],
]

for (const window of WINDOWS)
  for (const each of [null, 'project', 'member', 'team'] as const)
    test(`cost and tokens of a ${window} ${each === null ? '' : `of each ${each}`}, in every scope, now and 14 windows before`, async () => {
      for (const scope of SCOPES)
        for (const metric of ['cost', 'unpriced_tokens'] as const) {
          const { series } = await read({ window, each, scope, metric, times: 2 })
          for (const back of [0, 1, 5]) {
            const { data, total } = await breakdown({
              ...scope,
              ...rangeOf(window, back),
              by: each ?? 'project',
            })
            const wanted = each === null ? [{ ...total, key: null }] : data
            const found = new Map([...series].map(([key, values]) => [key, values[back]]))
            for (const item of wanted)
              expect([scope, back, item.key, found.get(item.key ?? '')]).toEqual([
                scope,
                back,
                item.key,
                item[metric],
              ])
            const keys = new Set(wanted.map(({ key }) => key ?? ''))
            for (const [key, value] of found) if (!keys.has(key)) expect(value).toBe(0)
          }
        }
    })

test('mean quality, from sums and from sessions alike', async () => {
  for (const scope of SCOPES)
    for (const window of ['week', 'month'] as const) {
      const query = new URLSearchParams({ ...scope, ...rangeOf(window, 0), per_page: '100' })
      const scores: number[] = []
      for (let page = 1, total = 1; scores.length < total; page += 1) {
        const { body } = await ask('GET', `/v1/sessions?${query}&page=${page}`)
        total = body.pagination.total
        scores.push(...body.data.map((session) => session.quality_score as number))
        if (body.data.length === 0) break
      }
      const { series, empty } = await read({ metric: 'average_quality', window, scope })
      const [value] = series.get('') ?? []
      if (Object.keys(scope).every((name) => name === 'project')) {
        const { body } = await ask('GET', `/v1/quality?${query}`)
        expect(value ?? 0).toBe((body as never as { average_score: number }).average_score)
      }
      const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
      expect(empty).toBeNull()
      if (scores.length === 0) expect(value ?? null).toBeNull()
      else expect(Math.abs((value ?? 0) - mean)).toBeLessThan(0.0051)
    }
  const projects = (await read({ metric: 'average_quality', each: 'project' })).series
  for (const project of ['p0', 'p1', 'p2'])
    expect(projects.get(project)).toEqual(
      (await read({ metric: 'average_quality', scope: { project } })).series.get(''),
    )
})

test('forecast and percentage are those of /cost', async () => {
  const { current_budget } = (await ask('GET', '/v1/cost')).body as never as {
    current_budget: { projected_cost: number; current_cost: number }
  }
  expect((await read({ metric: 'forecast' })).series.get('')).toEqual([current_budget.projected_cost])
  const percent = async (over: Partial<Watched>) => (await read({ metric: 'budget_percent', ...over })).series
  const of = (cost: number, limit: number) => Math.round((1e8 * cost) / limit) / 1e6
  expect((await percent({})).get('')).toEqual([of(current_budget.current_cost, 50)])
  const cost = async (scope: Watched['scope']) => (await read({ scope })).series.get('')?.[0] ?? 0
  expect((await percent({ scope: { project: 'p1' } })).get('')).toEqual([
    of(await cost({ project: 'p1' }), 20),
  ])
  expect((await percent({ scope: { team: 'web' } })).get('')).toEqual([of(await cost({ team: 'web' }), 5)])
  expect((await percent({ scope: { project: 'p0' } })).get('')).toEqual([null])
  expect((await percent({ scope: { project: 'p1', member: 'user_ada' } })).get('')).toEqual([null])
  const members = await percent({ each: 'member' })
  expect(members.get('user_ada')).toEqual([of(await cost({ member: 'user_ada' }), 10)])
  expect(members.get('user_bob')).toEqual([null])
  // each month by the limit that held in it
  expect((await percent({ times: 2 })).get('')?.slice(1, 3)).toEqual(
    (await read({ times: 2 })).series
      .get('')
      ?.slice(1, 3)
      .map((value) => of(value ?? 0, 50)) as never,
  )
})

test('findings count each file and fingerprint once, while they are open', async () => {
  const own = await newOrg(database.sql, { scopes: ['read', 'write', 'admin'] })
  const by = asker(webhookApp(database, { now: () => NOW }), own.key)
  const finding = (file: string | null, fingerprint: string) => ({
    severity: 'low',
    title: 't',
    file,
    fingerprint,
  })
  const session = (id: string, day: string, findings: object[], more: object = {}) =>
    sessionRecord(`sess_${id}`, {
      ...{ created_at: `${day}T10:00:00Z`, model: 'large', ...more },
      security_metadata: { findings },
    })
  await by('POST', '/v1/sync', {
    records: [
      session('a', '2026-03-12', [finding('a.ts', 'one'), finding('a.ts', 'two'), finding(null, 'three')]),
      session('b', '2026-03-10', [finding('a.ts', 'one'), finding('b.ts', 'one')], {
        user_email: 'x@example.com',
      }),
      session('c', '2026-03-11', [finding('a.ts', 'one')], { project_name: 'web', model: 'small' }),
      session('d', '2026-02-27', [finding('a.ts', 'nine')]),
    ],
  })
  const count = async (over: Partial<Watched>) =>
    Object.fromEntries(
      [
        ...(await readValues(database.sql, own.orgId, watched({ metric: 'findings', ...over }), CLOCK))
          .series,
      ].map(([key, [now]]) => [key, now]),
    )
  expect(await count({ window: 'day' })).toEqual({ '': 3 })
  expect(await count({ window: 'week' })).toEqual({ '': 5 })
  expect(await count({ window: 'week', each: 'project' })).toEqual({ shop: 4, web: 1 })
  expect(await count({ window: 'week', scope: { model: 'small' } })).toEqual({ '': 1 })
  expect(await count({ window: 'week', scope: { member: 'x@example.com' } })).toEqual({ '': 2 })
  const { data } = (await by('GET', '/v1/findings?file=b.ts')).body
  await by('PATCH', `/v1/findings/${data[0]?.id}`, { status: 'dismissed' })
  expect(await count({ window: 'week' })).toEqual({ '': 4 })
  const top = await readTop(
    database.sql,
    own.orgId,
    watched({ metric: 'findings', window: 'week' }),
    [''],
    CLOCK,
  )
  expect(top.get('')).toEqual([
    { key: 'shop', value: 3 },
    { key: 'web', value: 1 },
  ])
})

test('the largest contributors are models of members, members of projects, else projects', async () => {
  const cases = [
    [{ scope: { member: 'user_ada' } }, 'model', { member: 'user_ada' }],
    [{ scope: { project: 'p1' } }, 'member', { project: 'p1' }],
    [{}, 'project', {}],
    [{ scope: { team: 'web' } }, 'project', { team: 'web' }],
    [{ scope: { project: 'p1', member: 'user_ada' } }, 'model', { project: 'p1', member: 'user_ada' }],
  ] as const
  for (const [over, by, filters] of cases)
    for (const metric of ['cost', 'forecast', 'budget_percent'] as const) {
      const top = await readTop(database.sql, owner.orgId, watched({ metric, ...over }), [''], CLOCK)
      const { data } = await breakdown({ ...filters, ...rangeOf('month', 0), by })
      expect(top.get('')).toEqual(
        data
          .filter(({ cost }) => cost > 0)
          .slice(0, 3)
          .map(({ key, cost }) => ({ key, value: cost })),
      )
    }
  const each = await readTop(database.sql, owner.orgId, watched({ each: 'project' }), ['p0', 'p2'], CLOCK)
  expect([...each.keys()]).toEqual(['p0', 'p2'])
  const { data } = await breakdown({ project: 'p2', ...rangeOf('month', 0), by: 'member' })
  expect(each.get('p2')).toEqual(data.slice(0, 3).map(({ key, cost }) => ({ key, value: cost })))
  expect(
    await readTop(database.sql, owner.orgId, watched({ metric: 'average_quality' }), [''], CLOCK),
  ).toEqual(new Map())
})

test('machines are silent after a day, 7 or 30 days, and endpoints fail after three deliveries', async () => {
  const own = await newOrg(database.sql)
  const { sql } = database
  for (const [machine, days, user] of [
    ['a', 0.5, 'u1'],
    ['b', 1, 'u1'],
    ['c', 8, 'u2'],
    ['d', 31, 'u2'],
    ['d', 40, ''],
  ] as const)
    await sql`
      insert into machines (org_id, user_key, machine, first_seen_at, last_seen_at, sessions)
      values (${own.orgId}, ${user}, ${machine}, ${NOW}, ${new Date(NOW.getTime() - days * 86_400_000)}, 1)`
  const silent = async (window: Watched['window'], scope = {}) => {
    const values = await readValues(
      sql,
      own.orgId,
      watched({ metric: 'silent_machines', window, scope }),
      CLOCK,
    )
    return [values.series.get('')?.[0], values.changesAt?.toISOString()]
  }
  expect(await silent('day')).toEqual([3, '2026-03-13T00:00:00.000Z'])
  expect(await silent('week')).toEqual([2, '2026-03-18T12:00:00.000Z'])
  expect(await silent('month', { member: 'u2' })).toEqual([1, '2026-04-03T12:00:00.000Z'])
  const { addDeliveries, addEndpoint } = await import('../../support/webhook-rows.ts')
  const failing = async () =>
    (
      await readValues(sql, own.orgId, watched({ metric: 'failing_endpoints', window: 'day' }), CLOCK)
    ).series.get('')
  const [good, bad] = [await addEndpoint(sql, own.orgId), await addEndpoint(sql, own.orgId)]
  const ids = {
    good: await addDeliveries(sql, own.orgId, good, 4),
    bad: await addDeliveries(sql, own.orgId, bad, 4),
  }
  expect(await failing()).toEqual([0])
  const set = (some: string[], status: string) => sql`
    update webhook_deliveries set status = ${status}, completed_at = ${status === 'pending_retry' ? null : NOW}
    where org_id = ${own.orgId} and id = any(${some})`
  await set(ids.bad.slice(0, 2), 'failed')
  expect(await failing()).toEqual([0])
  await set(ids.bad.slice(2, 3), 'pending_retry')
  await set(ids.good.slice(0, 3), 'failed')
  await set(ids.good.slice(3), 'success')
  expect(await failing()).toEqual([1])
})

test('seats are idle in the last 7 or 30 days, and limits are hit in the window of the hit', async () => {
  const own = await newOrg(database.sql, { scopes: ['read', 'write', 'admin'] })
  const asked = asker(webhookApp(database, { now: () => NOW }), own.key)
  const member = (name: string, team: string) => ({
    ...{ type: 'member', id: `user_${name}`, email: `${name}@example.com`, display_name: name, team },
    ...{ role: 'developer', joined_at: '2026-01-01T00:00:00Z' },
  })
  const plan = (name: string, quantity = 1) => ({
    ...{ type: 'plan', vendor: 'anthropic', plan: 'pro', from: '2026-01-01', price_month: 20, quantity },
    member: `${name}@example.com`,
  })
  const session = (name: string, created_at: string) => ({
    ...{ type: 'session', id: `sess_seat_${name}`, project_name: 'web', estimated_cost: 1 },
    ...{ source: 'claude-code', created_at, user_email: `${name}@example.com` },
  })
  const hit = (name: string, at: string, resets_at: string) => ({
    ...{ type: 'limit', vendor: 'anthropic', agent: 'claude-code', at, user_email: `${name}@example.com` },
    windows: [{ limit: 'five_hour', used_percent: 100, resets_at, hit: true }],
  })
  const sent = await asked('POST', '/v1/sync', {
    records: [
      ...[member('ada', 'web'), member('bob', 'web'), member('cem', 'data')],
      ...[plan('ada'), plan('bob'), plan('cem')],
      ...[session('ada', '2026-03-11T09:00:00Z'), session('bob', '2026-02-20T09:00:00Z')],
      ...[
        hit('ada', '2026-03-11T10:00:00Z', '2026-03-11T12:00:00Z'),
        hit('ada', '2026-03-12T10:00:00Z', '2026-03-12T12:00:00Z'),
        hit('bob', '2026-03-12T09:00:00Z', '2026-03-12T11:00:00Z'),
        hit('bob', '2026-02-20T10:00:00Z', '2026-02-20T12:00:00Z'),
      ],
    ],
  })
  expect([sent.status, sent.text.slice(0, 200)]).toEqual([200, expect.any(String)] as never)
  const values = async (over: Partial<Watched>) =>
    Object.fromEntries((await readValues(database.sql, own.orgId, watched(over), CLOCK)).series)
  const idle = { metric: 'idle_seats' } as const
  expect(await values({ ...idle, window: 'month' })).toEqual({ '': [1] })
  expect(await values({ ...idle, window: 'week' })).toEqual({ '': [2] })
  expect(await values({ ...idle, window: 'week', scope: { team: 'web' } })).toEqual({ '': [1] })
  const hits = { metric: 'limit_hits' } as const
  expect(await values({ ...hits, window: 'day' })).toEqual({ '': [2] })
  expect(await values({ ...hits, window: 'month' })).toEqual({ '': [3] })
  expect(await values({ ...hits, window: 'week', each: 'member' })).toEqual({ user_ada: [2], user_bob: [1] })
  expect(await values({ ...hits, window: 'day', scope: { member: 'user_bob' } })).toEqual({ '': [1] })
})
