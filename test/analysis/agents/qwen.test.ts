import { describe, expect, test } from 'bun:test'
import { agentFiles, lines, tokensOfAnswers } from './reading.ts'

const { read, readOne } = agentFiles()

const at = (second: number) => `2026-06-01T08:00:${String(second).padStart(2, '0')}.000Z`
const line = (second: number, type: string, more: object) => ({
  uuid: `${type}-${second}`,
  sessionId: 'q1',
  timestamp: at(second),
  type,
  cwd: '/home/dev/shop',
  gitBranch: 'main',
  ...more,
})
const text = (words: string) => ({ message: { role: 'user', parts: [{ text: words }] } })
const answer = (second: number, [input, output, cached]: number[], more: object = {}) =>
  line(second, 'assistant', {
    model: 'qwen3-coder-plus',
    message: { role: 'model', parts: [{ text: `answer ${second}` }] },
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      thoughtsTokenCount: 3,
      cachedContentTokenCount: cached,
      totalTokenCount: (input ?? 0) + (output ?? 0),
    },
    ...more,
  })
const telemetry = (second: number, id: string, [input, output, cached]: number[], more: object = {}) =>
  line(second, 'system', {
    uuid: `telemetry-${id}`,
    subtype: 'ui_telemetry',
    systemPayload: {
      uiEvent: {
        'event.name': 'qwen-code.api_response',
        response_id: id,
        model: 'qwen3-coder-plus',
        input_token_count: input,
        output_token_count: output,
        thoughts_token_count: 3,
        cached_content_token_count: cached,
        total_token_count: (input ?? 0) + (output ?? 0),
        ...more,
      },
    },
  })

const SESSION = [
  line(0, 'user', text('Fix the cart')),
  telemetry(1, 'r1', [1_000, 50, 600]),
  answer(2, [1_000, 50, 600]),
  // the sub-agent's call, whose answer is in its own file
  telemetry(4, 'r2', [300, 20, 0], { subagent_name: 'general-purpose' }),
  // a call that nobody sees
  telemetry(6, 'r3', [90, 9, 0]),
]
const SUB_AGENT = [
  line(3, 'user', { ...text('Look around'), isSidechain: true, agentId: 'a1' }),
  answer(4, [300, 20, 0], { isSidechain: true, agentId: 'a1', model: undefined }),
  line(5, 'assistant', {
    agentId: 'a1',
    isSidechain: true,
    message: { parts: [{ functionCall: { id: 't1', name: 'run_shell_command', args: { command: 'ls' } } }] },
  }),
  line(6, 'tool_result', {
    agentId: 'a1',
    message: {
      parts: [
        {
          functionResponse: {
            id: 't1',
            name: 'run_shell_command',
            response: { output: 'Output: x\nExit Code: 2\nSignal: (none)' },
          },
        },
      ],
    },
  }),
]

describe('a session and its sub-agent', () => {
  test('each call once: its record, its line and that of the sub-agent are one', async () => {
    const record = await readOne({
      'projects/shop/chats/q1.jsonl': lines(SESSION),
      'projects/shop/subagents/q1/agent-a1.jsonl': lines(SUB_AGENT),
    })
    expect(record).toMatchObject({
      id: 'sess_q1',
      source: 'qwen',
      project_name: 'shop',
      branch: 'main',
      turns: 4,
      tokens: { input: 400 + 300 + 90, output: 50 + 20 + 9, cache_read: 600, cache_creation: 0 },
      tools_used: [{ name: 'run_shell_command', calls: 1, errors: 1 }],
    })
    expect(record.turn_records?.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'assistant',
      'assistant',
    ])
  })

  test('a version that records no answers has the usage in its lines', async () => {
    const record = await readOne({ 'q1.jsonl': lines([SESSION[0], answer(2, [1_000, 50, 600])]) })
    expect(tokensOfAnswers(record)).toEqual([{ input: 400, output: 50, cache_read: 600, cache_creation: 0 }])
  })
})

test('Gemini’s thoughts are beside the output: the total tells', async () => {
  const usageMetadata = {
    promptTokenCount: 100,
    candidatesTokenCount: 10,
    thoughtsTokenCount: 30,
    totalTokenCount: 140,
  }
  const record = await readOne({ 'q1.jsonl': lines([SESSION[0], answer(2, [], { usageMetadata })]) })
  expect(record.tokens).toEqual({ input: 100, output: 40, cache_read: 0, cache_creation: 0 })
})

test('what is no prompt, a refused call, a compaction, an error and a title', async () => {
  const call = { functionCall: { id: 't1', name: 'write_file', args: { file_path: 'a.ts', content: 'x' } } }
  const record = await readOne(
    {
      'q1.jsonl': lines([
        line(0, 'user', {
          message: { parts: [{ text: 'Do it' }, { text: '<qwen:user-prompt-submit-context>added</qwen>' }] },
        }),
        line(1, 'user', { ...text('a note of the program'), subtype: 'notification' }),
        line(1, 'user', { ...text('a goal of the program'), subtype: 'goal_runtime' }),
        line(1, 'user', text('/model')),
        answer(2, [100, 10, 0], { message: { parts: [call] } }),
        line(3, 'tool_result', {
          message: {
            parts: [{ functionResponse: { id: 't1', name: 'write_file', response: { error: 'no' } } }],
          },
          toolCallResult: { callId: 't1', status: 'cancelled' },
        }),
        line(4, 'system', { subtype: 'chat_compression', systemPayload: {} }),
        line(5, 'system', {
          subtype: 'ui_telemetry',
          systemPayload: { uiEvent: { 'event.name': 'qwen-code.api_error' } },
        }),
        line(6, 'system', { subtype: 'custom_title', systemPayload: { customTitle: 'The cart' } }),
        line(7, 'assistant', { message: { parts: [{ text: 'no usage' }] } }),
      ]),
    },
    { content: true },
  )
  expect(record.observations?.map(({ type }) => type).sort()).toEqual([
    'api_error',
    'compaction',
    'rejection',
  ])
  expect(record.files_touched).toEqual([])
  expect(record.summary).toBe('The cart')
  expect(record.turn_records?.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
    'Do it',
  ])
  expect(tokensOfAnswers(record)).toEqual([
    { input: 100, output: 10, cache_read: 0, cache_creation: 0 },
    null,
  ])
})

test('lines that are damaged are named, the others are read', async () => {
  const { records, unreadable } = await read({ 'q1.jsonl': `${lines(SESSION)}{"uuid":"x"\n[1]\n` })
  expect(records).toMatchObject([{ id: 'sess_q1', turns: 4 }])
  expect(unreadable.map(({ line: number }) => number)).toEqual([6, 7])
})

test('the lines that a fork copies are those of the session that they name, also without its file', async () => {
  const forkOf = (line: object) => ({
    ...line,
    sessionId: 'q2',
    forkedFrom: { sessionId: 'q1', messageUuid: 'x' },
  })
  const fork = lines([...SESSION.map(forkOf), { ...answer(30, [70, 7, 0]), sessionId: 'q2' }])
  const outputs = async (files: Record<string, string>) =>
    (await read(files)).records.map(({ id, tokens }) => [id, tokens?.output]).sort()
  const expected = [
    ['sess_q1', 79],
    ['sess_q2', 7],
  ]
  expect(await outputs({ 'a.jsonl': fork, 'b.jsonl': lines(SESSION) })).toEqual(expected)
  expect(await outputs({ 'a.jsonl': lines(SESSION), 'b.jsonl': fork })).toEqual(expected)
  expect(await outputs({ 'a.jsonl': fork })).toEqual(expected)
})
