import { beforeAll, describe, expect, test } from 'bun:test'
import { AUDIT_ROLLUP } from '../../../src/accounts/audit-log/rollup.ts'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import type { AuditEntry, AuditReport } from '../../../src/features/audit/model.ts'
import { got, jsonPost, newOrg, type Org, repeatingClient, testApp } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'

const database = await testsDatabase()

const app = testApp(database.sql)

const caller = ({ key }: Org) => {
  const ask = repeatingClient(app, key)
  const get = <Body>(path: string) => got<Body>(ask(path))
  const post = (records: unknown[]) => ask('/v1/sync', jsonPost({ records }))
  const sync = (records: unknown[]) => got(post(records))
  return { ask, get, post, sync }
}

type Page = { data: AuditEntry[]; pagination: { page: number; per_page: number; total: number } }

async function expectRollups({ orgId }: Org): Promise<void> {
  expect(await findDifferences(database.sql, orgId, [AUDIT_ROLLUP])).toEqual([])
}

const ACTIONS = [
  'webhook.created',
  'webhook.updated',
  'webhooks.other',
  'api_key.created',
  'webhook',
  'user.login',
]
const USERS = ['user_a', 'user_b', 'key_c', 'user_rare']

/** 600 entries of 40 days, many with equal times. */
const given = Array.from({ length: 600 }, (_, index) => ({
  type: 'audit',
  id: `log_${index}`,
  action: ACTIONS[(index * 7) % ACTIONS.length] ?? '',
  user_id: index % 97 === 0 ? 'user_rare' : (USERS[index % 3] ?? ''),
  created_at: new Date(Date.UTC(2026, 8, 1) + ((index * 37) % 160) * 6 * 3_600_000).toISOString(),
  details: { ids: [`sess_${index}`] },
  ip_address: '203.0.113.7',
}))

describe('GET /v1/audit', () => {
  let own: Org
  let stored: AuditEntry[] = []
  const all = async (query: string): Promise<AuditEntry[]> => {
    const entries: AuditEntry[] = []
    for (let page = 1; ; page += 1) {
      const answer = await caller(own).get<Page>(`/v1/audit?per_page=100&page=${page}&${query}`)
      entries.push(...answer.data)
      if (answer.data.length === 0) {
        expect(answer.pagination.total).toBe(entries.length)
        return entries
      }
    }
  }

  beforeAll(async () => {
    own = await newOrg(database.sql)
    expect(await caller(own).sync(given)).toMatchObject({ created: 600 })
    stored = await all('')
  })

  test('has every entry once, newest first, each with a time of its own', () => {
    const times = stored.map((entry) => entry.created_at)
    expect(times).toEqual([...new Set(times)].sort().reverse())
    for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    const imported = stored.filter(({ id }) => /^log_\d+$/.test(id) && id.length < 8)
    expect(imported.length).toBe(600)
    for (const entry of imported) {
      const record = given[Number(entry.id.slice(4))]
      const { created_at, ...rest } = entry
      expect({ type: 'audit', ...rest, created_at: '' }).toEqual({ ...record, created_at: '' } as never)
      // ties are moved on by microseconds, in the order of the request
      expect(created_at.slice(0, 23)).toBe(record?.created_at.slice(0, 23) ?? '')
    }
  })

  test.each([
    { action: 'webhook.created' },
    { action: 'webhook.*' },
    { action: 'webhook' },
    { action: 'nothing.*' },
    { action: '*' },
    { user_id: 'user_a' },
    { user_id: 'user_rare' },
    { user_id: 'nobody' },
    { user_id: 'user_rare', action: 'webhook.*' },
    { user_id: 'user_b', action: 'api_key.created' },
    { date_from: '2026-09-05' },
    { date_to: '2026-09-05' },
    { date_from: '2026-09-05', date_to: '2026-09-20', action: 'webhook.*' },
    { date_from: '2026-09-05', date_to: '2026-09-06', user_id: 'key_c' },
    { date_from: '2026-09-05', date_to: '2026-09-25', user_id: 'user_b', action: 'webhook.updated' },
    { date_from: '9999-12-31' },
    { date_to: '9999-12-31' },
  ])('%j', async (filter: Record<string, string>) => {
    const { action, user_id, date_from = '', date_to = '9999' } = filter
    const expected = stored.filter((entry) => {
      const day = entry.created_at.slice(0, 10)
      const isAction =
        action === undefined ||
        (action.endsWith('.*') ? entry.action.startsWith(action.slice(0, -1)) : entry.action === action)
      return (
        isAction && (user_id === undefined || entry.user_id === user_id) && day >= date_from && day <= date_to
      )
    })
    expect(await all(new URLSearchParams(filter).toString())).toEqual(expected)
  })

  test('pages of any size are slices of the whole', async () => {
    for (const [page, perPage] of [
      [1, 50],
      [7, 13],
      [47, 13],
      [3, 100],
    ] as const) {
      const answer = await caller(own).get<Page>(`/v1/audit?page=${page}&per_page=${perPage}`)
      expect(answer.data).toEqual(stored.slice((page - 1) * perPage, page * perPage))
      expect(answer.pagination).toEqual({ page, per_page: perPage, total: stored.length })
    }
    expect((await caller(own).get<Page>('/v1/audit')).pagination.per_page).toBe(50)
    expect((await caller(own).get<Page>('/v1/audit?page=1000000000')).data).toEqual([])
  })
})

describe('audit records', () => {
  const entry = (fields: { id?: string; [field: string]: unknown } = {}) => ({
    type: 'audit',
    action: 'user.login',
    user_id: 'user_a',
    created_at: '2026-01-02T03:04:05.000006Z',
    ...fields,
  })

  test('again they change nothing: with ids, without, moved on, and as they are given back', async () => {
    const own = await newOrg(database.sql)
    const { sync, get } = caller(own)
    const batch = [
      entry({ id: 'log_a' }),
      entry({ id: 'log_b' }),
      entry(),
      entry(),
      entry({ details: { n: 1 } }),
      entry({ created_at: '2026-01-02T04:04:05.0000069+01:00', id: 'log_nano' }),
    ]
    expect(await sync(batch)).toEqual({ received: 6, created: 6, updated: 0, unchanged: 0 })
    const before = await get<Page>('/v1/audit')
    expect(before.data.slice(-6).map(({ created_at }) => created_at.slice(20, 27))).toEqual([
      '000011Z',
      '000010Z',
      '000009Z',
      '000008Z',
      '000007Z',
      '000006Z',
    ])
    expect(await sync(batch)).toEqual({ received: 6, created: 0, updated: 0, unchanged: 6 })
    const returned = before.data.slice(-6).map((row) => ({ type: 'audit', ...row }))
    expect(await sync(returned)).toMatchObject({ unchanged: 6 })
    expect(await get<Page>('/v1/audit')).toEqual(before)
    await expectRollups(own)
  })

  test('a known id with other content is corrected, unless the service wrote it', async () => {
    const own = await newOrg(database.sql)
    const { sync, post, get } = caller(own)
    await sync([entry({ id: 'log_1' }), entry({ id: 'log_2' })])
    expect(await sync([entry({ id: 'log_2', action: 'user.logout' })])).toMatchObject({ updated: 1 })
    const [corrected] = (await get<Page>('/v1/audit?action=user.logout')).data
    expect(corrected).toMatchObject({ id: 'log_2', created_at: '2026-01-02T03:04:05.000007Z' })
    expect(await sync([entry({ id: 'log_2', created_at: '2026-01-03T00:00:00Z' })])).toMatchObject({
      updated: 1,
    })
    expect(await sync([entry({ id: 'log_x' }), entry({ id: 'log_x', user_id: 'b' })])).toMatchObject({
      created: 1,
      updated: 1,
    })
    const [ours] = (await get<Page>('/v1/audit?action=organization.created')).data
    const forged = await post([entry(), { type: 'audit', ...ours, user_id: 'somebody' }])
    expect(forged.status).toBe(400)
    expect(JSON.parse(await forged.text()).details[0].field).toBe('records[1].id')
    expect(await sync([{ type: 'audit', ...ours }])).toMatchObject({ unchanged: 1 })
    await expectRollups(own)
  })

  test('500 equal times meet 3,000 taken ones: each finds its own microsecond', async () => {
    const own = await newOrg(database.sql)
    const { sync, get } = caller(own)
    const at = (micros: number) => `2026-02-01T00:00:00.${String(micros).padStart(6, '0')}Z`
    await sync(
      Array.from({ length: 3_000 }, (_, index) => entry({ id: `log_r${index}`, created_at: at(index + 10) })),
    )
    const ties = Array.from({ length: 500 }, (_, index) =>
      entry({ id: `log_tie_${index}`, created_at: at(11) }),
    )
    expect(await sync(ties)).toMatchObject({ created: 500 })
    expect(await sync(ties)).toMatchObject({ unchanged: 500 })
    const report = await get<AuditReport>('/v1/audit/report?direction=after')
    const moved = report.data.filter(({ id }) => id.startsWith('log_tie_'))
    expect(moved.map(({ id, created_at }) => [id, created_at])).toEqual(
      ties.map(({ id }, index) => [id ?? '', at(3_010 + index)]),
    )
    await expectRollups(own)
  })

  test.each([
    [{ action: '' }, 'records[0].action'],
    [{ user_id: undefined }, 'records[0].user_id'],
    [{ created_at: '2026' }, 'records[0].created_at'],
    [{ id: 'sess_1' }, 'records[0].id'],
    [{ details: [] }, 'records[0].details'],
    [{ details: { text: 'x'.repeat(20_000) } }, 'records[0].details'],
    [{ ip_address: 7 }, 'records[0].ip_address'],
    [{ ip: '::1' }, 'records[0].ip'],
  ])('refuses %j', async (fields, field) => {
    const own = await newOrg(database.sql)
    const answer = await caller(own).post([{ ...entry(), ...fields }])
    expect(answer.status).toBe(400)
    expect(JSON.parse(await answer.text()).details[0].field).toBe(field)
  })

  test('an action is dated behind the entries there are, but not behind those of another day', async () => {
    const own = await newOrg(database.sql)
    const { sync, get } = caller(own)
    const dateIn = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    const ahead = dateIn(20).replace('Z', '007Z')
    await sync([
      entry({ id: 'log_ahead', created_at: ahead }),
      entry({ id: 'log_far', created_at: dateIn(48) }),
    ])
    for (const name of ['one', 'two']) await createKey(database.sql, own.orgId, { name, scopes: ['read'] })
    const { data } = await get<AuditReport>('/v1/audit/report')
    expect(data.map(({ id }) => id).slice(0, 4)).toEqual([
      'log_far',
      expect.any(String),
      expect.any(String),
      'log_ahead',
    ])
    const [later, first] = data.slice(1, 3).map(({ created_at }) => created_at)
    expect([first, later]).toEqual([ahead.replace('007Z', '008Z'), ahead.replace('007Z', '009Z')])
  })

  test('the last microsecond there is can be taken once', async () => {
    const own = await newOrg(database.sql)
    const last = entry({ id: 'log_last', created_at: '9999-12-31T23:59:59.999999999Z' })
    expect(await caller(own).sync([last])).toMatchObject({ created: 1 })
    const answer = await caller(own).post([{ ...last, id: 'log_later' }])
    expect(JSON.parse(await answer.text()).details[0].field).toBe('records[0].created_at')
    // an action that happens now is still dated now
    await createKey(database.sql, own.orgId, { name: 'k', scopes: ['read'] })
    const report = await caller(own).get<AuditReport>('/v1/audit/report')
    expect(report.data.map(({ created_at }) => created_at.slice(0, 4) === '9999')).toEqual([
      true,
      false,
      false,
      false,
    ])
  })
})
