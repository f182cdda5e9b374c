import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionRecord } from '../../../../src/analysis/records/session.ts'
import { opencodeDatabase, opencodeExport, opencodeSession, START } from '../agent-scripts.ts'
import { agentFiles } from '../reading.ts'

const { write, read, readOne } = agentFiles()

const session = (id: string) => opencodeSession([{ command: 'ls', exit: 0, output: 'a' }], { id, prefix: id })

test('a session more in a database leaves the records of the others as they were', async () => {
  const recordOf = async (...ids: string[]) => {
    const path = join(await write({ 'notes.md': '' }), 'opencode.db')
    opencodeDatabase(path, ids.map(session))
    return (await read(path)).records.find(({ id }) => id === 'sess_ses_2')
  }
  const alone = await recordOf('ses_2')
  expect(alone?.parts).toBeString()
  expect(await recordOf('ses_1', 'ses_2')).toEqual(alone)
})

const ms = (second: number) => START + second * 1000
const time = (second: number) => ({ created: ms(second), completed: ms(second) + 500 })
/** Tokens that name their call: `n` input, 10 n read from the cache. */
const tokens = (n: number) => ({ input: n, output: 1, reasoning: 1, cache: { read: 10 * n, write: 0 } })
const MODEL = { id: 'claude-sonnet-4-5', providerID: 'anthropic' }

/** A row of OpenCode 2. Costs a hundredth of a dollar for each token of input. */
interface NextRow {
  id: string
  session: string
  type: string
  second: number
  data?: object
}
const user = (id: string, owner: string, second: number): NextRow => ({
  ...{ id, session: owner, type: 'user', second },
  data: { text: 'Do it' },
})
const used = (n: number) => ({ cost: n / 100, tokens: tokens(n) })
const answer = (id: string, owner: string, second: number, n: number, more: object = {}): NextRow => ({
  ...{ id, session: owner, type: 'assistant', second },
  data: { model: MODEL, content: [], ...used(n), ...more },
})
interface NextSession {
  id: string
  /** The input of its own sum; costs and the other kinds follow. */
  sum: number
  second?: number
  parent?: string
  fork?: string
}

/** Adds what OpenCode 2 writes to a database, which may have tables of OpenCode 1. */
function addNext(
  path: string,
  sessions: readonly NextSession[],
  rows: readonly NextRow[],
  table = 'session_v2',
) {
  const database = new Database(path)
  database.run(`create table ${table} (id, project_id, parent_id, fork_session_id, directory, title, cost, tokens_input,
    tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write, time_created, time_updated)`)
  database.run('create table session_message (id, session_id, type, seq, time_created, time_updated, data)')
  for (const { id, sum, second = 0, parent = null, fork = null } of sessions) {
    const values = [sum / 100, sum, 0, 0, 10 * sum, 0, ms(second), ms(second)]
    database.run(
      `insert into ${table} values (?, 'p', ?, ?, '/home/dev/shop', 'T', ?, ?, ?, ?, ?, ?, ?, ?)`,
      [...[id, parent, fork, ...values]],
    )
  }
  for (const [seq, { id, session: owner, type, second, data = {} }] of rows.entries())
    database.run('insert into session_message values (?, ?, ?, ?, ?, ?, ?)', [
      ...[id.replace('#', String(seq)), owner, type, seq, ms(second), ms(second)],
      JSON.stringify({ time: time(second), ...data }),
    ])
  database.close()
}

async function next(
  sessions: readonly NextSession[],
  rows: readonly NextRow[],
  older: Parameters<typeof opencodeDatabase>[1] = [],
): Promise<string> {
  const path = join(await write({ 'notes.md': '' }), 'opencode.db')
  if (older.length > 0) opencodeDatabase(path, older)
  addNext(path, sessions, rows)
  return path
}

const inputs = (records: readonly SessionRecord[]) =>
  Object.fromEntries(
    records.map(({ id, tokens: all, estimated_cost }) => [id.slice(9), [all?.input, estimated_cost]]),
  )

describe('OpenCode 2', () => {
  test('prompts, answers, tools, summaries, and what its own sum has beyond them', async () => {
    const tool = (id: string, name: string, state: object) => ({ type: 'tool', id, name, state })
    const diff = '--- a\n+++ b\n@@ -0,0 +1 @@\n+one\n'
    const content = [
      { type: 'text', text: 'Yes' },
      tool('t1', 'edit', {
        ...{ status: 'completed', input: { path: 'src/a.ts', oldString: '', newString: 'one' } },
        ...{
          content: [{ type: 'text', text: 'done' }],
          metadata: { files: [{ file: 'src/a.ts', patch: diff }] },
        },
      }),
      tool('t2', 'shell', {
        ...{ status: 'completed', input: { command: 'bun test' }, content: [], metadata: { exit: 1 } },
      }),
      tool('t3', 'shell', {
        ...{ status: 'error', input: { command: 'rm -rf /' } },
        error: { type: 'permission.rejected', message: 'no' },
      }),
    ]
    const path = await next(
      [{ id: 'ses_1', sum: 1_000 }],
      [
        user('msg_1', 'ses_1', 1),
        answer('msg_2', 'ses_1', 2, 100, { content, snapshot: { files: ['src/a.ts', 'src/made.ts'] } }),
        { id: 'msg_3', session: 'ses_1', type: 'synthetic', second: 3, data: { text: 'a note' } },
        answer('msg_4', 'ses_1', 4, 20, { error: { type: 'aborted', message: 'stopped' } }),
        answer('msg_5', 'ses_1', 5, 0, {
          error: { type: 'provider.internal', message: 'broken' },
          tokens: undefined,
        }),
        {
          id: 'msg_6',
          session: 'ses_1',
          type: 'compaction',
          second: 6,
          data: { status: 'completed', ...used(300), model: MODEL },
        },
        {
          id: 'msg_7',
          session: 'ses_1',
          type: 'compaction',
          second: 7,
          data: { status: 'completed', summary: 's' },
        },
        { id: 'msg_8', session: 'ses_1', type: 'compaction', second: 8, data: { status: 'failed' } },
        { id: 'msg_9', session: 'ses_1', type: 'idle', second: 9, data: { outcome: 'succeeded' } },
      ],
    )
    const record = await readOne(path)
    expect(record).toMatchObject({
      id: 'sess_ses_1',
      source: 'opencode',
      project_name: 'shop',
      tokens: { input: 1_000, cache_read: 10_000 },
      estimated_cost: 10,
      cost_source: 'reported',
      models: ['claude-sonnet-4-5'],
      files_touched: ['src/a.ts'],
      tools_used: [
        { name: 'shell', calls: 2, errors: 2 },
        { name: 'edit', calls: 1, errors: 0 },
      ],
    })
    expect(
      record.turn_records?.map(({ role, tokens: all, cost }) => [role, all?.input ?? null, cost]),
    ).toEqual([
      ['user', null, null],
      ['assistant', 100, 1],
      ['assistant', 20, 0.2],
      ['assistant', null, null],
      ['assistant', 300, 3],
      ['unattributed', 580, 5.8],
    ])
    expect(record.observations?.map(({ type }) => type).sort()).toEqual([
      ...['api_error', 'compaction', 'compaction', 'interruption', 'rejection'],
    ])
  })

  test('what was migrated counts once, and both versions may go on', async () => {
    const old = session('ses_1')
    const ids = old.messages.flatMap(({ info }) => (info.role === 'assistant' ? [String(info.id)] : []))
    const prompt = old.messages.find(({ info }) => info.role === 'user')?.info.id
    const path = await next(
      [{ id: 'ses_1', sum: 0 }],
      [
        user(String(prompt), 'ses_1', 0),
        ...ids.map((id) => answer(id, 'ses_1', 1, 1)),
        answer('msg_new', 'ses_1', 40, 700),
      ],
      [old, session('ses_2')],
    )
    const before = join(await write({ 'notes.md': '' }), 'opencode.db')
    opencodeDatabase(before, [old, session('ses_2')])
    const [first] = (await read(before)).records
    const { records } = await read(path)
    expect(records).toHaveLength(2)
    const [one] = records.filter(({ id }) => id === 'sess_ses_1')
    expect(one?.tokens?.input).toBe((first?.tokens?.input ?? 0) + 700)
    expect(one?.turns).toBe((first?.turns ?? 0) + 1)
    expect(one?.tools_used).toEqual(first?.tools_used ?? [])
    // a copy of the database, from before or after
    await copyFile(path, join(before, '..', 'opencode-next.db'))
    expect(inputs((await read(join(before, '..'))).records)).toEqual(inputs(records))
  })

  test('a fork has its own calls, whichever version made it', async () => {
    const parent = [user('msg_1', 'ses_a', 1), answer('msg_2', 'ses_a', 2, 100)]
    const rows = [
      ...parent,
      { ...parent[0], id: 'msg_f_#', session: 'ses_b' },
      { ...parent[1], id: 'msg_f_#', session: 'ses_b' },
      answer('msg_b', 'ses_b', 30, 20),
      // version 1 gave copies new ids, and its sums include them
      { ...parent[1], id: 'msg_c1', session: 'ses_c' },
      answer('msg_c2', 'ses_c', 40, 3),
      // the clock was put back before the fork
      { ...parent[1], id: 'msg_d_#', session: 'ses_d', second: 2 },
    ] as NextRow[]
    const path = await next(
      [
        { id: 'ses_a', sum: 105 },
        { id: 'ses_b', sum: 20, second: 20, fork: 'ses_a' },
        { id: 'ses_c', sum: 103, second: 20 },
        { id: 'ses_d', sum: 0, second: 1, fork: 'ses_a' },
      ],
      rows,
    )
    expect(inputs((await read(path)).records)).toEqual({ a: [105, 1.05], b: [20, 0.2], c: [3, 0.03] })
  })

  test('a sub-agent’s sum is added to that of its session', async () => {
    const path = await next(
      [
        { id: 'ses_a', sum: 150 },
        { id: 'ses_b', sum: 30, parent: 'ses_a' },
      ],
      [
        user('msg_1', 'ses_a', 1),
        answer('msg_2', 'ses_a', 2, 100),
        user('msg_3', 'ses_b', 3),
        answer('msg_4', 'ses_b', 4, 20),
      ],
    )
    expect(await readOne(path)).toMatchObject({ tokens: { input: 180 }, estimated_cost: 1.8, turns: 3 })
  })

  test('a database of a beta, whose sessions have the name of older ones', async () => {
    const path = join(await write({ 'notes.md': '' }), 'opencode-next.db')
    addNext(path, [{ id: 'ses_a', sum: 100 }], [answer('msg_2', 'ses_a', 2, 90)], 'session')
    expect((await readOne(path)).tokens?.input).toBe(100)
  })
})

describe('OpenCode 1', () => {
  const exported = (parts: object[], info: object, own: object[]) =>
    opencodeExport({
      session: {
        id: 'ses_1',
        directory: '/home/dev/shop',
        title: 'T',
        time: { created: ms(0), updated: ms(9) },
      },
      messages: [
        {
          info: { id: 'msg_1', sessionID: 'ses_1', role: 'user', time: { created: ms(1) } },
          parts: parts.map((part, index) => ({
            id: `prt_${index}`,
            sessionID: 'ses_1',
            messageID: 'msg_1',
            ...part,
          })),
        },
        {
          info: {
            id: 'msg_2',
            sessionID: 'ses_1',
            role: 'assistant',
            time: time(2),
            parentID: 'msg_1',
            modelID: MODEL.id,
            ...info,
          },
          parts: own.map((part, index) => ({
            id: `prt_a${index}`,
            sessionID: 'ses_1',
            messageID: 'msg_2',
            ...part,
          })),
        },
      ],
    } as never)

  test.each([
    ['a request to compact', [{ type: 'compaction', auto: true }], 0],
    ['a text that the program added', [{ type: 'text', text: 'x', synthetic: true }], 0],
    [
      'a text beside one that the program added',
      [
        { type: 'text', text: 'x', synthetic: true },
        { type: 'text', text: 'y' },
      ],
      1,
    ],
    ['a file', [{ type: 'file', url: 'file:///a' }], 1],
    ['nothing', [], 1],
  ])('%s is a prompt or none', async (_name, parts, prompts) => {
    const record = await readOne({
      'a.json': exported(parts, { cost: 0.5, tokens: tokens(10), summary: true }, []),
    })
    expect(record.turns).toBe(prompts + 1)
    expect(record.observations?.map(({ type }) => type)).toEqual(['compaction'])
  })

  test('a message with several steps has the tokens of all', async () => {
    const step = (n: number) => ({ type: 'step-finish', cost: n / 100, tokens: tokens(n) })
    const file = exported([{ type: 'text', text: 'x' }], { cost: 1.5, tokens: tokens(50) }, [
      step(100),
      step(50),
    ])
    expect(await readOne({ 'a.json': file })).toMatchObject({
      tokens: { input: 150, cache_read: 1_500 },
      estimated_cost: 1.5,
    })
  })
})
