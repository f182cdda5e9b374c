import { describe, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type KnownFile, lookAt } from '../../../src/analysis/agents/known-files.ts'
import type { SessionRecord } from '../../../src/analysis/records/session.ts'
import { ampThread, GOOSE_LEDGER, GOOSE_TABLES, makeDatabase } from './other-agent-scripts.ts'
import { agentFiles, at, lines, merged, ms, tokensOfAnswers } from './reading.ts'

const { write, read, readOne } = agentFiles()

describe('Pi', () => {
  const head = (id: string, second: number) => ({
    type: 'session',
    version: 3,
    id,
    timestamp: at(second),
    cwd: '/home/dev/shop',
  })
  const message = (id: string, second: number, more: object) => ({
    type: 'message',
    id,
    parentId: null,
    timestamp: at(second),
    message: { timestamp: ms(second), ...more },
  })
  const answer = (id: string, second: number, output: number, more: object = {}) =>
    message(id, second, {
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'text', text: 'Yes' }],
      usage: { input: 10, output, cacheRead: 200, cacheWrite: 30, cost: { total: 0.0125 } },
      ...more,
    })
  const first = [
    message('u1', 1, { role: 'user', content: [{ type: 'text', text: 'Do it' }] }),
    answer('a1', 2, 5, { responseId: 'resp' }),
    // another branch of the tree
    answer('a2', 3, 7, { responseId: 'resp', stopReason: 'aborted' }),
    { type: 'compaction', id: 'c1', timestamp: at(4), summary: 'short' },
  ]

  test('all branches count, with the cost that it reports', async () => {
    const record = await readOne({ 'a.jsonl': lines([head('p1', 0), ...first]) })
    expect(record).toMatchObject({
      id: 'sess_p1',
      source: 'pi',
      project_name: 'shop',
      tokens: { input: 20, output: 12, cache_read: 400, cache_creation: 60 },
      cost_source: 'reported',
      estimated_cost: 0.025,
    })
    expect(record.observations?.map(({ type }) => type).sort()).toEqual(['compaction', 'interruption'])
  })

  test('what a fork copies counts for its parent', async () => {
    const fork = [head('p2', 10), ...first, answer('a3', 11, 100, { stopReason: 'error' })]
    const { records } = await read({
      'a.jsonl': lines(fork),
      'b.jsonl': lines([{ title: 'Shop' }, head('p1', 0), ...first]),
    })
    expect(records.map(({ id, tokens }) => [id, tokens?.output])).toEqual([
      ['sess_p1', 12],
      ['sess_p2', 100],
    ])
  })

  const used = (input: number, total: number) => ({
    usage: { input, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total } },
  })

  test('what summaries, tools and calls beside the conversation used counts', async () => {
    const entry = (type: string, id: string, more: object) => ({ type, id, timestamp: at(9), ...more })
    const record = await readOne({
      'a.jsonl': lines([
        head('p1', 0),
        ...first.slice(0, 2),
        message('r1', 3, { role: 'toolResult', toolCallId: 't1', content: [], ...used(1_000, 0.25) }),
        entry('compaction', 'c1', used(20_000, 0.5)),
        entry('branch_summary', 'b1', used(300_000, 1)),
        entry('usage', 'k1', { kind: 'cache_warm', model: 'claude-haiku-4-5', ...used(4_000_000, 2) }),
        entry('model_usage', 'k2', { purpose: 'title', model: 'claude-haiku-4-5', ...used(7, 4) }),
        entry('custom', 'k3', { data: used(9, 9) }),
      ]),
    })
    expect(record).toMatchObject({
      tokens: { input: 10 + 4_321_007, output: 5 + 5 },
      estimated_cost: 0.0125 + 7.75,
      models: ['claude-sonnet-4-5', 'claude-haiku-4-5'],
    })
    expect(record.turn_records?.map(({ model, tokens }) => [model, tokens?.input])).toEqual([
      [null, undefined],
      ['claude-sonnet-4-5', 10],
      [null, 1_000],
      ['claude-sonnet-4-5', 20_000],
      ['claude-sonnet-4-5', 300_000],
      ['claude-haiku-4-5', 4_000_000],
      ['claude-haiku-4-5', 7],
    ])
  })

  test('what a sub-agent of Oh My Pi used counts once, with its file or without', async () => {
    const name = '2026-05-01T10-00-00-000Z_p1'
    const task = (more: object) =>
      message('r1', 3, { role: 'toolResult', toolName: 'task', details: { ...used(500, 0.5), ...more } })
    const own = { 'x.jsonl': lines([head('p1', 0), ...first.slice(0, 2), task({})]) }
    expect((await readOne(own)).tokens?.input).toBe(510)
    const record = await readOne({
      [`${name}.jsonl`]: lines([head('p1', 0), ...first.slice(0, 2), task({ outputPaths: ['Look.md'] })]),
      [`${name}/Look.jsonl`]: lines([
        head('s1', 2),
        message('a9', 3, { role: 'assistant', ...used(500, 0.5) }),
      ]),
    })
    expect(record).toMatchObject({ id: 'sess_p1', tokens: { input: 510 }, estimated_cost: 0.5125 })
  })

  describe('sub-agents whose use is stated on a result', () => {
    const name = '2026-05-01T10-00-00-000Z_p1'
    const path = `/home/dev/.pi/agent/sessions/x/${name}`
    const call = (id: string, second: number, input: number, total: number) =>
      message(id, second, { role: 'assistant', model: 'claude-opus-4-6', ...used(input, total) })
    const result = (id: string, more: object) => message(id, 5, { role: 'toolResult', ...more })
    const agent = (run: number, input: number, cost: number) => ({
      sessionFile: `${path}/7d1f/run-${run}/session.jsonl`,
      usage: { input, output: 1, cacheRead: 0, cacheWrite: 0, cost },
    })
    const child = (run: number, input: number, total: number) => ({
      [`${name}/7d1f/run-${run}/session.jsonl`]: lines([
        head(`s${run}`, 2),
        call(`c${run}`, 3, input, total),
      ]),
    })
    const parent = (...results: object[]) => ({
      [`${name}.jsonl`]: lines([head('p1', 0), call('a1', 1, 10, 0.01), ...results]),
    })
    const both = [agent(0, 300, 0.3), agent(1, 4_000, 0.4)]
    const ofBoth = (input: number, total: number) => ({ usage: { ...used(input, total).usage, output: 2 } })
    const named = { ...ofBoth(4_300, 0.7), details: { runId: '7d1f', results: both } }
    const figures = ({ tokens, estimated_cost }: SessionRecord) => [tokens?.input, estimated_cost]

    test('count by their files where these are read, else by the result', async () => {
      const own = parent(result('r1', named))
      expect(figures(await readOne(own))).toEqual([4_310, 0.71])
      // a file that goes on after the result was written
      expect(figures(await readOne({ ...own, ...child(0, 350, 0.35) }))).toEqual([4_360, 0.76])
      expect(figures(await readOne({ ...own, ...child(0, 300, 0.3), ...child(1, 4_000, 0.4) }))).toEqual([
        4_310, 0.71,
      ])
    })

    test('count so whichever file is read first, by itself or later', async () => {
      const files = [parent(result('r1', named)), child(0, 350, 0.35), child(1, 4_000, 0.4)]
      const records = await Promise.all(files.map((file) => readOne(file)))
      expect(new Set(records.map(({ id }) => id))).toEqual(new Set(['sess_p1']))
      const [own, ...children] = records
      for (const order of [records, records.toReversed(), [...children, own].flatMap((each) => each ?? [])]) {
        const all = merged(order)
        expect(all.map((record) => [...figures(record), record.turns])).toEqual([[4_360, 0.76, 3]])
      }
    })

    test('count once where a later result waits for the run, and where a run is stated without a sum', async () => {
      const launch = result('r1', { details: { asyncId: '7d1f', results: [] } })
      const waited = (more: object) =>
        result('r2', {
          ...used(300, 0.3),
          details: { results: [], completions: [{ runId: '7d1f', ...more }] },
        })
      for (const more of [{}, { results: [{ agent: 'scout' }] }, { results: both.slice(0, 1) }]) {
        const own = parent(launch, waited(more))
        expect(figures(await readOne(own))).toEqual([310, 0.31])
        expect(figures(await readOne({ ...own, ...child(0, 300, 0.3) }))).toEqual([310, 0.31])
      }
      const { usage: _sum, ...unsummed } = named
      const stated = parent(result('r1', unsummed), result('r2', unsummed))
      expect(figures(await readOne(stated))).toEqual([4_310, 0.71])
      expect(figures(await readOne({ ...stated, ...child(1, 4_000, 0.4) }))).toEqual([4_310, 0.71])
    })

    test('count beside what the tool itself used, and as sessions of their own elsewhere', async () => {
      const more = parent(result('r1', { ...named, ...ofBoth(4_999, 1) }))
      expect(figures(await readOne(more))).toEqual([5_009, 1.01])
      expect(figures(await readOne({ ...more, ...child(1, 4_000, 0.4) }))).toEqual([5_009, 1.01])
      const elsewhere = '2026-05-01T10-00-02-000Z_s9'
      const one = { ...agent(0, 300, 0.3), sessionFile: `/home/dev/agents/${elsewhere}.jsonl` }
      const { records } = await read({
        ...parent(result('r1', { ...used(300, 0.3), details: { results: [one] } })),
        [`agents/${elsewhere}.jsonl`]: lines([head('s9', 2), call('c9', 3, 300, 0.3)]),
      })
      expect(records.map((record) => [record.id, ...figures(record)]).sort()).toEqual([
        ['sess_p1', 10, 0.01],
        ['sess_s9', 300, 0.3],
      ])
    })

    test('have notes beside their sessions, which are named as none', async () => {
      const note = { version: 1, recordType: 'message', runId: '7d1f', role: 'user', text: 'list' }
      const { skipped } = await read({
        ...parent(),
        [`${name}/subagent-artifacts/7d1f_scout_0_transcript.jsonl`]: lines([note]),
      })
      expect(skipped).toEqual([])
    })
  })

  test('a fork that names its parent has its own entries only, whichever file is read', async () => {
    const fork = (id: string, second: number, parent: string, began: number) => ({
      ...head(id, second),
      parentSession: `/home/dev/.pi/agent/sessions/x/2026-05-01T10-00-${String(began).padStart(2, '0')}-000Z_${parent}.jsonl`,
    })
    const [two, three] = [answer('a2', 12, 100), answer('a3', 22, 1_000)]
    const files = {
      'a.jsonl': lines([fork('p3', 20, 'p2', 10), ...first, two, three]),
      'b.jsonl': lines([fork('p2', 10, 'p1', 0), ...first, two]),
      'c.jsonl': lines([head('p1', 0), ...first]),
    }
    const outputs = async (...names: (keyof typeof files)[]) =>
      Object.fromEntries(
        (await read(Object.fromEntries(names.map((name) => [name, files[name]])))).records.map(
          ({ id, tokens }) => [id.slice(-2), tokens?.output],
        ),
      )
    expect(await outputs('a.jsonl', 'b.jsonl', 'c.jsonl')).toEqual({ p1: 12, p2: 100, p3: 1_000 })
    expect(await outputs('a.jsonl')).toEqual({ p2: 100, p3: 1_000 })
    expect(await outputs('b.jsonl')).toEqual({ p1: 12, p2: 100 })
  })

  test('an answer without usage has none', async () => {
    const file = lines([head('p1', 0), first[0], answer('a1', 2, 0, { usage: undefined })])
    expect(tokensOfAnswers(await readOne({ 'a.jsonl': `${file}{"type":` }))).toEqual([null])
  })
})

describe('Droid', () => {
  const session = lines([
    { type: 'session_start', id: 'd1', title: 'Shop', cwd: '/home/dev/shop' },
    {
      type: 'message',
      id: 'm1',
      timestamp: at(1),
      message: { role: 'user', content: [{ type: 'text', text: 'Go' }] },
    },
    {
      type: 'message',
      id: 'm2',
      timestamp: at(2),
      message: { role: 'assistant', content: [{ type: 'text', text: 'Yes' }] },
    },
  ])
  const settings = (model: string) =>
    JSON.stringify({
      model,
      tokenUsage: {
        inputTokens: 700,
        outputTokens: 90,
        cacheCreationTokens: 20,
        cacheReadTokens: 4_000,
        thinkingTokens: 60,
      },
    })

  test('the settings beside a session have its sums, of no call', async () => {
    const record = await readOne({ 'x/d1.jsonl': session, 'x/d1.settings.json': settings('gpt-5.2') })
    expect(record).toMatchObject({
      id: 'sess_d1',
      source: 'droid',
      project_name: 'shop',
      model: 'gpt-5.2',
      turns: 2,
      tokens: { input: 700, output: 90, cache_read: 4_000, cache_creation: 20 },
    })
    expect(record.turn_records?.map(({ role, tokens }) => [role, tokens?.input ?? null])).toEqual([
      ['user', null],
      ['assistant', null],
      ['unattributed', 700],
    ])
  })

  test('a model of the user’s own has the name that it was given', async () => {
    const files = { 'x/d1.jsonl': session, 'x/d1.settings.json': settings('custom:house-model-0') }
    expect(await readOne(files)).toMatchObject({ model: 'house-model', unpriced_tokens: 4_810 })
  })

  test('a session is read again when its settings change', async () => {
    const path = await write({
      '.factory/sessions/d1.jsonl': session,
      '.factory/sessions/d1.settings.json': '{}',
    })
    const file = join(path, '.factory/sessions/d1.jsonl')
    const look = () => lookAt(file, statSync(file), known)
    let known: KnownFile | undefined
    known = { ...look().now, detected: { kind: 'other' }, ids: [] }
    expect(look().change).toBe('same')
    await Bun.write(file.replace('.jsonl', '.settings.json'), settings('gpt-5.2'))
    expect(look().change).toBe('other')
  })

  test('without settings, or with damaged ones, nothing says what was used', async () => {
    const record = await readOne({ 'x/d1.jsonl': session, 'x/d1.settings.json': '{"tokenUsage":' })
    expect(tokensOfAnswers(record)).toEqual([null])
  })
})

describe('Amp', () => {
  const thread = (messages: object[]) =>
    JSON.stringify({
      id: 'T-019ca1ce-3ae2-7686-a41e-000000000002',
      created: ms(0),
      title: 'Shop',
      messages,
      env: {
        initial: {
          trees: [
            {
              uri: 'file:///home/dev/shop',
              repository: { url: 'https://example.com/acme/checkout.git', ref: 'refs/heads/fix' },
            },
          ],
        },
      },
    })
  const usage = {
    model: 'claude-opus-4-6',
    inputTokens: 3,
    outputTokens: 200,
    cacheCreationInputTokens: 1_000,
    cacheReadInputTokens: 9_000,
    totalInputTokens: 10_003,
    timestamp: at(2),
  }

  test('what the ledger of a thread has counts once, beside the usage of messages', async () => {
    const event = (id: string, toMessageId: number | undefined, input: number, output: number) => ({
      ...{
        id,
        toMessageId,
        timestamp: at(5),
        model: 'claude-opus-4-6',
        operationType: 'inference',
        credits: 2,
      },
      tokens: { input, output },
    })
    const file = JSON.parse(
      thread([
        { role: 'user', messageId: 0, content: [{ type: 'text', text: 'Go' }], meta: { sentAt: ms(1) } },
        { role: 'assistant', messageId: 1, content: [], usage: { ...usage, model: undefined } },
        { role: 'assistant', messageId: 3, content: [] },
      ]),
    )
    // a call that led to no message; two of a message, one of them that of its usage; one of a message without usage
    const events = [
      event('a', undefined, 1, 2),
      event('b', 1, 50, 60),
      event('c', 1, 3, 200),
      event('d', 3, 700, 8),
    ]
    const record = await readOne({ 'T-2.json': JSON.stringify({ ...file, usageLedger: { events } }) })
    expect(record).toMatchObject({
      tokens: { input: 1 + 50 + 3 + 700, output: 2 + 60 + 200 + 8, cache_read: 9_000, cache_creation: 1_000 },
      models: ['claude-opus-4-6'],
    })
    expect(
      tokensOfAnswers(record)
        .map((tokens) => tokens?.output)
        .sort(),
    ).toEqual([2, 200, 60, 8])
  })

  test('input without the cache, times, repository and branch', async () => {
    const file = thread([
      { role: 'user', messageId: 0, content: [{ type: 'text', text: 'Go' }], meta: { sentAt: ms(1) } },
      {
        role: 'assistant',
        messageId: 1,
        content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }],
        usage,
      },
      {
        role: 'user',
        messageId: 2,
        content: [{ type: 'tool_result', toolUseID: 't1', run: { status: 'rejected-by-user' } }],
      },
      { role: 'assistant', messageId: 3, content: [], state: { type: 'cancelled' } },
    ])
    const record = await readOne({ 'T-2.json': file })
    expect(record).toMatchObject({
      id: 'sess_T-019ca1ce-3ae2-7686-a41e-000000000002',
      source: 'amp',
      project_name: 'checkout',
      branch: 'fix',
      created_at: at(0),
      ended_at: at(2),
      tokens: { input: 3, output: 200, cache_read: 9_000, cache_creation: 1_000 },
      tools_used: [{ name: 'Bash', calls: 1, errors: 1 }],
    })
    expect(tokensOfAnswers(record)[1]).toBeNull()
    expect(record.observations?.map(({ type }) => type).sort()).toEqual(['interruption', 'rejection'])
  })

  test('a thread that is cut off is named', async () => {
    const { records, unreadable } = await read({ 'T-1.json': ampThread([]).slice(0, -20) })
    expect(records).toEqual([])
    expect(unreadable.map(({ reason }) => reason)).toEqual(['not JSON, or cut off'])
  })
})

describe('Goose', () => {
  const session = (id: string, created: string, sums: number[] = []): [string, unknown[]] => [
    'sessions',
    [
      id,
      'Shop',
      '/home/dev/shop',
      created,
      created,
      '{"model_name":"claude-sonnet-4-5"}',
      null,
      ...[0, 1, 2, 3].map((n) => sums[n] ?? null),
    ],
  ]
  const message = (
    id: number,
    sessionId: string,
    role: string,
    second: number,
    text = 'x',
  ): [string, unknown[]] => [
    'messages',
    [id, `m-${role}-${second}`, sessionId, role, JSON.stringify([{ type: 'text', text }]), ms(second) / 1000],
  ]
  const row = (
    id: number,
    sessionId: string,
    second: number,
    output: number,
    [cost, source, compaction]: [number | null, string | null, number],
  ): [string, unknown[]] => [
    'usage_ledger',
    [
      id,
      sessionId,
      ms(second) / 1000,
      'claude-sonnet-4-5',
      1_000,
      output,
      1_000 + output,
      700,
      100,
      cost,
      source,
      compaction,
    ],
  ]
  const database = async (tables: string[], rows: [string, unknown[]][]) => {
    const path = await write({ 'notes.md': '' })
    makeDatabase(join(path, 'sessions.db'), tables, rows)
    return path
  }

  test('a row of the ledger for each call; the input includes the cache', async () => {
    const path = await database(
      [...GOOSE_TABLES, GOOSE_LEDGER],
      [
        session('20260501_1', '2026-05-01 10:00:00'),
        message(1, '20260501_1', 'user', 1),
        message(2, '20260501_1', 'assistant', 2),
        message(3, '20260501_1', 'assistant', 2),
        row(1, '20260501_1', 3, 50, [0.02, 'provider_reported', 0]),
        row(2, '20260501_1', 4, 9, [0.5, 'estimated', 1]),
      ],
    )
    const record = await readOne(path)
    expect(record).toMatchObject({
      id: expect.stringMatching(/^sess_20260501_1-[0-9a-f]{12}$/),
      source: 'goose',
      project_name: 'shop',
      created_at: at(0),
      turns: 3,
      tokens: { input: 400, output: 59, cache_read: 1_400, cache_creation: 200 },
    })
    expect(record.turn_records?.[1]?.cost).toBe(0.02)
    // the price of the model counts: the row has an estimate
    expect(record.turn_records?.[2]?.cost).toBeCloseTo((200 * 3 + 9 * 15 + 700 * 0.3 + 100 * 3.75) / 1e6, 9)
    expect(record.observations?.map(({ type }) => type)).toEqual(['compaction'])
  })

  test('a copy of a session has only what came after it', async () => {
    const rows = (id: string, first: number): [string, unknown[]][] => [
      message(first, id, 'user', 1),
      message(first + 1, id, 'assistant', 2),
      row(first, id, 3, 50, [null, null, 0]),
    ]
    const path = await database(
      [...GOOSE_TABLES, GOOSE_LEDGER],
      [
        session('20260501_10', '2026-05-01 11:00:00'),
        session('20260501_9', '2026-05-01 10:00:00'),
        ...rows('20260501_10', 11),
        ...rows('20260501_9', 1),
        message(20, '20260501_10', 'assistant', 30),
        row(20, '20260501_10', 31, 7, [null, null, 0]),
      ],
    )
    const { records } = await read(path)
    expect(records.map(({ id, turns, tokens }) => [id.split('-')[0], turns, tokens?.output]).sort()).toEqual([
      ['sess_20260501_10', 1, 7],
      ['sess_20260501_9', 2, 50],
    ])
  })

  test('two people’s first sessions of a day are two sessions, also of their sub-agents', async () => {
    const idOf = async (folder: string, created: string) => {
      const values = session('20260501_1', created)[1].with(2, folder)
      const child = session('20260501_2', created)[1].with(2, folder).with(6, '20260501_1')
      const messages = [message(1, '20260501_1', 'user', 1), message(2, '20260501_2', 'assistant', 2)]
      const rows: [string, unknown[]][] = [['sessions', values], ['sessions', child], ...messages]
      const record = await readOne(await database(GOOSE_TABLES, rows))
      expect(record.turns).toBe(2)
      return record.id
    }
    const ada = await idOf('/home/ada/shop', '2026-05-01 10:00:00')
    expect(await idOf('/home/ada/other', '2026-05-01 10:00:00')).toBe(ada)
    expect(await idOf('/home/bob/shop', '2026-05-01 10:00:00')).not.toBe(ada)
    expect(await idOf('/home/ada/shop', '2026-05-01 10:00:01')).not.toBe(ada)
  })

  test('older versions have the sums of a session', async () => {
    const path = await database(GOOSE_TABLES, [
      session('g1', '2026-05-01 10:00:00', [900, 40, 600, 100]),
      message(1, 'g1', 'user', 1),
      message(2, 'g1', 'assistant', 2),
      ['messages', [3, 'm3', 'g1', 'assistant', '[{"type":', ms(3) / 1000]],
    ])
    const { records, unreadable } = await read(path)
    expect(records[0]?.tokens).toEqual({ input: 200, output: 40, cache_read: 600, cache_creation: 100 })
    expect(records[0]?.turn_records?.map(({ role, tokens }) => [role, tokens?.output ?? null])).toEqual([
      ['user', null],
      ['assistant', null],
      ['unattributed', 40],
    ])
    expect(unreadable.map(({ reason }) => reason)).toEqual(['message 3: not a JSON array, or too large'])
  })
})
