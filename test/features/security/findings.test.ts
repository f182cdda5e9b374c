import { beforeAll, expect, test } from 'bun:test'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { updateOrganization } from '../../../src/features/organization/queries.ts'
import { FINDING_TABLES } from '../../../src/features/security/check.ts'
import { USAGE_TABLES } from '../../../src/features/usage/check.ts'
import type { App } from '../../../src/server/app.ts'
import { client, jsonPost, newKey, newOrg, type Org, testApp } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { memberRecord, sessionRecord } from '../../support/records.ts'

// GET /v1/findings and PATCH /v1/findings/:finding_id.

const database = await testsDatabase()
/** Keys are looked up again after a second of this clock. */
let keyMs = 0
let app: App
let mine: Org
let ask: ReturnType<typeof client>

interface Listed {
  id: string
  status: string
  note?: string
  session_id: string
  member: { id: string | null; email: string | null } | null
}

beforeAll(async () => {
  app = testApp(database.sql, { keyClock: () => keyMs })
  mine = await newOrg(database.sql, { scopes: ['read', 'write', 'admin', 'audit:read'] })
  ask = client(app, mine.key)
  await post([memberRecord('ada'), ...SESSIONS])
})

const finding = (id: string, fields: object = {}) => ({
  id: `finding_${id}`,
  rule_id: 'aws-access-key',
  category: 'secret',
  severity: 'critical',
  title: 'AWS access key',
  file: 'src/deploy.ts',
  line: 3,
  turn_number: 2,
  fingerprint: `print-${id}`,
  ...fields,
})
const session = (id: string, created_at: string, findings: object[], fields: object = {}) =>
  sessionRecord(`sess_${id}`, {
    project_name: 'checkout',
    created_at,
    security_metadata: { findings },
    ...fields,
  })
const other = { rule_id: 'rm-root', category: 'command', severity: 'high', file: null }
const SESSIONS = [
  session('one', '2026-03-01T10:00:00Z', [finding('a'), finding('b', other)], {
    user_email: 'Ada@example.com',
  }),
  session('two', '2026-03-02T10:00:00Z', [finding('c', { file: 'src/b.ts', severity: 'low' })], {
    project_name: 'shop',
    user_id: 'user_ada',
  }),
  session('three', '2026-03-02T10:00:00Z', [finding('d', { fingerprint: 'print-a' })], {
    user_email: 'guest@example.com',
  }),
]

const send = (method: string, path: string, body: unknown) =>
  ask(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
async function post(records: object[]) {
  const response = await send('POST', '/v1/sync', { records })
  expect([await response.clone().text(), response.status]).toEqual([expect.any(String), 200])
}
async function get<Body>(path: string, as = ask): Promise<Body> {
  const response = await as(path)
  expect([path, response.status]).toEqual([path, 200])
  return (await response.json()) as Body
}
const list = (query = '', as = ask) =>
  get<{ data: Listed[]; pagination: { total: number } }>(`/v1/findings${query}`, as)
const idsOf = async (query = '') => (await list(query)).data.map(({ id }) => id.slice('finding_'.length))
async function refuseDifferences() {
  expect(await findDifferences(database.sql, mine.orgId, [...FINDING_TABLES, ...USAGE_TABLES])).toEqual([])
}

test('lists each finding with its session and member, the newest first', async () => {
  const { data, pagination } = await list()
  expect(pagination).toMatchObject({ total: 4 })
  expect(data[0]).toEqual({
    ...finding('c', { file: 'src/b.ts', severity: 'low' }),
    description: null,
    status: 'open',
    assignee: null,
    created_at: '2026-03-02T10:00:00.000Z',
    session_id: 'sess_two',
    project: 'shop',
    member: { id: 'user_ada', email: 'ada@example.com' },
  } as never)
  expect(data.map(({ id, member }) => [id, member?.email])).toEqual([
    ['finding_c', 'ada@example.com'],
    ['finding_d', 'guest@example.com'],
    ['finding_a', 'ada@example.com'],
    ['finding_b', 'ada@example.com'],
  ])
  expect(await idsOf('?per_page=2&page=2')).toEqual(['a', 'b'])
  const csv = await ask('/v1/findings', { headers: { accept: 'text/csv' } })
  const [names, first] = (await csv.text()).split('\r\n')
  expect(names).toBe(
    'id,rule_id,category,severity,title,description,file,line,turn_number,fingerprint,status,assignee,created_at,session_id,project,member,note',
  )
  expect(first).toEndWith(
    ',open,,2026-03-02T10:00:00.000Z,sess_two,shop,"{""id"":""user_ada"",""email"":""ada@example.com""}",',
  )
})

test('filters', async () => {
  const found: Record<string, string[]> = {}
  for (const query of [
    ...['severity=high', 'rule_id=aws-access-key', 'category=command', 'project=shop', 'file=src/deploy.ts'],
    ...['member=user_ada', 'member=ADA@example.com', 'status=open', 'status=dismissed'],
    ...['date_from=2026-03-02', 'date_to=2026-03-01', 'severity=critical&date_to=2026-03-01'],
  ]) {
    found[query] = await idsOf(`?${query}`)
  }
  expect(found).toEqual({
    'severity=high': ['b'],
    'rule_id=aws-access-key': ['c', 'd', 'a'],
    'category=command': ['b'],
    'project=shop': ['c'],
    'file=src/deploy.ts': ['d', 'a'],
    'member=user_ada': ['c', 'a', 'b'],
    'member=ADA@example.com': ['c', 'a', 'b'],
    'status=open': ['c', 'd', 'a', 'b'],
    'status=dismissed': [],
    'date_from=2026-03-02': ['c', 'd'],
    'date_to=2026-03-01': ['a', 'b'],
    'severity=critical&date_to=2026-03-01': ['a'],
  })
  for (const query of ['severity=grave', 'status=closed', 'date_from=yesterday']) {
    expect([query, (await ask(`/v1/findings?${query}`)).status]).toEqual([query, 400])
  }
})

test('counts all that match by severity, and says what has most', async () => {
  const { counts } = await get<{ counts: unknown }>('/v1/findings?include=counts&per_page=1')
  const ada = (findings: number) => ({ key: { id: 'user_ada', email: 'ada@example.com' }, findings })
  expect(counts).toEqual({
    severity: { critical: 2, high: 1, medium: 0, low: 1 },
    category: [
      {
        ...{ key: 'secret', findings: 3 },
        project: [
          { key: 'checkout', findings: 2 },
          { key: 'shop', findings: 1 },
        ],
        member: [ada(2), { key: { id: null, email: 'guest@example.com' }, findings: 1 }],
      },
      {
        ...{ key: 'command', findings: 1 },
        ...{ project: [{ key: 'checkout', findings: 1 }], member: [ada(1)] },
      },
    ],
    project: [
      { key: 'checkout', findings: 3 },
      { key: 'shop', findings: 1 },
    ],
    member: [ada(3), { key: { id: null, email: 'guest@example.com' }, findings: 1 }],
  })
  const none = await get<{ counts: object }>('/v1/findings?include=counts&project=none')
  expect(none.counts).toEqual({
    ...{ severity: { critical: 0, high: 0, medium: 0, low: 0 }, category: [], project: [], member: [] },
  })
  expect(await get('/v1/findings')).not.toHaveProperty('counts')
  const compared = await get<object>('/v1/security?date_from=2026-03-02&date_to=2026-03-02&compare=previous')
  expect(compared).toMatchObject({
    ...{ summary: { total_sessions: 2 }, found: { critical: 1, total: 2 } },
    previous: { avg_score: 60, total_sessions: 1, found: { critical: 1, total: 2 } },
  })
  expect((await ask('/v1/security?compare=previous')).status).toBe(400)
})

test('a dismissed one counts no more, also when its session is sent again, and can be opened again', async () => {
  const files = async () =>
    (await get<{ data: { file: string; sessions: number }[] }>('/v1/security/heatmap')).data.map(
      ({ file, sessions }) => [file, sessions],
    )
  const withFindings = async () =>
    (await get<{ data: { id: string }[] }>('/v1/sessions?has_findings=true')).data.map(({ id }) => id)
  const scoreOf = async () =>
    (await get<{ security_metadata: { score: number } }>('/v1/sessions/sess_two')).security_metadata.score
  expect(await files()).toEqual([
    ['src/deploy.ts', 2],
    ['src/b.ts', 1],
  ])
  const score = await scoreOf()
  const dismissed = await send('PATCH', '/v1/findings/finding_c', {
    status: 'dismissed',
    note: 'a "fixture"',
  })
  expect(dismissed.status).toBe(200)
  expect(await dismissed.json()).toMatchObject({ id: 'finding_c', status: 'dismissed', note: 'a "fixture"' })
  expect(await idsOf('?status=dismissed')).toEqual(['c'])
  expect(await files()).toEqual([['src/deploy.ts', 2]])
  expect(await withFindings()).toEqual(['sess_three', 'sess_one'])
  expect(await scoreOf()).toBe(score)
  await refuseDifferences()

  // the same again, and changed with the finding at another turn under an id that we derive
  await post([SESSIONS[1] as object])
  expect(await files()).toEqual([['src/deploy.ts', 2]])
  const { id: _id, ...moved } = finding('c', { file: 'src/b.ts', severity: 'low', turn_number: 9 })
  const [, two] = SESSIONS
  await post([
    { ...two, turns: 9, security_metadata: { findings: [moved, finding('e', { file: 'src/b.ts' })] } },
  ])
  expect(await files()).toEqual([
    ['src/b.ts', 1],
    ['src/deploy.ts', 2],
  ])
  const [again] = (await list('?status=dismissed')).data
  expect(again).toMatchObject({ session_id: 'sess_two', note: 'a "fixture"' })
  await refuseDifferences()

  const opened = await send('PATCH', `/v1/findings/${again?.id}`, { status: 'open' })
  expect(await opened.json()).not.toHaveProperty('note')
  expect(await idsOf('?status=dismissed')).toEqual([])
  await refuseDifferences()
  const log = await get<{ data: { action: string; user_id: string; details: object }[] }>(
    '/v1/audit?action=finding.*',
  )
  expect(log.data).toMatchObject([
    { action: 'finding.reopened', user_id: `key_${mine.keyId}`, details: { ids: [again?.id] } },
    { action: 'finding.dismissed', details: { ids: ['finding_c'], note: 'a "fixture"' } },
  ])
  // nothing changes, and nothing is written of it
  expect((await send('PATCH', '/v1/findings/finding_a', { status: 'open' })).status).toBe(200)
  expect((await get<{ data: object[] }>('/v1/audit?action=finding.*')).data).toHaveLength(2)
})

test('has states and an assignee, who may say that it is fixed; a later session opens a fixed one again', async () => {
  const own = await newOrg(database.sql, { scopes: ['read', 'write', 'admin', 'audit:read'] })
  const by = (key: string) => client(app, key)
  const change = async (key: string, id: string, body: object) => {
    const response = await by(key)(`/v1/findings/finding_${id}`, { ...jsonPost(body), method: 'PATCH' })
    return [response.status, ((await response.json()) as { status?: string }).status]
  }
  const sync = async (...records: object[]) =>
    expect((await by(own.key)('/v1/sync', jsonPost({ records }))).status).toBe(200)
  const ids = async (query: string) =>
    (await get<{ data: Listed[] }>(`/v1/findings${query}`, by(own.key))).data.map(({ id }) => id.slice(8))
  const file = { file: 'src/x.ts' }
  await sync(
    memberRecord('lin'),
    session('x1', '2026-03-01T10:00:00Z', [finding('x1', { ...file, fingerprint: 'x' })]),
    session('x2', '2026-03-03T10:00:00Z', [finding('x2', { severity: 'low' })]),
  )
  expect(await ids('?sort=severity')).toEqual(['x1', 'x2'])
  const laptop = { name: 'laptop', scopes: ['security:read' as const], member: 'lin@example.com' }
  const { key } = await createKey(database.sql, own.orgId, laptop)
  expect(await change(key, 'x1', { status: 'fixed' })).toEqual([403, undefined])
  expect(await change(own.key, 'x1', { assignee: 'LIN@example.com', note: 'rotate it' })).toEqual([
    200,
    'open',
  ])
  expect(await ids('?assignee=user_lin')).toEqual(['x1'])
  expect(await ids('?assignee=')).toEqual(['x2'])
  expect(await change(key, 'x1', { status: 'accepted' })).toEqual([403, undefined])
  expect(await change(key, 'x1', { status: 'fixed', assignee: null })).toEqual([403, undefined])
  expect(await change(key, 'x1', { status: 'fixed' })).toEqual([200, 'fixed'])
  expect(await change(own.key, 'x2', { status: 'accepted', note: 'a test server' })).toEqual([
    200,
    'accepted',
  ])
  expect(await ids('?status=open')).toEqual([])
  expect((await get<{ data: object[] }>('/v1/security/heatmap', by(own.key))).data).toEqual([])
  const detail = async (name: string) =>
    (await get<{ security_metadata: { findings: object[] } }>(`/v1/sessions/sess_${name}`, by(own.key)))
      .security_metadata.findings[0]
  expect(await detail('x1')).toMatchObject({ status: 'fixed', assignee: 'user_lin' })
  expect(await detail('x2')).toMatchObject({ status: 'accepted', assignee: null, note: 'a test server' })
  // its session again, an earlier session, and one that has it in another file
  const again = (id: string, fields: object = {}) => finding(id, { ...file, fingerprint: 'x', ...fields })
  await sync(session('x1', '2026-03-01T10:00:00Z', [again('x1')], { turns: 7 }))
  await sync(session('x0', '2026-02-01T10:00:00Z', [again('x0')]))
  await sync(session('x3', '2026-04-01T10:00:00Z', [again('x3', { file: 'src/y.ts' })]))
  expect(await ids('?status=fixed')).toEqual(['x1'])
  await sync(session('x4', '2026-04-01T11:00:00Z', [again('x4')]))
  expect(await ids('?status=fixed')).toEqual([])
  expect(await detail('x1')).toMatchObject({ status: 'open', assignee: 'user_lin' })
  // it is known already, and opens nothing again
  expect(await change(own.key, 'x1', { status: 'fixed' })).toEqual([200, 'fixed'])
  await sync(session('x4', '2026-04-01T11:00:00Z', [again('x4')], { turns: 9 }))
  expect(await ids('?status=fixed')).toEqual(['x1'])
  expect(await change(own.key, 'x1', { assignee: null })).toEqual([200, 'fixed'])
  expect(await findDifferences(database.sql, own.orgId, [...FINDING_TABLES, ...USAGE_TABLES])).toEqual([])
  const log = await get<{ data: { action: string }[] }>('/v1/audit?action=finding.*', by(own.key))
  expect(log.data.map(({ action }) => action.slice(8)).toReversed()).toEqual([
    'assigned',
    'fixed',
    'accepted',
    'reopened',
    'fixed',
    'assigned',
  ])
})

test('only an admin dismisses: records of other keys neither dismiss nor open a finding again', async () => {
  const own = await newOrg(database.sql, { scopes: ['read', 'write', 'admin'] })
  const key = await newKey(database.sql, own.orgId, ['sessions:write'])
  const syncBy = async (by: string, findings: object[]) => {
    const response = await client(app, by)(
      '/v1/sync',
      jsonPost({ records: [session('held', '2026-03-01T10:00:00Z', findings)] }),
    )
    expect(response.status).toBe(200)
  }
  const statuses = async () => {
    const { data } = (await (await client(app, own.key)('/v1/findings')).json()) as {
      data: { id: string; status: string; note?: string }[]
    }
    return Object.fromEntries(data.map(({ id, status, note }) => [id, [status, note ?? null]]))
  }
  const [a, b] = [finding('held_a'), finding('held_b', { ...other, fingerprint: 'print-held' })]
  const dismissed = { status: 'dismissed', note: 'by a laptop' }
  await syncBy(key, [{ ...a, ...dismissed }, b])
  expect(await statuses()).toEqual({ finding_held_a: ['open', null], finding_held_b: ['open', null] })
  await syncBy(own.key, [a, { ...b, status: 'dismissed', note: 'by an admin' }])
  const held = { finding_held_a: ['open', null], finding_held_b: ['dismissed', 'by an admin'] }
  expect(await statuses()).toEqual(held)
  // neither by saying so, nor by leaving it out in between
  await syncBy(key, [a, { ...b, status: 'open' }])
  await syncBy(key, [a])
  await syncBy(key, [a, b])
  expect(await statuses()).toEqual(held)
})

test('refuses what it does not know, and who may not', async () => {
  expect((await send('PATCH', '/v1/findings/finding_none', { status: 'open' })).status).toBe(404)
  expect((await send('PATCH', '/v1/findings/finding_a', { status: 'gone' })).status).toBe(400)
  for (const body of [{}, { assignee: 'nobody@example.com' }, { assignee: 3 }])
    expect((await send('PATCH', '/v1/findings/finding_a', body)).status).toBe(400)
  const another = await newOrg(database.sql, { scopes: ['read', 'admin'] })
  const theirs = client(app, another.key)
  expect((await list('', theirs)).data).toEqual([])
  const foreign = await theirs('/v1/findings/finding_a', {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: '{"status":"dismissed"}',
  })
  expect(foreign.status).toBe(404)
  const key = await newKey(database.sql, mine.orgId, ['security:read'])
  const narrow = client(app, key)
  const body = { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"status":"open"}' }
  expect((await narrow('/v1/findings/finding_a', body)).status).toBe(403)
  expect((await list('', narrow)).data[0]?.member).not.toBeNull()
  await updateOrganization(database.sql, mine.slug, { hide_members: true })
  keyMs += 1_000
  expect((await list('', narrow)).data.map(({ member }) => member)).toEqual(Array(5).fill(null))
  expect((await narrow('/v1/findings?member=user_ada')).status).toBe(403)
})
