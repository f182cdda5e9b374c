import { expect, test } from 'bun:test'
import { agentFolders } from '../../../../src/cli/client/agent-folders.ts'
import { agentFiles, lines, tokensOfAnswers } from '../reading.ts'

const { read, readOne } = agentFiles()

const START = Date.UTC(2026, 2, 1, 10) / 1_000
const head = { type: 'metadata', protocol_version: '1.3' }
const line = (second: number, type: string, payload: object = {}) => ({
  timestamp: START + second,
  message: { type, payload },
})
const used = (id: string, input_other: number) => ({
  context_usage: 0.1,
  message_id: id,
  token_usage: { input_other, output: 5, input_cache_read: 200, input_cache_creation: 0 },
})
const answer = (second: number, id: string, input: number) => [
  line(second, 'StepBegin', { n: 1 }),
  line(second + 0.1, 'ContentPart', { type: 'text', text: 'Yes' }),
  line(second + 0.2, 'ToolCall', {
    type: 'function',
    id: `call ${id}`,
    function: { name: 'Shell', arguments: '{"co' },
  }),
  line(second + 0.3, 'ToolCallPart', { arguments_part: 'mmand":"ls"}' }),
  line(second + 0.4, 'StatusUpdate', used(id, input)),
  line(second + 0.4, 'StatusUpdate', { plan_mode: false }),
  line(second + 0.5, 'ToolResult', {
    tool_call_id: `call ${id}`,
    return_value: { is_error: true, output: 'x' },
  }),
]
const FOLDER = new Bun.CryptoHasher('md5').update('/home/dev/shop').digest('hex')
const session = (id: string, records: object[], first: object[] = [head]) => ({
  [`.kimi/sessions/${FOLDER}/${id}/wire.jsonl`]: lines([...first, ...records]),
  [`.kimi/sessions/${FOLDER}/${id}/context.jsonl`]: lines([{ role: 'user', content: 'Do it' }]),
  '.kimi/kimi.json': JSON.stringify({ work_dirs: [{ path: '/home/dev/other' }, { path: '/home/dev/shop' }] }),
})
const main = [
  line(1, 'TurnBegin', { user_input: [{ type: 'text', text: 'Do it' }] }),
  ...answer(2, 'm1', 10),
  line(4, 'StepRetry', { n: 1, next_attempt: 2 }),
  line(5, 'CompactionBegin'),
  line(6, 'SteerInput', { user_input: 'Stop it' }),
  line(7, 'StepBegin', { n: 2 }),
  line(7.1, 'ContentPart', { type: 'think', think: 'Hm' }),
  line(8, 'StepInterrupted'),
]

test.each<[string, object[]]>([
  ['newer versions', [head]],
  ['versions without a head', []],
])('answers with their usage, prompts, tools and events, of %s', async (_, first) => {
  const record = await readOne(session('s1', main, first))
  expect(record).toMatchObject({
    id: 'sess_s1',
    source: 'kimi',
    project_name: 'shop',
    model: null,
    turns: 4,
    tokens: { input: 10, output: 5, cache_read: 200, cache_creation: 0 },
    unpriced_tokens: 215,
    tools_used: [{ name: 'Shell', calls: 1, errors: 1 }],
    started_at: '2026-03-01T10:00:01.000Z',
  })
  expect(tokensOfAnswers(record)).toEqual([expect.objectContaining({ input: 10 }), null])
  expect(record.observations?.map(({ type }) => type).sort()).toEqual([
    'api_error',
    'compaction',
    'interruption',
  ])
})

test('a sub-agent counts once, by its file or by the events that the session repeats', async () => {
  const own = answer(2, 'm9', 4_000)
  const told = own.map(({ timestamp, message }) => ({
    timestamp: timestamp + 0.01,
    message: {
      type: 'SubagentEvent',
      payload: { parent_tool_call_id: 'call m1', agent_id: 'a1', event: message },
    },
  }))
  const files = session('s1', [...main.slice(0, 8), ...told])
  const sub = {
    [`.kimi/sessions/${FOLDER}/s1/subagents/a1/wire.jsonl`]: lines([
      head,
      line(1.5, 'TurnBegin', { user_input: 'Look' }),
      ...own,
    ]),
  }
  for (const each of [files, { ...files, ...sub }]) {
    const record = await readOne(each)
    expect(record).toMatchObject({ tokens: { input: 4_010, output: 10 }, turns: 3 })
    expect(record.tools_used).toEqual([{ name: 'Shell', calls: 2, errors: 2 }])
  }
  expect(await readOne(sub)).toMatchObject({ id: 'sess_s1', tokens: { input: 4_000 }, turns: 1 })
})

test('a fork has what came after the copy', async () => {
  const { records } = await read({
    ...session('a-fork', [...main.slice(0, 8), ...answer(60, 'm2', 700)]),
    ...session('b-own', main.slice(0, 8)),
  })
  expect(records.map(({ id, tokens }) => [id, tokens?.input]).sort()).toEqual([
    ['sess_a-fork', 700],
    ['sess_b-own', 10],
  ])
})

test('its place is read by default; a context without the record of what was done is named', async () => {
  expect(agentFolders({ HOME: '/h' }, 'linux')).toContain('/h/.kimi/sessions')
  expect(agentFolders({ HOME: '/h', KIMI_SHARE_DIR: '/k' }, 'linux')).toContain('/k/sessions')
  expect((await read(session('s1', main))).skipped).toEqual([])
  const { skipped } = await read({ 'x/context.jsonl': lines([{ role: 'user', content: 'Do it' }]) })
  expect(skipped).toEqual(['context.jsonl: not a format we read'])
})
