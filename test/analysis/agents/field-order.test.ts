import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { readSessions, type SourceResult } from '../../../src/analysis/agents/read-sessions.ts'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { scratchFolder } from '../../support/cli.ts'
import { PLANTED } from '../../support/planted-secrets.ts'

// A line of Claude Code has the result of a tool twice. The copy that is not read is skipped where it is the end of the
// line: whatever it is, and wherever it is, the session is the same.

const folder = scratchFolder()
afterAll(() => folder.remove())

async function read(lines: readonly string[]): Promise<SourceResult> {
  const path = join(folder.path, 'session.jsonl')
  await Bun.write(path, `${lines.join('\n')}\n`)
  const results: SourceResult[] = []
  for await (const result of readSessions([path], { pricer: await loadPricer() })) results.push(result)
  expect(results).toHaveLength(1)
  return results[0] as SourceResult
}

const shared = {
  sessionId: 'aaaa1111-0000-4000-8000-000000000077',
  cwd: '/home/dev/shop',
  gitBranch: 'main',
  isSidechain: false,
}
const ASSISTANT = {
  ...shared,
  type: 'assistant',
  uuid: 'u1',
  timestamp: '2026-03-05T10:00:01.000Z',
  requestId: 'req_1',
  message: {
    id: 'msg_1',
    role: 'assistant',
    model: 'claude-sonnet-4-5-20250929',
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'WebSearch', input: { query: 'bun' } }],
    usage: { input_tokens: 10, output_tokens: 20 },
  },
}
const USER = {
  ...shared,
  type: 'user',
  uuid: 'u2',
  timestamp: '2026-03-05T10:00:02.000Z',
  permissionMode: 'bypassPermissions',
  message: {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: `found ${PLANTED.github}`, is_error: true },
      { type: 'text', text: 'go on' },
    ],
  },
}

test('the session is the same in whatever order a line has its fields', async () => {
  const results = fc.constantFrom<unknown>(
    'Error: "quoted" }',
    { stdout: '","toolUseResult":{}}', stderr: '' },
    { type: 'text', file: { content: 'a\\"b' } },
    [{ toolUseResult: { isMeta: true } }],
    { searchCount: 3 },
    { sourceToolUseResult: { type: 'assistant', uuid: 'u9', sessionId: 'other' } },
  )
  const fields = Object.keys(USER)
  const cases = fc.tuple(
    results,
    fc.shuffledSubarray([...fields, 'toolUseResult'], { minLength: fields.length + 1 }),
  )
  await fc.assert(
    fc.asyncProperty(cases, async ([toolUseResult, order]) => {
      const user: Record<string, unknown> = { ...USER, toolUseResult }
      const ordered = Object.fromEntries(order.map((field) => [field, user[field]]))
      const first = { toolUseResult, ...USER }
      const expected = await read([ASSISTANT, first].map((line) => JSON.stringify(line)))
      const found = await read([ASSISTANT, ordered].map((line) => JSON.stringify(line)))
      expect(expected.records).toHaveLength(1)
      expect(found).toEqual(expected)
    }),
    { numRuns: 200 },
  )
})

test('a line that is cut off in the result of a tool is unreadable', async () => {
  const whole = JSON.stringify({ ...USER, toolUseResult: { stdout: 'one, two', stderr: '' } })
  const { unreadable } = await read([JSON.stringify(ASSISTANT), whole.slice(0, -10)])
  expect(unreadable.map(({ line, reason }) => [line, reason])).toEqual([[2, 'not JSON, or cut off']])
})

test('a result inside of another object does not end the line', async () => {
  const data = { type: 'agent_progress', message: { ...USER, toolUseResult: { stdout: 'one' } } }
  const progress = { ...shared, type: 'progress', uuid: 'u3', timestamp: USER.timestamp, data }
  const { unreadableCount, records } = await read([ASSISTANT, progress].map((line) => JSON.stringify(line)))
  expect(unreadableCount).toBe(0)
  expect(records).not.toEqual((await read([JSON.stringify(ASSISTANT)])).records)
})
