import { expect, test } from 'bun:test'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { packFragments } from '../../../src/analysis/records/fragments.ts'
import type { SessionRecord } from '../../../src/analysis/records/session.ts'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { prepareSession } from '../../../src/features/sessions/prepare.ts'
import { withKeptTelemetry } from '../../../src/features/sessions/writing/telemetry.ts'
import { bodyOf, client, jsonPost, newKey, newOrg, type Org, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { emptyParts } from '../fragments/parts.ts'
import { AT, answersOf, CLAUDE, call, claude, inboxEmpty, logs, type Shown, traces } from './fixtures.ts'

// Telemetry beside transcripts of several people and sub-agents: nobody's session gets into another's, and nothing is lost.

const database = await testsDatabase()
const app = testApp(database.sql)

const PARTS = emptyParts({ from: AT, to: AT })
/** A session as `sync` reads it: calls by their numbers, with the API's ids. */
const transcript = (id: string, calls: readonly number[], more: object = {}, parts: object = {}) => ({
  ...{ type: 'session', id: `sess_${id}`, project_name: 'shop', created_at: AT, source: 'claude-code' },
  tokens: {
    input: calls.reduce((sum, n) => sum + 1_000 + n, 0),
    output: calls.reduce((sum, n) => sum + 100 + n, 0),
  },
  ...more,
  parts: packFragments({ ...PARTS, turns: answersOf(calls), ...parts }),
})

const ask = async (key: string, path: string, body?: object) => {
  const init = jsonPost(body)
  return await client(app, key)(path, body === undefined ? {} : init)
}
const answer = async (key: string, path: string, body?: object) =>
  (await bodyOf(await ask(key, path, body))) as unknown as Shown
const post = async (key: string, path: string, body: object) => {
  const shown = await answer(key, path, body)
  await inboxEmpty(database.sql)
  return shown
}
const send = async (key: string, ...records: ReturnType<typeof call>[]) =>
  await post(key, '/v1/logs', logs(records, CLAUDE))
const sync = async (key: string, ...records: object[]) => await ask(key, '/v1/sync', { records })
const detail = async ({ key }: Org, id: string) => await answer(key, `/v1/sessions/sess_${id}`)
const inputOf = async (own: Org, id: string) => (await detail(own, id)).tokens?.input

/** An organization with Ada and Bob, who have ids, and keys of theirs. */
async function team() {
  const own = await newOrg(database.sql)
  const member = (name: string, more: object = {}) => ({
    ...{ type: 'member', id: `user_${name}`, email: `${name}@example.com`, display_name: name },
    ...{ role: 'developer', joined_at: AT, ...more },
  })
  await sync(own.key, member('ada', { aliases: ['ada@old.com'] }), member('bob'))
  const keyOf = async (name: string | undefined, ...scopes: ('ingest' | 'write')[]) => {
    const bound = name === undefined ? {} : { member: `${name}@example.com` }
    return (await createKey(database.sql, own.orgId, { name: 'k', scopes, ...bound })).key
  }
  return { own, keyOf }
}

test('a member’s key takes no other member’s session that telemetry tells of; one without a user it may', async () => {
  const { own, keyOf } = await team()
  await send(await keyOf('bob', 'ingest'), call('b', 1))
  await send(await keyOf(undefined, 'ingest'), call('free', 1))
  const ada = await keyOf('ada', 'write')
  expect((await sync(ada, transcript('b', [2]))).status).toBe(400)
  expect(await inputOf(own, 'b')).toBe(1_001)
  expect((await sync(ada, transcript('free', [1]))).status).toBe(200)
  expect(await detail(own, 'free')).toMatchObject({ origin: 'both', user_id: 'user_ada' })
})

test('telemetry of a member’s key adds to sessions of theirs only, whichever name they are stored under', async () => {
  const { own, keyOf } = await team()
  await sync(own.key, transcript('bobs', [1], { user_id: 'user_bob' }), transcript('nobodys', [1]))
  await sync(own.key, transcript('adas', [1], { user_email: 'ada@old.com' }))
  const { partialSuccess } = await send(
    await keyOf('ada', 'ingest'),
    ...['bobs', 'nobodys', 'adas', 'new'].map((id) => call(id, 2)),
  )
  expect(partialSuccess).toMatchObject({ rejectedLogRecords: '2' })
  expect(await Promise.all(['bobs', 'nobodys', 'adas'].map((id) => inputOf(own, id)))).toEqual([
    1_001, 1_001, 2_003,
  ])
})

test('sub-agents: no session is taken by naming it', async () => {
  const { own, keyOf } = await team()
  const [ada, bob] = [await keyOf('ada', 'write'), await keyOf('bob', 'write', 'ingest')]
  // Bob's, before and after; one with a transcript of its own; two that name each other
  await send(bob, call('before', 1))
  await sync(bob, transcript('own', [5]))
  await sync(ada, transcript('a', [9], { includes: ['sess_before', 'sess_after', 'sess_own'] }))
  await send(bob, call('after', 2), call('own', 6), call('before', 3))
  await sync(
    own.key,
    transcript('x', [20], { includes: ['sess_y'] }),
    transcript('y', [21], { includes: ['sess_x'] }),
  )
  await send(own.key, call('x', 22), call('y', 23))
  expect(await inputOf(own, 'a')).toBe(1_009)
  expect(await inputOf(own, 'before')).toBe(2_004)
  expect(await inputOf(own, 'after')).toBe(1_002)
  expect(await inputOf(own, 'own')).toBe(2_011)
  expect([await inputOf(own, 'x'), await inputOf(own, 'y')]).toEqual([2_042, 2_044])
})

test('sub-agents: a member’s key takes no session of nobody, whichever comes first, and no key one of another', async () => {
  const { own, keyOf } = await team()
  const ada = await keyOf('ada', 'write')
  await send(own.key, call('first', 1))
  await sync(ada, transcript('a', [9], { includes: ['sess_first', 'sess_later', 'sess_hers'] }))
  await send(own.key, call('later', 2), call('hers', 3, { 'user.email': 'ada@example.com' }))
  expect(await inputOf(own, 'a')).toBe(1_009 + 1_003)
  expect([await inputOf(own, 'first'), await inputOf(own, 'later')]).toEqual([1_001, 1_002])
  await send(own.key, call('bobs', 4, { 'user.email': 'bob@example.com' }))
  await sync(own.key, transcript('b', [8], { includes: ['sess_bobs'], user_email: 'ada@example.com' }))
  expect([await inputOf(own, 'b'), await inputOf(own, 'bobs')]).toEqual([1_008, 1_004])
})

test('a key for telemetry adds to a session that it knows, and lowers nothing of it', async () => {
  const { own } = await team()
  const key = await newKey(database.sql, own.orgId, ['ingest'])
  await send(own.key, call('s', 1), call('s', 2))
  const before = await detail(own, 's')
  // the same calls of a model that costs nothing, fewer tokens, and another time
  const long = '2025-01-01T00:00:00.000Z'
  await send(
    key,
    call('s', 1, { model: 'x' }),
    call('s', 2, { input_tokens: 1 }),
    call('s', 3, { 'event.timestamp': long }),
  )
  const after = await detail(own, 's')
  expect(after).toMatchObject({ created_at: before.created_at, source: before.source, model: before.model })
  expect(after.tokens?.input).toBe((before.tokens?.input ?? 0) + 1_003)
  expect(Number(after.estimated_cost)).toBeGreaterThanOrEqual(Number(before.estimated_cost))
})

test('sub-agents: a transcript’s user wins, and telemetry of a deleted session’s sub-agent is gone', async () => {
  const { own } = await team()
  await send(own.key, call('child', 1, { 'user.email': 'ada@gmail.com' }))
  const parent = transcript('p', [2], { includes: ['sess_child'], user_email: 'ada@example.com' })
  expect((await sync(own.key, parent)).status).toBe(200)
  expect(await detail(own, 'p')).toMatchObject({ user_id: 'user_ada', tokens: { input: 2_003 } })
  await send(own.key, call('gone', 1))
  await client(app, own.key)('/v1/sessions/sess_gone', { method: 'DELETE' })
  await sync(own.key, transcript('gone', [2], { includes: ['sess_part'] }))
  await send(own.key, call('part', 3))
  expect((await ask(own.key, '/v1/sessions/sess_part')).status).toBe(404)
})

test('records without ids are told by their spans and times', async () => {
  const { own } = await team()
  const span = (spanId: string) => ({
    ...{ name: 'chat m', 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': 's', spanId },
    ...{ 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 1 },
  })
  for (let time = 0; time < 2; time += 1)
    await post(own.key, '/v1/traces', traces([span('a'), span('b')], { 'service.name': 'github-copilot' }))
  expect(await detail(own, 's')).toMatchObject({ turns: 2, tokens: { input: 20 } })
  const at = (time: string, more: object) => ({
    ...claude('tool_result', 't', { 'event.timestamp': time }),
    ...more,
  })
  const times = ['2026-11-01T10:00:00.000Z', '2026-11-01T10:00:01.000Z']
  await send(own.key, ...times.map((time) => at(time, { tool_name: 'Bash', success: 'true' })))
  expect((await detail(own, 't')).tools_used).toEqual([{ name: 'Bash', calls: 2, errors: 0 }])
})

test('who sent it is told by the event; other programs’ records make no session', async () => {
  const { own } = await team()
  await sync(own.key, transcript('s', [1]))
  const log = { ...call('s', 2), 'event.name': 'claude_code.api_request' }
  await post(own.key, '/v1/logs', logs([log], { 'service.name': 'acme-tool' }))
  const view = { 'event.name': 'page_view', 'session.id': 'visitor' }
  await post(own.key, '/v1/logs', logs([view], { 'service.name': 'checkout-web' }))
  expect(await detail(own, 's')).toMatchObject({ source: 'claude-code', tokens: { input: 2_003 } })
  expect((await ask(own.key, '/v1/sessions/sess_visitor')).status).toBe(404)
})

test('usage beyond what a session may have is refused; the rest, and later transcripts, are stored', async () => {
  const { own } = await team()
  const huge = Array.from({ length: 1_001 }, (_, n) => call('huge', n, { input_tokens: 1e9 }))
  const { partialSuccess } = await send(own.key, ...huge, call('good', 1))
  expect(partialSuccess).toMatchObject({ rejectedLogRecords: '1001' })
  expect(await inputOf(own, 'good')).toBe(1_001)
  await send(own.key, ...huge.slice(0, 999))
  await send(own.key, ...huge.slice(999), call('good', 2))
  expect(await inputOf(own, 'good')).toBe(2_003)
  expect((await sync(own.key, transcript('huge', [1]), transcript('other', [2]))).status).toBe(200)
  expect(await inputOf(own, 'other')).toBe(1_002)
})

test("telemetry that is too large beside a client's own session is told, and the session stands", () => {
  const beyond: string[] = []
  const options = {
    ...{ pricer: { cost: () => undefined, divided: () => undefined }, storeContent: false },
    onBeyond: (id: string) => beyond.push(id),
  }
  const { parts: _parts, ...record } = transcript('client', [])
  const session = prepareSession(record as SessionRecord, 'records[0]', options)
  const telemetry = { ...PARTS, times: PARTS.fileTimes, telemetry: { from: AT, to: AT } }
  expect(withKeptTelemetry(session, telemetry, options).detail.origin).toBe('both')
  expect(beyond).toEqual([])
  const tooLarge = { ...telemetry, agent: 'x'.repeat(200_000) }
  expect(withKeptTelemetry(session, tooLarge, options)).toBe(session)
  expect(beyond).toEqual(['sess_client'])
})

test('coverage: what a transcript states stays, whatever telemetry and imports add', async () => {
  const { own } = await team()
  const whole = [
    { model: 'claude-sonnet-4-5', tokens: [1_001, 101, 10, 1, 0], cost: null },
    { model: 'claude-haiku-4-5', tokens: [500, 50, 0, 0, 0], cost: null },
  ]
  const tokens = { input: 1_501, output: 151, cache_read: 10, cache_creation: 1 }
  await sync(own.key, transcript('s', [1], { tokens }, { whole }))
  const [before] = (await answer(own.key, '/v1/team/coverage')).data
  await send(
    own.key,
    call('s', 9, {
      ...{ model: 'claude-haiku-4-5', input_tokens: 500, output_tokens: 50 },
      ...{ cache_read_tokens: 0, cache_creation_tokens: 0 },
    }),
  )
  const [after] = (await answer(own.key, '/v1/team/coverage')).data
  expect(after?.transcript_tokens).toBe(before?.transcript_tokens as number)
  expect(after).toMatchObject({ telemetry_tokens: 550 })
  // a client's own session keeps its telemetry, also when it is sent again
  const { parts: _parts, ...plain } = transcript('plain', [1])
  await send(own.key, call('plain', 1))
  await sync(own.key, plain)
  await sync(own.key, { ...plain, turns: 7 })
  expect(await detail(own, 'plain')).toMatchObject({ origin: 'both', turns: 7, tokens: { input: 1_001 } })
  // also one that names a sub-agent whose telemetry came before
  await send(own.key, call('sub', 5))
  await sync(own.key, { ...plain, id: 'sess_main', includes: ['sess_sub'] })
  expect(await detail(own, 'main')).toMatchObject({ origin: 'both', tokens: { input: 1_001 } })
  expect((await ask(own.key, '/v1/sessions/sess_sub')).status).toBe(404)
})

test('a call has the price of its tier, and one without a known price is named so', async () => {
  const own = await newOrg(database.sql)
  const spans = [
    ['fast', 'claude-opus-4-6', { speed: 'fast', inference_geo: 'us' }],
    ['flex', 'gpt-5.4', { 'gen_ai.openai.response.service_tier': 'flex' }],
    [
      'asked',
      'gpt-5.4',
      { 'openai.request.service_tier': 'auto', 'openai.response.service_tier': 'priority' },
    ],
    ['unknown', 'claude-opus-4-6', { service_tier: 'priority' }],
  ].map(([session, model, tier]) => ({
    ...{ name: 'chat m', 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': String(session) },
    ...{ 'gen_ai.response.model': String(model), 'gen_ai.usage.input_tokens': 100_000 },
    ...{
      'gen_ai.usage.output_tokens': 0,
      spanId: Buffer.from(`span-${session}`.padEnd(8).slice(-8)).toString('hex'),
    },
    ...(tier as object),
  }))
  const priced = testApp(database.sql, { pricer: () => loadPricer() })
  await client(priced, own.key)('/v1/traces', {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify(traces(spans, { 'service.name': 'any' })),
  })
  await inboxEmpty(database.sql)
  const found = await Promise.all(
    spans.map(async (span) => {
      const { estimated_cost, unpriced_tokens } = await detail(own, span['gen_ai.conversation.id'])
      return [estimated_cost, unpriced_tokens]
    }),
  )
  expect(found).toEqual([
    [3.3, 0],
    [0.125, 0],
    [0.5, 0],
    [0, 100_000],
  ])
})
