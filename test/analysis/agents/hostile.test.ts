import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdir, symlink, truncate } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { problemOf } from '../../../src/analysis/records/check-record.ts'
import { sessionIdOf } from '../../../src/base/ids.ts'
import { PLANTED } from '../../support/planted-secrets.ts'
import { agentFiles } from './reading.ts'

const { write, read } = agentFiles()

const at = (minute: number) => `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z`
const envelope = (session: string, id: string, minute: number) => ({
  uuid: id,
  sessionId: session,
  isSidechain: false,
  cwd: '/home/dev/app',
  gitBranch: 'main',
  timestamp: at(minute),
})
const user = (session: string, minute: number, content: unknown, id = `u${minute}`) =>
  JSON.stringify({ type: 'user', ...envelope(session, id, minute), message: { role: 'user', content } })
const answer = (session: string, minute: number, content: unknown[] = [], id = `m${minute}`) =>
  JSON.stringify({
    type: 'assistant',
    ...envelope(session, `a${minute}`, minute),
    requestId: `r${minute}`,
    message: {
      id,
      role: 'assistant',
      model: 'claude-haiku-4-5',
      content,
      usage: { input_tokens: 100, output_tokens: 10 },
    },
  })
const call = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })
const result = (id: string, content: string) => [{ type: 'tool_result', tool_use_id: id, content }]

describe('damaged lines', () => {
  test('invalid lines between valid ones are listed, the valid ones are read', async () => {
    const path = await write({
      'a.jsonl': Buffer.concat([
        Buffer.from(`\uFEFF${user('s', 1, 'hello')}\r\n`),
        Buffer.from('\u0000\u0000\u0000\n'),
        Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a]),
        Buffer.from(`${'['.repeat(200_000)}\n`),
        Buffer.from('42\n"text"\n[1]\nnull\n{"silly":1}\n\n'),
        Buffer.from(`${answer('s', 2)}\r\n`),
        Buffer.from(
          `{"type":"user","sessionId":"s","timestamp":"${at(3)}","message":{"role":"user","content":"bad \u00e9`,
        ),
      ]),
    })
    const { records, unreadable } = await read(path)
    expect(unreadable.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 12])
    expect(records).toMatchObject([{ turns: 2, tokens: { input: 100, output: 10 } }])
  })

  test('a line with bytes that are not UTF-8 is read', async () => {
    const line = Buffer.from(`${user('s', 1, 'caf#')}\n${answer('s', 2)}\n`)
    line[line.indexOf('#')] = 0xe9
    expect((await read(await write({ 'a.jsonl': line }))).records).toMatchObject([{ turns: 2 }])
  })

  test('a line above the limit is listed and skipped', async () => {
    const path = await write({
      'a.jsonl': `${user('s', 1, 'hello')}\n${user('s', 2, 'x'.repeat(33 * 1024 * 1024))}\n${answer('s', 3)}\n`,
    })
    const { records, unreadable } = await read(path)
    expect(unreadable).toMatchObject([{ line: 2, reason: 'longer than 32 MiB' }])
    expect(records).toMatchObject([{ turns: 2 }])
  })

  test('a chat cut off in the middle, an object without end', async () => {
    const chat = `{"sessionId":"g","projectHash":"abcdef0123456789","startTime":"${at(1)}","messages":[{"id":"1"`
    expect((await read(await write({ 'chat.json': chat }))).unreadable).toMatchObject([
      { line: 1, reason: 'not JSON, or cut off' },
    ])
    const message = { id: 'msg_1', sessionID: 'ses_1', role: 'user', time: { created: 1770200000000 } }
    const objects = `${JSON.stringify(message, null, 2)}\n{\n  "id": "msg_2",\n${JSON.stringify({ ...message, id: 'msg_3' }, null, 2)}\n`
    const { records, unreadable } = await read(await write({ 'export.jsonl': objects }))
    expect(unreadable).toMatchObject([{ line: 9, reason: 'an object that does not end' }])
    expect(records).toMatchObject([{ turns: 2 }])
  })

  test('pictures, empty files and cycles of links are ignored', async () => {
    const path = await write({
      'empty.jsonl': '',
      'picture.jsonl': crypto.getRandomValues(new Uint8Array(5000)),
      'a.jsonl': `${user('s', 1, 'x')}\n`,
    })
    await mkdir(join(path, 'deep'))
    await symlink(path, join(path, 'deep/loop'))
    await symlink(join(path, 'gone'), join(path, 'dangling'))
    const skipped: string[] = []
    const { records } = await read(path, { onSkipped: (_file, reason) => skipped.push(reason) })
    expect(records).toHaveLength(1)
    expect(skipped).toEqual(['a link that leads nowhere'])
  })
})

describe('what would take too much memory', () => {
  const long = (values: number) => result('t1', 'x').concat({ more: Array(values).fill({}) } as never)
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

  test('lines of too many values or levels are named, large ones are read', async () => {
    const path = await write({
      'a.jsonl': [
        user('s', 0, 'hello'),
        user('s', 1, long(500_000)),
        user('s', 2, nested(200)),
        user('s', 3, 'x'.repeat(5_000_000)),
        user('s', 4, long(490_000)),
        answer('s', 5, nested(190)),
      ].join('\n'),
    })
    const { records, unreadable } = await read(path)
    expect(unreadable).toMatchObject([
      { line: 2, reason: 'more than 1000000 values' },
      { line: 3, reason: 'nested more than 200 levels deep' },
    ])
    expect(records).toMatchObject([{ turns: 3 }])
  })

  test('blocks to replace that do not end are read once', async () => {
    const content = '<<<<<<< SEARCH\n'.repeat(200_000)
    const edit = call('t1', 'Write', { file_path: '/home/dev/app/a.ts', content })
    const { records } = await read(
      await write({ 'a.jsonl': `${user('s', 1, 'hi')}\n${answer('s', 2, [edit])}\n` }),
    )
    expect(records).toMatchObject([{ files_touched: ['a.ts'] }])
  })

  test('a file with too many messages is read up to there', async () => {
    const lines = [...Array(200_001).keys()].map((id) => user('s', 1, 'hi', `u${id}`))
    const { records, unreadable } = await read(await write({ 'a.jsonl': lines.join('\n') }))
    expect(unreadable).toMatchObject([{ reason: 'reading stopped: it has too many messages and calls' }])
    expect(records).toMatchObject([{ id: 'sess_s' }])
  })

  test('so are documents, packed and beside a session', async () => {
    const thread = (more: object) =>
      JSON.stringify({ v: 1, id: 'T-019ca1ce-3ae2-7686-a41e-000000000001', created: 1, messages: [], more })
    const path = await write({
      'amp/T-1.json.gz': Bun.gzipSync(thread(Array(1_000_000).fill([]))),
      'amp/T-2.json': thread(nested(200)),
      'amp/T-3.json': `${thread([])}${' '.repeat(65 * 1024 * 1024)}`,
    })
    const { unreadable } = await read(path)
    expect(unreadable.map(({ path: file, reason }) => `${basename(file)} ${reason}`).sort()).toEqual([
      'T-1.json.gz more than 1000000 values',
      'T-2.json nested more than 200 levels deep',
      'T-3.json a document above 64 MiB',
    ])
  })
})

describe('one session, several files', () => {
  const lines = [
    user('s', 1, 'hello'),
    answer('s', 2, [call('t1', 'Bash', { command: 'ls' })]),
    user('s', 3, result('t1', 'ok')),
    answer('s', 4),
  ]

  test('checkpoints make one record, that of the longest', async () => {
    const text = (count: number) => `${lines.slice(0, count).join('\n')}\n`
    const whole = (await read(await write({ 'one.jsonl': text(4) }))).records
    const parts = await read(
      await write({ 'a/full.jsonl': text(2), 'b/full.jsonl': text(4), 'c/full.jsonl': text(3) }),
    )
    expect(parts.records).toEqual(whole)
  })

  test('a session grows: its existing turns stay the same', async () => {
    const path = await write({ 'a.jsonl': `${lines.join('\n')}\n` })
    const before = (await read(path)).records[0]
    await Bun.write(join(path, 'a.jsonl'), `${[...lines, user('s', 5, 'more'), answer('s', 6)].join('\n')}\n`)
    const after = (await read(path)).records[0]
    expect(after?.turn_records?.slice(0, 3)).toEqual(before?.turn_records ?? [])
    expect(after?.turns).toBe(5)
    await truncate(join(path, 'a.jsonl'), `${lines.join('\n')}\n`.length)
    expect((await read(path)).records[0]).toEqual(before)
  })

  test('a session resumed under a new id counts its copied messages once', async () => {
    const copy = lines.map((line) => line.replace('"sessionId":"s"', '"sessionId":"resumed"'))
    const path = await write({
      'z.jsonl': `${lines.join('\n')}\n`,
      'a.jsonl': `${[...copy, user('resumed', 8, 'go on'), answer('resumed', 9)].join('\n')}\n`,
    })
    const { records } = await read(path)
    expect(
      records.map(({ id, tokens, turns, created_at }) => [id, tokens?.input, turns, created_at]),
    ).toEqual([
      ['sess_s', 200, 3, at(1)],
      ['sess_resumed', 100, 2, at(8)],
    ])
  })

  test('several sessions in one file are several records', async () => {
    const path = await write({
      'a.jsonl': `${user('one', 1, 'x')}\n${answer('one', 2)}\n${user('two', 3, 'y', 'other')}\n${answer('two', 4)}\n`,
      'b.jsonl': `${answer('two', 5)}\n`,
    })
    const { records } = await read(path)
    const turns = Object.fromEntries(records.map((record) => [record.id, record.turns]))
    expect(turns).toEqual({ sess_one: 2, sess_two: 3 })
  })

  test('a sidechain that repeats its parent under another request is one message', async () => {
    const again = JSON.parse(answer('s', 2))
    const sidechain = JSON.stringify({
      ...again,
      uuid: 'x',
      isSidechain: true,
      requestId: 'r-other',
      timestamp: at(7),
    })
    const { records } = await read(await write({ 'a.jsonl': `${[...lines, sidechain].join('\n')}\n` }))
    expect(records[0]?.tokens?.input).toBe(200)
  })
})

describe('secrets', () => {
  const planted = [
    user('s', 1, `use ${PLANTED.github}`),
    answer('s', 2, [
      { type: 'text', text: `I see ${PLANTED.slack}` },
      call('t1', 'Bash', { command: `curl -H "X: ${PLANTED.anthropic}" https://example.org` }),
    ]),
    user('s', 3, result('t1', `line\n${PLANTED.aws}`)),
    answer('s', 4, [
      call('t2', 'Write', {
        file_path: '/home/dev/app/.env',
        content: `A="1"\nKEY="${PLANTED['google-api-key']}"`,
      }),
    ]),
    user('s', 5, result('t2', 'written')),
    answer('s', 6, [call('t3', 'Read', { file_path: '/home/dev/app/id_rsa' })]),
    user('s', 7, result('t3', PLANTED.privatekey ?? '')),
  ]

  for (const content of [false, true]) {
    test(`are found by kind and place and are not in the output, content ${content}`, async () => {
      const { records } = await read(await write({ 'a.jsonl': `${planted.join('\n')}\n` }), { content })
      const [record] = records
      const findings = record?.security_metadata?.findings ?? []
      const places = findings.map(({ rule_id, severity, file, line, turn_number }) => [
        rule_id,
        severity,
        file,
        line,
        turn_number,
      ])
      expect(places.sort()).toEqual(
        [
          ['github', 'high', null, 1, 1],
          ['slack', 'high', null, 1, 2],
          ['anthropic', 'critical', null, 1, 2],
          ['aws', 'medium', null, 2, 2],
          ['google-api-key', 'critical', '.env', 3, 3],
          ['privatekey', 'high', 'id_rsa', 1, 4],
          ['sensitive-file-written', 'low', '.env', null, 3],
          ['sensitive-file-read', 'high', 'id_rsa', null, 4],
        ].sort(),
      )
      expect(record?.security_metadata?.score).toBe(0)
      const parts = Object.values(PLANTED).flatMap((secret) =>
        secret.split('\n').filter((line) => !line.startsWith('-----')),
      )
      for (const part of parts) expect(JSON.stringify(record)).not.toContain(part.slice(-10))
      if (content) expect(record?.turn_records?.[0]?.content).toBe('use [secret: github]')
    })
  }
})

test('secrets beyond the 1,000 that a record lists are masked and counted', async () => {
  const tokens = (from: number) =>
    Array.from({ length: 100 }, (_, n) => `ghp_${from + n + 1000}${PLANTED.github?.slice(8)}`).join(' ')
  const prompts = Array.from({ length: 15 }, (_, n) => user('s', n, tokens(n * 100), `p${n}`))
  const { records } = await read(await write({ 'a.jsonl': prompts.join('\n') }), { content: true })
  expect(JSON.stringify(records)).not.toContain('ghp_')
  expect(records[0]?.turn_records).toHaveLength(15)
  const { findings = [], score } = records[0]?.security_metadata ?? {}
  expect(score).toBe(0)
  expect(findings).toHaveLength(1_000)
  expect(findings.at(-1)?.description).toEndWith(' 500 more were found and are not listed.')
})

test('content is cut at its limit, with a note', async () => {
  const path = await write({ 'a.jsonl': `${user('s', 1, 'word '.repeat(10_000))}\n${answer('s', 2)}\n` })
  const { records } = await read(path, { content: true })
  const content = records[0]?.turn_records?.[0]?.content ?? ''
  expect(content).toHaveLength(16 * 1024 + '\n[… 33616 characters cut]'.length)
  expect(content).toEndWith('[… 33616 characters cut]')
})

test('sessions with NUL, unpaired surrogates and surrogate pairs at a limit are valid', async () => {
  const bad = 'a\u0000b\ud800c'
  const long = (length: number) => `${'x'.repeat(length - 1)}😀${'y'.repeat(40_000)}`
  const line = JSON.stringify({
    type: 'user',
    ...envelope('s', 'u1', 1),
    cwd: `/home/dev/${bad}`,
    gitBranch: long(500),
    message: { role: 'user', content: long(16 * 1024) },
  })
  const path = await write({
    'a.jsonl': [
      line,
      answer('s', 2, [
        call('t1', long(200), { file_path: 'x' }),
        call('t2', 'Write', { file_path: `/home/dev/${bad}/${bad}.ts` }),
        call('t3', bad, {}),
      ]).replace('claude-haiku-4-5', 'a\\u0000b\\ud800c'),
      answer('s', 3).replace('claude-haiku-4-5', long(200)),
    ].join('\n'),
  })
  const { records } = await read(path, { content: true })
  const [record] = records
  expect(problemOf(record, 'record')).toBeUndefined()
  expect(record).toMatchObject({
    project_name: 'a\ufffdb\ufffdc',
    branch: 'x'.repeat(499),
    files_touched: ['a\ufffdb\ufffdc.ts'],
  })
  expect(record?.tools_used?.map(({ name }) => name)).toEqual(['Write', 'a\ufffdb\ufffdc', 'x'.repeat(199)])
  expect(record?.turn_records?.[0]?.content?.isWellFormed()).toBe(true)
})

test('agents’ ids of any form become valid session ids', () => {
  expect(sessionIdOf('3a4a4468-815f')).toBe('sess_3a4a4468-815f')
  expect(sessionIdOf('a/b c.d')).toMatch(/^sess_a-b-c-d-[0-9a-f]{20}$/)
  const alike = ['a.b', 'a-b', 'a b', 'a/b', '']
  expect(new Set(alike.map(sessionIdOf)).size).toBe(alike.length)
  expect(sessionIdOf('x'.repeat(500))).toMatch(/^sess_[A-Za-z0-9_-]{64}$/)
  expect(sessionIdOf(`${'x'.repeat(499)}y`)).not.toBe(sessionIdOf('x'.repeat(500)))
})

describe('what has no end', () => {
  test('pipes and devices are named and not opened', async () => {
    const path = await write({ 'one.jsonl': answer('one', 1) })
    expect(Bun.spawnSync(['mkfifo', join(path, 'pipe.jsonl')]).success).toBe(true)
    await symlink('/dev/zero', join(path, 'zero.json'))
    const skipped: [string, string][] = []
    const { records } = await read(path, { onSkipped: (...each) => skipped.push(each) })
    expect(records).toHaveLength(1)
    expect(skipped).toEqual([
      [join(path, 'pipe.jsonl'), 'not a regular file'],
      [join(path, 'zero.json'), 'not a regular file'],
    ])
  })

  test('nor are those in the storage folder of OpenCode', async () => {
    const message = { id: 'msg_1', sessionID: 'ses_1', role: 'user', time: { created: Date.parse(at(1)) } }
    const path = await write({
      'message/ses_1/msg_1.json': JSON.stringify(message),
      'part/msg_1/prt_1.json': '{}',
    })
    await symlink('/dev/zero', join(path, 'message/ses_1/msg_2.json'))
    Bun.spawnSync(['mkfifo', join(path, 'part/msg_1/prt_2.json')])
    const { records, unreadable } = await read(path)
    expect(records).toHaveLength(1)
    expect(unreadable.map(({ path: file, reason }) => [file, reason])).toEqual([
      [join(path, 'part/msg_1/prt_2.json'), 'not a regular file'],
      [join(path, 'message/ses_1/msg_2.json'), 'not a regular file'],
    ])
  })

  test('an id in the storage folder of OpenCode leads to no other folder', async () => {
    const message = { sessionID: 'ses_1', role: 'assistant', time: { created: Date.parse(at(1)) } }
    const part = { type: 'tool', callID: 'c1', tool: 'bash', state: { status: 'completed', input: {} } }
    const path = await write({
      'storage/message/ses_1/msg_1.json': JSON.stringify({ ...message, id: '../../private' }),
      'storage/part/msg_1/prt_1.json': '{}',
      'private/prt_2.json': JSON.stringify({ ...part, id: 'prt_2', sessionID: 'ses_1' }),
    })
    const { records } = await read(join(path, 'storage'))
    expect(records).toMatchObject([{ turns: 1, tools_used: [] }])
  })

  test('rows of a damaged database that have the same bytes are read as far as the file could have them', async () => {
    const path = join(await write({ 'other.txt': '' }), 'threads.db')
    const database = new Database(path, { create: true })
    const [page, rows] = [4_096, 7]
    database.run(`pragma page_size = ${page}`)
    database.run('create table threads (id text, data_type text, data blob)')
    const data = JSON.stringify({ x: 'y'.repeat(397_440) })
    for (let id = 0; id < rows; id += 1)
      database.run('insert into threads values (?, ?, ?)', [`t${9 - id}`, 'json', data])
    database.close()
    const bytes = Buffer.from(await Bun.file(path).arrayBuffer())
    // a row ends with the number of its first overflow page: all get that of the first row, and the other pages are cut off
    const starts = Array.from({ length: rows }, (_, row) => bytes.readUInt16BE(page + 8 + 2 * row))
    const ends = [page, ...starts.slice(0, -1)].map((end) => page + end - 4)
    for (const end of ends) bytes.writeUInt32BE(bytes.readUInt32BE(2 * page - 4), end)
    bytes.writeUInt32BE(102, 28)
    await Bun.write(path, bytes.subarray(0, 102 * page))
    const { unreadable } = await read(path)
    expect(unreadable.at(-1)?.reason).toBe(
      'reading stopped: its rows have more bytes than the file: it is damaged',
    )
  })

  const ENDLESS = 'with recursive n(i) as (select 1 union all select i + 1 from n)'
  const MESSAGES = 'create table message (id text, session_id text, time_created integer, data text)'
  const PARTS =
    'create table part (id text, session_id text, message_id text, time_created integer, data text)'
  const COLUMNS = "'x' as id, 's' as session_id, 'm' as message_id, i as time_created, '{}' as data"
  test.each([
    ['views', [`create view message as ${ENDLESS} select ${COLUMNS} from n`, PARTS]],
    ['a view of the parts', [MESSAGES, `create view part as ${ENDLESS} select ${COLUMNS} from n`]],
    [
      'a computed column',
      [
        MESSAGES.replace('data text', 'data text as (hex(zeroblob(4000000)))'),
        PARTS,
        'insert into message values (1, 1, 1)',
      ],
    ],
  ])('a database with %s is not one of OpenCode', async (_what, statements) => {
    const path = await write({ 'other.txt': '' })
    const database = new Database(join(path, 'opencode.db'), { create: true })
    for (const statement of statements) database.run(statement)
    database.close()
    const skipped: string[] = []
    const { records } = await read(path, { onSkipped: (_path, reason) => skipped.push(reason) })
    expect(records).toEqual([])
    expect(skipped).toEqual(['not a format we read (SQLite)'])
  })
})
