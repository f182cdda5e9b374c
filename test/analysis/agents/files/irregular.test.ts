import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readCommits } from '../../../../src/analysis/agents/git/commits.ts'
import { scratchFolder } from '../../../support/at-end.ts'
import { PROGRAM } from '../../../support/cli.ts'
import { agentFiles, lines } from '../reading.ts'

// Only regular files are opened: a pipe waits for a writer without an end. The program is killed after 20 s, and has 2 GiB of
// memory at most in its heap. What is passed over is named, once.

const folder = scratchFolder()
afterAll(folder.remove)
let made = 0

const at = '2026-09-01T10:00:00.000Z'
const PROMPT = { role: 'user', content: [{ type: 'text', text: 'hi' }] }
const rollout = (cwd: string) =>
  lines([
    { timestamp: at, type: 'session_meta', payload: { id: '01990000-0000-7000-8000-000000000001', cwd } },
    { timestamp: at, type: 'event_msg', payload: { type: 'user_message', message: 'hi' } },
  ])
const droid = lines([
  { type: 'session_start', id: 'd1', cwd: '/w' },
  { type: 'message', id: 'm1', timestamp: at, message: PROMPT },
])
const task = JSON.stringify([{ ts: Date.parse(at), type: 'say', say: 'text', text: 'hi' }])
const cline = JSON.stringify({
  version: 1,
  agent: 'lead',
  sessionId: 's1',
  messages: [{ id: 'm1', ts: Date.parse(at), ...PROMPT }],
})
const chat = JSON.stringify({
  sessionId: 'gggg1111-0000-4000-8000-000000000001',
  projectHash: 'ab'.repeat(32),
  startTime: at,
  messages: [{ id: '1', timestamp: at, type: 'user', content: 'hi' }],
})
const cursor = (path: string) => {
  const database = new Database(path)
  database.run('create table cursorDiskKV (key text, value blob)')
  const bubble = { bubbleId: 'b1', type: 1, text: 'hi', createdAt: at }
  database.run('insert into cursorDiskKV values (?, ?)', ['bubbleId:c1:b1', JSON.stringify(bubble)])
  database.close()
}
const pipe = (path: string) => {
  if (Bun.spawnSync(['mkfifo', path]).exitCode !== 0) throw new Error(`no pipe at ${path}`)
}

type Make = string | ((path: string) => void)

/** Makes the files, and syncs the folder, of which `sub` is read. */
async function dryRun(files: Record<string, Make>, sub: string) {
  made += 1
  const root = join(folder.path, String(made))
  for (const [name, make] of Object.entries(files)) {
    const path = join(root, name)
    mkdirSync(dirname(path), { recursive: true })
    if (typeof make === 'string') writeFileSync(path, make.replaceAll('ROOT', root))
    else make(path)
  }
  const child = Bun.spawn({
    cmd: [...PROGRAM, 'sync', '--dry-run', '--json', '--user', 'ada@example.com', sub],
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: root, DATA_DIR: join(root, 'data'), LOG_LEVEL: 'warn' },
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 20_000,
    killSignal: 'SIGKILL',
  })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`)
  const { records, skipped } = JSON.parse(stdout) as {
    records: { id: string }[]
    skipped: { path: string; reason: string }[]
  }
  const names = skipped.map(({ path, reason }) => `${path.slice(root.length + 1)}: ${reason}`)
  return { sessions: records.map(({ id }) => id), skipped: names.sort(), stderr }
}

const passed = (...paths: string[]) => paths.map((path) => `${path}: not a regular file`).sort()

describe.skipIf(process.platform === 'win32')('pipes', () => {
  const git = agentFiles()

  test.each<[string, Record<string, Make>, string[], string]>([
    [
      'beside a session of Droid',
      { '.factory/d1.jsonl': droid, '.factory/d1.settings.json': pipe },
      passed('.factory/d1.settings.json'),
      '.',
    ],
    [
      'beside it, where only the session is named',
      { '.factory/d1.jsonl': droid, '.factory/d1.settings.json': pipe },
      passed('.factory/d1.settings.json'),
      '.factory/d1.jsonl',
    ],
    [
      'beside a task of Cline',
      {
        'tasks/1/ui_messages.json': task,
        'tasks/1/api_conversation_history.json': pipe,
        'tasks/1/history_item.json': pipe,
        'tasks/1/task_metadata.json': pipe,
      },
      passed(
        'tasks/1/api_conversation_history.json',
        'tasks/1/history_item.json',
        'tasks/1/task_metadata.json',
      ),
      '.',
    ],
    [
      'beside a session of Cline',
      { 's1/s1.messages.json': cline, 's1/s1.json': pipe },
      passed('s1/s1.json'),
      '.',
    ],
    [
      'beside a chat of Gemini CLI',
      { 'tmp/abc/chats/session-1.json': chat, 'tmp/abc/.project_root': pipe, 'projects.json': pipe },
      passed('projects.json', 'tmp/abc/.project_root'),
      '.',
    ],
    [
      "in the storage beside Cursor's database",
      { 'globalStorage/state.vscdb': cursor, 'workspaceStorage/w/workspace.json': pipe },
      passed('workspaceStorage/w/workspace.json'),
      'globalStorage',
    ],
    [
      'in a folder of git',
      {
        'a.jsonl': rollout('ROOT/repo'),
        'repo/.git/HEAD': 'ref: refs/heads/main\n',
        'repo/.git/config': pipe,
        'repo/.git/commondir': pipe,
      },
      passed('repo/.git/commondir', 'repo/.git/config'),
      '.',
    ],
    [
      'in place of a folder of git',
      { 'a.jsonl': rollout('ROOT/repo'), 'repo/.git': pipe },
      passed('repo/.git'),
      '.',
    ],
  ])(
    '%s',
    async (_name, files, skipped, sub) => {
      const found = await dryRun(files, sub)
      expect(found.skipped).toEqual(skipped)
      expect(found.sessions).toHaveLength(1)
    },
    180_000,
  )

  test('that git would open end the reading of a repository', async () => {
    for (const name of ['.git/config', '.mailmap']) {
      const path = await git.write({ '.git/HEAD': 'ref: refs/heads/main\n' })
      pipe(join(path, name))
      const commits = readCommits(path, {})
      await expect(commits.next()).rejects.toThrow(`${join(path, name)}, which is not a regular file`)
    }
  })

  test('beside a database, whose sessions are passed over', async () => {
    const found = await dryRun(
      {
        'state.vscdb': cursor,
        'state.vscdb-journal': pipe,
        'a.jsonl': rollout('/w'),
      },
      '.',
    )
    expect(found.skipped).toEqual([
      'state.vscdb-journal: not a regular file',
      'state.vscdb: state.vscdb-journal: not a regular file',
    ])
    expect(found.sessions).toHaveLength(1)
  }, 180_000)
})

describe('packed files', () => {
  const { read, write } = agentFiles()
  const claude = (session: string, count: number) =>
    lines(
      Array.from({ length: count }, (_, index) => ({
        type: 'user',
        uuid: `u${index}`,
        sessionId: session,
        cwd: '/w',
        timestamp: at,
        message: { role: 'user', content: `prompt ${index} ${crypto.randomUUID()}` },
      })),
    )

  test('that are cut off end there, and stop no other file', async () => {
    const whole = Bun.gzipSync(Buffer.from(claude('s1', 3_000)))
    const path = await write({
      'a.jsonl.gz': whole.subarray(0, whole.length - 300),
      'b.jsonl': claude('s2', 1),
    })
    const { records, unreadable } = await read(path)
    expect(records.map(({ id }) => id).sort()).toEqual(['sess_s1', 'sess_s2'])
    expect(unreadable.at(-1)?.reason).toStartWith('reading stopped: ')
  })

  test.each<[string, (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>]>([
    ['zst', (bytes) => new Uint8Array(Bun.zstdCompressSync(bytes))],
    ['gz', (bytes) => Bun.gzipSync(bytes)],
  ])(
    'of .%s that unpack to more than 1 GiB end there',
    async (ending, pack) => {
      const zeros = pack(new Uint8Array(64 * 1024 * 1024))
      // both formats unpack parts one after the other
      const bomb = Buffer.concat([
        pack(Buffer.from(rollout('/w'))),
        ...Array.from({ length: 17 }, () => zeros),
      ])
      const { records, unreadable } = await read(await write({ [`a.jsonl.${ending}`]: new Uint8Array(bomb) }))
      expect(records).toHaveLength(1)
      expect(unreadable.at(-1)?.reason).toBe('reading stopped: it unpacks to more than 1 GiB')
    },
    360_000,
  )

  test('a thread of Zed that unpacks to more than 128 MiB is passed over, and not unpacked', async () => {
    const path = join(folder.path, 'threads.db')
    const database = new Database(path)
    database.run('create table threads (id text, updated_at text, data_type text, data blob)')
    const zeros = Bun.zstdCompressSync(new Uint8Array(64 * 1024 * 1024))
    const thread = { messages: [{ User: { id: 'p', content: [{ Text: 'hi' }] } }] }
    for (const [id, data] of [
      ['bomb', Buffer.concat(Array.from({ length: 24 }, () => zeros))],
      ['good', Bun.zstdCompressSync(JSON.stringify(thread))],
    ] as const)
      database.run('insert into threads values (?, ?, ?, ?)', [id, at, 'zstd', data])
    database.close()
    Bun.gc(true)
    const before = process.memoryUsage.rss()
    const { records, unreadable } = await read(path)
    expect(records.map(({ id }) => id)).toEqual(['sess_good'])
    expect(unreadable.map(({ reason }) => reason)).toEqual([
      'thread bomb: not a JSON object, damaged or too large',
    ])
    expect(process.memoryUsage.rss() - before).toBeLessThan(512 * 1024 * 1024)
  }, 180_000)
})
