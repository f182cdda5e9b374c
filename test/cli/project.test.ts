import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { testsFolder } from '../support/at-end.ts'
import { run, runJson, testsServer } from '../support/cli.ts'
import { testsDatabase } from '../support/postgres.ts'

// The names of projects: what sync gives and says, and project rename.

const folder = testsFolder()
const files = join(folder.path, 'files')

const line = (id: string, cwd: string) =>
  `${JSON.stringify({
    type: 'assistant',
    sessionId: id,
    uuid: `${id}-1`,
    requestId: `${id}-r`,
    timestamp: '2026-03-04T10:00:00Z',
    cwd,
    message: { id: `${id}-m`, role: 'assistant', model: 'claude-sonnet-4-5', content: [], usage: {} },
  })}\n`

const database = await testsDatabase()
const env = { DATA_DIR: folder.path, DATABASE_URL: database.url, XDG_STATE_HOME: join(folder.path, 'state') }
for (const slug of ['local', 'remote']) {
  await runJson(['org', 'create', '--slug', slug, '--name', slug, '--plan', 'cloud_enterprise'], env)
}
const server = await testsServer('serve', env)
const { key } = await runJson(
  ['key', 'create', '--org', 'remote', '--name', 'k', '--scopes', 'read,write'],
  env,
)
const target = ['--server', server.url, '--key', key]
// a clone of another name, written by hand: no git program is needed to name it
const clone = join(folder.path, 'clones/my-checkout')
mkdirSync(join(clone, 'web'), { recursive: true })
await Bun.write(join(clone, '.git/HEAD'), 'ref: refs/heads/main\n')
await Bun.write(join(clone, '.git/config'), '[remote "origin"]\n\turl = https://example.com/acme/shop.git\n')
for (const id of ['one', 'two']) await Bun.write(join(files, `${id}.jsonl`), line(id, join(clone, 'web')))

const dryRun = async (...options: string[]) => {
  const { records } = await runJson(['sync', files, '--dry-run', ...options], env)
  return records.map((record: { project_name: string }) => record.project_name)
}

test('sync names a session after its repository, its folder, or as it is told', async () => {
  expect(await dryRun()).toEqual(['shop', 'shop'])
  expect(await dryRun('--project-from', 'folder')).toEqual(['web', 'web'])
  expect(await dryRun('--project-from', 'folder', '--project', 'given')).toEqual(['given', 'given'])
  expect((await run(['sync', files, '--dry-run', '--project-from', 'x'], env)).code).toBe(2)
})

test('sync says which sessions have another project, at a server and in the local database', async () => {
  for (const place of [target, ['--org', 'local']]) {
    const sync = (...options: string[]) => runJson(['sync', files, ...place, ...options], env)
    expect(await sync('--project-from', 'folder')).toMatchObject({ created: 2, moved: [] })
    const moved = [{ from: 'web', to: 'shop', sessions: 2 }]
    expect(await sync('--project-from', 'repository')).toMatchObject({ updated: 2, moved })
    // the name that the user gave stays
    expect(await sync()).toMatchObject({ unchanged: 2, moved: [] })
    const { code, stderr } = await run(['sync', files, ...place, '--project', 'my shop'], env)
    expect(code).toBe(0)
    expect(stderr).toContain('2 sessions of the project shop are stored under my shop now')
    expect(stderr).toContain("cloud-analytics project rename shop 'my shop' --org")
    expect(await sync('--project', 'my shop')).toMatchObject({ unchanged: 2, moved: [] })
  }
})

test('project rename renames what is stored; an unknown project is an error', async () => {
  const rename = (...names: string[]) => ['project', 'rename', ...names, '--org', 'local']
  expect(await runJson(rename('my shop', 'shop'), env)).toEqual({
    sessions: 2,
    commits: 0,
    pull_requests: 0,
  })
  // the last two stand for all projects, and for none, in sums
  for (const name of ['my shop', '', '='.repeat(9)]) {
    const unknown = await run(rename(name, 'shop'), env)
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining(`there is no project "${name}"`),
    ])
  }
  for (const wrong of [['shop', 'shop'], ['shop', ''], ['shop', 'x'.repeat(201)], ['shop']])
    expect((await run(rename(...wrong), env)).code).toBe(2)
  const again = await runJson(['sync', files, '--org', 'local', '--project', 'my shop'], env)
  expect(again).toMatchObject({ updated: 2, moved: [{ from: 'shop', to: 'my shop', sessions: 2 }] })
  expect((await runJson(['doctor'], env)).checks).toContainEqual(
    expect.objectContaining({ name: 'rollups', status: 'ok' }),
  )
})
