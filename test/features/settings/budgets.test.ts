import { expect, test } from 'bun:test'
import { SYSTEM } from '../../../src/accounts/audit-log/append.ts'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { erasePerson } from '../../../src/server/erasure/person.ts'
import { renameProject } from '../../../src/server/sync/project-write.ts'
import { type Ask, asker, newKey, newOrg, type Org, PLENTY, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { memberRecord } from '../../support/records.ts'
import { asOrganization } from '../../support/rls.ts'

// Budgets of projects, members and teams beside those of the organization, and what a laptop asks for of them.

const NOW = new Date('2026-11-21T12:00:00.000Z')
const SCOPES = ['read', 'write', 'audit:write', 'webhooks', 'admin']

const db = await testsDatabase()

const app = testApp(db.sql, { now: () => NOW, config: { rateLimits: PLENTY } })

const member = (name: string, team?: string) => memberRecord(name, team ? { team } : {})
const session = (id: string, cost: number, further: object = {}) => ({
  ...{ type: 'session', id: `sess_${id}`, project_name: 'web', created_at: '2026-11-03T10:00:00Z' },
  ...{ estimated_cost: cost, ...further },
})
const send = async (ask: Ask, ...records: object[]) => {
  const sent = await ask('POST', '/v1/sync', { records })
  expect([sent.status, sent.body.error]).toEqual([200, undefined as never])
}

interface Organization {
  own: Org
  ask: Ask
  set: (month: string, limit: number, scope?: string) => Promise<{ status: number; text: string }>
  /** Data of the events of exceeded budgets. */
  told: () => Promise<[cost: number, limit: number][]>
}

async function organization(...records: object[]): Promise<Organization> {
  const own = await newOrg(db.sql, { scopes: SCOPES })
  const ask = asker(app, own.key)
  await ask('POST', '/v1/webhooks', { url: 'https://example.com/hook', events: ['cost.budget_exceeded'] })
  if (records.length > 0) await send(ask, ...records)
  return {
    own,
    ask,
    set: (month, limit, scope = '') => ask('PUT', `/v1/budgets/${month}${scope}`, { limit }),
    told: async () => {
      const rows = await db.sql<{ body: string }[]>`
        select v.body from webhook_events v where v.org_id = ${own.orgId} order by v.created_at, v.id`
      return rows.map(({ body }) => {
        const { budget_id, current_cost, limit } = JSON.parse(body).data
        expect(budget_id).toMatch(/^budget_/)
        return [current_cost, limit]
      })
    },
  }
}

const listed = async (ask: Ask, query = '') => {
  const { status, body } = await ask('GET', `/v1/budgets${query}`)
  expect(status).toBe(200)
  expect(body.pagination.total).toBe(body.data.length)
  return body.data.map(({ month, limit, scope }): unknown => [month, limit, scope])
}

test('budgets of each scope are set, listed, replaced and deleted apart from each other', async () => {
  const { own, ask, set } = await organization(member('ada', 'payments'))
  expect((await set('2026-11', 100)).text).toBe('{"month":"2026-11","limit":100}')
  expect((await set('2026-11', 10, '?project=web')).text).toBe('{"month":"2026-11","limit":10}')
  await set('2026-11', 20, '?member=ADA@example.com')
  await set('2026-11', 30, '?team=payments')
  await set('2026-12', 40, '?team=payments')
  await set('2026-11', 25, '?member=user_ada')
  const all: unknown[] = [
    ['2026-12', 40, { team: 'payments' }],
    ['2026-11', 100, {}],
    ['2026-11', 25, { member: 'user_ada' }],
    ['2026-11', 10, { project: 'web' }],
    ['2026-11', 30, { team: 'payments' }],
  ]
  expect(await listed(ask)).toEqual(all)
  expect(await listed(ask, '?team=payments')).toEqual([all[0], all[4]])
  expect(await listed(ask, '?member=ada@example.com')).toEqual([all[2]])
  expect(await listed(ask, '?project=docs')).toEqual([])
  for (const [path, field] of [
    ['/v1/budgets/2026-11?project=web&team=payments', 'team'],
    ['/v1/budgets/2026-11?member=user_ada&team=payments', 'team'],
    ['/v1/budgets/2026-11?member=user_eve', 'member'],
    ['/v1/budgets/2026-11?member=eve@example.com', 'member'],
    ['/v1/budgets/2026-11?project=', 'project'],
    [`/v1/budgets/2026-11?team=${'x'.repeat(101)}`, 'team'],
  ] as const) {
    for (const [method, body] of [['PUT', { limit: 1 }], ['DELETE']] as const) {
      const refused = await ask(method, path, body)
      expect([path, refused.status, refused.body.details.map(({ field: at }) => at)]).toEqual([
        path,
        400,
        [field],
      ])
    }
    const refused = await ask('GET', path.replace('/2026-11', ''))
    expect([path, refused.status, refused.body.code]).toEqual([path, 400, 'VALIDATION_ERROR'])
  }
  for (const [month, limit] of [
    ['2026-13', 1],
    ['2026-11', 0],
    ['2026-11', '5'],
    ['2026-11', 2e9],
  ] as const)
    expect([month, limit, (await ask('PUT', `/v1/budgets/${month}`, { limit })).status]).toEqual([
      month,
      limit,
      400,
    ])
  expect((await ask('DELETE', '/v1/budgets/2026-11?project=web')).status).toBe(204)
  expect((await ask('DELETE', '/v1/budgets/2026-11?project=web')).status).toBe(404)
  expect(await listed(ask)).toEqual(all.filter((_, index) => index !== 3))
  const entries = await db.sql<{ action: string; details: object }[]>`
    select l.action, l.details from audit_log l
    where l.org_id = ${own.orgId} and l.action like 'budget.%' order by l.created_at`
  expect(entries.at(1)).toMatchObject({ action: 'budget.created', details: { project: 'web', limit: 10 } })
  expect(entries.at(-1)).toMatchObject({
    action: 'budget.deleted',
    details: { project: 'web', month: '2026-11' },
  })
})

test('are listed for those who read costs, without those of members whose figures are not theirs', async () => {
  const { own, ask, set } = await organization(member('ada'), member('bob'))
  await set('2026-11', 1, '?project=web')
  await set('2026-11', 2, '?member=user_ada')
  await set('2026-11', 3, '?member=user_bob')
  await ask('PATCH', '/v1/organization', { member_visibility: 'own' })
  const keyOf = async (scopes: string[], email?: string) =>
    asker(
      app,
      (await createKey(db.sql, own.orgId, { name: 'k', scopes, ...(email && { member: email }) })).key,
    )
  const reader = await keyOf(['cost:read'])
  expect(await listed(reader)).toHaveLength(3)
  expect((await reader('PUT', '/v1/budgets/2026-11', { limit: 1 })).status).toBe(403)
  expect((await reader('DELETE', '/v1/budgets/2026-11?project=web')).status).toBe(403)
  const ada = await keyOf(['cost:read'], 'ada@example.com')
  expect(await listed(ada)).toEqual([
    ['2026-11', 2, { member: 'user_ada' }],
    ['2026-11', 1, { project: 'web' }],
  ])
  expect((await ada('GET', '/v1/budgets?member=user_bob')).status).toBe(403)
  expect((await (await keyOf(['sessions:read']))('GET', '/v1/budgets')).status).toBe(403)
})

test('each scope tells once a month and limit when it is exceeded, a team by the members that it has then', async () => {
  const { ask, set, told } = await organization(member('ada', 'payments'), member('bob'))
  await set('2026-10', 100)
  await set('2026-11', 2, '?project=web')
  await set('2026-11', 3, '?member=user_ada')
  await set('2026-11', 5, '?team=payments')
  await set('2026-12', 1, '?team=payments')
  await send(ask, session('a', 2.5, { user_email: 'Ada@example.com' }))
  expect(await told()).toEqual([[2.5, 2]])
  await send(
    ask,
    session('b', 1, { user_id: 'user_ada', project_name: 'docs' }),
    session('c', 4, { user_id: 'user_bob' }),
  )
  expect(await told()).toEqual([
    [2.5, 2],
    [3.5, 3],
  ])
  // a limit that is changed is told again, at once or when it is exceeded again; not one that was told already
  await set('2026-11', 4, '?project=web')
  expect((await told()).slice(2)).toEqual([[6.5, 4]])
  await set('2026-11', 7, '?project=web')
  await set('2026-11', 2, '?project=web')
  await set('2026-11', 7, '?project=web')
  expect(await told()).toHaveLength(3)
  await send(ask, session('d', 1))
  expect((await told()).slice(3)).toEqual([[7.5, 7]])
  // Bob's sessions are the team's from now on
  await ask('PATCH', '/v1/members/user_bob', { team: 'payments' })
  expect((await told()).slice(4)).toEqual([[7.5, 5]])
  await send(ask, session('e', 90, { user_id: 'user_bob' }))
  expect(await told()).toHaveLength(5)
  await send(ask, session('f', 2))
  expect((await told()).slice(5)).toEqual([[100.5, 100]])
  // a lower limit of this month, and a month of which the sessions come later
  await set('2026-11', 50, '?member=bob@example.com')
  expect((await told()).slice(6)).toEqual([[94, 50]])
  await send(ask, session('g', 1.5, { user_id: 'user_ada', created_at: '2026-12-01T00:00:00Z' }))
  expect((await told()).slice(7)).toEqual([[1.5, 1]])
})

test('records carry the scope', async () => {
  const { ask } = await organization()
  await send(
    ask,
    { type: 'budget', month: '2026-11', limit: 7, member: 'Ada@example.com' },
    { type: 'budget', month: '2026-11', limit: 8, team: 'payments', project: null },
    { type: 'budget', month: '2026-10', limit: 9 },
    { type: 'budget', month: '2026-11', limit: 1, project: 'web' },
    { type: 'budget', month: '2026-11', limit: 6, project: 'web' },
    member('ada', 'payments'),
  )
  expect(await listed(ask)).toEqual([
    ['2026-11', 7, { member: 'user_ada' }],
    ['2026-11', 6, { project: 'web' }],
    ['2026-11', 8, { team: 'payments' }],
    ['2026-10', 9, {}],
  ])
  for (const [record, field] of [
    [{ member: 'eve@example.com' }, 'records[0].member'],
    [{ member: 'user_ada', team: 'payments' }, 'records[0].team'],
    [{ project: '' }, 'records[0].project'],
  ] as const) {
    const refused = await ask('POST', '/v1/sync', {
      records: [{ type: 'budget', month: '2026-11', limit: 7, ...record }],
    })
    expect([refused.status, refused.body.details.map(({ field: at }) => at)]).toEqual([400, [field]])
  }
})

test('the cost of a project is compared with its own budget, where it has one', async () => {
  const { ask, set } = await organization(session('a', 3), session('b', 7, { project_name: 'docs' }))
  const budget = async (query: string) => {
    const { body } = await ask('GET', `/v1/cost${query}`)
    return body.current_budget as Record<string, unknown> | null
  }
  expect(await budget('?project=web')).toBeNull()
  await set('2026-11', 2, '?project=web')
  expect(await budget('')).toBeNull()
  expect(await budget('?project=docs')).toBeNull()
  await set('2026-01', 100)
  const organizations = await budget('')
  expect(organizations).toMatchObject({ scope: 'organization', current_cost: 10, limit: 100 })
  expect(await budget('?project=docs')).toEqual(organizations)
  expect(await budget('?project=')).toEqual(organizations)
  const own = await budget('?project=web')
  expect(own).toMatchObject({
    ...{ scope: 'project', limit: 2, current_cost: 3, remaining: 0, percent_used: 150, status: 'exceeded' },
    projected_exceed_date: '2026-11-03',
  })
  expect(own?.id).not.toBe(organizations?.id)
})

test('a laptop asks for the budgets of the organization, the member, their team and the project', async () => {
  const { own, ask, set } = await organization(member('ada', 'payments'), member('bob', 'payments'))
  await send(ask, session('a', 8, { user_id: 'user_ada' }), session('b', 4, { user_id: 'user_bob' }))
  const keyOf = async (scopes: string[], email?: string) =>
    asker(
      app,
      (await createKey(db.sql, own.orgId, { name: 'k', scopes, ...(email && { member: email }) })).key,
    )
  const ada = await keyOf(['sessions:write'], 'ada@example.com')
  const mine = async (by: Ask, query = '') => (await by('GET', `/v1/budgets/mine${query}`)).body as unknown
  expect(await mine(ada, '?project=web')).toEqual({ action: 'warn', budgets: [] })
  await set('2026-01', 100)
  await set('2026-11', 10, '?member=ada@example.com')
  await set('2026-11', 11, '?team=payments')
  await set('2026-11', 100, '?project=web')
  await set('2026-12', 1, '?project=web')
  await ask('PATCH', '/v1/organization', { budget_action: 'block' })
  const figures = (limit: number, current_cost: number, percent_used: number, status: string) => ({
    ...{ limit, current_cost, percent_used, status },
  })
  const ofOrganization = { scope: {}, ...figures(100, 12, 12, 'ok') }
  const ofProject = { scope: { project: 'web' }, ...figures(100, 12, 12, 'ok') }
  const ofTeam = { scope: { team: 'payments' }, ...figures(11, 12, 109.09, 'exceeded') }
  expect(await mine(ada, '?project=web')).toEqual({
    action: 'block',
    budgets: [
      ofOrganization,
      { scope: { member: 'user_ada' }, ...figures(10, 8, 80, 'warning') },
      ofTeam,
      ofProject,
    ],
  })
  expect(await mine(await keyOf(['cost:read'], 'bob@example.com'))).toEqual({
    action: 'block',
    budgets: [ofOrganization, ofTeam],
  })
  expect(await mine(await keyOf(['read']), '?project=web')).toEqual({
    action: 'block',
    budgets: [ofOrganization, ofProject],
  })
  expect(await mine(await keyOf(['write']), '?project=')).toEqual({
    action: 'block',
    budgets: [ofOrganization],
  })
  const other = await keyOf(['team:read', 'admin'])
  expect((await other('GET', '/v1/budgets/mine')).status).toBe(403)
  expect((await ask('PATCH', '/v1/organization', { budget_action: 'refuse' })).status).toBe(400)
})

test('budgets follow a project that is renamed, and go with a member', async () => {
  const { own, ask, set } = await organization(member('ada'), member('bob'), session('a', 3))
  await set('2026-10', 1, '?project=web')
  await set('2026-11', 2, '?project=web')
  await set('2026-11', 5, '?project=shop')
  await set('2026-11', 7, '?member=user_ada')
  await set('2026-11', 8, '?member=user_bob')
  await asOrganization(own.orgId, () => renameProject(db.sql, own.orgId, SYSTEM, { from: 'web', to: 'shop' }))
  expect(await listed(ask, '?project=shop')).toEqual([
    ['2026-11', 5, { project: 'shop' }],
    ['2026-10', 1, { project: 'shop' }],
  ])
  expect(await listed(ask, '?project=web')).toEqual([])
  await ask('DELETE', '/v1/members/user_ada')
  await asOrganization(own.orgId, () => erasePerson(db.sql, own.orgId, SYSTEM, 'bob@example.com'))
  expect(JSON.stringify(await listed(ask))).not.toContain('member')
})

test('the list has what is spent and foreseen of each limit in force, as far as the caller may see it', async () => {
  const { own, ask, set } = await organization(
    ...[member('ada', 'payments'), member('bob')],
    ...[
      session('early', 40, { user_id: 'user_ada' }),
      session('today', 5, { user_id: 'user_ada', created_at: '2026-11-21T09:00:00Z' }),
    ],
  )
  for (const [month, limit, scope] of [
    ...([
      ['2026-09', 10, ''],
      ['2026-10', 100, ''],
      ['2026-12', 1, ''],
    ] as const),
    ...([
      ['2026-11', 45, '?member=user_ada'],
      ['2026-11', 50, '?team=payments'],
      ['2026-11', 9, '?project=docs'],
    ] as const),
  ])
    expect((await set(month, limit, scope)).status).toBe(200)
  const list = async (key: string, month = '') => {
    const { body } = await asker(app, key)('GET', `/v1/budgets?include=used${month}`)
    return (body.data as unknown as { month: string; scope: object; used: object | null }[]).map(
      ({ month, scope, used }) => [month, ...Object.values(scope), used],
    )
  }
  // 40 in 20 whole days: 5 today, and 2 on each of 9 days
  const used = { current_cost: 45, projected_cost: 63 }
  const none = {
    current_cost: 0,
    percent_used: 0,
    status: 'ok',
    projected_cost: 0,
    projected_exceed_date: null,
  }
  expect(await list(own.key)).toEqual([
    ['2026-12', null],
    [
      '2026-11',
      'user_ada',
      { ...used, percent_used: 100, status: 'warning', projected_exceed_date: '2026-11-22' },
    ],
    ['2026-11', 'docs', none],
    [
      '2026-11',
      'payments',
      { ...used, percent_used: 90, status: 'warning', projected_exceed_date: '2026-11-24' },
    ],
    ['2026-10', { ...used, percent_used: 45, status: 'ok', projected_exceed_date: null }],
    ['2026-09', null],
  ])
  // a month that is over, in which another limit held; one that has not begun
  expect((await list(own.key, '&month=2026-09')).map((row) => row.at(-1))).toEqual([
    ...Array.from({ length: 5 }, () => null),
    none,
  ])
  expect((await list(own.key, '&month=2026-12')).every((row) => row.at(-1) === null)).toBe(true)
  for (const month of ['2026-13', '2026-11-01', '0000-01'])
    expect((await ask('GET', `/v1/budgets?include=used&month=${month}`)).status).toBe(400)
  const { body } = await ask('GET', '/v1/budgets')
  expect((body.data as unknown as object[])[0]).not.toHaveProperty('used')
  await ask('PATCH', '/v1/organization', { member_visibility: 'own' })
  const key = await newKey(db.sql, own.orgId, ['read'], 'ada@example.com')
  expect((await list(key)).find(([, name]) => name === 'payments')?.[2]).toBeNull()
})
