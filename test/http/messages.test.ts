import { describe, expect, test } from 'bun:test'
import { bodyOf, client, jsonInit, newOrg, testApp } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'

// A bad request is explained in the same words for query, body and record: "must be …", "is required", "is not a
// known field". Forms are shown by an example, and all problems of the query, else of the body, are named at once, up to 20.

const db = await testsDatabase()
const { key } = await newOrg(db.sql, { scopes: ['read', 'write', 'audit:write', 'webhooks'] })
const ask = client(testApp(db.sql), key)

/** Returns the problems by field; the error's text has to say the same. */
async function wrong(path: string, body?: unknown, method = 'POST'): Promise<Record<string, string>> {
  const init = body === undefined ? {} : jsonInit(method, body)
  const response = await ask(path, init)
  const { error, code, details } = await bodyOf(response)
  expect([response.status, code]).toEqual([400, 'VALIDATION_ERROR'])
  expect(error).toBe(details.map(({ field, message }) => `${field}: ${message}`).join('; '))
  return Object.fromEntries(details.map(({ field, message }) => [field, message]))
}

test('of a query', async () => {
  expect(
    await wrong(
      `/v1/sessions?page=0&per_page=x&sort=y&date_from=z&branch=${'x'.repeat(501)}&date_to=%zz&order=asc&order=asc`,
    ),
  ).toEqual({
    page: 'must be an integer from 1 to 1000000000',
    per_page: 'must be an integer from 1 to 100',
    sort: 'must be one of created_at, estimated_cost, turns, quality_score',
    date_from: 'must be a date like 2026-01-31',
    branch: 'must be a text of at most 500 characters',
    date_to: 'must be percent-encoded UTF-8',
    order: 'must be given once',
  })
  expect(await wrong('/v1/security/heatmap?min_score=101')).toEqual({
    min_score: 'must be a number from 0 to 100',
  })
  expect(await wrong('/v1/cost/explain?against=last')).toEqual({
    against: 'must be like previous or year or 2026-10-01..2026-10-31',
  })
  expect(await wrong('/v1/quality?compare=last')).toEqual({
    compare: 'must be like 2026-10-01..2026-10-31 or previous',
  })
  expect(await wrong('/v1/audit/report?cursor=yesterday')).toEqual({
    cursor: 'must be a date, or a date and time, like 2026-01-31T12:34:56.789123Z',
  })
})

test.each(['soon', '%ff'])('of the path %s, and not of the query beside it', async (month) => {
  const { key } = await newOrg(db.sql, { scopes: ['admin'] })
  const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{' }
  const response = await client(testApp(db.sql), key)(`/v1/budgets/${month}?project=a&project=b`, init)
  const { details } = await bodyOf(response)
  expect([response.status, details]).toEqual([
    400,
    [{ field: 'month', message: 'must be a month, as 2026-11' }],
  ])
})

test('of a query, and not of the body beside it', async () => {
  const { key } = await newOrg(db.sql, { scopes: ['admin'] })
  const problems = { project: 'must be given once', member: 'must not be given beside another scope' }
  for (const body of ['{', '{"limit":"5"}', '{"limit":5}']) {
    const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body }
    const response = await client(testApp(db.sql), key)(
      '/v1/budgets/2026-12?project=a&project=b&member=c',
      init,
    )
    const { details } = await bodyOf(response)
    expect([response.status, details]).toEqual([
      400,
      Object.entries(problems).map(([field, message]) => ({ field, message })),
    ])
  }
})

describe('of a body', () => {
  test.each([
    [{}, { url: 'is required', events: 'is required' }],
    [
      { url: 'nowhere', events: 'all', enabled: 'yes', description: 5, evnts: [] },
      {
        evnts: 'is not a known field',
        enabled: 'must be true or false',
        url: 'must be an absolute https URL',
        events: expect.stringMatching(/^must be an array of one or more names, or "\*"; the events are /),
        description: 'must be a text or null',
      },
    ],
    [
      { url: 'https://example.com/', events: ['session.done'] },
      {
        events: expect.stringMatching(
          /^must be names of events, and "session.done" is none; the events are /,
        ),
      },
    ],
    [[], { body: 'must be an object' }],
    [null, { body: 'must be an object' }],
  ] as const)('of an endpoint: %j', async (body, problems) => {
    expect(await wrong('/v1/webhooks', body)).toEqual(problems as Record<string, string>)
  })

  test('of a rotation, a test and a recovery', async () => {
    const path = '/v1/webhooks/hook_1'
    expect(await wrong(`${path}/rotate-secret`, { grace_period_seconds: -1, grace: 1, finish: 'x' })).toEqual(
      {
        grace: 'is not a known field',
        grace_period_seconds: 'must be an integer from 0 to 604800',
        finish: 'must be true',
      },
    )
    expect(await wrong(`${path}/test`, { event: 'x' })).toEqual({
      event: expect.stringMatching(/^must be one of session\.completed, /),
    })
    expect(await wrong(`${path}/recover`, { until: 'x', dry_run: 1 })).toEqual({
      since: 'is required',
      until: 'must be a date, or a date and time, like 2026-01-31T12:34:56.789Z or null',
      dry_run: 'must be true or false or null',
    })
  })
})

describe('of records', () => {
  const session = { type: 'session', id: 'sess_1', project_name: 'p', created_at: '2026-01-31T12:00:00Z' }

  test('all problems of each', async () => {
    const records = [
      { ...session, id: 'x', turns: 1.5, org_id: 'o', tokens: { input: -1, more: 1 }, models: 'm' },
      { type: 'member', email: 'nobody', role: 'boss', joined_at: '2026-01' },
      { ...session, turn_records: [{ role: 'cat', tool_calls: [{}] }], summary: 5 },
      { type: 'thing' },
      'x',
      { type: 'budget', month: '2026-13', limit: -1 },
      { type: 'commit', project: 'p', sha: '?', author_email: 'a@b', author_name: '', files: [] },
    ]
    expect(await wrong('/v1/sync', { records })).toEqual({
      'records[0].org_id': 'is not a known field',
      'records[0].id': 'must be like sess_4f1c2a',
      'records[0].turns': 'must be an integer from 0 to 1000000000 or null',
      'records[0].tokens.more': 'is not a known field',
      'records[0].tokens.input': 'must be an integer from 0 to 1000000000000 or null',
      'records[0].models': 'must be an array of at most 100 items or null',
      'records[1].display_name': 'is required',
      'records[1].email': 'must be an e-mail address like ada@example.com, of at most 320 characters',
      'records[1].role': 'must be one of owner, admin, developer, auditor',
      'records[1].joined_at': 'must be a date, or a date and time, like 2026-01-31T12:34:56.789Z',
      'records[2].turn_records[0].role': 'must be one of user, assistant, system, tool, unattributed',
      'records[2].turn_records[0].tool_calls[0].name': 'is required',
      'records[2].summary': 'must be a text of at most 10000 characters or null',
      'records[3].type':
        'must be one of session, member, commit, pr_risk, audit, budget, report, note, plan, limit, effect',
      'records[4]': 'must be an object',
      'records[5].month': 'must be a month like 2026-01',
      'records[5].limit': 'must be a number from 0.000001 to 1000000000',
      'records[6].committed_at': 'is required',
      'records[6].sha': 'must be like 8f3c2a1e5b',
    })
  })

  test('20 of them at most', async () => {
    const turns = Array.from({ length: 50 }, () => ({ cost: -1 }))
    const fields = Object.keys(await wrong('/v1/sync', { records: [{ ...session, turn_records: turns }] }))
    expect(fields).toEqual(Array.from({ length: 20 }, (_, n) => `records[0].turn_records[${n}].cost`))
    const more = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, n]))
    expect(Object.keys(await wrong('/v1/webhooks', more))).toHaveLength(20)
  })
})
