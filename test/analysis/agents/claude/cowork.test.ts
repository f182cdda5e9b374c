import { expect, test } from 'bun:test'
import { agentFolders } from '../../../../src/cli/client/agent-folders.ts'
import { agentFiles, lines } from '../reading.ts'

// Claude Cowork: the agent of Claude's desktop program, which keeps transcripts of Claude Code and an audit log of the same.

const { read, readOne } = agentFiles()

const at = (second: number) => `2026-07-01T10:00:${String(second).padStart(2, '0')}.000Z`
const usage = { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 5 }
const answer = { id: 'msg_1', role: 'assistant', model: 'claude-opus-4-5', content: [], usage }
const TRANSCRIPT = [
  { type: 'user', sessionId: 'cli-1', uuid: 'u1', timestamp: at(1), message: { content: 'Make a table' } },
  { type: 'assistant', sessionId: 'cli-1', uuid: 'a1', timestamp: at(2), requestId: 'r1', message: answer },
]
const audited = (second: number, value: object) => ({
  ...value,
  _audit_timestamp: at(second),
  _audit_hmac: 'x',
})
const AUDIT = [
  audited(1, { type: 'user', session_id: 'cli-1', uuid: 'other', message: { content: 'Make a table' } }),
  audited(2, { type: 'assistant', session_id: 'cli-1', uuid: 'a1', message: answer }),
  audited(3, {
    ...{ type: 'result', subtype: 'success', session_id: 'cli-1', uuid: 'r', num_turns: 1 },
    ...{ usage, total_cost_usd: 0.25 },
    modelUsage: {
      'claude-opus-4-5': {
        ...{ inputTokens: 100, outputTokens: 10, cacheReadInputTokens: 5, cacheCreationInputTokens: 0 },
        costUSD: 0.25,
      },
    },
  }),
]

test('the audit log repeats no prompt, and states the cost', async () => {
  const record = await readOne({
    'local_1/.claude/projects/x/cli-1.jsonl': lines(TRANSCRIPT),
    'local_1/audit.jsonl': lines(AUDIT),
    'local_1.json': JSON.stringify({ sessionId: 'local_1', cliSessionId: 'cli-1', title: 'A table' }),
  })
  expect(record.turn_records?.map(({ role }) => role)).toEqual(['user', 'assistant'])
  expect(record).toMatchObject({
    // 100 × 5 + 10 × 25 + 5 × 0.5 dollars per million
    estimated_cost: 0.000753,
    stated_cost: 0.25,
    cost_source: 'estimated',
    started_at: at(1),
    ended_at: at(3),
    tokens: { input: 100, output: 10, cache_read: 5, cache_creation: 0 },
  })
})

test('the program’s own records are no sessions', async () => {
  const { records, skipped } = await read({
    'local_1.json': JSON.stringify({ sessionId: 'local_1', initialMessage: 'x', role: 'user' }),
    'local_1/.claude/.claude.json': JSON.stringify({ history: [], projects: {} }),
    'cowork_settings.json': JSON.stringify({ sessions: [] }),
  })
  expect([records, skipped]).toEqual([[], []])
})

test.each<[NodeJS.Platform, string[]]>([
  ['darwin', ['/h/Library/Application Support/Claude/local-agent-mode-sessions']],
  ['linux', ['/h/.config/Claude/local-agent-mode-sessions']],
  [
    'win32',
    [
      '/h/AppData/Roaming/Claude/local-agent-mode-sessions',
      '/h/AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/local-agent-mode-sessions',
    ],
  ],
])('its folder is read by default on %s', (platform, folders) => {
  expect(agentFolders({ HOME: '/h' }, platform)).toEqual(expect.arrayContaining(folders))
})

test.each([
  '<session_context>This is the setup</session_context>',
  '<command-name>/compact</command-name>\n<command-message>compact</command-message>',
  '<command-message>deploy is running</command-message>\n<command-name>/deploy</command-name>',
  '<command-args>now</command-args>',
  'Base directory for this skill: /sessions/x/mnt/.skills/xlsx',
])('a program wrote %j, which is no prompt', async (content) => {
  const line = { type: 'user', sessionId: 'cli-1', uuid: 'u0', timestamp: at(0), message: { content } }
  const record = await readOne({ 'a.jsonl': lines([line, ...TRANSCRIPT]) })
  expect(record.turn_records?.map(({ role }) => role)).toEqual(['user', 'assistant'])
})

test('a prompt is one, and an event of one time, in logs and copies with another time or none', async () => {
  const [asked, answered] = TRANSCRIPT
  const failed = {
    ...{ type: 'system', subtype: 'api_error', sessionId: 'cli-1', uuid: 'e1', timestamp: at(5) },
  }
  const log = [
    { type: 'user', session_id: 'cli-1', uuid: 'u1', message: { content: 'Make a table' } },
    { type: 'assistant', session_id: 'cli-1', uuid: 'a1', message: answer },
  ]
  const transcript = lines([asked, answered, failed])
  const copy = lines([{ ...asked, timestamp: at(30) }, answered, { ...failed, timestamp: at(40) }])
  const alone = await readOne({ 'a.jsonl': transcript })
  for (const files of [
    { 'a.jsonl': transcript, 'b.jsonl': copy, 'c.jsonl': lines(log) },
    { 'a.jsonl': lines(log), 'b.jsonl': copy, 'c.jsonl': transcript },
  ]) {
    const record = await readOne(files)
    expect(record.turn_records).toEqual(alone.turn_records ?? [])
    expect(record.observations).toEqual(alone.observations ?? [])
  }
})
