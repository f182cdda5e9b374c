import { expect, test } from 'bun:test'
import { mergeFragments } from '../../../src/analysis/fragments/merge.ts'
import { type SessionFragments, unpackFragments } from '../../../src/analysis/records/fragments.ts'
import { notesOf, type SessionRecord } from '../../../src/analysis/records/session.ts'
import { agentFiles, lines } from './reading.ts'

// Agents write more on a call than its tokens, each in its own fields.

const { readOne } = agentFiles()
const at = (second: number) => `2026-11-14T10:00:${String(second).padStart(2, '0')}.000Z`

const calls = ({ turn_records }: SessionRecord) =>
  (turn_records ?? []).filter(({ role, tokens }) => role === 'assistant' && tokens !== null)
const notes = (record: SessionRecord) => calls(record).map((turn) => notesOf(turn))

const claude = (number: number, id: string, more: object = {}, cache: object = {}) => ({
  ...{
    type: 'assistant',
    sessionId: 's1',
    uuid: `u${number}`,
    timestamp: at(number),
    requestId: `r${number}`,
  },
  message: {
    ...{ id, role: 'assistant', model: 'claude-sonnet-4-5', content: [] },
    usage: { input_tokens: 1, output_tokens: 2, cache_creation_input_tokens: 100_000, ...cache },
  },
  ...more,
})

const SKILLED = {
  ...{ version: '2.1.330', effort: 'high', attributionSkill: 'review', attributionAgent: 'Explore' },
  ...{ attributionMcpServer: 'linear', attributionMcpTool: 'search', attributionPlugin: 'tools@acme' },
}

test('Claude Code’s lines have the version, effort, skill, sub-agent, server and plugin, ids the cloud', async () => {
  const record = await readOne({
    'a.jsonl': lines([
      claude(1, 'msg_1', SKILLED, { cache_creation: { ephemeral_1h_input_tokens: 40_000 } }),
      claude(2, 'msg_bdrk_2', { version: '2.1.330' }),
      claude(3, 'msg_vrtx_3', { version: 'x'.repeat(300), effort: {} }),
      claude(4, 'msg_4'),
    ]),
  })
  const version = '2.1.330'
  expect(notes(record)).toEqual([
    {
      ...{ version, effort: 'high', skill: 'review', subagent: 'Explore' },
      ...{ mcp_server: 'linear', plugin: 'tools@acme' },
    },
    { version, vendor: 'aws', paid_by: 'api' },
    { version: 'x'.repeat(200), vendor: 'google', paid_by: 'api' },
    {},
  ])
  const [first] = calls(record)
  expect(first?.tokens).toMatchObject({ cache_creation: 100_000, cache_creation_1h: 40_000 })
  expect(record.tokens).toMatchObject({ cache_creation: 400_000, cache_creation_1h: 40_000 })
  // 60,000 writes at 3.75 a million, 40,000 at 6; 1 of input at 3, 2 of output at 15
  expect(first?.cost).toBe(0.465033)
})

test('parts of an earlier version add no notes, and take none', async () => {
  const partsOf = async (...more: object[]) => {
    const record = await readOne({
      'a.jsonl': lines(more.map((each, index) => claude(index, `msg_${index}`, each))),
    })
    return unpackFragments(record.parts ?? '') as SessionFragments
  }
  const [noted, plain] = [await partsOf(SKILLED, { version: '2.1.330' }), await partsOf({}, {})]
  expect(mergeFragments(plain, noted)).toEqual(noted)
  expect(mergeFragments(noted, plain)).toEqual(noted)
})

test('the output of claude -p has the version and whether a key pays', async () => {
  const head = { type: 'system', subtype: 'init', session_id: 's1', tools: [], model: 'claude-sonnet-4-5' }
  const { sessionId: _, ...answer } = { ...claude(1, 'msg_1'), session_id: 's1' }
  const of = async (apiKeySource: string) =>
    notes(
      await readOne({
        'run.log': lines([{ ...head, claude_code_version: '2.1.332', apiKeySource }, answer]),
      }),
    )
  expect(await of('ANTHROPIC_API_KEY')).toEqual([{ version: '2.1.332', paid_by: 'api' }])
  expect(await of('none')).toEqual([{ version: '2.1.332' }])
})

test('Codex’ rollouts have version and provider in the head, the effort in each turn, the plan in limits', async () => {
  const line = (second: number, type: string, payload: object) => ({ timestamp: at(second), type, payload })
  const count = (second: number, total: number, plan_type: string | null) =>
    line(second, 'event_msg', {
      type: 'token_count',
      info: { total_token_usage: { input_tokens: total, output_tokens: 0, total_tokens: total } },
      rate_limits: { plan_type },
    })
  const rollout = (model_provider: string, plan: string | null) =>
    lines([
      line(0, 'session_meta', { id: 'c1', cwd: '/home/dev/shop', cli_version: '0.171.0', model_provider }),
      line(1, 'turn_context', { model: 'gpt-5.5', effort: 'xhigh' }),
      count(2, 100, plan),
      line(3, 'turn_context', { model: 'gpt-5.5' }),
      count(4, 200, plan),
    ])
  const planned = await readOne({ 'rollout-a.jsonl': rollout('openai', 'pro') })
  const version = '0.171.0'
  expect(notes(planned)).toEqual([
    { version, effort: 'xhigh', vendor: 'openai' },
    { version, vendor: 'openai' },
  ])
  expect(planned.paid_by).toBe('plan')
  const other = await readOne({ 'rollout-a.jsonl': rollout('amazon-bedrock', null) })
  expect(notes(other)[1]).toEqual({ version, vendor: 'aws', paid_by: 'api' })
  expect(other.paid_by).toBeUndefined()
})
