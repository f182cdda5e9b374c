import { expect, test } from 'bun:test'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { armOf } from '../../../src/analysis/effects/assigned-arms.ts'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { once } from '../../../src/base/memoize.ts'
import { erasePerson } from '../../../src/server/erasure/person.ts'
import { renameProject } from '../../../src/server/sync/project-write.ts'
import { asker, client, newKey, newOrg, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { sessionRecord } from '../../support/records.ts'
import { asOrganization } from '../../support/rls.ts'

// Recorded and assigned changes: their routes, and what follows members and projects.

const database = await testsDatabase()
const pricer = once(() => loadPricer())
const TODAY = '2026-11-25'
const MEMBERS = Array.from({ length: 12 }, (_, nth) => `user_m${nth}`)
const member = (id: string) => ({
  ...{ type: 'member', id, email: `${id}@example.com`, display_name: `Person ${id}`, role: 'developer' },
  joined_at: '2026-01-01T00:00:00Z',
})

async function organization(scopes = ['read', 'write', 'admin'], today = TODAY) {
  const own = await newOrg(database.sql, { scopes })
  const app = testApp(database.sql, { pricer, now: () => new Date(`${today}T09:00:00Z`) })
  const ask = asker(app, own.key)
  const get = client(app, own.key)
  const keyOf = async (id: string) => {
    const made = { name: id, scopes: ['sessions:write'], member: `${id}@example.com` }
    return asker(app, (await createKey(database.sql, own.orgId, made)).key)
  }
  return { ...own, ask, get, keyOf }
}

async function withMembers(today?: string) {
  const own = await organization(undefined, today)
  expect((await own.ask('POST', '/v1/sync', { records: MEMBERS.map(member) })).status).toBe(200)
  return own
}

const RECORDED = { name: 'AGENTS.md', kind: 'file', week: '2026-09-09', unit: 'repository' }
const ASSIGNED = { name: 'plan first', assigned: 'days', from: TODAY, to: '2026-12-22' }

test('a change is recorded once for a key, listed, renamed, dismissed and deleted, with entries in the audit log', async () => {
  const { ask } = await withMembers()
  const once = { 'idempotency-key': 'one' }
  const made = await ask('POST', '/v1/effects', { ...RECORDED, projects: ['web'] }, once)
  const { id } = made.body
  expect([made.status, structuredClone(made.body)]).toMatchObject([
    201,
    {
      ...{ id: expect.stringMatching(/^eff_/), name: 'AGENTS.md', verdict: 'too_few', effect: null },
      change: {
        trait: 'file',
        value: 'AGENTS.md',
        source: 'recorded',
        first_week: '2026-09-07',
        unit: 'repository',
      },
    },
  ])
  expect((await ask('POST', '/v1/effects', { ...RECORDED, projects: ['web'] }, once)).body).toEqual(made.body)
  expect((await ask('GET', '/v1/effects')).body).toEqual({
    data: [made.body],
    pagination: { page: 1, per_page: 50, total: 1 },
  } as never)
  const renamed = await ask('PATCH', `/v1/effects/${id}`, { name: 'CLAUDE.md', dismissed: true })
  expect(renamed.body).toMatchObject({ name: 'CLAUDE.md', dismissed: true, change: { value: 'CLAUDE.md' } })
  expect((await ask('GET', '/v1/effects')).body.data).toEqual([])
  expect((await ask('GET', '/v1/effects?dismissed=true')).body.data).toEqual([renamed.body] as never)
  expect((await ask('GET', `/v1/effects/${id}`)).body).toEqual(renamed.body)
  expect((await ask('DELETE', `/v1/effects/${id}`)).status).toBe(204)
  expect((await ask('GET', `/v1/effects/${id}`)).status).toBe(404)
  expect((await ask('DELETE', `/v1/effects/${id}`)).status).toBe(404)
  const audit = (await ask('GET', '/v1/audit?action=effect.*')).body
  expect(audit.data.map(({ action }) => action)).toEqual([
    'effect.deleted',
    'effect.updated',
    'effect.created',
  ])
})

test('changes are filtered by kind, verdict and week, newest first, and given as CSV', async () => {
  const { ask, get } = await withMembers()
  for (const [name, kind, week] of [
    ['a', 'setting', '2026-09-07'],
    ['b', 'training', '2026-10-05'],
    ['c', 'setting', '2026-11-23'],
  ])
    expect(
      (await ask('POST', '/v1/effects', { name, kind, week, unit: 'member', members: MEMBERS })).status,
    ).toBe(201)
  const names = async (query: string) =>
    (await ask('GET', `/v1/effects${query}`)).body.data.map(({ name }) => name)
  expect(await names('')).toEqual(['c', 'b', 'a'])
  expect(await names('?kind=setting')).toEqual(['c', 'a'])
  expect(await names('?verdict=too_early')).toEqual(['c'])
  expect(await names('?date_from=2026-09-08&date_to=2026-10-31')).toEqual(['b'])
  expect(await names('?per_page=1&page=2')).toEqual(['b'])
  for (const per of ['100', 'all']) {
    const csv = await get(`/v1/effects?per_page=${per}`, { headers: { accept: 'text/csv' } })
    const text = await csv.text()
    expect(text.split('\r\n').slice(0, 2)).toEqual([
      expect.stringMatching(/^id,name,trait,value,source,first_week,unit,evidence,verdict,/),
      expect.stringMatching(/^eff_\w+,c,setting,c,recorded,2026-11-23,member,/),
    ])
    expect(text.trim().split('\r\n')).toHaveLength(4)
  }
})

test('a change is looked at when four whole weeks have passed', async () => {
  const { ask } = await withMembers()
  const body = { name: 'a', kind: 'setting', day: '2026-11-04', unit: 'member', members: MEMBERS }
  expect((await ask('POST', '/v1/effects', body)).body).toMatchObject({
    ...{ verdict: 'too_early', look_at: '2026-12-07', changed: 12, effect: null },
    change: { first_week: '2026-11-02' },
  })
})

test.each([
  ['neither week nor day', { week: undefined }, ['week']],
  ['both', { day: '2026-09-09' }, ['week']],
  ['no kind', { kind: undefined }, ['kind']],
  ['a kind that is none', { kind: 'mood' }, ['kind']],
  ['members of repositories', { members: ['user_m1'] }, ['members']],
  ['projects of members', { unit: 'member', projects: ['web'] }, ['projects']],
  ['members and a team', { unit: 'member', members: ['user_m1'], team: 'x' }, ['team']],
  ['an unknown member', { unit: 'member', members: ['user_m1', 'user_none'] }, ['members[1]']],
  ['an unknown field', { size: 1 }, ['size']],
  ['a range', { from: TODAY, to: TODAY }, ['from', 'to']],
])('%s is refused', async (_name, over, fields) => {
  const { ask } = await withMembers()
  const refused = await ask('POST', '/v1/effects', { ...RECORDED, ...over })
  expect([refused.status, refused.body.details?.map(({ field }) => field)]).toEqual([400, fields])
})

test.each([
  ['a first day in the past', { from: '2026-11-24' }, ['from']],
  ['a last day before it', { to: '2026-11-24' }, ['to']],
  ['nobody', { members: undefined }, ['members']],
  ['a kind', { kind: 'file' }, ['kind']],
])('an assignment of %s is refused', async (_name, over, fields) => {
  const { ask } = await withMembers()
  const refused = await ask('POST', '/v1/effects', { ...ASSIGNED, members: MEMBERS, ...over })
  expect([refused.status, refused.body.details?.map(({ field }) => field)]).toEqual([400, fields])
})

test('an arm is that of the caller, on the days of the assignment', async () => {
  const { ask, keyOf } = await withMembers()
  const made = await ask('POST', '/v1/effects', { ...ASSIGNED, members: MEMBERS.slice(0, 6) })
  expect(made.body).toMatchObject({
    ...{
      evidence: 'assigned',
      verdict: 'too_early',
      look_at: '2026-12-23',
      weeks: null,
      clusters: null,
      p: null,
    },
    ...{ change: { trait: 'assigned', source: 'assigned', unit: 'member' }, notes: [] },
  })
  const id = String(made.body.id)
  const own = await keyOf('user_m1')
  const arms = await Promise.all(
    ['2026-11-25', '2026-11-26', '2026-11-27', '2026-11-28'].map(
      async (day) => (await own('GET', `/v1/effects/${id}/arm?day=${day}`)).body.arm,
    ),
  )
  expect(arms).toEqual([0, 1, 2, 3].map((day) => armOf(String(id), 'user_m1', day)) as never)
  expect(Number(arms[0]) + Number(arms[1])).toBe(1)
  expect((await own('GET', `/v1/effects/${id}/arm`)).body.arm).toBe(arms[0] as never)
  const status = async (by: typeof ask, path: string) => (await by('GET', path)).status
  expect(await status(own, `/v1/effects/${id}/arm?day=2026-12-23`)).toBe(400)
  expect(await status(own, '/v1/effects/eff_none/arm')).toBe(404)
  expect(await status(await keyOf('user_m9'), `/v1/effects/${id}/arm`)).toBe(403)
  expect(await status(ask, `/v1/effects/${id}/arm`)).toBe(403)
})

test('too few who are named are too few at once', async () => {
  const { ask } = await withMembers()
  const of = { members: MEMBERS.slice(0, 4) }
  expect((await ask('POST', '/v1/effects', { ...ASSIGNED, ...of })).body.verdict).toBe('too_few' as never)
  const recorded = { name: 'a', kind: 'other', week: TODAY, unit: 'member', ...of }
  expect((await ask('POST', '/v1/effects', recorded)).body.verdict).toBe('too_few' as never)
})

test('a change may be of the first and of the last week that there is', async () => {
  const { ask } = await withMembers()
  const created_at = `${TODAY}T08:00:00Z`
  const turn_records = [{ turn_number: 1, role: 'assistant', started_at: created_at }]
  const work = { type: 'session', id: 'sess_1', project_name: 'web', created_at, turn_records }
  await ask('POST', '/v1/sync', { records: [{ ...work, user_id: MEMBERS[0] }] })
  const changes = [
    { ...RECORDED, unit: 'member', week: '9999-12-31' },
    { ...ASSIGNED, to: '9999-12-31' },
    { ...RECORDED, unit: 'member', week: '0001-01-01' },
  ]
  for (const change of changes)
    expect((await ask('POST', '/v1/effects', { ...change, members: MEMBERS })).status).toBe(201)
  const listed = await ask('GET', '/v1/effects')
  expect([listed.status, listed.body.data]).toMatchObject([
    200,
    [
      { change: { first_week: '9999-12-27' }, verdict: 'too_early', look_at: '9999-12-31' },
      { change: { source: 'assigned' }, verdict: 'too_early', look_at: '9999-12-31' },
      { change: { first_week: '0001-01-01' }, verdict: 'too_few', look_at: null },
    ],
  ])
})

test.each([
  ['from_day', { source: 'recorded', kind: 'file' }],
  ['from_day', { source: 'assigned', to_day: '2026-12-22' }],
  ['to_day', { source: 'assigned', from_day: TODAY }],
  ['to_day', { source: 'assigned', from_day: TODAY, to_day: '2026-11-24' }],
])('a record without the days that it needs is refused, naming %s: %j', async (field, days) => {
  const { ask } = await withMembers()
  const record = {
    type: 'effect',
    id: 'eff_1',
    name: 'Plan first',
    dismissed: false,
    unit: 'member',
    ...days,
  }
  const { status, body } = await ask('POST', '/v1/sync', { records: [record] })
  expect([status, body.details?.map((problem: { field: string }) => problem.field)]).toEqual([
    400,
    [`records[0].${field}`],
  ])
  expect((await ask('GET', '/v1/effects')).body).toMatchObject({ data: [] })
})

test('reading needs cost:read, writing admin; a noticed change cannot be deleted', async () => {
  const { ask } = await organization(['cost:read'])
  expect((await ask('GET', '/v1/effects')).status).toBe(200)
  expect((await ask('POST', '/v1/effects', RECORDED)).status).toBe(403)
  expect((await ask('PATCH', '/v1/effects/eff_1', {})).status).toBe(403)
  expect((await ask('DELETE', '/v1/effects/eff_1')).status).toBe(403)
  const other = await organization(['quality:read', 'write'])
  expect((await other.ask('GET', '/v1/effects')).status).toBe(403)
})

test('an assignment is measured by the sessions of its days when it is over', async () => {
  const { ask } = await withMembers()
  const made = await ask('POST', '/v1/effects', { ...ASSIGNED, members: MEMBERS.slice(0, 6) })
  const id = String(made.body.id)
  const records = MEMBERS.slice(0, 6).flatMap((user_id, of) =>
    Array.from({ length: 28 }, (_, nth) => {
      const created_at = new Date(Date.parse(`${TODAY}T10:00:00Z`) + nth * 86_400_000).toISOString()
      const cache_read =
        10_000 + 100 * ((of * 31 + nth * 17) % 50) + (armOf(id, user_id, nth) === 1 ? 20_000 : 0)
      const turn_records = [
        { role: 'user', started_at: created_at },
        {
          ...{ role: 'assistant', model: 'claude-sonnet-4-5', started_at: created_at },
          tokens: { input: 1_000, output: 500, cache_read },
        },
      ]
      const fields = { source: 'claude-code', created_at, user_id, model: 'claude-sonnet-4-5', turn_records }
      return sessionRecord(`sess_${user_id}_${nth}`, fields)
    }),
  )
  for (let from = 0; from < records.length; from += 100)
    expect((await ask('POST', '/v1/sync', { records: records.slice(from, from + 100) })).status).toBe(200)
  const later = asker(
    testApp(database.sql, { pricer, now: () => new Date('2026-12-23T09:00:00Z') }),
    await newKey(database.sql, await orgOf(id), ['cost:read']),
  )
  const { body } = await later('GET', `/v1/effects/${id}`)
  expect(body).toMatchObject({
    ...{ evidence: 'assigned', verdict: 'seen', changed: 6, others: 6, p: 0.0005, compared_share: 1 },
    ...{ clusters: null, placebo: null, weeks: null, visible_rise: null, look_at: null },
  })
  const { effect, low, high, money } = body as unknown as Record<'effect' | 'low' | 'high', number> & {
    money: { extra: number; parts: Record<string, number> }
  }
  expect(low).toBeLessThan(effect)
  expect(effect).toBeLessThan(high)
  expect(money.parts.cache_read_per_call).toBe(money.extra)
})

const orgOf = async (id: string): Promise<string> => {
  const [row] = await database.sql<{ org_id: string }[]>`
    select e.org_id
    from effects e
    where e.id = ${id}`
  return row?.org_id ?? ''
}

test('a project that is renamed, and a person who is erased, are in a change as before', async () => {
  const { ask, orgId } = await withMembers()
  const session = { type: 'session', id: 'sess_1', project_name: 'web', created_at: '2026-09-01T10:00:00Z' }
  await ask('POST', '/v1/sync', { records: [{ ...session, user_id: 'user_m1' }] })
  await ask('POST', '/v1/effects', { ...RECORDED, projects: ['web', 'docs'] })
  await ask('POST', '/v1/effects', { ...RECORDED, unit: 'member', members: MEMBERS })
  const system = { userId: 'system', ipAddress: null }
  await asOrganization(orgId, async () => {
    await renameProject(database.sql, orgId, system, { from: 'web', to: 'shop' })
    await erasePerson(database.sql, orgId, system, 'user_m1@example.com')
  })
  const rows = await asOrganization(
    orgId,
    async () =>
      await database.sql<{ projects: string[] | null; members: string[] | null }[]>`
      select e.projects, e.members
      from effects e
      where e.org_id = ${orgId}
      order by e.unit desc`,
  )
  expect(rows[0]?.projects).toEqual(['shop', 'docs'])
  expect(rows[1]?.members).toHaveLength(12)
  expect(rows[1]?.members).not.toContain('user_m1')
})
