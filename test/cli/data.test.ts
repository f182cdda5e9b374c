import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testsFolder } from '../support/at-end.ts'
import { run, runJson, testsServer } from '../support/cli.ts'
import { testsDatabase } from '../support/postgres.ts'
import { sessionRecord } from '../support/records.ts'

// Sync, import and export move data in and out, in the local database and through a server.

const folder = testsFolder()
const transcripts = join(folder.path, 'projects')

const database = await testsDatabase()
const env = { DATA_DIR: folder.path, DATABASE_URL: database.url, XDG_STATE_HOME: join(folder.path, 'state') }
for (const slug of ['local', 'remote', 'source', 'copy']) {
  await runJson(['org', 'create', '--slug', slug, '--name', slug, '--plan', 'cloud_enterprise'], env)
}
const server = await testsServer('serve', { ...env, STORE_CONTENT: 'true' })
await Bun.write(join(transcripts, 'one.jsonl'), `${transcript('one', 2)}not json at all\n`)
await Bun.write(join(transcripts, 'two.jsonl'), transcript('two', 3))
await Bun.write(join(transcripts, 'LICENSE'), 'do as you like\n')

/** A Claude Code transcript of `answers` API messages, each in two lines that repeat its usage. */
function transcript(id: string, answers: number): string {
  const lines: object[] = []
  const common = { sessionId: id, cwd: '/home/dev/shop', gitBranch: 'main' }
  const at = (second: number) => `2026-03-04T10:00:${String(second).padStart(2, '0')}.000Z`
  lines.push({
    ...common,
    type: 'user',
    uuid: `${id}-u`,
    timestamp: at(0),
    message: { role: 'user', content: 'please' },
  })
  for (let index = 0; index < answers; index += 1) {
    const usage = {
      input_tokens: 100,
      output_tokens: 50,
      cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 10,
    }
    const message = { id: `${id}-m${index}`, role: 'assistant', model: 'claude-sonnet-4-5', usage }
    for (const part of ['a', 'b']) {
      const content = [{ type: 'text', text: `${part}${index}` }]
      const uuid = `${id}-${index}${part}`
      const requestId = `${id}-r${index}`
      lines.push({
        ...common,
        type: 'assistant',
        uuid,
        requestId,
        timestamp: at(index + 1),
        message: { ...message, content },
      })
    }
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

async function keyOf(org: string): Promise<string> {
  return (await runJson(['key', 'create', '--org', org, '--name', 'test', '--scopes', 'read,write'], env)).key
}

async function body(key: string, path: string): Promise<string> {
  return await (await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } })).text()
}

const FIRST = { received: 2, created: 2, updated: 0, unchanged: 0 }
const AGAIN = { received: 2, created: 0, updated: 0, unchanged: 2 }

test('sync reads each API message once, names what it cannot read, and changes nothing the second time', async () => {
  const args = ['sync', transcripts, '--org', 'local', '--user', 'dev@example.com']
  const first = await run([...args, '--json'], env)
  expect(first.code).toBe(0)
  const summary = JSON.parse(first.stdout)
  expect(summary).toMatchObject({ ...FIRST, ignored: 1, unreadable: 1, unpriced_models: [] })
  const [one, two] = summary.files
  expect(one).toMatchObject({
    path: join(transcripts, 'one.jsonl'),
    format: 'claude-code',
    sessions: ['sess_one'],
    // 200 tokens of input, 100 of output, 2,000 read from the cache, 20 written to it
    cost: 0.002775,
    unreadable: 1,
  })
  expect(two).toMatchObject({ sessions: ['sess_two'], unreadable: 0 })
  expect(summary.skipped).toEqual([{ path: one.path, line: 6, reason: expect.any(String) }])
  expect(first.stderr).toContain(`${one.path}:6`)
  expect(await runJson(args, env)).toMatchObject(AGAIN)
})

test('a dry run prints the records and sends nothing', async () => {
  const lines = (await run(['sync', transcripts, '--dry-run'], env)).stdout.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(['sess_one', 'sess_two'])
  expect(await runJson(['sync', transcripts, '--dry-run', '--project', 'p'], env)).toMatchObject({
    records: [
      { id: 'sess_one', project_name: 'p' },
      { id: 'sess_two', project_name: 'p' },
    ],
  })
  const content = await run(['sync', transcripts, '--dry-run'], env)
  expect(content.stdout).not.toContain('please')
  expect((await run(['sync', transcripts, '--dry-run', '--content'], env)).stdout).toContain('please')
})

test('sync gives a session another user only with --reassign', async () => {
  const key = await keyOf('remote')
  const targets = [
    ['--org', 'local'],
    ['--server', server.url, '--key', key, '--all'],
  ]
  for (const target of targets) {
    const args = ['sync', transcripts, ...target]
    await runJson([...args, '--user', 'dev@example.com', '--reassign'], env)
    const refused = await runJson([...args, '--user', 'other@example.com'], env)
    expect(refused).toMatchObject({ created: 0, updated: 0 })
    expect(refused.skipped.map(({ reason }: { reason: string }) => reason)).toContainEqual(
      expect.stringContaining('--reassign'),
    )
    expect(await runJson([...args, '--user', 'other@example.com', '--reassign'], env)).toMatchObject({
      updated: 2,
    })
    await runJson([...args, '--user', 'dev@example.com', '--reassign'], env)
  }
})

test('sync to a server says why it is refused', async () => {
  const { code, stderr } = await run(['sync', transcripts, '--server', server.url, '--key', 'ca_live_x'], env)
  expect(code).toBe(1)
  expect(stderr).toContain('not an API key')
  const readOnly = await runJson(['key', 'create', '--org', 'remote', '--name', 'r', '--scopes', 'read'], env)
  const refused = await run(['sync', transcripts, '--server', server.url, '--key', readOnly.key], env)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/error: the server refuses: .*write/)
})

test('import counts and names bad lines and takes the good ones', async () => {
  const good = { type: 'session', id: 'sess_good', project_name: 'p', created_at: '2026-01-02T03:04:05Z' }
  const contradicting = {
    ...good,
    id: 'sess_bad',
    quality_score: 50,
    quality_metadata: { base: 75, factors: [] },
  }
  const lines = [good, { type: 'session' }, { type: 'badge' }, contradicting, { ...good, id: 'sess_good2' }]
  const text = `\n${lines.map((line) => JSON.stringify(line)).join('\n')}\n[]\n{"cut off`
  const { code, stdout, stderr } = await run(['import', '-', '--org', 'local', '--json'], env, text)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({ received: 7, created: 2, updated: 0, unchanged: 0, skipped: 5 })
  for (const line of [3, 4, 5, 7, 8]) expect(stderr).toContain(`line ${line}: `)
})

test.each([
  ['gzip', Bun.gzipSync],
  ['zstd', Bun.zstdCompressSync],
] as const)('import takes standard input packed by %s', async (name, pack) => {
  const line = { type: 'session', id: `sess_${name}`, project_name: 'p', created_at: '2026-01-01T00:00:00Z' }
  const packed = new Uint8Array(pack(`${JSON.stringify(line)}\n\n{}\n`))
  const taken = await runJson(['import', '-', '--org', 'local'], env, packed)
  expect(taken).toMatchObject({ received: 2, created: 1, skipped: 1 })
  const damaged = await run(['import', '-', '--org', 'local'], env, packed.slice(0, -6))
  expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringContaining('- cannot be read')])
})

test('an export is imported into an empty organization, which exports the same then', async () => {
  const content = { ...env, STORE_CONTENT: 'true' }
  await runJson(['seed', '--org', 'source', '--sessions', '700', '--days', '40'], content)
  await runJson(['sync', transcripts, '--org', 'source', '--content', '--user', 'dev1@example.com'], content)
  const exported = (await run(['export', '--org', 'source'], env)).stdout
  const received = exported.trimEnd().split('\n').length
  const file = join(folder.path, 'source.ndjson.gz')
  writeFileSync(file, Bun.gzipSync(exported))
  const counts = { received, created: 0, updated: 0, unchanged: 0, skipped: 0 }
  const into = ['import', file, '--org', 'copy']
  expect(await runJson(into, content)).toEqual({ ...counts, created: received })
  expect(await runJson(into, content)).toEqual({ ...counts, unchanged: received })
  // the log goes along, and grows by what the import itself did
  const withoutLog = (text: string) => text.split('\n').filter((line) => !line.startsWith('{"type":"audit"'))
  const copied = (await run(['export', '--org', 'copy'], env)).stdout
  expect(withoutLog(copied)).toEqual(withoutLog(exported))
  expect(await body(await keyOf('copy'), '/v1/sessions/sess_one')).toContain('please')
})

test('content stays out unless the operator stores it', async () => {
  const file = join(folder.path, 'plain.ndjson')
  writeFileSync(file, (await run(['export', '--org', 'source'], env)).stdout)
  expect(readFileSync(file, 'utf8')).toContain('"please"')
  await runJson(['org', 'create', '--slug', 'plain', '--name', 'Plain', '--plan', 'cloud_pro'], env)
  expect(await runJson(['import', file, '--org', 'plain'], env)).toMatchObject({
    updated: 0,
    unchanged: 0,
    skipped: 0,
  })
  expect((await run(['export', '--org', 'plain'], env)).stdout).not.toContain('"please"')
})

test('the time zone of days goes with an export, into an organization without sessions', async () => {
  const create = (slug: string, ...zone: string[]) =>
    runJson(['org', 'create', '--slug', slug, '--name', slug, '--plan', 'cloud_team', ...zone], env)
  expect(await create('berlin', '--time-zone', 'Europe/Berlin')).toMatchObject({
    time_zone: 'Europe/Berlin',
  })
  await create('berlin-copy')
  const file = join(folder.path, 'berlin.ndjson')
  const sessionsIn = (text: string) => text.split('\n').filter((line) => line.startsWith('{"type":"session"'))
  // half an hour before midnight in UTC
  const session = sessionRecord('sess_late', { created_at: '2026-03-04T23:30:00Z', turns: 1 })
  writeFileSync(file, `${JSON.stringify(session)}\n`)
  await runJson(['import', file, '--org', 'berlin'], env)
  const exported = (await run(['export', '--org', 'berlin'], env)).stdout
  expect(exported.split('\n')[0]).toBe('{"type":"organization","time_zone":"Europe/Berlin"}')
  writeFileSync(file, exported)
  expect(await runJson(['import', file, '--org', 'berlin-copy'], env)).toMatchObject({ skipped: 0 })
  expect(sessionsIn((await run(['export', '--org', 'berlin-copy'], env)).stdout)).toEqual(
    sessionsIn(exported),
  )
  expect(await runJson(['org', 'show', 'berlin-copy'], env)).toMatchObject({ time_zone: 'Europe/Berlin' })
  const days = await runJson(
    ['cost', '--org', 'berlin-copy', '--from', '2026-03-05', '--to', '2026-03-05', '--by', 'day'],
    env,
  )
  expect(days).toMatchObject({ data: [{ key: '2026-03-05', sessions: 1 }] })
  // one with sessions keeps its own
  writeFileSync(file, '{"type":"organization","time_zone":"Asia/Tokyo"}\n')
  await runJson(['import', file, '--org', 'berlin-copy'], env)
  expect(await runJson(['org', 'show', 'berlin-copy'], env)).toMatchObject({ time_zone: 'Europe/Berlin' })
})
