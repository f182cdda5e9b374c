import { describe, expect, test } from 'bun:test'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { retention } from '../../../src/cli/command/option-parsers.ts'
import { updateOrganization } from '../../../src/features/organization/queries.ts'
import { deleteByIds } from '../../../src/server/erasure/delete-sessions.ts'
import { deleteExpiredSessions } from '../../../src/server/erasure/retention.ts'
import { client, jsonPost } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { memberRecord } from '../../support/records.ts'
import { account, dump, finding, NOW, session } from './account.ts'

const database = await testsDatabase()

const RETENTION = { retention_sessions_days: 30, confirm_retention: 'all' } as const
const SYSTEM = { userId: 'system', ipAddress: null }

/** Sessions that share days, projects, files and findings, the extremes among them. */
const some = [
  session('one', '2026-11-01', {
    estimated_cost: 9,
    quality_score: 10,
    turns: 3,
    user_email: 'ada@example.com',
    files_touched: ['src/a.ts', 'docs/b.md'],
    security_metadata: { findings: [finding('src/a.ts', 'critical'), finding('unique.ts')] },
  }),
  session('two', '2026-11-01', {
    estimated_cost: 1.5,
    quality_score: 90,
    turns: 7,
    user_email: 'bob@example.com',
    files_touched: ['src/a.ts'],
    security_metadata: { findings: [finding('src/a.ts', 'critical')] },
  }),
  session('three', '2026-10-02', { project_name: 'other', estimated_cost: 2, turns: 1 }),
]

describe('DELETE /v1/sessions/:session_id', () => {
  test('the answers are those of an organization that never had it', async () => {
    const a = await account(database)
    const b = await account(database)
    await a.sync(some)
    await b.sync(some.slice(1))
    const paths = [
      '/v1/sessions',
      '/v1/sessions?sort=estimated_cost&project=shop&page=1',
      '/v1/sessions?sort=turns&page=2&per_page=1',
      '/v1/quality',
      '/v1/quality/trend',
      '/v1/cost',
      '/v1/cost/trend?granularity=month',
      '/v1/security/heatmap',
      '/v1/team',
      '/v1/sessions/sess_two',
    ]
    // in memory, so that the deletion must move the version
    for (const path of paths) for (let time = 0; time < 3; time += 1) await a.get(path)
    const response = await a.ask('/v1/sessions/sess_one', { method: 'DELETE' })
    expect(response.status).toBe(204)
    expect(await response.text()).toBe('')
    for (const path of paths) {
      const shown = (body: object) => JSON.stringify(body).replaceAll(/"(finding|obs)_\w+"/g, '""')
      expect([path, shown(await a.get(path))]).toEqual([path, shown(await b.get(path))])
    }
    expect((await a.ask('/v1/sessions/sess_one')).status).toBe(404)
    expect((await a.ask('/v1/sessions/sess_one', { method: 'DELETE' })).status).toBe(404)
    expect(await a.doctor()).toStartWith('agree')
    const { data } = await a.get('/v1/audit?action=session.deleted')
    expect(data).toEqual([
      expect.objectContaining({ user_id: `key_${a.keyId}`, details: { deleted: 1, ids: ['sess_one'] } }),
    ])
    // its rows are gone: only the log of what was done names it
    const tables = [...(await dump(database))].filter(([, text]) => text.includes('sess_one'))
    expect(tables.map(([name]) => name)).toEqual(
      expect.not.arrayContaining(['sessions', 'session_details', 'findings']),
    )
    expect((await dump(database)).get('file_risks')).not.toContain('unique.ts')
  })

  test('a key of a member deletes sessions of that member only', async () => {
    const a = await account(database)
    await a.sync([
      memberRecord('ada', { role: 'admin' }),
      session('byid', '2026-11-01', { user_id: 'user_ada' }),
      session('byaddress', '2026-11-01', { user_email: 'ada@example.com' }),
      session('bob', '2026-11-01', { user_email: 'bob@example.com' }),
      session('nobody', '2026-11-01'),
    ])
    const wanted = { name: 'ada', scopes: ['write'], member: 'ada@example.com' }
    const { key } = await createKey(database.sql, a.orgId, wanted)
    const remove = async (id: string) =>
      (await client(a.app, key)(`/v1/sessions/sess_${id}`, { method: 'DELETE' })).status
    expect([
      await remove('byid'),
      await remove('byaddress'),
      await remove('bob'),
      await remove('nobody'),
    ]).toEqual([204, 204, 403, 403])
  })
})

test('what was deleted and is sent again is left out, named, and stored with restore', async () => {
  const a = await account(database)
  await a.sync(some)
  await deleteByIds(database.sql, a.orgId, SYSTEM, ['sess_one', 'sess_two', 'sess_unknown'])
  const send = async (query: string, records: object[]) => {
    const response = await a.ask(`/v1/sync${query}`, jsonPost({ records }))
    return await response.json()
  }
  const grown = session('one', '2026-11-01', { turns: 99 })
  expect(await send('', [grown, ...some])).toEqual({
    received: 4,
    created: 0,
    updated: 0,
    unchanged: 4,
    skipped: [
      { id: 'sess_one', reason: 'deleted' },
      { id: 'sess_two', reason: 'deleted' },
    ],
  })
  expect((await a.get('/v1/sessions')).pagination.total).toBe(1)
  expect(await send('?restore=true', some)).toEqual({ received: 3, created: 2, updated: 0, unchanged: 1 })
  expect((await a.get('/v1/sessions')).pagination.total).toBe(3)
  // it counts as deleted no more
  expect(await send('', some)).toEqual({ received: 3, created: 0, updated: 0, unchanged: 3 })
  expect(await a.doctor()).toStartWith('agree')
})

/** Each session has about 700 kB: two fit a transaction of two megabytes. */
const large = (id: string, day: string) =>
  session(id, day, {
    turns: 70,
    turn_records: Array.from({ length: 70 }, () => ({ role: 'user', content: 'x'.repeat(10_000) })),
  })

test('large sessions are deleted few at a time, by id and by age', async () => {
  const a = await account(database)
  const ids = ['1', '2', '3', '4', '5']
  await a.sync(ids.map((id) => large(`new${id}`, '2026-11-01')))
  await a.sync(ids.map((id) => large(`old${id}`, '2025-01-01')))
  const wanted = ids.map((id) => `sess_new${id}`)
  expect(await deleteByIds(database.sql, a.orgId, SYSTEM, wanted)).toEqual(wanted)
  await updateOrganization(database.sql, a.slug, RETENTION)
  expect(await deleteExpiredSessions(database.sql, NOW)).toBe(5)
  for (const action of ['session.deleted', 'session.expired']) {
    const { data } = await a.get(`/v1/audit?action=${action}`)
    const counts = (data as { details: { deleted: number } }[]).map(({ details }) => details.deleted)
    expect([action, counts.sort()]).toEqual([action, [1, 2, 2]])
  }
  expect(await a.doctor()).toStartWith('agree')
})

describe('retention', () => {
  test('deletes whole days in batches with an entry each, and a sync does not undo it', async () => {
    const a = await account(database)
    const kept = await account(database)
    const old = Array.from({ length: 620 }, (_each, index) =>
      session(`old${index}`, `2026-10-${String(1 + (index % 20)).padStart(2, '0')}`, {
        estimated_cost: index / 100,
        quality_score: index % 100,
        files_touched: [`d${index % 3}/x.ts`],
        user_email: 'ada@example.com',
        security_metadata: { findings: [finding(`f${index % 7}.ts`)] },
      }),
    )
    const last = session('last', '2026-10-22', { quality_score: 5 })
    await a.sync([...old, last])
    await kept.sync([...old, last])
    expect(await deleteExpiredSessions(database.sql, NOW)).toBe(0)
    const { retention_sessions_days } = await updateOrganization(database.sql, a.slug, RETENTION)
    expect(retention_sessions_days).toBe(30)
    expect(await deleteExpiredSessions(database.sql, NOW)).toBe(620)
    // 30 days before the 21st of November is the 22nd of October
    expect((await a.get('/v1/sessions')).data).toEqual([
      expect.objectContaining({ id: 'sess_last' }),
    ] as never)
    expect((await a.get('/v1/security/heatmap')).data).toEqual([] as never)
    expect((await kept.get('/v1/sessions')).pagination.total).toBe(621)
    expect(await a.doctor()).toStartWith('agree')
    const { data } = await a.get('/v1/audit?action=session.expired')
    expect((data as { details: object }[]).map(({ details }) => details)).toEqual([
      { deleted: 20, before: '2026-10-22' },
      { deleted: 200, before: '2026-10-22' },
      { deleted: 200, before: '2026-10-22' },
      { deleted: 200, before: '2026-10-22' },
    ])
    expect(await a.sync([...old, last])).toMatchObject({ created: 0, unchanged: 621 })
    expect((await a.sync(old, { restore: true })).skipped).toHaveLength(620)
    expect(await deleteExpiredSessions(database.sql, NOW)).toBe(0)
    await updateOrganization(database.sql, a.slug, { retention_sessions_days: null })
    expect(await a.sync(old)).toMatchObject({ created: 620 })
  })

  test.each([
    ['30d', 30],
    ['400', 400],
    ['off', 'off'],
  ] as const)('%p is a retention', (text, days) => {
    expect(retention(text)).toBe(days)
  })

  test.each(['0', '-1', '1.5', 'x', '36501', '30h', ''])('%p is no retention', (text) => {
    expect(() => retention(text)).toThrow('1 to 36500 days')
  })
})
