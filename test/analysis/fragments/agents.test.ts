import { expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import type { SessionRecord } from '../../../src/analysis/records/session.ts'
import { testsFolder } from '../../support/at-end.ts'
import { at, merged, ms, readAll } from '../agents/reading.ts'
import { putFile } from './transcripts.ts'

// Sessions of several files, one of which may be an older copy: read together, or each by itself in any order, they are the same.

const folder = testsFolder().path

type Lines = readonly object[]

// ---- Qwen Code: the answer to a sub-agent is in its file and, with an id, in that of the session
const qwen = (second: number, type: string, more: object) => ({
  ...{ uuid: `${type} ${second}`, sessionId: 'q1', timestamp: at(second), type, cwd: '/home/dev/shop' },
  ...more,
})
const told = (second: number, id: string, input: number) =>
  qwen(second, 'system', {
    subtype: 'ui_telemetry',
    systemPayload: {
      uiEvent: {
        ...{ 'event.name': 'qwen-code.api_response', response_id: id, model: 'qwen3-coder-plus' },
        ...{ input_token_count: input, output_token_count: 5, total_token_count: input + 5 },
      },
    },
  })
const answered = (second: number, input: number, more: object = {}) =>
  qwen(second, 'assistant', {
    model: 'qwen3-coder-plus',
    message: {
      role: 'model',
      parts: [{ functionCall: { id: `t${second}`, name: 'read_file', args: {} } }],
    },
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: 5, totalTokenCount: input + 5 },
    ...more,
  })
const qwenMain = [
  qwen(0, 'user', { message: { role: 'user', parts: [{ text: 'Fix it' }] } }),
  ...[told(1, 'r1', 1_000), answered(2, 1_000)],
  // two calls of the sub-agent, one of them as large as that of the session; a title
  ...[told(4, 'r2', 300), told(6, 'r3', 1_000), told(8, 'r4', 90)],
]
const side = { agentId: 'a1', isSidechain: true, model: undefined }
const qwenSub = [answered(5, 300, side), answered(7, 1_000, side)]

// ---- Cline: a task that was resumed as a session
const said = (second: number, kind: string, counts: object | string) => ({
  ...{ ts: ms(second), type: 'say', say: kind },
  text: typeof counts === 'string' ? counts : JSON.stringify(counts),
})
const task = [
  said(0, 'task', 'Fix it'),
  said(1, 'api_req_started', { tokensIn: 1_000, tokensOut: 10, cost: 0.125 }),
  said(2, 'subagent_usage', { tokensIn: 2_000, tokensOut: 50, cost: 0.375 }),
]
const metrics = (inputTokens: number, outputTokens: number, cost: number) => ({
  metrics: { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, cost },
})
const clineSession = {
  ...{ version: 1, agent: 'lead', sessionId: '1777629600000', origin: {} },
  messages: [
    { role: 'user', content: 'Fix it' },
    {
      ...{ role: 'assistant', content: 'Yes', ...metrics(3_000, 60, 0.5) },
      modelInfo: { id: 'claude-sonnet-4-5', provider: 'unknown' },
    },
    { role: 'user', content: 'Warning: this is a legacy conversation, which means tools may have changed.' },
    { id: 'u1', role: 'user', content: 'Go on', ts: ms(10) },
    {
      ...{ id: 'a1', role: 'assistant', content: 'Done', ts: ms(11), ...metrics(400, 7, 0.25) },
      modelInfo: { id: 'claude-sonnet-4-5', provider: 'anthropic' },
    },
  ],
}

// ---- Pi: a session with a summary, and its fork
const head = (id: string, second: number) => ({ type: 'session', version: 3, id, timestamp: at(second) })
const pi = (type: string, id: string, second: number, input: number) => ({
  ...{ type, id, timestamp: at(second) },
  usage: { input, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: input / 1_000 } },
})
const piOne = [pi('compaction', 'c1', 2, 1_000), pi('branch_summary', 'b1', 3, 500)]
const parentSession = `/sessions/2026-05-01T10-00-00-000Z_p1.jsonl`
const piFork = [{ ...head('p2', 20), parentSession }, ...piOne, pi('compaction', 'c2', 22, 7)]

// ---- Amp: a thread, before its ledger and after it
const usage = { model: 'claude-opus-4-6', inputTokens: 3, outputTokens: 200, timestamp: at(2) }
const event = (id: string, toMessageId: number | undefined, input: number, output: number) => ({
  ...{ id, toMessageId, timestamp: at(5), model: 'claude-opus-4-6', tokens: { input, output } },
})
const thread = {
  ...{ id: 'T-019ca1ce-3ae2-7686-a41e-000000000002', created: ms(0) },
  messages: [
    { role: 'user', messageId: 0, content: [{ type: 'text', text: 'Go' }] },
    { role: 'assistant', messageId: 1, content: [], usage },
    { role: 'assistant', messageId: 3, content: [] },
  ],
}
const usageLedger = { events: [event('a', undefined, 1, 2), event('b', 1, 3, 200), event('c', 3, 700, 8)] }

const CASES: [string, Record<string, Lines>, Record<string, number>][] = [
  [
    'Qwen Code',
    {
      'chats/q1.jsonl': qwenMain,
      'subagents/q1/agent-a1.jsonl': qwenSub,
      'old/q1.jsonl': qwenMain.slice(0, 4),
    },
    { sess_q1: 1_000 + 300 + 1_000 + 90 },
  ],
  [
    'Cline',
    {
      'tasks/1777629600000/ui_messages.json': [task],
      'sessions/1777629600000.messages.json': [clineSession],
    },
    { sess_1777629600000: 3_400 },
  ],
  [
    'Pi',
    {
      'a.jsonl': [head('p1', 0), ...piOne],
      'b.jsonl': piFork,
      'c.jsonl': [head('p1', 0), ...piOne.slice(1)],
    },
    { sess_p1: 1_500, sess_p2: 7 },
  ],
  [
    'Amp',
    { 'old/T-1.json': [thread], 'T-1.json': [{ ...thread, usageLedger }] },
    { [`sess_${thread.id}`]: 704 },
  ],
]

const read = async (paths: readonly string[]) => (await readAll(paths)).records

/** The records that a server has after it got these, by id. */
const mergedById = (records: readonly SessionRecord[]) =>
  Object.fromEntries(merged(records).map((record) => [record.id, { ...record, project_name: null }]))

test.each(CASES)('%s: files together, or each by itself in any order', async (name, files, inputs) => {
  const paths = Object.entries(files).map(([path, lines]) =>
    putFile(join(folder, name), { path, lines: lines.map((line) => JSON.stringify(line)) }),
  )
  const whole = await read(paths)
  expect(Object.fromEntries(whole.map(({ id, tokens }) => [id, tokens?.input]))).toEqual(inputs)
  const pieces: SessionRecord[] = []
  for (const path of paths) pieces.push(...(await read([path])))
  const expected = mergedById(whole)
  fc.assert(
    fc.property(fc.shuffledSubarray([...pieces, ...whole], { minLength: pieces.length }), (order) => {
      const some = mergedById([...order, ...pieces])
      expect(some).toEqual(expected)
    }),
    { numRuns: 50 },
  )
})
