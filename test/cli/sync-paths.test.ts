import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { discover } from '../../src/analysis/agents/discover.ts'
import type { KnownFile } from '../../src/analysis/agents/known-files.ts'
import { testsFolder } from '../support/at-end.ts'
import { PROGRAM, run, runJson, testsServer } from '../support/cli.ts'
import { asFormer } from '../watch/state.ts'

// `sync` explains paths without sessions and files it cannot write, and a look at many files costs little.

setDefaultTimeout(360_000)
const folder = testsFolder()
const env = { DATA_DIR: join(folder.path, 'data'), XDG_STATE_HOME: join(folder.path, 'state') }

const server = await testsServer('serve', env)
await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_enterprise'], env)
const create = ['key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'read,write']
const { key } = await runJson(create, env)
Object.assign(env, { CLOUD_ANALYTICS_SERVER: server.url, CLOUD_ANALYTICS_KEY: key })

function lines(session: string, answers = 1): string {
  return Array.from({ length: answers }, (_, nth) => {
    const usage = { input_tokens: 1, output_tokens: 50 }
    const message = {
      id: `${session}-m${nth}`,
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [],
      usage,
    }
    const line = {
      type: 'assistant',
      sessionId: session,
      uuid: `${session}-${nth}`,
      requestId: `${session}-r${nth}`,
      timestamp: '2026-11-04T10:00:00.000Z',
      cwd: '/home/dev/shop',
      message,
    }
    return `${JSON.stringify(line)}\n`
  }).join('')
}

/** Writes files into a folder of this name. */
function write(name: string, files: Record<string, string>): string {
  const path = join(folder.path, name)
  mkdirSync(path, { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text)
  return path
}

test('a missing path beside another one is skipped; alone it is an error', async () => {
  const path = write('some', { 'one.jsonl': lines('some-one') })
  const missing = join(folder.path, 'missing')
  const both = await run(['sync', missing, path, '--json'], env)
  expect(both).toMatchObject({ code: 0, stderr: `skipped ${missing}: no such file or folder\n` })
  expect(JSON.parse(both.stdout)).toMatchObject({
    created: 1,
    skipped: [{ path: missing, line: null, reason: 'no such file or folder' }],
  })
  const alone = await run(['sync', missing], env)
  expect(alone).toMatchObject({ code: 1, stderr: `error: no such file or folder: ${missing}\n` })
})

test('a repository that git cannot read is skipped beside another path; alone it is an error', async () => {
  const path = write('beside', { 'one.jsonl': lines('beside-one') })
  const repository = write('repository/.git', { HEAD: 'ref: refs/heads/main\n' }).replace(/\/\.git$/, '')
  Bun.spawnSync(['mkfifo', join(repository, '.git/config')])
  const reason = `git would wait for ${join(repository, '.git/config')}, which is not a regular file`
  const both = await run(['sync', repository, path, '--json'], env)
  expect(both.code).toBe(0)
  expect(JSON.parse(both.stdout)).toMatchObject({
    created: 1,
    skipped: [{ path: repository, line: null, reason }],
  })
  expect(await run(['sync', repository], env)).toMatchObject({ code: 1, stderr: `error: ${reason}\n` })
})

test('a folder without sessions is named, with a file', async () => {
  const path = write('none', { 'notes.json': '{"a":1}' })
  const text = `no sessions in ${path}: 1 file has none, as ${join(path, 'notes.json')}\n`
  for (const options of [['--dry-run'], []])
    expect(await run(['sync', path, ...options], env)).toMatchObject({ code: 0, stderr: text })
  expect(await run(['sync', path, '--quiet'], env)).toMatchObject({ code: 0, stderr: '', stdout: '' })
})

test.each([
  ['no parts', () => ({ version: 1 })],
  ['a part of another type', (state: object) => ({ ...state, files: [] })],
  ['an organization without an id', (state: object) => ({ ...state, organization: {} })],
])('a state of version 0.2 with %s is none', async (_what, damage) => {
  const path = write('state-of', { 'one.jsonl': lines('state-one') })
  await runJson(['sync', path], env)
  asFormer(env.XDG_STATE_HOME, damage)
  expect(await runJson(['sync', path], env)).toMatchObject({ unchanged: 1, unchanged_files: 0 })
  expect(await runJson(['sync', path], env)).toMatchObject({ unchanged: 1, unchanged_files: 1 })
  expect((await runJson(['status'], env)).servers).toHaveLength(1)
})

test('a file that cannot be written is named', async () => {
  const path = write('full', { 'one.jsonl': lines('full-one') })
  // no file may become longer than nothing, as on a full disk
  const words = [...PROGRAM, 'sync', path]
  const child = Bun.spawn({
    cmd: ['bash', '-c', `trap '' XFSZ; ulimit -f 0; exec "$@" | cat`, 'bash', ...words],
    env: { PATH: process.env.PATH ?? '', ...env, XDG_STATE_HOME: join(folder.path, 'full-state') },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const folderOfState = join(folder.path, 'full-state', 'cloud-analytics')
  expect(await child.stderr.text()).toMatch(
    new RegExp(`^error: ${folderOfState}/\\S+ cannot be written \\(\\w+\\)$`, 'm'),
  )
  const output = Bun.spawnSync(['sh', '-c', '"$@" > /dev/full', 'sh', ...PROGRAM, 'version', '--json'])
  expect(output.stderr.toString()).toBe(
    'error: no space is left: free some, then run this again (on the disk of standard output)\n',
  )
  expect(output.exitCode).toBe(1)
})

test('a second look at 5,000 files without changes takes less than half the processor time of the first', async () => {
  const path = write('many', {})
  for (let nth = 0; nth < 5_000; nth++) writeFileSync(join(path, `${nth}.jsonl`), lines(`many-${nth}`))
  const known = new Map<string, KnownFile>()
  const memory = { find: (file: string) => known.get(file), keep() {} }
  const look = async () => {
    const before = process.cpuUsage()
    const sources = (await discover([path], memory)).groups.flat()
    const { user, system } = process.cpuUsage(before)
    return { sources, time: user + system }
  }
  const first = await look()
  for (const { look: seen, path: file, ids, ...source } of first.sources) {
    const { format, layout, sessionId, startedBy, startedAt, isBackground } = source
    if (seen === undefined || layout === 'folder') throw new Error(file)
    const detected = {
      kind: 'sessions' as const,
      format: format.name,
      layout,
      sessionId,
      startedBy,
      startedAt,
      isBackground,
    }
    known.set(file, { ...seen.now, detected, ids })
  }
  const second = await look()
  expect(second.sources.filter((source) => source.look?.change === 'same')).toHaveLength(5_000)
  expect(second.time).toBeLessThan(first.time / 2)
})
