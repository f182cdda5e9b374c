import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { newCall, packFragments } from '../../../src/analysis/records/fragments.ts'
import { bodyOf, client, got, jsonPost, newOrg, type Org, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { memberRecord } from '../../support/records.ts'
import { emptyParts } from '../fragments/parts.ts'
import {
  AT,
  answersOf,
  CLAUDE,
  call,
  claude,
  inboxEmpty,
  logs,
  metrics,
  type Shown,
  traces,
} from './fixtures.ts'

const database = await testsDatabase()
const app = testApp(database.sql)

const post = (key: string, path: string, body: object) => client(app, key)(path, jsonPost(body))
const send = async ({ key }: Org, body: object, path = '/v1/logs') => {
  const answer = await got<{ partialSuccess?: Record<string, string> }>(post(key, path, body))
  await inboxEmpty(database.sql)
  return answer
}
const get = async ({ key }: Org, path: string) =>
  (await bodyOf(await client(app, key)(path))) as unknown as Shown
const detail = (own: Org, id: string) => get(own, `/v1/sessions/sess_${id}`)
const totals = async (own: Org) => (await get(own, '/v1/cost/breakdown?by=agent')).total

/** A session as `sync` reads it of a transcript with these calls; `withIds`: the agent notes the API's ids. */
const transcript = (id: string, calls: readonly number[], { withIds = true, tool = '' } = {}) => {
  const turns = answersOf(calls, withIds)
  const first = turns[0]
  const call = { ...newCall(tool), turn: first?.id ?? null, name: 'Bash', ok: true, edits: ['a.ts'] }
  const parts = { ...emptyParts({ from: AT, to: AT }), turns, calls: tool === '' ? [] : [call] }
  const sum = (index: number) => turns.reduce((total, { tokens }) => total + (tokens?.[index] ?? 0), 0)
  return {
    ...{ type: 'session', id: `sess_${id}`, project_name: 'shop', created_at: AT, source: 'claude-code' },
    ...{ started_at: AT, ended_at: AT, model: 'claude-sonnet-4-5', turns: turns.length },
    tokens: { input: sum(0), output: sum(1), cache_read: sum(2), cache_creation: sum(3) },
    turn_records: turns.map(({ model, tokens: counts }) => {
      const [input, output, cache_read, cache_creation] = counts ?? []
      const tokens = { input, output, cache_read, cache_creation }
      return { role: 'assistant', model, started_at: AT, tokens }
    }),
    files_touched: tool === '' ? [] : ['a.ts'],
    parts: packFragments(parts),
  }
}
const sync = ({ key }: Org, ...records: object[]) => got(post(key, '/v1/sync', { records }))

test('a session without a transcript shows what telemetry says, and null for what it does not say', async () => {
  const own = await newOrg(database.sql)
  const attributes = { 'user.email': 'Ada@Example.com' }
  const records = [
    claude('user_prompt', 's1', { 'prompt.id': 'p1', prompt: 'PLANTED prompt', ...attributes }),
    call('s1', 1),
    call('s1', 2, { cost_usd: 0.02 }),
    claude('tool_result', 's1', { tool_use_id: 't1', tool_name: 'Bash', success: 'false', error: 'PLANTED' }),
    claude('tool_result', 's1', { tool_use_id: 't2', tool_name: 'Bash', success: 'true' }),
  ]
  expect(
    await send(own, logs(records, { ...CLAUDE, project: 'shop', 'process.command_line': 'PLANTED' })),
  ).toEqual({})
  expect(await detail(own, 's1')).toMatchObject({
    ...{ origin: 'telemetry', project_name: 'shop', turns: 3, estimated_cost: 0.03, cost_source: 'reported' },
    tokens: { input: 2_003, output: 203, cache_read: 30, cache_creation: 3 },
    ...{
      source: 'claude-code',
      model: 'claude-sonnet-4-5',
      files_touched: null,
      created_at: AT,
      unpriced_tokens: 0,
    },
    tools_used: [{ name: 'Bash', calls: 2, errors: 1 }],
  })
  // again, in another order, by another exporter, and as spans of the same calls
  await send(own, logs(records.toReversed(), CLAUDE), '/otlp/v1/logs')
  const spans = [1, 2].map((n) => {
    const { 'event.name': _name, 'event.timestamp': _at, cost_usd: _cost, ...more } = call('s1', n)
    return { name: 'claude_code.llm_request', ...more }
  })
  await send(own, traces(spans, CLAUDE), '/api/v1/traces')
  expect(await totals(own)).toMatchObject({ sessions: 1, cost: 0.03, tokens: { input: 2_003, output: 203 } })
  const dump = await database.sql`
    select string_agg(d.detail::text || coalesce(d.parts, ''), '') as text from session_details d where d.org_id = ${own.orgId}`
  expect(dump[0]?.text).not.toContain('PLANTED')
  // a session of which only a prompt is known
  await send(own, logs([claude('user_prompt', 's2', { 'prompt.id': 'p2' })], CLAUDE))
  expect(await detail(own, 's2')).toMatchObject({
    ...{ tokens: null, estimated_cost: 0, project_name: null, files_touched: null, origin: 'telemetry' },
  })
  const listed = (await get(own, '/v1/sessions')).data.find(({ id }) => id === 'sess_s2')
  expect(listed).toMatchObject({ estimated_cost: 0, project_name: null })
})

test('a transcript wins, whichever comes first, and calls that only telemetry has are added once', async () => {
  const sent = logs(
    [1, 2, 3].map((n) => call('s', n)).concat(call('s', 9, { model: 'claude-haiku-4-5' })),
    CLAUDE,
  )
  const record = transcript('s', [1, 2, 3])
  const steps: Record<string, (own: Org) => Promise<unknown>> = {
    telemetry: (own) => send(own, sent),
    transcript: (own) => sync(own, record),
  }
  const results: unknown[] = []
  for (const order of [
    ['telemetry', 'transcript'],
    ['transcript', 'telemetry'],
    ['telemetry', 'transcript', 'telemetry', 'transcript'],
  ]) {
    const own = await newOrg(database.sql)
    for (const step of order) await steps[step]?.(own)
    const { origin, tokens, turns, estimated_cost, project_name, files_touched } = await detail(own, 's')
    expect({ origin, tokens, turns, project_name, files_touched }).toEqual({
      ...{ origin: 'both', turns: 4, project_name: 'shop', files_touched: [] },
      tokens: { input: 4_015, output: 415, cache_read: 150, cache_creation: 15 },
    })
    results.push(estimated_cost, await totals(own))
    const events =
      await database.sql`select count(*)::integer as n from audit_log a where a.org_id = ${own.orgId} and a.action = 'telemetry.received'`
    expect(events[0]?.n).toBe(order.filter((step) => step === 'telemetry').length)
  }
  expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(2)
})

test('texts stay with their turns when telemetry of the same calls comes before and after them', async () => {
  const own = await newOrg(database.sql)
  const keeping = testApp(database.sql, { config: { storeContent: true } })
  const record = transcript('s', [1, 2])
  const turn_records = record.turn_records.map((turn, index) => ({ ...turn, content: `text ${index + 1}` }))
  const body = JSON.stringify({ records: [{ ...record, turn_records }] })
  const headers = { 'content-type': 'application/json' }
  await send(own, logs([call('s', 1)], CLAUDE))
  await client(keeping, own.key)('/v1/sync', { method: 'POST', headers, body })
  for (const n of [2, 3]) {
    const sent = JSON.stringify(logs([call('s', n)], CLAUDE))
    await client(keeping, own.key)('/v1/logs', { method: 'POST', headers, body: sent })
    await inboxEmpty(database.sql)
  }
  const { turn_records: stored } = await detail(own, 's')
  const texts = (stored as { tokens: { input: number }; content?: string }[]).map(
    ({ tokens, content }) => `${tokens.input}: ${content ?? 'none'}`,
  )
  expect(texts.sort()).toEqual(['1001: text 1', '1002: text 2', '1003: none'])
})

test('where a transcript notes no ids of calls, equal tokens are one call', async () => {
  const own = await newOrg(database.sql)
  await send(own, logs([call('s', 1), call('s', 2), call('s', 7)], CLAUDE))
  await sync(own, transcript('s', [1, 2], { withIds: false }))
  expect((await detail(own, 's')).tokens).toEqual({
    input: 3_010,
    output: 310,
    cache_read: 100,
    cache_creation: 10,
  })
})

test('a failure in any signal counts, by the id of the call', async () => {
  const own = await newOrg(database.sql)
  await sync(own, transcript('s', [1], { tool: 'toolu_1' }))
  await send(
    own,
    logs(
      [claude('tool_result', 's', { tool_use_id: 'toolu_1', tool_name: 'Bash', success: 'false' })],
      CLAUDE,
    ),
  )
  expect((await detail(own, 's')).tools_used).toEqual([{ name: 'Bash', calls: 1, errors: 1 }])
})

test('telemetry of a sub-agent belongs to the session that names it, whichever comes first', async () => {
  const record = { ...transcript('parent', [1, 2]), includes: ['sess_child'] }
  const sent = logs([call('parent', 1), call('child', 2), call('child', 8)], CLAUDE)
  for (const first of ['telemetry', 'transcript']) {
    const own = await newOrg(database.sql)
    if (first === 'telemetry') await send(own, sent)
    await sync(own, record)
    if (first === 'transcript') await send(own, sent)
    expect(await totals(own)).toMatchObject({ sessions: 1, tokens: { input: 3_011, output: 311 } })
    expect((await client(app, own.key)('/v1/sessions/sess_child')).status).toBe(404)
  }
})

test('a session of a client of its own stands as it was sent', async () => {
  const own = await newOrg(database.sql)
  const { parts: _parts, ...plain } = transcript('s', [1])
  await sync(own, plain)
  await send(own, logs([call('s', 1), call('s', 2)], CLAUDE))
  expect(await detail(own, 's')).toMatchObject({ origin: 'both', tokens: plain.tokens, turns: 1 })
  await sync(own, { ...plain, turns: 5 })
  await send(own, logs([call('s', 3)], CLAUDE))
  expect(await detail(own, 's')).toMatchObject({ origin: 'both', tokens: plain.tokens, turns: 5 })
  const [coverage] = (await get(own, '/v1/team/coverage')).data
  expect(coverage).toMatchObject({ transcript_tokens: 1_113, telemetry_tokens: 1_113 + 1_126 + 1_139 })
})

test('deleted sessions stay deleted', async () => {
  const own = await newOrg(database.sql)
  await send(own, logs([call('s', 1)], CLAUDE))
  expect((await client(app, own.key)('/v1/sessions/sess_s', { method: 'DELETE' })).status).toBe(204)
  expect(await send(own, logs([call('s', 2)], CLAUDE))).toEqual({})
  expect(await totals(own)).toMatchObject({ sessions: 0 })
})

test('the member is the one of the key, else of user.email; a member’s key adds to no other’s session', async () => {
  const own = await newOrg(database.sql)
  const member = { type: 'member', role: 'developer', joined_at: AT }
  await sync(own, { ...member, email: 'ada@example.com', display_name: 'Ada' })
  await sync(own, { ...member, email: 'bob@example.com', display_name: 'Bob' })
  const keyOf = async (email: string | undefined) => ({
    ...own,
    key: (
      await createKey(database.sql, own.orgId, {
        name: 'ingest',
        scopes: ['ingest'],
        ...(email === undefined ? {} : { member: email }),
      })
    ).key,
  })
  const [ada, shared] = [await keyOf('ada@example.com'), await keyOf(undefined)]
  await send(ada, logs([call('a', 1, { 'user.email': 'eve@example.com' })], CLAUDE))
  await send(shared, logs([call('b', 1, { 'user.email': 'bob@example.com' })], CLAUDE))
  const members = (await get(own, '/v1/cost/breakdown?by=member&sort=key&order=asc')).data
  expect(members.map(({ sessions }) => sessions)).toEqual([1, 1])
  const { partialSuccess } = await send(ada, logs([call('b', 2), call('a', 2)], CLAUDE))
  expect(partialSuccess).toMatchObject({ rejectedLogRecords: '1' })
  expect((await detail(own, 'b')).tokens?.input).toBe(1_001)
  // scope ingest sends, and shows nothing
  expect((await client(app, shared.key)('/v1/sessions')).status).toBe(403)
  expect((await post(shared.key, '/v1/sync', { records: [] })).status).toBe(403)
})

test.each([
  ['a negative count', call('s', 1, { input_tokens: -1 }), 'input_tokens'],
  ['a part of a token', call('s', 1, { output_tokens: 1.5 }), 'output_tokens'],
  ['a negative cost', call('s', 1, { cost_usd: -0.1 }), 'cost_usd'],
  ['an impossible count', call('s', 1, { input_tokens: 1e13 }), 'input_tokens'],
  ['no session', { ...call('', 1) }, 'session'],
  [
    'more tokens from the cache than there are',
    {
      ...{ 'event.name': 'codex.sse_event', 'event.kind': 'response.completed', 'conversation.id': 'c' },
      ...{ input_token_count: '10', cached_token_count: '11', output_token_count: '1' },
    },
    'input_token_count',
  ],
])('usage with %s is refused, the rest is kept', async (_name, record, reason) => {
  const own = await newOrg(database.sql)
  const { partialSuccess } = await send(
    own,
    logs([record, call('good', 1), { 'event.name': 'unknown' }], CLAUDE),
  )
  expect(partialSuccess).toEqual({ rejectedLogRecords: '1', errorMessage: expect.stringContaining(reason) })
  expect(await totals(own)).toMatchObject({ sessions: 1, tokens: { input: 1_001 } })
})

const LONG = 'x'.repeat(400)
test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a number', 5],
  ['a list', []],
  ['an empty value', {}],
  ['an object for a double', { doubleValue: {} }],
  ['an object for an integer', { intValue: { value: 5 } }],
  ['no number', { doubleValue: 'NaN' }],
  ['no end', { doubleValue: 'Infinity' }],
  ['a text that is no number', { stringValue: 'many' }],
  ['an integer that is no number', { intValue: '12x' }],
  ['a truth', { boolValue: true }],
  ['values within', { arrayValue: { values: [{ intValue: '5' }] } }],
  ['a text that is too long', { stringValue: LONG }],
])('an attribute that is %s is absent, the others of its record count', async (_name, value) => {
  const own = await newOrg(database.sql)
  const bad = (key: string, n: number) => {
    const { resourceLogs } = JSON.parse(JSON.stringify(logs([call('s', n)])))
    const { attributes, ...rest } = resourceLogs[0].scopeLogs[0].logRecords[0]
    const others = attributes.filter((each: { key: string }) => each.key !== key)
    return { ...rest, attributes: [...others, null, 'x', { key: 5 }, { key, value }] }
  }
  const request = {
    resourceLogs: [
      {
        resource: {
          attributes: [
            { key: 'service.name', value: { stringValue: 'claude-code' } },
            { key: 'project', value },
          ],
        },
        scopeLogs: [
          {
            logRecords: [bad('cost_usd', 1), bad('output_tokens', 2), bad('request_id', 3), bad('model', 4)],
          },
        ],
      },
    ],
  }
  expect(await send(own, request)).toEqual({})
  expect((await detail(own, 's')).tokens).toEqual({
    input: 4_010,
    output: 300 + 1 + 3 + 4,
    cache_read: 100,
    cache_creation: 10,
  })
})

test('a name that an object has twice is refused, and named', async () => {
  const own = await newOrg(database.sql)
  const body = JSON.stringify(logs([call('s', 1)], CLAUDE)).replace('"body"', '"attributes":[],"body"')
  const response = await client(app, own.key)('/v1/logs', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect([response.status, await bodyOf(response)]).toMatchObject([
    400,
    {
      code: 'VALIDATION_ERROR',
      details: [
        { field: 'resourceLogs[0].scopeLogs[0].logRecords[0].attributes', message: 'must be given once' },
      ],
    },
  ])
})

test('metrics are counted and not added; a negative sum is refused', async () => {
  const own = await newOrg(database.sql)
  const point = (value: number) => ({
    name: 'claude_code.token.usage',
    value,
    'session.id': 's',
    type: 'input',
  })
  expect(await send(own, metrics([point(5), point(-5)]), '/v1/metrics')).toEqual({
    partialSuccess: { rejectedDataPoints: '1', errorMessage: expect.any(String) },
  })
  await send(own, logs([call('s', 1)], CLAUDE))
  expect(await totals(own)).toMatchObject({ sessions: 1, tokens: { input: 1_001 } })
})

test('other agents: what each counts, as its own files would', async () => {
  const own = await newOrg(database.sql)
  const codex = (more: object) => ({
    ...{ 'event.name': 'codex.sse_event', 'event.kind': 'response.completed', 'conversation.id': 'codex' },
    ...{ model: 'gpt-6.1-sol', 'event.timestamp': AT, ...more },
  })
  await send(
    own,
    logs(
      [
        codex({}),
        codex({
          input_token_count: '300',
          cached_token_count: '200',
          output_token_count: '50',
          tool_token_count: '350',
        }),
      ],
      { 'service.name': 'codex_exec' },
    ),
  )
  const gemini = (prefix: string, session: string) => ({
    ...{ 'event.name': `${prefix}.api_response`, 'session.id': session, 'event.timestamp': AT, model: 'm' },
    ...{
      input_token_count: 300,
      cached_content_token_count: 200,
      output_token_count: 50,
      thoughts_token_count: 7,
    },
  })
  await send(own, logs([gemini('gemini_cli', 'gemini')], { 'service.name': 'gemini-cli' }))
  await send(own, logs([gemini('qwen-code', 'qwen')], { 'service.name': 'qwen-code' }))
  const chat = {
    ...{ name: 'chat gpt-5.2', 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': 'copilot' },
    ...{ 'gen_ai.response.id': 'r1', 'gen_ai.response.model': 'gpt-5.2', 'github.copilot.cost': 3 },
    ...{ 'gen_ai.usage.input_tokens': 300, 'gen_ai.usage.output_tokens': 50 },
    'gen_ai.usage.cache_read.input_tokens': 200,
  }
  await send(
    own,
    traces([chat, { ...chat, name: 'invoke_agent', 'gen_ai.operation.name': 'invoke_agent' }], {
      'service.name': 'github-copilot',
    }),
    '/v1/traces',
  )
  const stream = {
    ...{
      name: 'ai.streamText.doStream',
      'session.id': 'opencode',
      'ai.response.id': 'msg_1',
      'ai.response.model': 'm',
    },
    ...{ 'ai.usage.inputTokens': 310, 'ai.usage.outputTokens': 50, 'gen_ai.usage.input_tokens': 310 },
    ...{ 'ai.usage.cachedInputTokens': 200, 'ai.usage.inputTokenDetails.cacheWriteTokens': 10 },
  }
  await send(own, traces([stream], { 'service.name': 'opencode' }), '/v1/traces')
  const tokens = async (id: string) => (await detail(own, id)).tokens
  const usual = { input: 100, output: 50, cache_read: 200 }
  expect(await tokens('codex')).toEqual({ ...usual, cache_creation: null })
  expect(await tokens('gemini')).toEqual({ ...usual, output: 57, cache_creation: null })
  expect(await tokens('qwen')).toEqual({ ...usual, cache_creation: null })
  expect(await tokens('copilot')).toEqual({ ...usual, cache_creation: null })
  expect(await tokens('opencode')).toEqual({ ...usual, cache_creation: 10 })
  const agents = (await get(own, '/v1/cost/breakdown?by=agent&sort=key&order=asc')).data
  expect(agents.map(({ key }) => key)).toEqual(['codex', 'copilot', 'gemini', 'opencode', 'qwen'])
})

test('a request is answered in its own form; bad ones are refused whole', async () => {
  const own = await newOrg(database.sql)
  const ask = (type: string, body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    client(app, own.key)('/v1/logs', { method: 'POST', headers: { 'content-type': type, ...headers }, body })
  const empty = await ask('application/x-protobuf', new Uint8Array())
  expect([empty.status, empty.headers.get('content-type'), (await empty.bytes()).length]).toEqual([
    200,
    'application/x-protobuf',
    0,
  ])
  const packed = gzipSync(JSON.stringify(logs([call('s', 1)], CLAUDE)))
  const zipped = await ask('application/json', new Uint8Array(packed), { 'content-encoding': 'gzip' })
  expect([zipped.status, await zipped.json()]).toEqual([200, {}])
  await inboxEmpty(database.sql)
  for (const [status, type, body] of [
    [400, 'application/json', '[1]'],
    [400, 'application/json', '{"resourceLogs": 3}'],
    [400, 'application/json', '{'],
    // millions of brackets would take the thread of all organizations for seconds
    [400, 'application/json', `{"resourceLogs":${'['.repeat(70)}${']'.repeat(70)}}`],
    [413, 'application/json', `{"resourceLogs":[${'{},'.repeat(500_000)}{}]}`],
    [400, 'application/x-protobuf', new Uint8Array([0xff, 0xff])],
    [415, 'text/plain', ''],
    [413, 'application/json', JSON.stringify(logs(Array(20_001).fill({ 'event.name': 'x' })))],
  ] as const)
    expect([type, (await ask(type, body)).status]).toEqual([type, status])
  expect(await totals(own)).toMatchObject({ sessions: 1 })
})

test('coverage is exact: transcripts, telemetry, and the part of the first that the second has', async () => {
  const own = await newOrg(database.sql)
  await sync(own, memberRecord('ada', { joined_at: AT }))
  const user = { user_email: 'ada@example.com' }
  await sync(own, { ...transcript('a', [1, 2]), ...user }, { ...transcript('b', [3]), ...user })
  // half of a, nothing of b, a title of a, and a session without a transcript
  await send(
    own,
    logs([call('a', 1), call('a', 9), call('c', 5, { 'user.email': 'ada@example.com' })], CLAUDE),
  )
  const sum = (n: number) => 1_100 + 2 * n + 11 * n
  const transcripts = sum(1) + sum(2) + sum(3)
  const telemetry = sum(1) + sum(9) + sum(5)
  const covered: object[] = (await get(own, '/v1/team/coverage')).data
  expect(covered).toEqual([
    {
      ...{ member: { id: expect.any(String), email: 'ada@example.com' }, agent: 'claude-code', sessions: 3 },
      ...{ transcript_tokens: transcripts, telemetry_tokens: telemetry, last_seen_at: AT },
      captured_share: Number((Math.min(sum(1) + sum(9), sum(1) + sum(2)) / transcripts).toFixed(6)),
    },
  ])
  const alone = await newOrg(database.sql)
  await send(alone, logs([call('c', 5)], CLAUDE))
  expect((await get(alone, '/v1/team/coverage')).data).toMatchObject([{ member: null, captured_share: null }])
})
