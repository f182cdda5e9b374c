import { describe, expect, test } from 'bun:test'
import { readdirSync, readlinkSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { problemOf } from '../../../src/analysis/records/check-record.ts'
import type { SessionRecord } from '../../../src/analysis/records/session.ts'
import { scratchFolder } from '../../support/at-end.ts'
import { merged, readAll } from './reading.ts'

// These cases are easily counted twice, priced wrongly or passed over.

const CASES = join(import.meta.dir, '../../fixtures/agent-cases')

async function read(paths: string[]) {
  const all = await readAll(paths)
  return { ...all, byEnd: new Map(all.records.map((record) => [record.id.slice(-1), record])) }
}

const tokensOf = (record: SessionRecord | undefined) =>
  [record?.tokens?.input, record?.tokens?.output, record?.tokens?.cache_read].join(' ')

describe('forks and sub-agents of Codex', () => {
  const FORKS = join(CASES, 'codex-forks')
  // each line has the end of the session's id: input without the cache, output, cached
  const own: [string, string, string][] = [
    ['a-parent.jsonl', '1', '14000 300 16000'],
    ['b-fork.jsonl', '2', '2000 40 2000'],
    ['c-sub-agent.jsonl', '1', '25000 600 31000'],
    ['e-other-ids.jsonl', '5', '500 20 500'],
    ['f-old-parent.jsonl', '6', '3500 60 1500'],
    ['g-old-fork.jsonl', '7', '400 10 500'],
  ]

  test('together each counts what it used itself', async () => {
    const { byEnd, records } = await read([FORKS])
    const together = new Map(own.map(([, end, tokens]) => [end, tokens]))
    // the parent and its sub-agent
    together.set('1', '39000 900 47000')
    expect(records).toHaveLength(together.size)
    for (const [end, tokens] of together)
      expect(`${end} ${tokensOf(byEnd.get(end))}`).toBe(`${end} ${tokens}`)
  })

  // without turn ids only the parent's totals tell what is copied
  test.each(own.filter(([name]) => name !== 'g-old-fork.jsonl'))(
    '%s alone does too',
    async (name, end, tokens) => {
      const { byEnd } = await read([join(FORKS, name)])
      expect(tokensOf(byEnd.get(end))).toBe(tokens)
    },
  )

  test('prompts and calls of the parent are not the fork’s', async () => {
    const { byEnd } = await read([FORKS])
    const fork = byEnd.get('2')
    expect(fork).toMatchObject({ turns: 2, tools_used: [{ name: 'exec_command', calls: 1, errors: 0 }] })
    expect(fork?.created_at).toBe('2026-03-01T11:00:00.000Z')
    expect(byEnd.get('7')).toMatchObject({ turns: 2 })
  })

  test('a fork without anything of its own costs nothing', async () => {
    const { records } = await read([join(FORKS, 'd-empty-fork.jsonl')])
    expect(records).toEqual([])
  })
})

describe('packed files', () => {
  const PLAIN = join(import.meta.dir, '../../fixtures/agents')
  const packings: [string, (bytes: Uint8Array<ArrayBuffer>) => Uint8Array][] = [
    ['gz', (bytes) => Bun.gzipSync(bytes)],
    ['zst', (bytes) => Bun.zstdCompressSync(bytes)],
  ]
  const FILES = ['rollout.jsonl', 'stream.log', 'chat.json', 'chat.jsonl', 'opencode-export.jsonl']

  test.each(packings)('of .%s give what the plain ones do', async (ending, pack) => {
    for (const name of FILES) {
      using folder = scratchFolder()
      const path = join(folder.path, `${name}.${ending}`)
      await Bun.write(path, pack(await Bun.file(join(PLAIN, name)).bytes()))
      // logs without times have that of their file
      const { mtime } = statSync(join(PLAIN, name))
      utimesSync(path, mtime, mtime)
      const { records, results, skipped } = await read([folder.path])
      expect(skipped).toEqual([])
      expect(results.flatMap(({ unreadable }) => unreadable)).toEqual([])
      expect(records.length).toBeGreaterThan(0)
      expect(records).toEqual((await read([join(PLAIN, name)])).records)
    }
  })

  test.each(packings)('of .%s leave no file open', async (ending, pack) => {
    using folder = scratchFolder()
    const rollout = await Bun.file(join(PLAIN, 'rollout.jsonl')).text()
    // the file is not read to its end if only its head is needed
    const random = Array.from(
      { length: 3 * 1024 },
      () => `{"x":"${crypto.getRandomValues(Buffer.alloc(1024)).toString('hex')}"}`,
    )
    await Bun.write(
      join(folder.path, `a.jsonl.${ending}`),
      pack(new TextEncoder().encode(`${rollout}${random.join('\n')}`)),
    )
    await read([folder.path])
    const open = readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        return []
      }
    })
    expect(open.filter((path) => path.startsWith(folder.path))).toEqual([])
  })

  test.each(packings)('of .%s that are cut off or no sessions are named', async (ending, pack) => {
    using folder = scratchFolder()
    const rollout = await Bun.file(join(PLAIN, 'rollout.jsonl')).text()
    const long = new TextEncoder().encode(
      rollout + `${JSON.stringify({ type: 'event_msg', payload: {} })}\n`.repeat(50_000),
    )
    const packed = pack(long)
    await Bun.write(join(folder.path, `cut.jsonl.${ending}`), packed.subarray(0, packed.length - 20))
    await Bun.write(join(folder.path, `notes.md.${ending}`), pack(new TextEncoder().encode('# notes')))
    await Bun.write(join(folder.path, `other.json.${ending}`), new Uint8Array(packed.subarray(0, 5)))
    const { results, skipped } = await read([folder.path])
    const reasons = results.flatMap(({ unreadable }) => unreadable.map(({ reason }) => reason))
    expect(
      [...reasons, ...skipped].filter((reason) => /reading stopped|other\.json|cut\.jsonl/.test(reason)),
    ).toHaveLength(2)
  })
})

describe('output of claude -p', () => {
  test.each(['result.json', 'pretty.json'])(
    '--output-format json, %s: the run’s exact totals',
    async (name) => {
      const { records } = await read([join(CASES, 'claude-json', name)])
      expect(records).toHaveLength(1)
      expect(records[0]).toMatchObject({
        source: 'claude-code',
        model: 'claude-sonnet-4-5-20250929',
        estimated_cost: 0.003396,
        stated_cost: 0.0125,
        cost_source: 'estimated',
        tokens: { input: 7, output: 90, cache_read: 500, cache_creation: 500 },
        duration_seconds: 9,
        turns: 0,
        turn_records: [{ role: 'unattributed', cost: 0.003396 }],
      })
    },
  )

  test.each(['array.json', 'pretty-array.json'])('--verbose, %s: an array of messages', async (name) => {
    const { records, results } = await read([join(CASES, 'claude-json', name)])
    expect(results[0]?.unreadable).toEqual([])
    expect(records).toHaveLength(1)
    expect(records[0]).toMatchObject({
      project_name: 'api',
      // <synthetic> is none
      models: ['claude-sonnet-4-5-20250929'],
      estimated_cost: 0.003396,
      stated_cost: 0.0125,
      tokens: { input: 7, output: 90, cache_read: 500, cache_creation: 500 },
    })
    expect(records[0]?.turn_records?.map(({ model }) => model)).not.toContain('<synthetic>')
  })

  test.each([
    ['two-sessions.log', { 5: 0.01, 6: 0.02 }],
    ['results.log', { 7: 0.01, 8: 0.03 }],
  ])('two runs in %s are two sessions', async (name, costs) => {
    const { records, byEnd } = await read([join(CASES, 'claude-runs', name)])
    expect(records).toHaveLength(2)
    for (const [end, cost] of Object.entries(costs)) expect(byEnd.get(end)?.stated_cost).toBe(cost)
  })

  test('a session that another process resumed has the sums of both', async () => {
    const { records } = await read([join(CASES, 'claude-runs/resumed.log')])
    expect(records).toHaveLength(1)
    expect(records[0]).toMatchObject({
      estimated_cost: 0.002385,
      stated_cost: 0.02 + 0.08,
      tokens: { input: 30 + 110, output: 15 + 50, cache_read: 100 + 700, cache_creation: 100 + 100 },
    })
  })

  test('a result and the transcript of its session count once, exactly', async () => {
    const { records } = await read([join(CASES, 'claude-both')])
    expect(records).toHaveLength(1)
    expect(records[0]).toMatchObject({
      estimated_cost: 0.003396,
      stated_cost: 0.0125,
      tokens: { input: 7, output: 90, cache_read: 500, cache_creation: 500 },
      created_at: '2026-03-02T10:00:00.000Z',
    })
  })
})

describe('Claude Code transcripts', () => {
  test('what a background session copies counts for the original, which is read first', async () => {
    const { records, byEnd } = await read([join(CASES, 'claude-background')])
    expect(records).toHaveLength(2)
    expect(tokensOf(byEnd.get('0'))).toBe('60 80 1000')
    expect(byEnd.get('0')?.tokens?.cache_creation).toBe(1000)
    expect(tokensOf(byEnd.get('1'))).toBe('30 40 1000')
    expect(byEnd.get('1')?.tokens?.cache_creation).toBe(0)
  })

  test('web searches are priced, each once, and <synthetic> is no model', async () => {
    const { records } = await read([join(CASES, 'claude-search')])
    // 10 dollars per 1,000 searches; 3 and 15 per million tokens
    expect(records[0]?.turn_records?.map(({ cost }) => cost)).toEqual([null, 0.02 + 0.0045, 0.03 + 0.009])
    expect(records[0]?.estimated_cost).toBe(0.0635)
    expect(records[0]?.models).toEqual(['claude-sonnet-4-5-20250929'])
  })
})

describe('output of codex exec --json', () => {
  const EXEC = join(CASES, 'codex-exec')

  test('each thread is a session; its usage is a running sum', async () => {
    const { records, byEnd } = await read([join(EXEC, 'exec.log')])
    expect(records).toHaveLength(2)
    const first = byEnd.get('1')
    expect(first).toMatchObject({
      source: 'codex',
      created_at: '2026-03-02T19:21:55.968Z',
      tokens: { input: 6000, output: 300, cache_read: 6000, cache_creation: 0 },
      files_touched: ['src/a.ts', 'src/b.ts'],
      tools_used: [
        { name: 'exec_command', calls: 2, errors: 1 },
        { name: 'apply_patch', calls: 1, errors: 0 },
      ],
      turns: 2,
      estimated_cost: 0,
      // it does not say which model
      unpriced_tokens: 12_300,
    })
    expect(first?.turn_records?.map(({ cost }) => cost)).toEqual([null, null])
    expect(byEnd.get('2')?.unpriced_tokens).toBe(909)
  })

  test('what failed is known by exit code, status and result', async () => {
    const command = (id: string, more: object) => ({ id, type: 'command_execution', command: 'ls', ...more })
    const mcp = (id: string, more: object) => ({
      id,
      type: 'mcp_tool_call',
      server: 'docs',
      tool: 'find',
      ...more,
    })
    const items = [
      command('item_0', { exit_code: 0, status: 'completed' }),
      command('item_1', { exit_code: -1, status: 'failed' }),
      command('item_2', { exit_code: -1, status: 'declined' }),
      mcp('item_3', { status: 'completed', result: { content: [] } }),
      mcp('item_4', { status: 'completed', result: { content: [], isError: true } }),
    ]
    const events = [
      { type: 'thread.started', thread_id: '019cb000-0000-7000-8000-000000000003' },
      { type: 'turn.started' },
      ...items.map((item) => ({ type: 'item.completed', item })),
      { type: 'turn.completed', usage: { input_tokens: 10, cached_input_tokens: 0, output_tokens: 1 } },
    ]
    using folder = scratchFolder()
    const path = join(folder.path, 'exec.log')
    await Bun.write(path, events.map((event) => JSON.stringify(event)).join('\n'))
    const { records } = await read([path])
    expect(records[0]?.tools_used).toEqual([
      { name: 'exec_command', calls: 3, errors: 2 },
      { name: 'docs__find', calls: 2, errors: 1 },
    ])
  })

  test('a thread with a rollout is that of the rollout', async () => {
    const { records, byEnd } = await read([EXEC])
    expect(records).toHaveLength(2)
    expect(byEnd.get('2')).toMatchObject({
      model: 'gpt-5.2-codex',
      turns: 1,
      tokens: { input: 900, output: 9 },
    })
    expect(byEnd.get('2')?.unpriced_tokens).toBeUndefined()
    expect(byEnd.get('1')?.unpriced_tokens).toBe(12_300)
  })

  test('and so it is where another run reads the rollout', async () => {
    const alone = async (name: string) =>
      (await read([join(EXEC, name)])).records.filter(({ id }) => id.endsWith('2'))
    const [exec, rollout] = [await alone('exec.log'), await alone('rollout-y.jsonl')]
    for (const both of [
      [...exec, ...rollout],
      [...rollout, ...exec],
    ]) {
      const [record] = merged(both)
      expect(record).toMatchObject({ turns: 1, tokens: { input: 900, output: 9 } })
      expect(record?.tools_used).toEqual(rollout[0]?.tools_used)
    }
  })
})

test('a file of a known format without anything of its own is named, with the reason', async () => {
  const { skipped } = await read([join(CASES, 'codex-forks/d-empty-fork.jsonl')])
  expect(skipped).toEqual(['d-empty-fork.jsonl: it has no prompts and no messages of its own'])
})

test('every record is valid', async () => {
  const { records } = await read([CASES])
  expect(records.flatMap((record) => problemOf(record, record.id) ?? [])).toEqual([])
  expect(records.length).toBeGreaterThan(15)
})
