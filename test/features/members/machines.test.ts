import { expect, test } from 'bun:test'
import { checkMachines } from '../../../src/server/doctor/checks.ts'
import { bodyOf, client, jsonInit, newKey, newOrg, type Org, testApp } from '../../support/api.ts'
import { testDatabase, testsDatabase } from '../../support/postgres.ts'
import { memberRecord, sessionRecord } from '../../support/records.ts'

const START = Date.parse('2026-11-01T10:00:00.000Z')
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let now = START
const database = await testsDatabase()
const app = testApp(database.sql, { now: () => new Date(now) })

const session = (id: string, fields: object = {}) =>
  sessionRecord(`sess_${id}`, { created_at: '2026-10-31T12:00:00Z', ...fields })
const ADA = memberRecord('ada')

const send = (key: string, machine: string | undefined, records: object[]) =>
  client(app, key)(
    '/v1/sync',
    jsonInit('POST', { records }, { ...(machine === undefined ? {} : { 'x-machine': machine }) }),
  )

const machines = async ({ key }: Org, query = '') =>
  await bodyOf(await client(app, key)(`/v1/team/machines${query}`))

test('a machine is remembered with its member, the time, and the sessions that were new', async () => {
  now = START
  const own = await newOrg(database.sql)
  expect(await machines(own)).toEqual({ data: [], pagination: { page: 1, per_page: 50, total: 0 } } as never)
  expect((await send(own.key, undefined, [ADA])).status).toBe(200)
  const key = await newKey(database.sql, own.orgId, ['write'], 'ada@example.com')
  expect((await send(key, 'mbp', [session('1'), session('2')])).status).toBe(200)
  const ada = { id: 'user_ada', email: 'ada@example.com' }
  const first = { member: ada, machine: 'mbp', last_seen_at: '2026-11-01T10:00:00.000Z', sessions: 2 }
  expect((await machines(own)).data).toEqual([first])

  // within a minute nothing is written, unless a session is new
  now = START + 59_000
  await send(key, 'mbp', [session('1')])
  expect((await machines(own)).data).toEqual([first])
  await send(key, 'mbp', [session('2', { turns: 9 }), session('3')])
  const second = { ...first, last_seen_at: '2026-11-01T10:00:59.000Z', sessions: 3 }
  expect((await machines(own)).data).toEqual([second])
  now = START + 2 * MINUTE
  await send(key, 'mbp', [session('1')])
  expect((await machines(own)).data).toEqual([{ ...second, last_seen_at: '2026-11-01T10:02:00.000Z' }])

  // the newest first, in pages
  now = START + 3 * MINUTE
  await send(key, 'tower', [session('1'), session('4')])
  expect(await machines(own, '?per_page=1')).toMatchObject({
    data: [{ machine: 'tower', sessions: 1 }],
    pagination: { page: 1, per_page: 1, total: 2 },
  })
  expect(await machines(own, '?per_page=1&page=2')).toMatchObject({ data: [{ machine: 'mbp' }] })
  expect(await machines(own, '?page=9')).toMatchObject({ data: [], pagination: { total: 2 } })
  expect((await client(app, own.key)('/api/v1/team/machines?per_page=0')).status).toBe(400)
})

test("without a member's key it is the one user of the sessions, else nobody", async () => {
  now = START
  const own = await newOrg(database.sql)
  await send(own.key, 'bobs', [session('1', { user_email: 'Bob@example.com' }), session('2')])
  await send(own.key, 'idle', [{ ...ADA, aliases: ['ada@home.example'] }])
  now += MINUTE
  await send(own.key, 'adas', [session('3', { user_id: 'user_ada' })])
  await send(own.key, 'adas', [session('4', { user_email: 'ada@example.com' })])
  await send(own.key, 'both', [
    session('7', { user_id: 'user_ada' }),
    session('8', { user_email: 'Ada@example.com' }),
    session('9', { user_email: 'ada@home.example' }),
  ])
  await send(own.key, 'build', [
    session('5', { user_email: 'ada@example.com' }),
    session('6', { user_email: 'bob@example.com' }),
  ])
  const shown = (await machines(own)).data as { member: unknown; machine: string; sessions: number }[]
  expect(shown.map(({ member, machine, sessions }) => ({ member, machine, sessions }))).toEqual([
    { member: { id: 'user_ada', email: 'ada@example.com' }, machine: 'adas', sessions: 1 },
    { member: { id: 'user_ada', email: 'ada@example.com' }, machine: 'adas', sessions: 1 },
    { member: { id: 'user_ada', email: 'ada@example.com' }, machine: 'both', sessions: 3 },
    { member: null, machine: 'build', sessions: 2 },
    { member: { id: null, email: 'bob@example.com' }, machine: 'bobs', sessions: 2 },
    { member: null, machine: 'idle', sessions: 0 },
  ])
})

test('a name that is none is a VALIDATION_ERROR, and nothing is stored', async () => {
  const own = await newOrg(database.sql)
  for (const name of ['', 'x'.repeat(256), 'one, two', 'caf\u00e9', 'a\tb']) {
    const answer = await send(own.key, name, [session('1')])
    expect([name, answer.status]).toEqual([name, 400])
    expect(await bodyOf(answer)).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ field: 'X-Machine' }],
    })
  }
  expect((await send(own.key, "Ada's MacBook Pro (2).local", [session('1')])).status).toBe(200)
  expect((await send(own.key, 'x'.repeat(255), [session('1')])).status).toBe(200)
  expect((await machines(own)).pagination.total).toBe(2)
})

test('a refused request notes no machine, and the scope is team:read', async () => {
  const own = await newOrg(database.sql)
  expect((await send(own.key, 'mbp', [session('1'), { type: 'session' }])).status).toBe(400)
  expect((await machines(own)).data).toEqual([])
  const other = await newKey(database.sql, own.orgId, ['cost:read'])
  const refused = await client(app, other)('/v1/team/machines')
  expect(refused.status).toBe(403)
  expect((await bodyOf(refused)).error).toContain('team:read')
  const narrow = await newKey(database.sql, own.orgId, ['team:read'])
  expect((await client(app, narrow)('/v1/team/machines')).status).toBe(200)
})

test('of a user with a thousand machines the one that was silent for longest makes room', async () => {
  now = START
  const own = await newOrg(database.sql)
  await database.sql`
    insert into machines (org_id, user_key, machine, first_seen_at, last_seen_at, sessions)
    select ${own.orgId}, 'ada@example.com', 'runner-' || n, ${new Date(START)}, ${new Date(START)}::timestamptz - n * interval '1 second', 0
    from generate_series(1, 1000) n`
  await send(own.key, 'new', [session('1', { user_email: 'ada@example.com' })])
  await send(own.key, 'bobs', [session('2', { user_email: 'bob@example.com' })])
  const kept = await database.sql<{ machine: string }[]>`
    select k.machine from machines k where k.org_id = ${own.orgId} and k.machine in ('new', 'bobs', 'runner-999', 'runner-1000') order by 1`
  expect(kept.map(({ machine }) => machine)).toEqual(['bobs', 'new', 'runner-999'])
})

test('doctor names machines that are silent for a week', async () => {
  const { sql, drop } = await testDatabase()
  const own = await newOrg(sql)
  const seen = async (user: string, machine: string, days: number) => {
    const at = new Date(START - days * DAY)
    await sql`insert into machines values (${own.orgId}, ${user}, ${machine}, ${at}, ${at}, 0)`
  }
  const check = () => checkMachines(sql, new Date(START))
  expect(await check()).toMatchObject({ name: 'machines', status: 'ok' })
  await seen('ada@example.com', 'mbp', 6.9)
  await seen('ada@example.com', 'old', 91)
  // it sent nothing but commits at first
  await seen('', 'mbp', 30)
  expect(await check()).toEqual({
    name: 'machines',
    status: 'ok',
    message: '1 machine has sent records in the last 7 days; 1 more for 90 days or longer',
  })
  await seen('bob@example.com', 'mbp', 12)
  await seen('', 'build', 8)
  expect(await check()).toEqual({
    name: 'machines',
    status: 'warn',
    message: `2 of 3 silent for 7 days or longer: mbp of bob@example.com (${own.slug}, 12 days), build (${own.slug}, 8 days); 1 more for 90 days or longer`,
  })
  await drop()
})
