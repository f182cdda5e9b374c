import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { PLANTED } from '../../support/planted-secrets.ts'
import { makeDatabase } from './other-agent-scripts.ts'
import { agentFiles, lines, tokensOfAnswers } from './reading.ts'

const { write, read, readOne } = agentFiles()

const at = (second: number) => `2026-05-01T10:00:${String(second).padStart(2, '0')}.000Z`
let events = 0
const event = (second: number, type: string, data: object, more: object = {}) => {
  events += 1
  return { type, data, id: `e${events}`, timestamp: at(second), parentId: null, ...more }
}
const start = (sessionId: string) =>
  event(0, 'session.start', {
    sessionId,
    producer: 'copilot-agent',
    startTime: at(0),
    context: { cwd: '/home/dev/shop', repository: 'acme/checkout', branch: 'fix' },
  })
const prompt = event(1, 'user.message', { content: `use ${PLANTED.github}` })

/** Input includes 400 read from the cache and 100 written to it, output 5 of reasoning. */
const usage = (apiCallId: string, more: object = {}) => ({
  usage: {
    model: 'gpt-5.2',
    inputTokens: 1_000,
    outputTokens: 50,
    cacheReadTokens: 400,
    cacheWriteTokens: 100,
    reasoningTokens: 5,
    cost: 3,
    apiCallId,
    ...more,
  },
})
const ONE_CALL = { input: 500, output: 50, cache_read: 400, cache_creation: 100 }

const STORE = [
  'sessions (id text, cwd text, repository text, branch text, summary text, created_at text)',
  `assistant_usage_events (id integer, session_id text, model text, input_tokens integer, output_tokens integer,
    cache_read_tokens integer, cache_write_tokens integer, reasoning_tokens integer, created_at text,
    total_nano_aiu integer, agent_id text, initiator text)`,
]
type StoredRow = [number, string, number, string, { credits?: number; agent?: string; initiator?: string }?]
const stored = ([id, session, output, created, more = {}]: StoredRow): [string, unknown[]] => [
  'assistant_usage_events',
  [
    ...[id, session, 'gpt-5.2', 1_000, output, 400, 100, 5, created],
    ...[more.credits ?? null, more.agent ?? null, more.initiator ?? null],
  ],
]
const session = (id: string): [string, unknown[]] => [
  'sessions',
  [id, '/home/dev/shop', null, 'fix', 'Fix it', '2026-05-01 10:00:00'],
]

describe('events with records of usage', () => {
  const call = (id: string) => ({ toolCallId: id, name: 'bash', arguments: { command: 'bun test' } })
  const file = lines([
    start('c1'),
    prompt,
    event(2, 'session.usage_record', usage('api-1')),
    event(3, 'assistant.message', { apiCallId: 'api-1', content: 'Look.', toolRequests: [call('t1')] }),
    event(4, 'tool.execution_complete', {
      toolCallId: 't1',
      success: true,
      shellExecution: { exitCode: 1 },
      result: { content: 'failed' },
    }),
    event(5, 'user.message', { content: 'from the agent', source: 'agent-c1' }, { agentId: 'a1' }),
    event(6, 'session.usage_record', usage('api-2', { outputTokens: 7 }), { agentId: 'a1' }),
    event(7, 'assistant.message', { apiCallId: 'api-2', content: '', toolRequests: [call('t2')] }),
    event(8, 'tool.execution_complete', {
      toolCallId: 't2',
      success: false,
      error: { message: 'The user rejected this tool call', code: 'rejected' },
    }),
    event(9, 'session.compaction_complete', {
      success: true,
      compactionTokensUsed: { model: 'gpt-5.2', inputTokens: 100, outputTokens: 9, cacheReadTokens: 60 },
    }),
    event(10, 'session.error', { errorType: 'rate_limit', message: 'Try again' }),
    event(11, 'abort', { reason: 'user_initiated' }),
    event(12, 'session.shutdown', {
      modelMetrics: { 'gpt-5.2': { usage: { inputTokens: 9_999, outputTokens: 9_999 } } },
    }),
  ])

  test('each call once, with its cache and its reasoning, also those of sub-agents and compactions', async () => {
    const record = await readOne({ 'session-state/c1/events.jsonl': file })
    expect(record).toMatchObject({
      id: 'sess_c1',
      source: 'copilot',
      project_name: 'checkout',
      branch: 'fix',
      model: 'gpt-5.2',
      created_at: at(0),
      ended_at: at(12),
      turns: 4,
      // the call, that of the sub-agent, and the summary: 40 of its 100 are not of the cache
      tokens: { input: 500 + 500 + 40, output: 50 + 7 + 9, cache_read: 400 + 400 + 60, cache_creation: 200 },
      tools_used: [{ name: 'bash', calls: 2, errors: 2 }],
    })
    expect(tokensOfAnswers(record)[0]).toEqual(ONE_CALL)
    expect(record.observations?.map(({ type }) => type).sort()).toEqual(
      ['api_error', 'compaction', 'interruption', 'rejection'].sort(),
    )
    expect(record.security_metadata?.findings?.map(({ rule_id }) => rule_id)).toEqual(['github'])
  })

  test('the store beside them adds nothing, nor does another database of the session', async () => {
    const path = await write({
      'session-state/c1/events.jsonl': file,
      'session-state/c1/session.db': `SQLite format 3\u0000${'x'.repeat(5_000)}`,
    })
    makeDatabase(join(path, 'session-store.db'), STORE, [
      session('c1'),
      stored([1, 'c1', 50, '2026-05-01T10:00:01.999Z']),
      stored([2, 'c1', 7, at(6), { agent: 'a1' }]),
      stored([3, 'deleted', 70, at(6)]),
    ])
    const { records, skipped } = await read(path)
    expect(records.map(({ id }) => id)).toEqual(['sess_c1'])
    expect(records[0]?.tokens).toEqual({ input: 1_040, output: 66, cache_read: 860, cache_creation: 200 })
    expect(skipped).toEqual([])
  })

  test('the events that a fork copies are those of its parent', async () => {
    const own = [
      event(20, 'session.usage_record', usage('api-9', { outputTokens: 3 })),
      event(20, 'assistant.message', { apiCallId: 'api-9', content: 'No.', toolRequests: [] }),
    ]
    const copied = file.trim().split('\n').slice(1)
    const fork = `${JSON.stringify({ ...start('c9'), timestamp: at(19) })}\n${copied.join('\n')}\n${lines(own)}`
    const { records } = await read({
      'session-state/a/events.jsonl': fork.replace(at(0), at(19)),
      'session-state/c1/events.jsonl': file,
    })
    expect(records.map(({ id, turns, tokens }) => [id, turns, tokens?.output])).toEqual([
      ['sess_c1', 4, 66],
      ['sess_c9', 1, 3],
    ])
  })

  test('a session that an older version began has the calls of the store from before', async () => {
    const path = await write({ 'session-state/c1/events.jsonl': file })
    makeDatabase(join(path, 'session-store.db'), STORE, [
      stored([1, 'c1', 30, '2026-04-30T10:00:01.000Z']),
      stored([2, 'c1', 50, at(2)]),
    ])
    expect((await readOne(path)).tokens?.output).toBe(66 + 30)
  })
})

describe('events of older versions', () => {
  const message = (second: number, id: string, toolRequests: object[] = []) =>
    event(second, 'assistant.message', { messageId: id, content: 'Yes.', toolRequests, outputTokens: 50 })
  const shutdown = (second: number, input: number, output: number) =>
    event(second, 'session.shutdown', {
      modelMetrics: {
        'gpt-5.2': { usage: { inputTokens: input, outputTokens: output, cacheReadTokens: 400 } },
      },
    })
  const asText = { toolCallId: 't1', name: 'edit', arguments: '{"path":"/home/dev/shop/a.ts","new_str":"b"}' }
  const file = lines([
    start('c2'),
    prompt,
    message(5, 'm1', [asText]),
    message(9, 'm2'),
    shutdown(10, 2_000, 100),
  ])

  test('the store has their calls, and each message is one of them', async () => {
    const path = await write({ 'session-state/c2/events.jsonl': file })
    makeDatabase(join(path, 'session-store.db'), STORE, [
      session('c2'),
      stored([1, 'c2', 50, at(4), { credits: 2_500_000_000 }]),
      stored([2, 'c2', 20, at(8)]),
      stored([3, 'c2', 11, at(9), { initiator: 'compaction' }]),
      stored([4, 'other', 70, at(9)]),
    ])
    const record = await readOne(path)
    expect(record.turns).toBe(4)
    expect(record.turn_records?.map(({ tool_calls }) => tool_calls?.length)).toEqual([0, 1, 0, 0])
    expect(tokensOfAnswers(record).map((tokens) => tokens?.output)).toEqual([50, 20, 11])
    expect(record.tokens).toEqual({ input: 1_500, output: 81, cache_read: 1_200, cache_creation: 300 })
    // 2.5 AI credits of a cent
    expect(record.turn_records?.[1]?.cost).toBe(0.025)
  })

  test.each<[string, [string, number, number][], number]>([
    // a larger sum of another model is no sum that goes on
    [
      'has not the model of the one before',
      [
        ['gpt-5.2', 1_000, 50],
        ['gpt-5.5', 9_000, 90],
      ],
      140,
    ],
    [
      'has less output than the one before',
      [
        ['gpt-5.2', 1_000, 50],
        ['gpt-5.2', 9_000, 20],
      ],
      70,
    ],
    [
      'goes on from the one before',
      [
        ['gpt-5.2', 1_000, 50],
        ['gpt-5.2', 9_000, 90],
      ],
      90,
    ],
  ])('without a store: a process whose sum %s', async (_name, processes, output) => {
    const shutdowns = processes.map(([model, inputTokens, outputTokens], index) =>
      event(3 + index, 'session.shutdown', {
        modelMetrics: { [model]: { usage: { inputTokens, outputTokens, cacheReadTokens: 0 } } },
      }),
    )
    const nothing = event(9, 'session.shutdown', { modelMetrics: {} })
    const record = await readOne({
      'session-state/c2/events.jsonl': lines([start('c2'), prompt, message(2, 'm1'), ...shutdowns, nothing]),
    })
    expect(record.tokens?.output).toBe(output)
  })

  test('without a store the sums of the processes count, which begin again after a compaction', async () => {
    const again = lines([
      ...[
        start('c2'),
        prompt,
        message(2, 'm1'),
        shutdown(3, 1_000, 50),
        message(4, 'm2'),
        shutdown(5, 1_500, 80),
      ],
      event(6, 'session.compaction_complete', { success: true }),
      ...[message(7, 'm3'), shutdown(8, 700, 10)],
    ])
    const record = await readOne({ 'session-state/c2/events.jsonl': again })
    expect(record.tokens).toEqual({ input: 1_100 + 300, output: 90, cache_read: 800, cache_creation: 0 })
    expect(record.turn_records?.map(({ role, tokens }) => [role, tokens?.output ?? null])).toEqual([
      ['user', null],
      ['assistant', null],
      ['assistant', null],
      ['assistant', null],
      ['unattributed', 90],
    ])
  })

  test('after a crash nothing says what was used', async () => {
    const record = await readOne({
      'session-state/c2/events.jsonl': lines([start('c2'), prompt, message(5, 'm1')]),
    })
    expect(tokensOfAnswers(record)).toEqual([null])
  })

  test('a store that is damaged is named, and the events are read', async () => {
    const path = await write({
      'session-state/c2/events.jsonl': file,
      'session-store.db': `SQLite format 3\u0000${'x'.repeat(5_000)}`,
    })
    const { records, unreadable, skipped } = await read(path)
    expect(records).toMatchObject([{ id: 'sess_c2', turns: 3 }])
    expect(unreadable.map(({ path: file }) => file.split('/').at(-1))).toEqual(['session-store.db'])
    expect(skipped).toHaveLength(1)
  })
})

test('a store without the folder of events is read by itself', async () => {
  const path = await write({ 'notes.md': '' })
  makeDatabase(join(path, 'session-store.db'), STORE, [
    session('c3'),
    stored([1, 'c3', 50, '2026-05-01 10:00:04']),
    stored([2, 'c3', 20, at(8)]),
  ])
  expect(await readOne(path)).toMatchObject({
    id: 'sess_c3',
    source: 'copilot',
    project_name: 'shop',
    branch: 'fix',
    created_at: at(0),
    ended_at: at(8),
    tokens: { input: 1_000, output: 70, cache_read: 800, cache_creation: 200 },
  })
})

test('lines that are damaged are named, the others are read', async () => {
  const { records, unreadable } = await read({
    'session-state/c4/events.jsonl': `${lines([start('c4'), prompt])}{"type":"assistant.mess\n42\n`,
  })
  expect(records).toMatchObject([{ id: 'sess_c4', turns: 1 }])
  expect(unreadable.map(({ line }) => line)).toEqual([3, 4])
})
