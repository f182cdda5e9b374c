import { expect, test } from 'bun:test'
import { findWaitingTickets } from '../../../src/features/usage/ticket-steps.ts'
import { ticketFinder } from '../../../src/features/usage/tickets.ts'
import { checkRollups, checkTicketPatterns } from '../../../src/server/doctor/checks.ts'
import { client, got, jsonInit, newOrg, testApp } from '../../support/api.ts'
import { silent, testsDatabase } from '../../support/postgres.ts'
import type { Item } from './by-hand.ts'

// Tickets have a cost: they are found in branches, and in branches and titles of pull requests.

const session = (name: string, more: object) => ({
  ...{ type: 'session', id: `sess_${name}`, project_name: 'checkout', created_at: '2026-06-01T00:00:00Z' },
  ...{ turns: 3, tokens: { input: 10, output: 0, cache_read: 0, cache_creation: 0 }, estimated_cost: 1 },
  ...more,
})
const SESSIONS = [
  session('none', { branch: 'main', estimated_cost: 0.5 }),
  session('one', { branch: 'feature/SHOP-1-refunds' }),
  session('three', { branch: 'SHOP-1_SHOP-2_ABC-77', estimated_cost: 0.000_005 }),
  session('linked', { branch: 'SHOP-2', pull_requests: [{ repo: 'acme/checkout', number: 1 }] }),
  session('models', {
    ...{ branch: 'SHOP-3', model: 'a', estimated_cost: 2 },
    turn_records: [
      { model: 'a', cost: 1.5 },
      { model: 'b', cost: 0.5 },
    ],
  }),
  session('ignored', { branch: 'RFC-2119 CVE-2026-1', estimated_cost: 0.25 }),
]
const pullRequest = (pr_number: number, pr_title: string, branch: string) => ({
  ...{ type: 'pr_risk', repo: 'acme/checkout', pr_number, pr_title, branch, files_changed: 1 },
  ...{ created_at: '2026-06-02T00:00:00Z', impact_score: 1, regression_score: 1, security_score: 1 },
  coupling_score: 1,
})

const database = await testsDatabase()
const app = testApp(database.sql)
const owner = await newOrg(database.sql, { scopes: ['read', 'write', 'admin'] })
await send('POST', '/v1/sync', {
  records: [...SESSIONS, pullRequest(1, 'Fix CORE-9 and UTF-8', 'CORE-9-utf')],
})

async function send(method: string, path: string, body: unknown) {
  const response = await client(app, owner.key)(path, jsonInit(method, body))
  const text = await response.text()
  expect([path, response.status, response.status === 200 ? '' : text]).toEqual([path, 200, ''])
}
const get = <Body>(path: string) => got<Body>(client(app, owner.key)(path))
async function countWaiting(): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`
    select count(*)::integer as count
    from ticket_waiting w
    where w.org_id = ${owner.orgId}`
  return row?.count ?? 0
}
/** Does what the worker does every second. */
async function findWaiting() {
  while ((await countWaiting()) > 0) await findWaitingTickets(database.sql, silent)
}
const breakdown = (query = '') =>
  get<{ data: Item[]; total: Item }>(`/v1/cost/breakdown?by=ticket&sort=key&order=asc${query}`)
const shown = ({ key, and_key, cost, sessions }: Item) => [
  key,
  ...(and_key === undefined ? [] : [and_key]),
  cost,
  sessions,
]

test('a session is divided among its tickets in equal parts, and the sums are those of the sessions', async () => {
  const { data, total } = await breakdown()
  expect(data.map(shown)).toEqual([
    // 0.000005 in three: 1, 1 and the rest of 3 micro-dollars
    ['ABC-77', 0.000_001, 1],
    ['CORE-9', 0.5, 1],
    ['SHOP-1', 1.000_001, 2],
    ['SHOP-2', 0.500_003, 2],
    ['SHOP-3', 2, 1],
    [null, 0.75, 2],
  ])
  expect(data.map(({ tokens }) => tokens.input)).toEqual([3, 5, 13, 9, 10, 20])
  const all = await get<{ total: Item }>('/v1/cost/breakdown?by=project')
  expect(total).toEqual(all.total)
  expect((await breakdown('&and_by=model')).data.map(shown)).toContainEqual(['SHOP-3', 'b', 0.5, 1])
  expect((await breakdown('&and_by=month&top=1')).data.length).toBe(6)
  const bySession = await get<{ data: Item[] }>('/v1/cost/breakdown?by=project&and_by=ticket&top=1')
  expect(bySession.data.map(shown)).toEqual([
    ['checkout', '(others)', 2.750_005, 8],
    ['checkout', 'SHOP-3', 2, 1],
  ])
})

test('tokens are written as whole numbers', async () => {
  const response = await client(app, owner.key)('/v1/cost/breakdown?by=ticket')
  expect((await response.text()).replaceAll(/"cost_by_kind":{.*?}/g, '')).not.toMatch(
    /"(?:input|output|cache_read|cache_creation|unpriced_tokens)":\d+\./,
  )
})

test('sessions are filtered by ticket', async () => {
  const idsOf = async (ticket: string) =>
    (await get<{ data: { id: string }[] }>(`/v1/sessions?ticket=${ticket}`)).data.map(({ id }) => id).sort()
  expect(await idsOf('SHOP-2')).toEqual(['sess_linked', 'sess_three'])
  expect(await idsOf('CORE-9')).toEqual(['sess_linked'])
  expect(await idsOf('UTF-8')).toEqual([])
  const { total } = await get<{ total: Item }>('/v1/cost/breakdown?by=agent&ticket=SHOP-3')
  expect([total.cost, total.sessions]).toEqual([2, 1])
})

test('follow the pull requests and the pattern', async () => {
  const keys = async () => (await breakdown()).data.map(({ key }) => key)
  await send('POST', '/v1/sync', { records: [pullRequest(1, 'Something else', 'CORE-10')] })
  expect(await keys()).toEqual(['ABC-77', 'CORE-10', 'SHOP-1', 'SHOP-2', 'SHOP-3', null])
  const before = await keys()
  await send('PATCH', '/v1/organization', { ticket_pattern: 'SHOP-[0-9]{1,4}', ticket_ignore: ['SHOP-3'] })
  // each has its former tickets until it is searched, which is no difference
  expect(await keys()).toEqual(before)
  expect((await checkRollups(database.sql, false)).status).toBe('ok')
  await findWaiting()
  expect(await keys()).toEqual(['SHOP-1', 'SHOP-2', null])
  await send('PATCH', '/v1/organization', { ticket_pattern: null, ticket_ignore: null })
  await findWaiting()
  expect(await keys()).toEqual(['ABC-77', 'CORE-10', 'SHOP-1', 'SHOP-2', 'SHOP-3', null])
  await client(app, owner.key)('/v1/sessions/sess_linked', { method: 'DELETE' })
  expect(await keys()).toEqual(['ABC-77', 'SHOP-1', 'SHOP-2', 'SHOP-3', null])
})

test('are found in linear time by any pattern of RE2 that matches something', async () => {
  const keys = async () => (await breakdown()).data.map(({ key }) => key)
  const set = async (ticket_pattern: string | null) => {
    const response = await client(app, owner.key)('/v1/organization', jsonInit('PATCH', { ticket_pattern }))
    const { details } = (await response.json()) as { details?: { field: string }[] }
    return [response.status, details?.[0]?.field]
  }
  const long = `${'a'.repeat(400)} ${'ab1-'.repeat(24)}`
  await send('POST', '/v1/sync', { records: [session('long', { branch: long })] })
  for (const [pattern, found] of [
    ['(?i)shop-[0-9]+', ['SHOP-1', 'SHOP-2', 'SHOP-3', null]],
    // the underscores of another branch are letters of words
    ['\\bSHOP-\\d\\b', ['SHOP-1', 'SHOP-3', null]],
    ['(?:ABC|SHOP)-(?:1|77)', ['ABC-77', 'SHOP-1', null]],
    // each of these took JavaScript's expressions longer than anybody waits
    [`${'(?:a|aa)'.repeat(22)}Z`, [null]],
    [`${'[a-z]{0,10}'.repeat(9)}Z`, [null]],
    ['(?:[a-b]+)+Z', [null]],
  ] as const) {
    expect([pattern, await set(pattern)]).toEqual([pattern, [200, undefined]])
    await findWaiting()
    expect([pattern, await keys()]).toEqual([pattern, [...found]])
  }
  for (const wrong of [
    '(?=A)A',
    '(A)\\1',
    'A*',
    `${'[a-z]{0,50}'.repeat(9)}Z`,
    'A{200}',
    'A{1001}',
    '(?:A{100}){100}',
    'A{900}B{900}',
    '(A',
    '',
  ]) {
    expect([wrong, await set(wrong)]).toEqual([wrong, [400, 'ticket_pattern']])
  }
  expect(await set(null)).toEqual([200, undefined])
  // a deleted session waits for nothing
  await client(app, owner.key)('/v1/sessions/sess_long', { method: 'DELETE' })
  expect(await countWaiting()).toBe(5)
  await findWaiting()
})

test('a stored pattern that is larger stays, the default is applied, and doctor names it', async () => {
  const { sql } = database
  const keys = async () => (await breakdown()).data.map(({ key }) => key)
  const before = await keys()
  expect(await checkTicketPatterns(sql)).toBeUndefined()
  await sql`
    update organizations
    set ticket_pattern = 'A{300}'
    where org_id = ${owner.orgId}`
  await send('PATCH', '/v1/organization', { ticket_ignore: null })
  await findWaiting()
  expect(await keys()).toEqual(before)
  expect((await get<{ ticket_pattern: string }>('/v1/organization')).ticket_pattern).toBe('A{300}')
  expect(await checkTicketPatterns(sql)).toMatchObject({
    status: 'warn',
    message: expect.stringContaining(owner.slug),
  })
  await send('PATCH', '/v1/organization', { ticket_pattern: null })
  await findWaiting()
})

test('an ignored ticket is named whole, or by its beginning', () => {
  const found = (ignored: string[] | null, text: string) => {
    const { matchesIn, ticketsOf } = ticketFinder(null, ignored)
    return ticketsOf(matchesIn(text))
  }
  const text = 'SHA-1 SHA-15 SHA-256 RFC-7231 RFCX-1 CVE-2024 SHOP-1 UTF-8 UTF-80'
  expect(found(null, text)).toEqual(['RFCX-1', 'SHA-15', 'SHOP-1', 'UTF-80'])
  expect(found([], 'RFC-1 UTF-8')).toEqual(['RFC-1', 'UTF-8'])
  expect(found(['SHOP-1', 'OPS-*'], 'SHOP-1 SHOP-12 OPS-1 DEVOPS-1 SHA-1')).toEqual([
    'DEVOPS-1',
    'SHA-1',
    'SHOP-12',
  ])
})

test('of a pattern that an earlier version took and RE2 does not are those of the default', () => {
  expect(ticketFinder('[a-\\d]-1', null).matchesIn('SHOP-7 x')).toEqual(['SHOP-7'])
})

test('doctor finds tickets that are missing, wrong or of no session, and writes them again', async () => {
  const { sql } = database
  const org = sql`t.org_id = ${owner.orgId}`
  const found = () => checkRollups(sql, false)
  expect((await found()).message).toStartWith('agree')
  const repaired = await breakdown()
  for (const [damage, named] of [
    [sql`delete from session_tickets t where ${org} and t.session_id = 'sess_one'`, 'sess_one'],
    [
      sql`update session_tickets t set parts = 2 where ${org} and t.session_id = 'sess_models'`,
      'sess_models',
    ],
    [sql`update session_tickets t set ticket = 'X-1' where ${org} and t.ticket = 'ABC-77'`, 'sess_three'],
    [sql`insert into session_tickets values (${owner.orgId}, 'sess_gone', 'X-1', 1, 1)`, 'sess_gone'],
  ] as const) {
    await damage
    const { status, message } = await found()
    expect([status, message]).toEqual(['fail', expect.stringContaining(`(tickets of ${named})`)])
    expect((await checkRollups(sql, true)).status).toBe('ok')
    expect(await breakdown()).toEqual(repaired)
  }
})

/** A pattern of 195 instructions; a search of 200 characters takes some 40 ms. */
const SLOW = '(?i)(?:[a-zé]?){95}ß|SHOP-[0-9]{1}'

test('a request searches for a short time, and what it leaves has the same tickets in the end', async () => {
  const records = Array.from({ length: 400 }, (_, index) =>
    session(`slow_${index}`, { branch: `${index}-${'a'.repeat(180)}-SHOP-${index % 7}-${'b'.repeat(20)}` }),
  )
  await send('PATCH', '/v1/organization', { ticket_pattern: SLOW })
  await send('POST', '/v1/sync', { records })
  const waiting = await countWaiting()
  expect(waiting).toBeGreaterThan(0)
  expect((await checkRollups(database.sql, false)).status).toBe('ok')
  // a second change before the first is done, two instances, and a sync meanwhile
  await send('PATCH', '/v1/organization', { ticket_pattern: 'SHOP-[0-9]|b+' })
  const changed = session('slow_0', { branch: 'SHOP-9' })
  await Promise.all([findWaiting(), findWaiting(), send('POST', '/v1/sync', { records: [changed] })])
  const { data } = await breakdown()
  // the first 200 characters count
  expect(data.map(({ key }) => key)).toContainEqual('bbbbbbbbb')
  const other = await newOrg(database.sql, { scopes: ['read', 'write', 'admin'] })
  const ask = client(app, other.key)
  const post = (method: string, path: string, body: object) => ask(path, jsonInit(method, body))
  expect((await post('PATCH', '/v1/organization', { ticket_pattern: 'SHOP-[0-9]|b+' })).status).toBe(200)
  const all = [...SESSIONS.filter(({ id }) => id !== 'sess_linked'), changed, ...records.slice(1)]
  expect((await post('POST', '/v1/sync', { records: all })).status).toBe(200)
  const same = await ask('/v1/cost/breakdown?by=ticket&sort=key&order=asc')
  expect(((await same.json()) as { data: Item[] }).data).toEqual(data)
  expect((await checkRollups(database.sql, false)).status).toBe('ok')
})
