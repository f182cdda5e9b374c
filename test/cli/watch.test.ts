import { expect, setDefaultTimeout, test } from 'bun:test'
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { testsFolder } from '../support/at-end.ts'
import { eventually, readUntil, run, runJson, startProgram, testsServer } from '../support/cli.ts'
import { testsDatabase } from '../support/postgres.ts'

setDefaultTimeout(210_000)
const folder = testsFolder()
const projects = join(folder.path, '.claude', 'projects', 'p')

const database = await testsDatabase()
const env = { DATA_DIR: folder.path, DATABASE_URL: database.url, HOME: folder.path }
await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_enterprise'], env)
const server = await testsServer('serve', env)
const made = ['key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'read,sessions:write']
const { key } = await runJson(made, env)
const client = { ...env, CLOUD_ANALYTICS_SERVER: server.url, CLOUD_ANALYTICS_KEY: key }

function session(id: string): string {
  const message = { id: `${id}-m`, role: 'assistant', model: 'claude-sonnet-4-5', content: [], usage: {} }
  const timestamp = '2026-03-04T10:00:00Z'
  return `${JSON.stringify({ type: 'assistant', sessionId: id, uuid: id, timestamp, message })}\n`
}

async function total(): Promise<number> {
  const headers = { authorization: `Bearer ${client.CLOUD_ANALYTICS_KEY}` }
  const response = await fetch(`${server.url}/v1/sessions`, { headers })
  return ((await response.json()) as { pagination: { total: number } }).pagination.total
}

const start = async () => {
  const child = startProgram(['watch', '--json'], client)
  const first = JSON.parse(await readUntil(child.stdout, '\n'))
  return { child, first }
}
const ended = async ({ child }: Awaited<ReturnType<typeof start>>) => {
  child.kill('SIGTERM')
  return await child.exited
}

test('watch sends what is there and what is written, is one for each user, and ends cleanly', async () => {
  await Bun.write(join(projects, 'one.jsonl'), session('watched-one'))
  const watching = await start()
  expect(watching.first.pid).toBe(watching.child.pid)
  await eventually(total, (count) => count === 1)
  const second = await run(['watch'], client)
  expect(second.code).toBe(1)
  expect(second.stderr).toContain('another watch')
  const { watch } = await eventually(
    () => runJson(['status'], env),
    (found) => found.watch.last_success_at !== null,
  )
  expect(watch).toMatchObject({ running: true, pid: watching.child.pid, server: server.url, error: null })
  // quiet since long, so due at once: the event is what makes it look
  const path = join(projects, 'two.jsonl')
  await Bun.write(path, session('watched-two'))
  utimesSync(path, new Date('2026-03-04'), new Date('2026-03-04'))
  await eventually(total, (count) => count === 2, 50_000)
  // `sync` works beside it
  expect(await runJson(['sync', '--yes'], client)).toMatchObject({ received: 2, unchanged: 2 })
  expect(await ended(watching)).toBe(0)
  expect(await runJson(['status'], env)).toMatchObject({ watch: { running: false, pid: null } })
})

test('after a kill another watch starts', async () => {
  const killed = await start()
  killed.child.kill('SIGKILL')
  await killed.child.exited
  const watching = await start()
  expect(await ended(watching)).toBe(0)
})

test('without a server it goes on trying, and says so once', async () => {
  const child = startProgram(['watch', '--json', '--server', 'http://127.0.0.1:1'], client)
  await Bun.write(join(projects, 'three.jsonl'), session('watched-three'))
  const { watch } = await eventually(
    () => runJson(['status'], env),
    ({ watch: each }) => each.running && each.error !== null,
    120_000,
  )
  expect(watch.error).toContain('does not answer')
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
})

test('status names what Claude Code will delete unsent', async () => {
  const path = join(projects, 'old.jsonl')
  await Bun.write(path, session('watched-old'))
  const day = 86_400_000
  const written = new Date(Date.now() - 25 * day)
  utimesSync(path, written, written)
  const later = await runJson(['status'], env)
  expect(later.unsent_files).toBeGreaterThan(0)
  expect(later.waiting).toContainEqual({ path, changed_at: written.toISOString(), sent: 'never' })
  expect(later.ending).toEqual([
    { path, sent: 'never', deleted_at: new Date(written.getTime() + 30 * day).toISOString() },
  ])
  await Bun.write(join(folder.path, '.claude', 'settings.json'), '{"cleanupPeriodDays": 90}')
  expect(await runJson(['status'], env)).toMatchObject({ ending: [] })
  const { stdout } = await run(['status'], env)
  // a sync that the killed watch had begun may have sent the third file too
  expect(stdout).toMatch(/acme +claude-code +[23] /)
})

test('watch without a server says how to sign in', async () => {
  const { code, stderr } = await run(['watch'], env)
  expect(code).toBe(1)
  expect(stderr).toContain('not signed in: run cloud-analytics login --server URL')
})
