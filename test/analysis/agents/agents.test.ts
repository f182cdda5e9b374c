import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { agentFiles } from './reading.ts'

const FIXTURES = join(import.meta.dir, '../../fixtures/agents')
const CLAUDE = join(FIXTURES, 'claude/projects')

const { read, readOne } = agentFiles()

describe('Claude Code transcripts', () => {
  test('one record with its sub-agents, each API message once', async () => {
    const record = await readOne(CLAUDE)
    expect(record).toMatchObject({
      id: 'sess_aaaa1111-0000-4000-8000-000000000001',
      project_name: 'shop',
      source: 'claude-code',
      branch: 'fix/cart',
      model: 'claude-opus-4-5-20251101',
      created_at: '2026-02-01T10:00:00.000Z',
      ended_at: '2026-02-01T10:03:20.000Z',
      duration_seconds: 200,
      cost_source: 'estimated',
      // msg_1 once with its larger count, msg_2, the sub-agent's file, and the agent whose file is missing
      tokens: {
        input: 10 + 5 + 100 + 300,
        output: 50 + 70 + 40 + 20,
        cache_read: 2000,
        cache_creation: 1000,
      },
      files_touched: ['src/round.ts'],
      tools_used: [
        { name: 'Edit', calls: 2, errors: 1 },
        { name: 'Bash', calls: 1, errors: 0 },
        { name: 'ExitPlanMode', calls: 1, errors: 0 },
        { name: 'Grep', calls: 1, errors: 0 },
      ],
    })
    // 415 tokens of input … priced by hand: opus 15/120/2000/400+600, haiku 400/60
    const opus = 15 * 5 + 120 * 25 + 2000 * 0.5 + 400 * 6.25 + 600 * 10
    const haiku = 400 * 1 + 60 * 5
    expect(record.estimated_cost).toBeCloseTo((opus + haiku) / 1e6, 9)
  })

  test('problems are in signals, observations and issues, without text of the user', async () => {
    const record = await readOne(CLAUDE)
    const counts = Object.fromEntries(
      record.quality_metadata?.factors?.map(({ name, count }) => [name, count]) ?? [],
    )
    expect(counts).toMatchObject({
      tool_errors: 1,
      rejections: 1,
      interruptions: 1,
      api_errors: 1,
      compactions: 1,
      outcome: 1,
    })
    expect(record.observations?.map(({ type }) => type)).toEqual([
      'rejection',
      'interruption',
      'compaction',
      'api_error',
    ])
    expect(record.analysis?.classification).toBe('verified_change')
    for (const word of ['cart total', 'rounding', 'look at the cart'])
      expect(JSON.stringify(record)).not.toContain(word)
  })

  test('turns: one per prompt and one per API message; their tokens and costs sum up', async () => {
    const record = await readOne(CLAUDE)
    const turns = record.turn_records ?? []
    expect(turns.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'assistant',
      'assistant',
    ])
    expect(record.turns).toBe(6)
    for (const key of ['input', 'output', 'cache_read', 'cache_creation'] as const) {
      expect(turns.reduce((sum, turn) => sum + (turn.tokens?.[key] ?? 0), 0)).toBe(record.tokens?.[key] ?? -1)
    }
    expect(turns.reduce((sum, turn) => sum + (turn.cost ?? 0), 0)).toBeCloseTo(record.estimated_cost ?? -1, 5)
  })

  test('with content, prompts and responses are in the turns and the agent’s title is the summary', async () => {
    const record = await readOne(CLAUDE, { content: true })
    expect(record.summary).toBe('Fix the cart total')
    expect(record.turn_records?.[0]?.content).toBe('The cart total is wrong, please fix it')
    expect(record.turn_records?.[1]?.content).toContain('I will look at the cart.')
  })

  test('project and e-mail address can be set', async () => {
    expect(await readOne(CLAUDE, { project: 'web', userEmail: 'dev@example.org' })).toMatchObject({
      project_name: 'web',
      user_email: 'dev@example.org',
    })
  })
})

describe('other formats', () => {
  test('stream-json: the result’s tokens are exact, its cost is kept beside that of the tokens', async () => {
    const record = await readOne(join(FIXTURES, 'stream.log'))
    expect(record).toMatchObject({
      id: 'sess_bbbb2222-0000-4000-8000-000000000002',
      source: 'claude-code',
      cost_source: 'estimated',
      estimated_cost: 0.003741,
      stated_cost: 0.012346,
      tokens: { input: 207, output: 119, cache_read: 500, cache_creation: 500 },
      models: ['claude-sonnet-4-5-20250929', 'claude-haiku-4-5-20251001'],
      tools_used: [{ name: 'Bash', calls: 1, errors: 0 }],
      duration_seconds: 9,
    })
  })

  test('Codex: repeated totals count once, a failed command is an error', async () => {
    const record = await readOne(join(FIXTURES, 'rollout.jsonl'))
    expect(record).toMatchObject({
      project_name: 'the-tool',
      source: 'codex',
      branch: 'main',
      tokens: { input: 1300, output: 100, cache_read: 1200, cache_creation: 0 },
      turns: 3,
      files_touched: ['src/flags.ts'],
      tools_used: [
        { name: 'apply_patch', calls: 1, errors: 0 },
        { name: 'exec_command', calls: 1, errors: 1 },
      ],
    })
    expect(record.observations?.map(({ type }) => type)).toEqual(['interruption'])
  })

  test('Codex: events that a sub-agent’s file repeats from its parent are not counted', async () => {
    const record = await readOne(join(FIXTURES, 'rollout-subagent.jsonl'))
    expect(record.id).toBe('sess_cccc3333-0000-7000-8000-000000000003')
    expect(record.tokens).toEqual({ input: 200, output: 15, cache_read: 500, cache_creation: 0 })
    expect(record.turns).toBe(1)
  })

  test('Gemini: input without the cache, thoughts in output, a cancelled call is a rejection', async () => {
    const record = await readOne(join(FIXTURES, 'chat.json'))
    expect(record).toMatchObject({
      project_name: 'gemini-01234567',
      source: 'gemini',
      tokens: { input: 710, output: 75, cache_read: 300, cache_creation: 0 },
      files_touched: ['src/hello.ts'],
    })
    expect(record.observations?.map(({ type }) => type)).toEqual(['rejection', 'interruption'])
    expect((await readOne(join(FIXTURES, 'chat.jsonl'))).tokens).toEqual({
      input: 100,
      output: 5,
      cache_read: 0,
      cache_creation: 0,
    })
  })

  test('OpenCode: objects over many lines, the stored cost, reasoning in output', async () => {
    const record = await readOne(join(FIXTURES, 'opencode-export.jsonl'))
    expect(record).toMatchObject({
      id: 'sess_ses_eeee5555',
      project_name: 'web-shop',
      source: 'opencode',
      cost_source: 'reported',
      estimated_cost: 0.033093,
      tokens: { input: 10838, output: 1009, cache_read: 0, cache_creation: 0 },
      files_touched: ['src/header.ts'],
      turns: 2,
    })
    expect(
      JSON.stringify(await readOne(join(FIXTURES, 'opencode-export.jsonl'), { content: true })),
    ).not.toContain('not-for-anyone')
  })

  test('OpenCode: the storage folder; a cost of 0 is estimated', async () => {
    expect(await readOne(join(FIXTURES, 'opencode-storage'))).toMatchObject({
      id: 'sess_ses_ffff6666',
      project_name: 'cli',
      cost_source: 'estimated',
      estimated_cost: 0.0015,
      tools_used: [{ name: 'bash', calls: 1, errors: 1 }],
    })
  })
})

test('a folder of all formats: unknown files listed, other files counted', async () => {
  const { records, skipped, ignored } = await read(FIXTURES)
  // the session of the rollout has its sub-agent
  expect(records).toHaveLength(7)
  expect(skipped).toEqual(['cursor.jsonl: not a format we read'])
  expect(ignored).toEqual(['notes.md'])
})

test('the same files give the same records', async () => {
  expect((await read(FIXTURES)).records).toEqual((await read(FIXTURES)).records)
})

test('a path that does not exist is an OperatorError', () => {
  expect(read(join(FIXTURES, 'nowhere'))).rejects.toThrow('no such file or folder')
})

test('progress reaches the total', async () => {
  let last = { read: -1, total: 0 }
  await read(FIXTURES, {
    onProgress: (bytes, total) => {
      last = { read: bytes, total }
    },
  })
  expect(last.read).toBe(last.total)
})
