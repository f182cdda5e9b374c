import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { opencodeDatabase, opencodeSession } from './agent-scripts.ts'
import { CURSOR_TABLES, clineSession, makeDatabase, ZED_TABLES } from './other-agent-scripts.ts'
import { agentFiles, at, merged, ms, tokensOfAnswers } from './reading.ts'

const { write, read, readOne } = agentFiles()

const say = (second: number, kind: string, text: string, more: object = {}) => ({
  ...{ ts: ms(second), type: 'say', say: kind, text },
  ...more,
})

describe('tasks of Cline, Roo Code and Kilo Code', () => {
  const CLINE = 'globalStorage/saoudrizwan.claude-dev/tasks'
  const ROO = 'globalStorage/rooveterinaryinc.roo-cline/tasks'
  const KILO = 'globalStorage/kilocode.kilo-code/tasks'
  const call = (
    second: number,
    [tokensIn, tokensOut, cacheReads, cacheWrites]: number[],
    more: object = {},
  ) =>
    say(second, 'api_req_started', JSON.stringify({ tokensIn, tokensOut, cacheReads, cacheWrites, ...more }))
  const task = (
    folder: string,
    messages: object[],
    beside: Record<string, unknown> = {},
    id = '1777629600000',
  ) => ({
    [`${folder}/${id}/ui_messages.json`]: JSON.stringify(messages),
    [`${folder}/${id}/api_conversation_history.json`]: JSON.stringify([
      {
        role: 'user',
        content: [
          {
            type: 'text',
            text: '<model>anthropic/claude-sonnet-4-5</model>\n# Current Workspace Directory (/home/dev/shop) Files',
          },
        ],
      },
    ]),
    ...Object.fromEntries(
      Object.entries(beside).map(([name, value]) => [`${folder}/${id}/${name}`, JSON.stringify(value)]),
    ),
  })

  test('of Cline: the input is without the cache, the model is that of its time', async () => {
    const messages = [
      say(0, 'task', 'Fix the cart'),
      call(1, [100, 50, 4_000, 300], { cost: 0.0125 }),
      say(2, 'text', 'Yes'),
      call(3, [20, 5, 0, 0], { cost: 0.25, cancelReason: 'user_cancelled' }),
      say(4, 'api_req_started', '{"request":"no answer yet"}'),
      say(5, 'user_feedback', 'Go on'),
      say(6, 'text', 'half', { partial: true }),
    ]
    const model_usage = [
      { ts: ms(0), model_id: 'claude-sonnet-4-5', model_provider_id: 'anthropic' },
      { ts: ms(3), model_id: 'claude-haiku-4-5', model_provider_id: 'anthropic' },
    ]
    const record = await readOne(task(CLINE, messages, { 'task_metadata.json': { model_usage } }))
    expect(record).toMatchObject({
      id: 'sess_1777629600000',
      source: 'cline',
      project_name: 'shop',
      created_at: at(0),
      ended_at: at(5),
      turns: 5,
      models: ['claude-sonnet-4-5', 'claude-haiku-4-5'],
      tokens: { input: 120, output: 55, cache_read: 4_000, cache_creation: 300 },
      cost_source: 'reported',
      estimated_cost: 0.2625,
    })
    expect(tokensOfAnswers(record)[2]).toBeNull()
    expect(record.observations?.map(({ type }) => type)).toEqual(['interruption'])
  })

  test.each([
    ['roo-code', ROO],
    ['kilo-code', KILO],
  ])('of %s: the input includes the cache, but in older versions', async (source, folder) => {
    const prompt = say(0, 'text', 'Fix it')
    const now = await readOne(task(folder, [prompt, call(1, [5_000, 50, 4_000, 300])]))
    expect(now).toMatchObject({
      source,
      model: 'anthropic/claude-sonnet-4-5',
      tokens: { input: 700, output: 50, cache_read: 4_000, cache_creation: 300 },
    })
    const older = [prompt, call(1, [10, 50, 0, 9_000]), call(2, [5_000, 50, 4_000, 300])]
    expect((await readOne(task(folder, older))).tokens?.input).toBe(5_010)
  })

  test('a subtask belongs to the task that began it', async () => {
    const record = await readOne({
      ...task(ROO, [say(0, 'text', 'Fix it'), call(1, [100, 50, 0, 0])], {}, 'parent'),
      ...task(
        ROO,
        [say(2, 'text', 'Look around'), call(3, [10, 5, 0, 0])],
        { 'history_item.json': { id: 'child', parentTaskId: 'parent', workspace: '/home/dev/shop' } },
        'child',
      ),
    })
    expect(record).toMatchObject({ id: 'sess_parent', turns: 3, tokens: { input: 110, output: 55 } })
  })

  test('sub-agents, deleted calls and calls told at their end count as the agent adds them up', async () => {
    const used = (tokensIn: number, cost: number) => JSON.stringify({ tokensIn, tokensOut: 1, cost })
    const record = await readOne(
      task(CLINE, [
        say(0, 'task', 'Fix it'),
        call(1, [10, 5, 0, 0], { cost: 0.5 }),
        say(2, 'tool', JSON.stringify({ tool: 'editedExistingFile', path: 'src/a.ts' })),
        say(3, 'subagent_usage', used(200, 1)),
        say(4, 'deleted_api_reqs', used(3_000, 2)),
        say(5, 'api_req_started', '{"request":"x"}'),
        say(6, 'api_req_finished', used(40_000, 4)),
      ]),
    )
    expect(record).toMatchObject({
      tokens: { input: 43_210, output: 8 },
      estimated_cost: 7.5,
      cost_source: 'reported',
      turns: 5,
      files_touched: ['src/a.ts'],
    })
    expect(record.turn_records?.[1]?.tool_calls).toEqual([{ name: 'editedExistingFile', ok: true }])
  })

  test('what condensing cost is added, without tokens', async () => {
    const condensed = say(2, 'condense_context', '', { contextCondense: { cost: 0.25, summary: 's' } })
    const messages = [say(0, 'text', 'Fix it'), call(1, [100, 50, 0, 0], { cost: 0.5 }), condensed]
    expect(await readOne(task(ROO, messages))).toMatchObject({
      estimated_cost: 0.75,
      tokens: { input: 100, output: 50 },
    })
  })

  test('a tool that failed, a command without an exit code, a compaction', async () => {
    const record = await readOne(
      task(ROO, [
        say(0, 'text', 'Fix it'),
        call(1, [100, 50, 0, 0]),
        say(2, 'tool', JSON.stringify({ tool: 'appliedDiff', path: 'src/a.ts', diff: '+b' })),
        say(3, 'diff_error', 'no match'),
        say(4, 'tool', JSON.stringify({ tool: 'editedExistingFile', path: 'src/b.ts' })),
        say(5, 'command', 'bun test'),
        say(6, 'command_output', 'ok'),
        say(7, 'condense_context', ''),
      ]),
    )
    expect(record.tools_used).toEqual([
      { name: 'appliedDiff', calls: 1, errors: 1 },
      { name: 'editedExistingFile', calls: 1, errors: 0 },
      { name: 'execute_command', calls: 1, errors: 0 },
    ])
    expect(record.turn_records?.[1]?.tool_calls?.map(({ ok }) => ok)).toEqual([false, true, null])
    expect(record.files_touched).toEqual(['src/b.ts'])
    expect(record.observations?.map(({ type }) => type)).toContain('compaction')
  })

  test('a task that is cut off is named, and what is beside it is not', async () => {
    const files = task(CLINE, [say(0, 'task', 'Fix it'), call(1, [100, 50, 0, 0])], {
      'task_metadata.json': {},
    })
    const path = await write(files)
    const file = join(path, CLINE, '1777629600000/ui_messages.json')
    await Bun.write(file, (await Bun.file(file).text()).slice(0, -10))
    const { records, unreadable, skipped } = await read(path)
    expect(records).toEqual([])
    expect(unreadable.map(({ reason }) => reason)).toEqual(['not JSON, or cut off'])
    expect(skipped).toEqual([])
  })
})

describe('sessions of Cline', () => {
  const session = (id: string, origin: object, messages: object[]) => ({
    [`${id}/${id}.messages.json`]: JSON.stringify({
      version: 1,
      agent: 'lead',
      sessionId: id,
      origin,
      messages,
    }),
    [`${id}/${id}.json`]: JSON.stringify({ session_id: id, cwd: '/home/dev/shop', messages_path: 'x' }),
  })
  const answer = (id: string, metrics: object | undefined) => ({
    id,
    role: 'assistant',
    content: [{ type: 'text', text: 'Yes' }],
    modelInfo: { id: 'claude-sonnet-4-5', provider: 'anthropic' },
    metrics,
    ts: ms(2),
  })
  const prompt = { id: 'u1', role: 'user', content: [{ type: 'text', text: 'Go' }], ts: ms(1) }
  const metrics = {
    inputTokens: 1_000,
    outputTokens: 50,
    cacheReadTokens: 600,
    cacheWriteTokens: 100,
    cost: 0.02,
  }

  test('each message once, with those of the sessions that it started', async () => {
    const record = await readOne({
      ...session('s1', {}, [prompt, answer('a1', metrics), answer('a2', undefined)]),
      ...session('s2', { parentThreadId: 's1' }, [prompt, answer('b1', { ...metrics, cost: 0 })]),
    })
    expect(record).toMatchObject({
      id: 'sess_s1',
      source: 'cline',
      project_name: 'shop',
      turns: 4,
      tokens: { input: 600, output: 100, cache_read: 1_200, cache_creation: 200 },
    })
    expect(record.turn_records?.flatMap(({ cost }) => cost ?? [])).toContain(0.02)
    expect(tokensOfAnswers(record)).toContain(null)
  })

  const WARNING = 'Warning: this is a legacy conversation, which means tool names may have changed.'
  const resumed = session('1777629600000', {}, [
    { role: 'user', content: 'Fix it' },
    {
      role: 'assistant',
      content: 'Yes',
      modelInfo: { id: 'claude-sonnet-4-5', provider: 'unknown' },
      metrics: {
        inputTokens: 3_300,
        outputTokens: 60,
        cacheReadTokens: 200,
        cacheWriteTokens: 100,
        cost: 0.5,
      },
    },
    { role: 'user', content: WARNING },
    prompt,
    answer('a9', metrics),
  ])
  const used = (counts: object) => JSON.stringify(counts)
  const began = {
    'tasks/1777629600000/ui_messages.json': JSON.stringify([
      say(0, 'task', 'Fix it'),
      say(
        1,
        'api_req_started',
        used({ tokensIn: 1_000, tokensOut: 10, cacheReads: 200, cacheWrites: 100, cost: 0.125 }),
      ),
      say(2, 'subagent_usage', used({ tokensIn: 2_000, tokensOut: 50, cost: 0.375 })),
    ]),
  }

  test('a task and the session that it was resumed as are one, whichever is known', async () => {
    const whole = {
      tokens: { input: 3_000 + 300, output: 110, cache_read: 800, cache_creation: 200 },
      estimated_cost: 0.52,
    }
    const both = await readOne({ ...resumed, ...began })
    expect(both).toMatchObject({ id: 'sess_1777629600000', ...whole, turns: 5 })
    expect(await readOne(resumed)).toMatchObject({ ...whole, turns: 2 })
    const summed = (await readOne(resumed)).turn_records?.find(({ role }) => role === 'unattributed')
    expect(summed).toMatchObject({ tokens: { input: 3_000, cache_read: 200 }, cost: 0.5 })
    expect((await readOne(began)).tokens).toMatchObject({ input: 3_000, output: 60 })
  })

  test('a task and the session of its id have a call once, also at the same time and whichever is read first', async () => {
    const counts = { tokensIn: 300, tokensOut: 50, cacheReads: 600, cacheWrites: 100, cost: 0.02 }
    const task = {
      'tasks/1777629600000/ui_messages.json': JSON.stringify([
        say(1, 'task', 'Go'),
        say(2, 'api_req_started', used(counts)),
        say(4, 'api_req_started', used({ ...counts, tokensIn: 700 })),
      ]),
    }
    const run = { type: 'tool_use', id: 'toolu_1', name: 'run_commands', input: { commands: ['ls'] } }
    const own = session('1777629600000', {}, [
      prompt,
      { ...answer('a1', metrics), content: [run] },
      { ...answer('a2', { ...metrics, inputTokens: 5_700 }), ts: ms(6) },
    ])
    const whole = {
      turns: 4,
      tokens: { input: 300 + 700 + 5_000, output: 150, cache_read: 1_800, cache_creation: 300 },
      tools_used: [{ name: 'run_commands', calls: 1 }],
      estimated_cost: 0.06,
    }
    expect(await readOne({ ...task, ...own })).toMatchObject(whole)
    const records = [await readOne(task), await readOne(own)]
    for (const order of [records, records.toReversed()]) expect(merged(order)).toMatchObject([whole])
  })

  test('what a compacted session used before counts, once with its sub-agents', async () => {
    const usageBefore = { inputTokens: 5_000, outputTokens: 70, cacheReadTokens: 4_000, cost: 0.25 }
    const compacted = { ...prompt, metadata: { kind: 'compaction', usageBefore } }
    const files = {
      ...session('s1', {}, [compacted, answer('a1', metrics)]),
      ...session('s2', { parentThreadId: 's1' }, [prompt, answer('b1', metrics)]),
    }
    expect(await readOne(files)).toMatchObject({
      tokens: { input: 1_000 + 300 + 300, output: 170, cache_read: 5_200, cache_creation: 200 },
      estimated_cost: 0.29,
    })
    const usage = {
      inputTokens: 9_000,
      outputTokens: 90,
      cacheReadTokens: 4_600,
      cacheWriteTokens: 100,
      totalCost: 0.5,
    }
    const noted = JSON.stringify({
      session_id: 's1',
      metadata: { usage, aggregateUsage: { inputTokens: 1e9 } },
    })
    expect(await readOne({ ...files, 's1/s1.json': noted })).toMatchObject({ estimated_cost: 0.52 })
  })

  test('nothing else of a session’s folder is named', async () => {
    expect((await read(clineSession([]))).skipped).toEqual([])
  })
})

describe('Zed', () => {
  const thread = (more: object) => ({
    version: '0.3.0',
    messages: [
      { User: { id: 'u1', content: [{ Text: 'Go' }] } },
      { Agent: { content: [{ Text: 'First' }], tool_results: {} } },
      { Agent: { content: [{ Text: 'Second' }], tool_results: {} } },
      'Resume',
    ],
    model: { provider: 'anthropic', model: 'claude-sonnet-4-5' },
    request_token_usage: { u1: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 900 } },
    initial_project_snapshot: {
      worktree_snapshots: [
        {
          worktree_path: '/home/dev/shop',
          git_state: { remote_url: 'git@example.com:acme/checkout.git', current_branch: 'fix' },
        },
      ],
    },
    ...more,
  })
  const row = (id: string, data: unknown, type: string): [string, unknown[]] => [
    'threads',
    [id, 'Shop', '2026-05-01T10:00:00+00:00', type, data, null],
  ]

  test('the last answer has its usage, the thread that of all', async () => {
    const path = await write({ 'notes.md': '' })
    const cumulative_token_usage = { input_tokens: 30, output_tokens: 11, cache_read_input_tokens: 2_000 }
    makeDatabase(join(path, 'threads.db'), ZED_TABLES, [
      row('z1', Bun.zstdCompressSync(JSON.stringify(thread({ cumulative_token_usage }))), 'zstd'),
      row('z2', JSON.stringify(thread({ request_token_usage: {} })), 'json'),
      row('z3', new Uint8Array([1, 2, 3]), 'zstd'),
    ])
    const { records, unreadable } = await read(path)
    const [first, second] = records
    expect(first).toMatchObject({
      id: 'sess_z1',
      source: 'zed',
      project_name: 'checkout',
      branch: 'fix',
      created_at: at(0),
      turns: 3,
      tokens: { input: 30, output: 11, cache_read: 2_000, cache_creation: 0 },
    })
    expect(first && tokensOfAnswers(first).map((tokens) => tokens?.cache_read ?? null)).toEqual([
      null,
      900,
      1_100,
    ])
    expect(second && tokensOfAnswers(second)).toEqual([null, null])
    expect(unreadable.map(({ reason }) => reason)).toEqual([
      'thread z3: not a JSON object, damaged or too large',
    ])
  })
})

describe('Cursor', () => {
  const bubble = (chat: string, id: string, value: unknown): [string, unknown[]] => [
    'cursorDiskKV',
    [`bubbleId:${chat}:${id}`, JSON.stringify(value)],
  ]

  test('counts of tokens where a version keeps them, the folder of the window, no other key', async () => {
    const path = await write({
      'User/globalStorage/notes.md': '',
      'User/workspaceStorage/w1/workspace.json': JSON.stringify({ folder: 'file:///home/dev/shop' }),
    })
    const composers = JSON.stringify({ allComposers: [{ composerId: 'k1' }] })
    makeDatabase(
      join(path, 'User/workspaceStorage/w1/state.vscdb'),
      ['ItemTable (key text, value blob)'],
      [['ItemTable', ['composer.composerHeaders', composers]]],
    )
    const composer = {
      createdAt: ms(0),
      name: 'Cart',
      modelConfig: { modelName: 'gpt-5.2' },
      fullConversationHeadersOnly: [],
    }
    makeDatabase(join(path, 'User/globalStorage/state.vscdb'), CURSOR_TABLES, [
      ['cursorDiskKV', ['composerData:k1', JSON.stringify(composer)]],
      ['cursorDiskKV', ['cursorAuth/accessToken', 'not-for-anyone']],
      bubble('k1', 'b1', { type: 1, text: 'Go', createdAt: at(1) }),
      bubble('k1', 'b2', {
        type: 2,
        text: 'Yes',
        createdAt: at(2),
        tokenCount: { inputTokens: 900, outputTokens: 40 },
        modelInfo: { modelName: 'claude-sonnet-4-5' },
      }),
      bubble('k1', 'b3', {
        type: 2,
        text: 'Yes',
        createdAt: at(3),
        tokenCount: { inputTokens: 0, outputTokens: 0 },
      }),
      bubble('k1', 'b4', null),
      bubble('k1', 'b5', 42),
      bubble('task\ncall', 'b6', {
        type: 2,
        createdAt: at(4),
        tokenCount: { inputTokens: 9, outputTokens: 9 },
      }),
    ])
    const { records, unreadable } = await read(join(path, 'User/globalStorage'), { content: true })
    expect(records).toMatchObject([
      {
        id: 'sess_k1',
        source: 'cursor',
        project_name: 'shop',
        summary: 'Cart',
        created_at: at(0),
        turns: 3,
        models: ['claude-sonnet-4-5', 'gpt-5.2'],
        tokens: { input: 900, output: 40, cache_read: 0, cache_creation: 0 },
      },
    ])
    expect(records.map(tokensOfAnswers)).toEqual([
      [{ input: 900, output: 40, cache_read: 0, cache_creation: 0 }, null],
    ])
    expect(unreadable.map(({ reason }) => reason)).toEqual(['message b5: not a JSON object, or too large'])
    expect(JSON.stringify(records)).not.toContain('not-for-anyone')
  })
})

test('Kilo’s program has the database of OpenCode, in a place of its own', async () => {
  const path = await write({ 'kilo/notes.md': '', 'opencode/notes.md': '' })
  const session = opencodeSession([{ command: 'ls', exit: 0, output: 'a' }])
  opencodeDatabase(join(path, 'kilo/kilo.db'), [session])
  opencodeDatabase(join(path, 'opencode/opencode.db'), [session])
  const { records } = await read(path)
  expect(records.map(({ id, source, tokens }) => [id, source, tokens?.input])).toEqual([
    ['sess_ses_1', 'kilo-code', 10],
    ['sess_ses_1', 'opencode', 10],
  ])
})

test('a database that is damaged is named', async () => {
  const path = await write({ 'threads.db': `SQLite format 3\u0000${'x'.repeat(5_000)}` })
  const { records, skipped } = await read(path)
  expect(records).toEqual([])
  expect(skipped).toEqual(['threads.db: SQLITE_NOTADB'])
})
