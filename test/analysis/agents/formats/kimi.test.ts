import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type KnownFile, lookAt } from '../../../../src/analysis/agents/known-files.ts'
import { agentFiles, lines } from '../reading.ts'

const { write, read, readOne } = agentFiles()

const ms = (second: number) => Date.UTC(2026, 7, 1, 10, 0, second)
const head = { type: 'metadata', protocol_version: '1.5', created_at: ms(0) }
const record = (second: number, type: string, more: object = {}) => ({ type, ...more, time: ms(second) })
const event = (second: number, type: string, more: object) =>
  record(second, 'context.append_loop_event', { event: { type, ...more } })
const prompt = (second: number, kind: string, more: object = {}) =>
  record(second, 'turn.prompt', { input: [{ type: 'text', text: 'Do it' }], origin: { kind, ...more } })
const usage = (second: number, inputOther: number, usageScope = 'turn') =>
  record(second, 'usage.record', {
    model: 'mine',
    usage: { inputOther, output: 5, inputCacheRead: 200, inputCacheCreation: 30 },
    usageScope,
  })
/** One answer of the model, which calls a tool. `isNew`: newer versions write the usage before the answer. */
const step = (second: number, id: string, inputOther: number, isNew = false, isError = false) => [
  event(second, 'step.begin', { uuid: id, turnId: '0', step: 1 }),
  record(second, 'llm.request', { kind: 'loop', model: 'kimi-k2-0905-preview', modelAlias: 'mine' }),
  ...(isNew ? [usage(second, inputOther)] : []),
  event(second, 'content.part', { stepUuid: id, part: { type: 'text', text: 'Yes' } }),
  event(second, 'tool.call', { stepUuid: id, toolCallId: 'Bash_0', name: 'Bash', args: { command: 'ls' } }),
  event(second, 'tool.result', { toolCallId: 'Bash_0', result: { output: 'x', isError } }),
  event(second, 'step.end', { uuid: id, usage: { inputOther, output: 5 } }),
  ...(isNew ? [] : [usage(second, inputOther)]),
]
const session = (id: string, state: object, agents: Record<string, object[]>): Record<string, string> => ({
  [`wd_shop/${id}/state.json`]: JSON.stringify(state),
  ...Object.fromEntries(
    Object.entries(agents).map(([agent, records]) => [
      `wd_shop/${id}/agents/${agent}/wire.jsonl`,
      lines([head, ...records]),
    ]),
  ),
})
const SHOP = { cwd: '/home/dev/shop', title: 'Shop' }

test('each answer counts once, those of sub-agents and of compactions too', async () => {
  const main = [
    prompt(1, 'user'),
    ...step(2, 's1', 10),
    ...step(3, 's2', 100, true, true),
    usage(4, 1_000, 'session'),
    record(4, 'context.apply_compaction', { summary: 'short', compactedCount: 3 }),
  ]
  const helper = [prompt(2, 'system_trigger', { name: 'subagent' }), ...step(2, 's3', 20_000)]
  const { records, unreadable } = await read(session('s-1', SHOP, { main, 'agent-0': helper }))
  expect(unreadable).toEqual([])
  expect(records).toHaveLength(1)
  // 21,110 · $0.60 + 800 · $0.15 + 120 · $0.60 + 20 · $2.50 a million
  expect(records[0]).toMatchObject({
    id: 'sess_s-1',
    source: 'kimi',
    project_name: 'shop',
    started_at: '2026-08-01T10:00:01.000Z',
    tokens: { input: 21_110, output: 20, cache_read: 800, cache_creation: 120 },
    cost_source: 'estimated',
    estimated_cost: 0.012908,
    models: ['kimi-k2-0905-preview'],
    tools_used: [{ name: 'Bash', calls: 3, errors: 1 }],
  })
  expect(records[0]?.turn_records?.filter(({ role }) => role === 'user')).toHaveLength(1)
  expect(records[0]?.observations?.map(({ type }) => type)).toEqual(['compaction'])
})

test('prompts are those that a person wrote, in the folder that older versions name', async () => {
  const found = await readOne(
    session(
      's-1',
      { workDir: '/home/dev/cart' },
      {
        main: [
          prompt(1, 'user'),
          record(2, 'turn.steer', { input: [{ type: 'text', text: 'Stop' }], origin: { kind: 'user' } }),
          prompt(3, 'skill_activation', { trigger: 'user-slash' }),
          prompt(4, 'skill_activation', { trigger: 'model-tool' }),
          prompt(5, 'cron_job'),
          prompt(6, 'retry'),
          record(7, 'context.append_message', { message: { role: 'user', origin: { kind: 'user' } } }),
          ...step(8, 's1', 10),
        ],
      },
    ),
  )
  expect(found.project_name).toBe('cart')
  expect(found.turn_records?.map(({ role }) => role)).toEqual(['user', 'user', 'user', 'assistant'])
})

const answered = (decision: string) =>
  record(8, 'permission.record_approval_result', { toolCallId: 'Bash_0', result: { decision } })

test('failed requests, cancelled turns and refused calls are observed once', async () => {
  const { observations } = await readOne(
    session('s-1', SHOP, {
      main: [
        prompt(1, 'user'),
        event(2, 'step.begin', { uuid: 's1' }),
        // one retry, as versions of the program tell it
        record(2, 'turn.step.retrying', { failedAttempt: 1, nextAttempt: 2 }),
        record(3, 'llm.request', { model: 'kimi-k2', attempt: '2/10' }),
        record(4, 'turn.cancel', { target: 'active' }),
        record(5, 'turn.cancel', { target: 'queued' }),
        record(6, 'turn.ended', { reason: 'cancelled' }),
        ...step(7, 's2', 10, false, true),
        answered('rejected'),
        answered('approved'),
        record(9, 'turn.ended', { reason: 'failed', error: { code: 'provider.api_error' } }),
      ],
    }),
  )
  expect(observations?.map(({ type }) => type).sort()).toEqual([
    'api_error',
    'api_error',
    'interruption',
    'rejection',
  ])
})

test('what a fork copies counts for its parent, with its file or without', async () => {
  const copied = [prompt(1, 'user'), ...step(2, 's1', 10)]
  const parent = session('s-1', SHOP, { main: [...copied, ...step(30, 's2', 100)] })
  const fork = session(
    's-2',
    { ...SHOP, forkedFrom: 's-1' },
    {
      main: [...copied, record(20, 'forked'), prompt(21, 'user'), ...step(22, 's3', 1_000)],
    },
  )
  const inputOf = async (files: Record<string, string>) =>
    (await read(files)).records.map(({ id, tokens, turns }) => [id, tokens?.input, turns]).sort()
  expect(await inputOf({ ...parent, ...fork })).toEqual([
    ['sess_s-1', 110, 3],
    ['sess_s-2', 1_000, 2],
  ])
  expect(await inputOf(fork)).toEqual([
    ['sess_s-1', 10, 2],
    ['sess_s-2', 1_000, 2],
  ])
})

test('a provider that tells no usage leaves it unknown', async () => {
  const none = { inputOther: 0, output: 0, inputCacheRead: 0, inputCacheCreation: 0 }
  const found = await readOne(
    session('s-1', SHOP, {
      main: [
        prompt(1, 'user'),
        event(2, 'step.begin', { uuid: 's1' }),
        record(2, 'usage.record', { model: 'mine', usage: none, usageScope: 'turn' }),
      ],
    }),
  )
  expect(found.turn_records?.map(({ tokens }) => tokens)).toEqual([null, null])
})

test('a file that an earlier version had no reader for is read', async () => {
  const path = await write(session('s-1', SHOP, { main: [prompt(1, 'user'), ...step(2, 's1', 10)] }))
  const file = join(path, 'wd_shop/s-1/agents/main/wire.jsonl')
  const known: KnownFile = {
    ...lookAt(file, statSync(file), undefined).now,
    detected: { kind: 'unknown', reason: 'not a format we read' },
    ids: [],
  }
  const memory = { find: (asked: string) => (asked === file ? known : undefined), keep() {} }
  expect((await readOne(path, { memory })).id).toBe('sess_s-1')
})
