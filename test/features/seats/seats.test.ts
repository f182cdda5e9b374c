import { beforeAll, describe, expect, test } from 'bun:test'
import { SYSTEM } from '../../../src/accounts/audit-log/append.ts'
import type { MySeats, Plan, Seat, SeatPage } from '../../../src/features/seats/model.ts'
import type { App } from '../../../src/server/app.ts'
import { checkRollups } from '../../../src/server/doctor/checks.ts'
import { erasePerson } from '../../../src/server/erasure/person.ts'
import { deleteExpiredSessions } from '../../../src/server/erasure/retention.ts'
import { exportLines } from '../../../src/server/sync/export.ts'
import { type Ask, asker, newKey, newOrg, type Org, PLENTY, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { asOrganization, asOwner } from '../../support/rls.ts'

// Plans, windows of limits and seats: what was paid beside what the same calls would have cost, never in one sum.

const NOW = new Date('2026-11-30T12:00:00.000Z')
const SCOPES = ['read', 'write', 'audit:write', 'webhooks', 'admin']
const NOVEMBER = '/v1/seats?date_from=2026-11-01&date_to=2026-11-30'

const db = await testsDatabase()
let app: App

beforeAll(() => {
  app = testApp(db.sql, { now: () => NOW, config: { rateLimits: PLENTY } })
})

const member = (name: string, team?: string) => ({
  ...{ type: 'member', id: `user_${name}`, email: `${name}@example.com`, display_name: name },
  ...{ role: 'developer', joined_at: '2026-01-01T00:00:00Z', ...(team && { team }) },
})
const plan = (name: string | undefined, from: string, price_month: number, further: object = {}) => ({
  ...{ type: 'plan', vendor: 'anthropic', plan: 'max_5x', from, price_month },
  ...(name && { member: `${name}@example.com` }),
  ...further,
})
const session = (name: string, id: string, created_at: string, cost: number, further: object = {}) => ({
  ...{ type: 'session', id: `sess_${id}`, project_name: 'web', created_at, source: 'claude-code' },
  ...{ estimated_cost: cost, user_email: `${name}@example.com`, ...further },
})
const call = (started_at: string, further: object = {}) => ({
  ...{
    turn_number: 1,
    role: 'assistant',
    model: 'm',
    started_at,
    tokens: { input: 1, output: 1 },
    ...further,
  },
})
const window = (limit: string, used_percent: number, resets_at: string | null, further: object = {}) => ({
  ...{ limit, used_percent, resets_at, hit: false, ...further },
})
const limit = (name: string | undefined, at: string, windows: object[], further: object = {}) => ({
  ...{ type: 'limit', vendor: 'anthropic', agent: 'claude-code', at, windows, ...further },
  ...(name && { user_email: `${name}@example.com` }),
})

const send = async (ask: Ask, records: object[]) => {
  const sent = await ask('POST', '/v1/sync', { records })
  expect([sent.status, sent.body.error]).toEqual([200, undefined as never])
  const { created, updated, unchanged } = sent.body as unknown as Record<string, number>
  return { created, updated, unchanged }
}

interface Organization {
  own: Org
  ask: Ask
}

/** An organization with these records, one request each when `apart`. */
async function organization(records: object[] = [], apart = false): Promise<Organization> {
  const own = await newOrg(db.sql, { scopes: SCOPES })
  const ask = asker(app, own.key)
  if (apart) for (const record of records) await send(ask, [record])
  else if (records.length > 0) await send(ask, records)
  return { own, ask }
}

const seatsOf = async (ask: Ask, url = NOVEMBER): Promise<SeatPage> => {
  const { status, body, text } = await ask('GET', url)
  expect([status, text.slice(0, status === 200 ? 0 : 500)]).toEqual([200, ''])
  return body as unknown as SeatPage
}
const limitsOf = (seat: Seat | undefined) =>
  Object.fromEntries((seat?.limits ?? []).map(({ limit, scope, ...rest }) => [scope ?? limit, rest]))

/** The plans and windows that are stored, as text. */
const storedOf = async ({ own }: Organization): Promise<string> => {
  const lines = await asOrganization(own.orgId, () => Array.fromAsync(exportLines(db.sql, own.orgId)))
  return lines
    .join('')
    .split('\n')
    .filter((line) => /"type":"(plan|limit)"/.test(line))
    .map((line) => line.replace(/"id":"plan_[^"]*"/, ''))
    .join('\n')
}

const permuted = <Item>(items: readonly Item[], seed: number): Item[] =>
  items
    .map((item, index) => ({ item, place: Bun.hash(`${seed} ${index}`) }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ item }) => item)

describe('cases', () => {
  test('S1: a seat without a call is idle, or new in its first days', async () => {
    const premium = { plan: 'team_premium' }
    const { ask } = await organization([
      ...[member('a'), member('b')],
      ...[plan('a', '2026-10-01', 125, premium), plan('b', '2026-11-25', 125, premium)],
    ])
    const { data, total, currency } = await seatsOf(ask)
    expect(data).toMatchObject([
      {
        member: 'user_a',
        verdict: 'idle',
        paid: 125,
        cost: 0,
        ratio: 0,
        active_days: 0,
        last_active_day: null,
      },
      { member: 'user_b', verdict: 'new', paid: 25, from: '2026-11-25', to: null },
    ])
    expect([currency, total]).toEqual(['USD', { seats: 2, paid: 150, cost: 0, idle: 1, low: 0, limited: 0 }])
  })

  test('S2: cost beside what is paid, in no sum', async () => {
    const days = Array.from({ length: 19 }, (_, n) => `2026-11-${String(n + 5).padStart(2, '0')}`)
    const hit = { hit: true }
    const { ask } = await organization([
      member('a'),
      plan('a', '2026-10-01', 200, { plan: 'max_20x' }),
      ...days.map((day, n) => session('a', day, `${day}T10:00:00Z`, n === 0 ? 42.5 : 80)),
      ...['05', '06', '07'].map((day) =>
        limit('a', `2026-11-${day}T10:00:00Z`, [window('five_hour', 100, `2026-11-${day}T13:00:00Z`, hit)]),
      ),
      limit('a', '2026-11-07T10:00:00Z', [window('week', 100, '2026-11-09T10:00:00Z', hit)]),
    ])
    const page = await seatsOf(ask)
    expect(page.data).toMatchObject([
      { paid: 200, cost: 1482.5, ratio: 7.4125, verdict: 'limited', sessions: 19, active_days: 19 },
    ])
    expect(page.total).toEqual({ seats: 1, paid: 200, cost: 1482.5, idle: 0, low: 0, limited: 1 })
    const csv = await ask('GET', NOVEMBER, undefined)
    expect(JSON.stringify(page) + csv.text).not.toContain('1682.5')
  })

  test('S3: a change of plan in the month', async () => {
    const { ask } = await organization([
      ...[member('a'), plan('a', '2026-10-01', 20, { plan: 'pro', to: '2026-11-15' })],
      plan('a', '2026-11-16', 100),
    ])
    expect((await seatsOf(ask)).total.paid).toBe(60)
    const part = await seatsOf(ask, '/v1/seats?date_from=2026-11-10&date_to=2026-11-20')
    expect(part.total.paid).toBe(20.666667)
    expect(part.data.map(({ paid }) => paid)).toEqual([16.666667, 4])
  })

  const codex = { vendor: 'openai', agent: 'codex' }
  /** One week's window of two machines, its times 3 s apart, and windows of five hours. */
  const S4 = [
    ...Array.from({ length: 14 }, (_, n) =>
      limit(
        'a',
        `2026-11-02T10:${String(n * 4).padStart(2, '0')}:00Z`,
        [window('week', n === 13 ? 100 : 80 + n, `2026-11-06T08:00:0${n % 4}Z`, { hit: n === 13 })],
        codex,
      ),
    ),
    limit('a', '2026-11-01T09:00:00Z', [window('five_hour', 62, '2026-11-01T12:00:00Z')], codex),
    limit(
      'a',
      '2026-11-02T11:10:00Z',
      [window('five_hour', 100, '2026-11-02T13:00:00Z', { hit: true })],
      codex,
    ),
    session('a', 'next', '2026-11-02T10:00:00Z', 1, {
      source: 'codex',
      turn_records: [
        call('2026-11-02T11:00:00Z'),
        // refused: no answer came
        call('2026-11-02T11:20:00Z', { turn_number: 2, tokens: { input: 0, output: 0 } }),
        call('2026-11-02T13:05:00Z', { turn_number: 3 }),
      ],
    }),
  ]

  test('S4: a window is one row, in any order and any number of times', async () => {
    const base = [member('a'), plan('a', '2026-10-01', 20, { vendor: 'openai', plan: 'plus' })]
    const stored = new Set<string>()
    for (const seed of [1, 2, 3]) {
      const own = await organization([...base, ...permuted(S4, seed)], seed > 1)
      expect(await send(own.ask, permuted(S4, seed + 9))).toEqual({
        created: 0,
        updated: 0,
        unchanged: S4.length,
      })
      const { data } = await seatsOf(own.ask)
      expect(limitsOf(data[0])).toMatchObject({
        week: { windows: 1, hits: 1, peak_percent: 100, current: null },
        five_hour: { windows: 2, hits: 1, peak_percent: 100, hours_blocked: 1.833333, overage: false },
      })
      stored.add(await storedOf(own))
    }
    expect(stored.size).toBe(1)
  })

  test('S5: overage is no hit', async () => {
    const resets = '2026-11-03T15:00:00Z'
    const { ask } = await organization([
      ...[member('a'), plan('a', '2026-10-01', 100)],
      limit('a', '2026-11-03T12:00:00Z', [window('five_hour', 91, resets)]),
      limit('a', '2026-11-03T13:00:00Z', [window('five_hour', 102, resets, { overage: true })]),
      limit('a', '2026-11-03T13:10:00Z', [window('five_hour', 100, resets, { hit: true })]),
      limit('a', '2026-11-03T13:20:00Z', [window('week', 100, '2026-11-06T15:00:00Z', { hit: true })]),
    ])
    expect(limitsOf((await seatsOf(ask)).data[0])).toMatchObject({
      five_hour: { hits: 1, peak_percent: 102, overage: true, windows: 1 },
      week: { hits: 1, windows: 1 },
    })
  })

  test('S6: credits are pooled', async () => {
    const copilot = { vendor: 'github', plan: 'copilot_business', included_credits: 1900 }
    const { ask } = await organization([
      ...['a', 'b', 'c'].map((name) => member(name)),
      ...['a', 'b', 'c'].map((name) => plan(name, '2026-10-01', 19, copilot)),
      session('a', 'a', '2026-11-03T10:00:00Z', 42, { source: 'copilot' }),
      session('b', 'b', '2026-11-03T10:00:00Z', 3.6, { source: 'copilot' }),
    ])
    const { data, total } = await seatsOf(ask)
    expect(data.map(({ verdict }) => verdict)).toEqual(['fits', 'low', 'idle'])
    for (const { pool } of data) expect(pool).toEqual({ credits: 5700, used: 4560, percent: 80 })
    expect(total).toMatchObject({ seats: 3, paid: 57, cost: 45.6, idle: 1, low: 1 })
  })

  test('S7: what was seen long before it was sent is of its window', async () => {
    const { ask } = await organization([
      ...[member('a'), plan('a', '2026-10-01', 100)],
      limit('a', '2026-11-03T12:00:00Z', [window('week', 88, '2026-11-05T10:00:00Z')], {
        account: '0123456789abcdef',
      }),
    ])
    expect(limitsOf((await seatsOf(ask)).data[0])).toMatchObject({
      week: { peak_percent: 88, current: null, hits: 0 },
    })
  })
})

describe('seats', () => {
  test('calls that the plan paid: those that say so, and those that say nothing of who has a plan', async () => {
    const paid = (started_at: string, cost: number, paid_by?: string, vendor?: string) =>
      call(started_at, { cost, ...(paid_by && { paid_by }), ...(vendor && { vendor }) })
    const turns = (...records: object[]) => ({
      turn_records: records.map((record, n) => ({ ...record, turn_number: n + 1 })),
      estimated_cost: null,
    })
    const { ask } = await organization([
      ...['a', 'b'].map((name) => member(name)),
      plan('a', '2026-10-01', 100),
      session(
        'a',
        'mixed',
        '2026-11-03T10:00:00Z',
        0,
        turns(
          paid('2026-11-03T10:00:00Z', 5),
          paid('2026-11-03T11:00:00Z', 2, 'api'),
          paid('2026-11-04T10:00:00Z', 1, 'plan'),
          paid('2026-11-05T10:00:00Z', 4, 'api', 'aws'),
        ),
      ),
      session('b', 'unknown', '2026-11-03T10:00:00Z', 0, turns(paid('2026-11-03T10:00:00Z', 7))),
    ])
    const { data } = await seatsOf(ask)
    expect(data).toMatchObject([{ member: 'user_a', cost: 6, active_days: 2, last_active_day: '2026-11-04' }])
    // a plan that is not known
    await send(ask, [
      session('b', 'stated', '2026-11-06T10:00:00Z', 0, turns(paid('2026-11-06T10:00:00Z', 3, 'plan'))),
    ])
    const more = await seatsOf(ask)
    expect(more.data[1]).toMatchObject({
      ...{
        member: 'user_b',
        plan: null,
        quantity: 0,
        paid: 0,
        cost: 3,
        ratio: null,
        verdict: null,
        from: null,
      },
    })
    expect(more.total).toMatchObject({ seats: 1, cost: 9 })
    // seats of nobody are of those without one
    await send(ask, [
      plan(undefined, '2026-10-01', 50, { quantity: 3 }),
      session('c', 'same_day', '2026-11-03T12:00:00Z', 0, turns(paid('2026-11-03T12:00:00Z', 1, 'plan'))),
    ])
    const shared = await seatsOf(ask)
    // a day on which two members worked is one
    expect(shared.data[0]).toMatchObject({ sessions: 3, active_days: 2, last_active_day: '2026-11-06' })
    expect(
      shared.data.map(({ member: who, cost, paid: price, quantity }) => [who, cost, price, quantity]),
    ).toEqual([
      [null, 11, 150, 3],
      ['user_a', 6, 100, 1],
    ])
    expect((await seatsOf(ask, `${NOVEMBER}&member=A@example.com`)).total.seats).toBe(1)
    expect((await seatsOf(ask, `${NOVEMBER}&verdict=low`)).data).toHaveLength(2)
    expect((await seatsOf(ask, `${NOVEMBER}&vendor=openai`)).total.paid).toBe(0)
  })

  test('a session counts under each vendor that it had calls of', async () => {
    const calls = (id: string, ...of: readonly (readonly [day: string, vendor: string])[]) =>
      session('a', id, `${of[0]?.[0]}T10:00:00Z`, 0, {
        turn_records: of.map(([day, vendor], n) =>
          call(`${day}T1${n}:00:00Z`, { turn_number: n + 1, vendor, cost: 1 }),
        ),
        estimated_cost: null,
      })
    const { ask } = await organization([
      ...[member('a'), plan('a', '2026-10-01', 100), plan('a', '2026-10-01', 100, { vendor: 'aws' })],
      calls('both', ['2026-11-03', 'anthropic'], ['2026-11-03', 'aws'], ['2026-11-04', 'aws']),
      calls('aws', ['2026-11-04', 'aws'], ['2026-11-04', 'aws']),
      calls('earlier', ['2026-10-31', 'anthropic'], ['2026-11-05', 'aws']),
    ])
    const found = ({ data }: SeatPage) =>
      data.map(({ vendor, sessions, active_days }) => [vendor, sessions, active_days])
    expect(found(await seatsOf(ask)).sort()).toEqual([
      ['anthropic', 1, 1],
      ['aws', 2, 3],
    ])
    expect(found(await seatsOf(ask, `${NOVEMBER}&vendor=aws`))).toEqual([['aws', 2, 3]])
    // the first days and the last
    for (const days of ['date_to=0001-01-01', 'date_from=0001-01-01&date_to=9999-12-31'])
      expect((await seatsOf(ask, `/v1/seats?${days}`)).data.length).toBe(days.length > 20 ? 2 : 0)
  })

  test('another currency, and days to come', async () => {
    const { ask } = await organization([
      plan(undefined, '2026-11-01', 30, { currency: 'EUR', usd_rate: 1.1, quantity: 2 }),
    ])
    const { data } = await seatsOf(ask, '/v1/seats?date_from=2026-11-16&date_to=2026-12-31')
    expect(data[0]?.paid).toBe(99)
    // the last 30 whole days
    expect((await seatsOf(ask, '/v1/seats')).data[0]?.paid).toBe(63.8)
  })

  test('a window that is not over, and who is told of it', async () => {
    const { own, ask } = await organization([
      ...[member('a'), plan('a', '2026-10-01', 100)],
      limit('a', '2026-11-30T11:00:00Z', [
        window('five_hour', 40, '2026-11-30T14:00:00Z'),
        window('week', 55, '2026-12-02T14:00:00Z', { scope: 'opus' }),
      ]),
      limit('a', '2026-11-29T01:00:00Z', [window('five_hour', 90, '2026-11-29T04:00:00Z')]),
    ])
    expect(limitsOf((await seatsOf(ask, '/v1/seats')).data[0])).toMatchObject({
      five_hour: { current: 40, windows: 1, peak_percent: 90 },
      opus: { current: 55 },
    })
    const key = await newKey(db.sql, own.orgId, ['sessions:write'], 'a@example.com')
    const mine = await asker(app, key)('GET', '/v1/seats/mine')
    expect(mine.body as unknown as MySeats).toEqual({
      plans: [{ vendor: 'anthropic', plan: 'max_5x', from: '2026-10-01', to: null }],
      windows: [
        {
          ...{ vendor: 'anthropic', limit: 'five_hour', scope: null, used_percent: 40 },
          ...{ resets_at: '2026-11-30T14:00:00.000Z', hit: false },
        },
        {
          ...{ vendor: 'anthropic', limit: 'week', scope: 'opus', used_percent: 55 },
          ...{ resets_at: '2026-12-02T14:00:00.000Z', hit: false },
        },
      ],
    })
    expect((await ask('GET', '/v1/seats/mine')).body as unknown).toEqual({ plans: [], windows: [] })
  })

  test('the next call is found whenever it comes, and forgotten when its session is deleted', async () => {
    const hit = limit('a', '2026-11-03T10:00:00Z', [
      window('five_hour', 100, '2026-11-03T14:00:00Z', { hit: true }),
    ])
    const next = session('a', 'next', '2026-11-03T10:30:00Z', 1, {
      turn_records: [call('2026-11-03T10:30:00Z')],
    })
    const { own, ask } = await organization([member('a'), plan('a', '2026-10-01', 100), hit])
    const blocked = async () => limitsOf((await seatsOf(ask)).data[0]).five_hour?.hours_blocked
    expect(await blocked()).toBe(4)
    await send(ask, [next])
    expect(await blocked()).toBe(0.5)
    await ask('DELETE', '/v1/sessions/sess_next')
    expect(await blocked()).toBe(4)
    // without a stated end: after its length
    await send(ask, [limit('a', '2026-11-05T10:00:00Z', [window('five_hour', 100, null, { hit: true })])])
    expect(await blocked()).toBe(9)
    expect(own.orgId).toBeTruthy()
  })

  test('windows are of who joins later, and of their address again when they leave', async () => {
    const { ask } = await organization([
      limit('a', '2026-11-03T10:00:00Z', [
        window('five_hour', 100, '2026-11-03T14:00:00Z', { hit: true }),
        window('week', 30, '2026-11-05T14:00:00Z'),
      ]),
      limit('b', '2026-11-03T10:00:00Z', [window('week', 40, '2026-11-05T14:00:00Z')]),
    ])
    const found = async () =>
      (await seatsOf(ask)).data.map(({ member: who, limits }) => [
        who,
        limits.map(({ peak_percent }) => peak_percent),
      ])
    expect(await found()).toEqual([[null, [100, 40]]])
    await send(ask, [member('a')])
    expect(await found()).toEqual([
      [null, [40]],
      ['user_a', [100, 30]],
    ])
    expect((await ask('DELETE', '/v1/members/user_a')).status).toBe(204)
    expect(await found()).toEqual([[null, [100, 40]]])
  })
})

describe('plans', () => {
  const list = async (ask: Ask, query = '') =>
    (await ask('GET', `/v1/plans${query}`)).body.data as unknown as Plan[]

  test('are added, changed, replaced and removed', async () => {
    const { ask } = await organization([member('a')])
    const body = {
      vendor: 'anthropic',
      plan: 'pro',
      member: 'A@Example.com',
      from: '2026-10-01',
      price_month: 20,
    }
    const made = await ask('POST', '/v1/plans', body)
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(`/v1/plans/${made.body.id}`)
    expect(made.body as object).toEqual({
      ...{ id: made.body.id, ...body, member: 'user_a', quantity: 1, to: null },
      ...{ currency: 'USD', usd_rate: null, included_credits: null },
    })
    expect((await ask('POST', '/v1/plans', body)).body.id).toBe(made.body.id)
    const next = { ...body, plan: 'max_5x', from: '2026-11-16', price_month: 100 }
    const refused = await ask('POST', '/v1/plans', next)
    expect([refused.status, refused.body.details[0]?.field]).toEqual([400, 'from'])
    expect((await ask('POST', '/v1/plans?replace=true', next)).status).toBe(201)
    expect((await list(ask)).map(({ plan: name, to }) => [name, to])).toEqual([
      ['max_5x', null],
      ['pro', '2026-11-15'],
    ])
    const patched = await ask('PATCH', `/v1/plans/${made.body.id}`, {
      id: 'x',
      price_month: 21,
      to: '2026-11-14',
    })
    expect([patched.status, patched.body.price_month, patched.body.id]).toEqual([200, 21, made.body.id])
    expect((await ask('PATCH', `/v1/plans/${made.body.id}`, { to: '2026-11-20' })).status).toBe(400)
    expect(
      (await ask('PATCH', `/v1/plans/${made.body.id}`, { to: '2026-09-20' })).body.details[0]?.field,
    ).toBe('to')
    expect((await ask('PATCH', `/v1/plans/${made.body.id}`, { prise: 1 })).status).toBe(400)
    expect((await ask('DELETE', `/v1/plans/${made.body.id}`)).status).toBe(204)
    expect((await ask('DELETE', `/v1/plans/${made.body.id}`)).status).toBe(404)
    const { body: log } = await ask('GET', '/v1/audit?action=plan.*')
    expect(log.data.map(({ action }) => action)).toEqual([
      ...['plan.deleted', 'plan.updated', 'plan.created', 'plan.updated', 'plan.created'],
    ])
  })

  test('wrong ones are refused', async () => {
    const { own, ask } = await organization([member('a')])
    const refused = async (record: object) => {
      const { status, body } = await ask('POST', '/v1/sync', { records: [record] })
      return [status, body.details?.[0]?.field]
    }
    const good = plan('a', '2026-11-01', 20)
    expect(await refused({ ...good, member: 'nobody@example.com' })).toEqual([400, 'records[0].member'])
    expect(await refused({ ...good, currency: 'EUR' })).toEqual([400, 'records[0].usd_rate'])
    expect(await refused({ ...good, to: '2026-10-01' })).toEqual([400, 'records[0].to'])
    expect(await refused({ ...good, price_month: 100_001 })).toEqual([400, 'records[0].price_month'])
    expect(await refused({ ...good, vendor: 'acme' })).toEqual([400, 'records[0].vendor'])
    await send(ask, [good])
    expect(await refused(plan('a', '2026-10-01', 20, { plan: 'pro' }))).toEqual([400, 'records[0].from'])
    const key = await newKey(db.sql, own.orgId, ['write'])
    const { status } = await asker(app, key)('POST', '/v1/sync', { records: [good] })
    expect(status).toBe(403)
    expect((await asker(app, key)('GET', '/v1/seats')).status).toBe(403)
    // admin is enough, for no other record
    const admin = await newKey(db.sql, own.orgId, ['admin'])
    const of = (record: object) => asker(app, admin)('POST', '/v1/sync', { records: [record] })
    expect((await of(good)).body).toMatchObject({ unchanged: 1 })
    expect((await of(limit('a', '2026-11-30T11:00:00Z', [window('week', 1, null)]))).status).toBe(403)
    const bound = await newKey(db.sql, own.orgId, ['write'], 'a@example.com')
    const foreign = await asker(app, bound)('POST', '/v1/sync', {
      records: [limit('b', '2026-11-05T10:00:00Z', [window('five_hour', 1, null)])],
    })
    expect([foreign.status, foreign.body.details[0]?.field]).toEqual([403, 'records[0].user_email'])
  })

  test('an export is taken in with its ids; the person who is erased has none', async () => {
    const own = await organization([
      ...[
        member('a'),
        member('b'),
        plan('a', '2026-10-01', 20),
        plan(undefined, '2026-10-01', 5, { quantity: 2 }),
      ],
      limit('a', '2026-11-03T10:00:00Z', [window('five_hour', 100, '2026-11-03T14:00:00Z', { hit: true })]),
      limit('a', '2026-11-03T12:00:00Z', [
        window('five_hour', 62.5, '2026-11-03T14:04:00Z', { overage: true }),
      ]),
      limit('a', '2026-11-03T11:00:00Z', [window('five_hour', 110, '2026-11-03T14:08:00Z')]),
    ])
    const lines = (await Array.fromAsync(exportLines(db.sql, own.own.orgId))).join('').trim().split('\n')
    const records = lines.map((line) => JSON.parse(line)).filter(({ type }) => type !== 'audit')
    const copy = await organization(permuted(records, 3))
    expect(await seatsOf(copy.ask)).toEqual(await seatsOf(own.ask))
    expect(await list(copy.ask)).toEqual(await list(own.ask))
    expect(await storedOf(copy)).toBe(await storedOf(own))
    await asOwner(() => erasePerson(db.sql, own.own.orgId, SYSTEM, 'a@example.com'))
    const { data } = await seatsOf(own.ask)
    expect(data.map(({ member: who, limits }) => [who, limits])).toEqual([[null, []]])
    expect(await storedOf(own)).not.toContain('a@example.com')
  })

  test('and windows are kept as long as sessions', async () => {
    const { own, ask } = await organization([
      ...[plan(undefined, '2026-01-01', 5, { to: '2026-02-01' }), plan(undefined, '2026-03-01', 5)],
      limit('a', '2026-02-03T10:00:00Z', [window('week', 10, '2026-02-05T14:00:00Z')]),
    ])
    await db.sql`update organizations set retention_sessions_days = 60 where org_id = ${own.orgId}`
    await asOwner(() => deleteExpiredSessions(db.sql, NOW))
    expect(await list(ask)).toHaveLength(1)
    expect(await storedOf({ own, ask })).not.toContain('"limit"')
    const late = limit('a', '2026-02-03T10:00:00Z', [window('week', 10, '2026-02-05T14:00:00Z')])
    expect(await send(ask, [late])).toEqual({ created: 0, updated: 0, unchanged: 1 })
  })

  test('the sums of windows agree with them after all this', async () => {
    expect((await asOwner(() => checkRollups(db.sql, false))).message).toStartWith('agree')
  })
})
