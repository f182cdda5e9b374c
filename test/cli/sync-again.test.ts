import { beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { testsFolder } from '../support/at-end.ts'
import { eventually, PROGRAM, run, runJson, startProgram, testsServer } from '../support/cli.ts'
import { testsDatabase } from '../support/postgres.ts'
import { asFormer, folderIn, inState, pathIn, valuesIn } from '../watch/state.ts'

// A second sync to a server reads and sends as little as possible.

setDefaultTimeout(180_000)
const folder = testsFolder()
let files: string
let count = 0

const database = await testsDatabase()
const env = { DATA_DIR: folder.path, DATABASE_URL: database.url, XDG_STATE_HOME: '' }
await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_enterprise'], env)
const createKey = (): Promise<{ id: string; key: string }> =>
  runJson(['key', 'create', '--org', 'acme', '--name', 'test', '--scopes', 'read,write'], env)

const server = await testsServer('serve', env)
const key = (await createKey()).key
beforeEach(() => {
  count += 1
  files = join(folder.path, `files-${count}`)
  env.XDG_STATE_HOME = join(folder.path, `state-${count}`)
})

const SECOND_MS = 1_000
const at = (second: number) => new Date(Date.parse('2026-03-04T10:00:00Z') + second * SECOND_MS).toISOString()

/** Lines of a Claude Code session: answers of 50 output tokens each, from number `from` on. */
function lines(session: string, answers: number, { from = 0, owner = session } = {}): string {
  return Array.from({ length: answers }, (_, index) => {
    const nth = from + index
    const usage = { input_tokens: 1, output_tokens: 50 }
    return `${JSON.stringify({
      type: 'assistant',
      sessionId: session,
      uuid: `${owner}-${nth}`,
      requestId: `${owner}-r${nth}`,
      timestamp: at(nth),
      cwd: '/home/dev/shop',
      message: { id: `${owner}-m${nth}`, role: 'assistant', model: 'claude-sonnet-4-5', content: [], usage },
    })}\n`
  }).join('')
}

const sync = (...options: string[]) =>
  runJson(['sync', files, '--server', server.url, '--key', key, ...options], env)

async function detailOf(session: string) {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${server.url}/v1/sessions/sess_${session}`, { headers })
  return (await response.json()) as { tokens: { output: number }; turn_records: { version?: string }[] }
}
const outputTokens = async (session: string) => (await detailOf(session)).tokens.output
const turnsOf = async (session: string) => (await detailOf(session)).turn_records

const refusedOf = ({ refused }: { refused: { id: string }[] }) => refused.map(({ id }) => id)

test('a file that is as it was is not read again; one that changed is', async () => {
  const [one, two] = [join(files, 'one.jsonl'), join(files, 'two.jsonl')]
  await Bun.write(one, lines('again-one', 3))
  await Bun.write(two, lines('again-two', 3))
  expect(await sync()).toMatchObject({ created: 2, unchanged_files: 0 })
  expect(await sync()).toMatchObject({ received: 2, unchanged: 2, unchanged_files: 2, files: [] })
  appendFileSync(one, lines('again-one', 1, { from: 3 }))
  expect(await sync()).toMatchObject({
    received: 2,
    updated: 1,
    unchanged: 1,
    unchanged_files: 1,
    files: [{ path: one }],
  })
  expect(await outputTokens('again-one')).toBe(200)
  // same size and time, another end
  const { atime, mtime } = statSync(two)
  writeFileSync(two, readFileSync(two, 'utf8').replace(/50\}\}\}\n$/, '90}}}\n'))
  utimesSync(two, atime, mtime)
  const changed = await sync()
  expect(changed.files.map(({ path }: { path: string }) => path)).toEqual([two])
  // another project makes another record of the same file
  expect(await sync('--project', 'other')).toMatchObject({ updated: 2, unchanged_files: 0 })
})

test('files that an earlier version read are read once more, and what it sent since takes nothing away', async () => {
  const file = join(files, 'noted.jsonl')
  const noted = lines('noted', 2).replaceAll('"type"', '"version":"2.1.330","type"')
  await Bun.write(file, lines('noted', 2))
  await Bun.write(join(files, 'gone.jsonl'), lines('gone', 1))
  expect(await sync()).toMatchObject({ created: 2 })
  unlinkSync(join(files, 'gone.jsonl'))
  await Bun.write(file, noted)
  expect(await sync()).toMatchObject({ updated: 1 })
  inState(env.XDG_STATE_HOME, (database) =>
    database.run(
      "update files set value = json_remove(json_set(value, '$.done', 'of an earlier version'), '$.readers')",
    ),
  )
  const again = await run(['sync', files, '--server', server.url, '--key', key, '--json'], env)
  expect(again.stderr).toContain('reading 1 known files once more')
  expect(JSON.parse(again.stdout)).toMatchObject({ updated: 0, unchanged: 1, unchanged_files: 0 })
  expect(await sync()).toMatchObject({ unchanged_files: 1 })
  await Bun.write(file, lines('noted', 2))
  expect(await sync()).toMatchObject({ updated: 0, unchanged: 1 })
  const turns = await turnsOf('noted')
  expect(turns.map(({ version }) => version)).toEqual(['2.1.330', '2.1.330'])
  expect((await turnsOf('gone'))[0]?.version).toBeUndefined()
})

test('lines that resuming copied are not counted again when only the copy is read', async () => {
  await Bun.write(join(files, 'original.jsonl'), lines('copied-original', 3))
  await sync()
  const copy = lines('copied-new', 3, { owner: 'copied-original' }) + lines('copied-new', 1, { from: 3 })
  await Bun.write(join(files, 'resumed.jsonl'), copy)
  const { files: read } = await sync()
  expect(read.map(({ sessions }: { sessions: string[] }) => sessions)).toEqual([['sess_copied-new']])
  expect(await outputTokens('copied-new')).toBe(50)
  expect(await outputTokens('copied-original')).toBe(150)
})

test('a sub-agent that writes has its whole session read', async () => {
  await Bun.write(join(files, 'family.jsonl'), lines('family', 2))
  await sync()
  const agent = join(files, 'family', 'subagents', 'agent-a1.jsonl')
  await Bun.write(agent, lines('family', 1, { from: 2, owner: 'family-agent' }))
  expect(await sync()).toMatchObject({ updated: 1, unchanged_files: 0 })
  expect(await outputTokens('family')).toBe(150)
})

test('--resend forgets what was sent', async () => {
  await Bun.write(join(files, 'one.jsonl'), lines('resent', 2))
  await sync()
  for (const option of ['--resend', '--all']) {
    expect(await sync(option)).toMatchObject({ received: 1, unchanged: 1, unchanged_files: 0 })
  }
})

const PAGE = 4_096

test.each([
  ['no database', (bytes: Buffer) => bytes.fill(0x7b)],
  ['cut off', (bytes: Buffer) => bytes.subarray(0, PAGE + 1)],
  ['damaged after its first page', (bytes: Buffer) => bytes.fill(0xff, PAGE)],
  ['of a later version', (bytes: Buffer) => bytes.fill(9, 60, 64)],
])('a state that is %s is named and replaced', async (_how, damage) => {
  await Bun.write(join(files, 'one.jsonl'), lines('damaged', 2))
  await sync()
  const path = pathIn(env.XDG_STATE_HOME)
  writeFileSync(path, damage(readFileSync(path)))
  const again = await run(['sync', files, '--server', server.url, '--key', key, '--json'], env)
  expect(again.stderr).toMatch(/state\.sqlite3 is damaged \(.+\): it is replaced/)
  expect(JSON.parse(again.stdout)).toMatchObject({ unchanged: 1, unchanged_files: 0 })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await sync()).toMatchObject({ unchanged: 1, unchanged_files: 1 })
})

test('what version 0.2 kept is read once, and nothing is sent twice', async () => {
  await Bun.write(join(files, 'original.jsonl'), lines('former-original', 3))
  await sync()
  const former = asFormer(env.XDG_STATE_HOME)
  const copy = lines('former-new', 3, { owner: 'former-original' }) + lines('former-new', 1, { from: 3 })
  unlinkSync(join(files, 'original.jsonl'))
  await Bun.write(join(files, 'resumed.jsonl'), copy)
  const { servers } = await runJson(['status'], env)
  expect(servers).toMatchObject([{ organization: 'acme', agents: [{ sessions: 1 }] }])
  expect(readdirSync(folderIn(env.XDG_STATE_HOME))).not.toContainAnyValues(former)
  // the copied lines are known
  expect(await sync()).toMatchObject({ created: 1, received: 1 })
  expect(await outputTokens('former-new')).toBe(50)
})

test('two at once send everything, and what a killed one knew is known', async () => {
  for (let nth = 0; nth < 40; nth += 1)
    await Bun.write(join(files, `${nth}.jsonl`), lines(`beside-${nth}`, 2))
  const both = await Promise.all([sync(), sync()])
  expect(both.map(({ received }) => received)).toEqual([40, 40])
  expect(await sync()).toMatchObject({ unchanged_files: 40 })
  appendFileSync(join(files, '0.jsonl'), lines('beside-0', 1, { from: 2 }))
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      child.kill('SIGKILL')
      return new Promise<Response>(() => {})
    },
  })
  inState(env.XDG_STATE_HOME, (database) => database.run('update targets set server = ?', [proxy.url.origin]))
  const child = startProgram(['sync', files, '--server', proxy.url.href, '--key', key], env)
  await child.exited
  await proxy.stop(true)
  inState(env.XDG_STATE_HOME, (database) => database.run('update targets set server = ?', [server.url]))
  expect(await sync()).toMatchObject({ updated: 1, unchanged_files: 39 })
})

test('a revoked key is noticed when nothing is new', async () => {
  await Bun.write(join(files, 'one.jsonl'), lines('revoked', 2))
  const own = await createKey()
  const args = ['sync', files, '--server', server.url, '--key', own.key]
  await runJson(args, env)
  await runJson(['key', 'revoke', own.id], env)
  // the server looks a key up once a second
  const refused = await eventually(
    () => run(args, env),
    ({ code }) => code !== 0,
  )
  expect(refused.stderr).toMatch(/^error: .* does not know the key: it is revoked/m)
})

test('--since and --settled leave out files by when they were written', async () => {
  const [old, fresh] = [join(files, 'old.jsonl'), join(files, 'fresh.jsonl')]
  await Bun.write(old, lines('since-old', 2))
  await Bun.write(fresh, lines('since-fresh', 2))
  utimesSync(old, new Date('2026-01-01'), new Date('2026-01-01'))
  expect(await sync('--since', '7d')).toMatchObject({ created: 1, older_files: 1 })
  expect(await sync('--since', '2025-12-31')).toMatchObject({ created: 1, unchanged_files: 1 })
  // written to a moment ago and sent a moment ago
  appendFileSync(fresh, lines('since-fresh', 1, { from: 2 }))
  expect(await sync('--settled', '1h')).toMatchObject({ updated: 0, growing_files: 1, unchanged_files: 1 })
  const quiet = new Date(Date.now() - 7_200_000)
  utimesSync(fresh, quiet, quiet)
  expect(await sync('--settled', '1h')).toMatchObject({ updated: 1, growing_files: 0 })
  const wrong = await run(['sync', files, '--dry-run', '--since', 'yesterday'], env)
  expect(wrong.code).toBe(2)
})

test('--settled sends a session that grows for long', async () => {
  const path = join(files, 'long.jsonl')
  const start = new Date(Date.now() - 3_000).toISOString()
  await Bun.write(path, lines('long', 1).replace(at(0), start))
  expect(await sync('--settled', '60s')).toMatchObject({ received: 0, growing_files: 1 })
  writeFileSync(path, lines('long', 1))
  expect(await sync('--settled', '60s')).toMatchObject({ created: 1, growing_files: 0 })
})

test('without a path the usual folders are read; server and key may come from the environment', async () => {
  const home = join(folder.path, 'home')
  await Bun.write(join(home, '.claude', 'projects', 'p', 'one.jsonl'), lines('usual', 2))
  const own = { ...env, HOME: home, CLOUD_ANALYTICS_SERVER: server.url, CLOUD_ANALYTICS_KEY: key }
  const projects = join(home, '.claude', 'projects')
  const unasked = await run(['sync'], own)
  expect(unasked).toMatchObject({ code: 2, stdout: '' })
  for (const text of ['--yes', projects]) expect(unasked.stderr).toContain(text)
  const [dry] = JSON.parse((await run(['sync', '--dry-run', '--json'], own)).stdout).records
  expect(dry.id).toBe('sess_usual')
  const refused = await answering('n', ['sync'], own)
  expect(refused).toMatchObject({ code: 0 })
  for (const text of [projects, `Send them to ${server.url}?`]) expect(refused.screen).toContain(text)
  expect(refused.screen).not.toContain('Dashboard')
  const agreed = await answering('y', ['sync'], own)
  expect(agreed.screen).toContain('1 session in 1 file: 1 created, 0 updated, 0 unchanged')
  expect(agreed.screen).toContain(`Dashboard: ${server.url}/`)
  const { stdout } = await run(['sync', '--yes'], own)
  expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(6)
  expect(stdout).toEndWith(`Dashboard: ${server.url}/\n`)
  const quiet = await run(['sync', '--yes', '--quiet'], own)
  expect(quiet).toEqual({ code: 0, stdout: '', stderr: '' })
})

/** Runs a command on a terminal and answers its question. */
async function answering(answer: string, args: string[], own: typeof env) {
  let screen = ''
  const child = Bun.spawn([...PROGRAM, ...args], {
    env: { PATH: process.env.PATH ?? '', ...own },
    terminal: {
      cols: 200,
      data(terminal, bytes) {
        screen += new TextDecoder().decode(bytes)
        if (screen.endsWith('[y/N] ')) terminal.write(`${answer}\n`)
      },
    },
  })
  return { code: await child.exited, screen }
}

test('what is refused is not read again, and status says why', async () => {
  await Bun.write(join(files, 'one.jsonl'), lines('refused', 2))
  await sync('--user', 'ada@example.com')
  const other = ['--user', 'bob@example.com']
  expect(await sync(...other)).toMatchObject({
    skipped: [{ reason: expect.stringContaining('--reassign') }],
  })
  expect(await sync(...other)).toMatchObject({ received: 1, refused: 1, unchanged: 0, skipped: [] })
  const { servers } = await runJson(['status'], env)
  expect(servers).toMatchObject([{ refused: [{ id: 'sess_refused', reason: expect.any(String) }] }])
  expect(await sync(...other, '--reassign')).toMatchObject({ updated: 1, refused: 0 })
})

test('what was deleted at the server is named, and not sent again without --restore', async () => {
  const [gone, kept] = [join(files, 'gone.jsonl'), join(files, 'kept.jsonl')]
  await Bun.write(gone, lines('gone', 2))
  await Bun.write(kept, lines('kept', 2))
  await sync()
  const posts: string[] = []
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = method === 'GET' ? null : await request.arrayBuffer()
      if (body !== null) posts.push(search + new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(body))))
      return await fetch(server.url + pathname + search, { method, headers, body, decompress: false })
    },
  })
  const syncCounted = async (...options: string[]) => {
    const args = ['sync', files, '--server', proxy.url.href, '--key', key, ...options]
    return await run(args, env)
  }
  const syncCountedJson = async (...options: string[]) =>
    JSON.parse((await syncCounted(...options, '--json')).stdout)
  await syncCounted()
  const headers = { authorization: `Bearer ${key}` }
  const session = `${server.url}/v1/sessions/sess_gone`
  expect((await fetch(session, { method: 'DELETE', headers })).status).toBe(204)

  // the file is as it was: nothing is sent, so nothing is known of it
  expect(await syncCountedJson()).toMatchObject({ received: 2, unchanged: 2, refused: 0 })
  appendFileSync(gone, lines('gone', 1, { from: 2 }))
  posts.length = 0
  const told = await syncCounted()
  expect(told.code).toBe(0)
  expect(told.stderr).toContain(`skipped ${gone}:1: sess_gone was deleted (--restore stores it again)`)
  expect(told.stdout).toContain('2 sessions in 2 files: 0 created, 0 updated, 1 unchanged')
  expect(posts).toHaveLength(1)

  // neither as it is, nor with more
  expect(await syncCountedJson()).toMatchObject({ received: 2, unchanged: 1, refused: 1, skipped: [] })
  expect((await runJson(['status'], env)).servers.flatMap(refusedOf)).toEqual(['sess_gone'])
  appendFileSync(gone, lines('gone', 1, { from: 3 }))
  appendFileSync(kept, lines('kept', 1, { from: 2 }))
  posts.length = 0
  expect(await syncCountedJson()).toMatchObject({
    updated: 1,
    unchanged: 0,
    skipped: [{ path: gone, reason: expect.stringContaining('sess_gone was deleted') }],
  })
  expect(posts.join('')).toContain('sess_kept')
  expect(posts.join('')).not.toContain('sess_gone')
  expect((await fetch(session, { headers })).status).toBe(404)

  const restored = await syncCountedJson('--restore')
  expect(restored).toMatchObject({ created: 1, unchanged: 1, refused: 0, skipped: [] })
  expect(posts.at(-1)).toStartWith('?restore=true')
  expect(await outputTokens('gone')).toBe(200)
  expect(await syncCountedJson()).toMatchObject({ received: 2, unchanged: 2, refused: 0 })

  // this machine does not know that the session was deleted
  await fetch(session, { method: 'DELETE', headers })
  expect(await syncCountedJson('--restore')).toMatchObject({ created: 1, unchanged: 1 })
  await proxy.stop(true)
})

test('what is older than the organization keeps is named, and sent again only when it changes', async () => {
  await Bun.write(join(files, 'old.jsonl'), lines('too-old', 2))
  await run(['org', 'update', 'acme', '--retention-sessions', '30d'], env)
  const reason = expect.stringContaining('sess_too-old is older than the organization keeps')
  expect(await sync('--restore')).toMatchObject({ created: 0, unchanged: 0, skipped: [{ reason }] })
  expect(await sync()).toMatchObject({ received: 1, unchanged: 0, refused: 1, skipped: [] })
  await run(['org', 'update', 'acme', '--retention-sessions', 'off'], env)
  expect(await sync('--resend')).toMatchObject({ created: 1, refused: 0 })
})

test('the member of a key is asked for once', async () => {
  await Bun.write(join(files, 'one.jsonl'), lines('asked', 2))
  let asked = 0
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (pathname === '/v1/whoami') asked += 1
      const { method, headers } = request
      const body = method === 'GET' ? null : await request.arrayBuffer()
      return await fetch(server.url + pathname + search, { method, headers, body, decompress: false })
    },
  })
  const member = ['member', 'add', '--org', 'acme', '--email', 'eve@example.com', '--name', 'Eve']
  await runJson([...member, '--role', 'developer'], env)
  const made = ['key', 'create', '--org', 'acme', '--name', 'eve', '--scopes', 'write']
  const eves = await runJson([...made, '--member', 'eve@example.com'], env)
  const own = { ...env, CLOUD_ANALYTICS_SERVER: proxy.url.href, CLOUD_ANALYTICS_KEY: eves.key }
  for (let n = 0; n < 3; n++) {
    const { user } = await runJson(['sync', files, '--quiet'], own)
    expect(user).toEqual({ email: 'eve@example.com', from: "the key's member" })
  }
  expect(asked).toBe(1)
  await proxy.stop(true)
})

test('a stop keeps what the server acknowledged, and the next run continues', async () => {
  // each record is more than half of a batch
  for (const name of ['a', 'b', 'c'])
    await Bun.write(join(files, `${name}.jsonl`), lines(`stop-${name}`, 4_000))
  let posts = 0
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'POST' && ++posts === 2) {
        child.kill('SIGTERM')
        // the program has heard it: an answer within the 5 s that it waits is tested
        await Bun.sleep(1_000)
      }
      const { pathname, search } = new URL(request.url)
      const body = request.method === 'GET' ? null : await request.arrayBuffer()
      const { method, headers } = request
      return await fetch(server.url + pathname + search, { method, headers, body, decompress: false })
    },
  })
  const args = ['sync', files, '--server', proxy.url.href, '--key', key]
  const child = startProgram(args, env)
  const [stderr, code] = await Promise.all([child.stderr.text(), child.exited])
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('stopped by SIGTERM') })
  const kept = Object.keys(valuesIn(env.XDG_STATE_HOME).sessions ?? {})
  expect(kept.length).toBeGreaterThan(0)
  const again = await runJson(args, env)
  expect(again.unchanged_files).toBe(kept.length)
  expect(again).toMatchObject({ received: 3, created: 3 - kept.length, unchanged: kept.length })
  await proxy.stop(true)
})

test("what a member's key may not send is named, and the rest is sent", async () => {
  const add = ['member', 'add', '--org', 'acme', '--email', 'ada@example.com', '--name', 'Ada']
  await runJson([...add, '--role', 'developer'], env)
  const create = ['key', 'create', '--org', 'acme', '--name', 'laptop', '--scopes', 'sessions:write']
  const laptop = await runJson([...create, '--member', 'ada@example.com'], env)
  const record = { type: 'session', id: 'sess_nobodys', project_name: 'p', created_at: at(0) }
  const stored = await fetch(`${server.url}/v1/sync`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ records: [record] }),
  })
  expect(stored.status).toBe(200)
  const old = join(files, 'old.jsonl')
  await Bun.write(old, lines('nobodys', 2))
  await Bun.write(join(files, 'new.jsonl'), lines('adas', 2))
  const told = await run(['sync', files, '--server', server.url, '--key', laptop.key, '--json'], env)
  expect(JSON.parse(told.stdout)).toMatchObject({
    created: 1,
    skipped: [{ path: old, reason: expect.stringContaining('is stored without a user') }],
  })
})
