import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Api } from '../../src/http/api.ts'
import { newOrg, writeTo } from '../support/api.ts'
import { testsFolder } from '../support/at-end.ts'
import { testsDatabase } from '../support/postgres.ts'
import { sessionRecord } from '../support/records.ts'
import { smallApp } from './small-app.ts'

// Runs the lists that CONTRIBUTING.md shows, as they stand there.

const ROOT = join(import.meta.dir, '../..')
const database = await testsDatabase()
const folder = testsFolder()

/** A copy of the sources by links, with the files that the page shows. */
function writeExample(): string {
  const features = join(folder.path, 'src/features')
  mkdirSync(join(features, 'history'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'src')).filter((one) => one !== 'features'))
    symlinkSync(join(ROOT, 'src', name), join(folder.path, 'src', name))
  for (const name of readdirSync(join(ROOT, 'src/features')))
    symlinkSync(join(ROOT, 'src/features', name), join(features, name))
  for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(folder.path, name))
  const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
  for (const [, path = '', code = ''] of page.matchAll(/^```ts\n\/\/ (src\/\S+)\n(.*?)^```$/gms))
    writeFileSync(join(folder.path, path), code)
  const types = { extends: join(ROOT, 'tsconfig.json'), include: ['src/features/history'] }
  writeFileSync(join(folder.path, 'tsconfig.json'), JSON.stringify(types))
  return join(features, 'history/routes.ts')
}
const routes = writeExample()

test('the lists of CONTRIBUTING.md have the right types', async () => {
  const checking = Bun.spawn([process.execPath, 'check'], { cwd: folder.path, stderr: 'pipe' })
  const said = (await new Response(checking.stdout).text()) + (await new Response(checking.stderr).text())
  expect([await checking.exited, said]).toEqual([0, expect.stringContaining('No type errors')])
})

test('the lists of CONTRIBUTING.md have a filter, pages and CSV', async () => {
  const { historyRoutes } = await import(routes)
  const app = smallApp(database.sql, (api: Api) => historyRoutes({ api }))
  const { orgId, key } = await newOrg(database.sql, { scopes: ['team:read', 'cost:read'] })
  for (const [project, sha, time] of [
    ['web', 'a1', '2026-11-01T10:00:00Z'],
    ['web', 'a2', '2026-11-02T10:00:00Z'],
    ['docs', 'a3', '2026-11-03T10:00:00Z'],
  ] as const)
    await database.sql`
      insert into commits
        (org_id, project, sha, author_email, author_name, committed_at, files, additions, deletions, bot, content_hash, day)
      values
        (${orgId}, ${project}, ${sha}, 'ada@example.com', 'Ada', ${time}, 1, 5, 0, false, '', ${time.slice(0, 10)})`
  const ask = async (query: string, accept = 'application/json', list = 'commits') => {
    const headers = { authorization: `Bearer ${key}`, accept }
    return await app.handle(new Request(`http://localhost/v1/${list}${query}`, { headers }))
  }
  const shas = async (query: string) =>
    ((await (await ask(query)).json()) as { data: { sha: string }[] }).data.map(({ sha }) => sha)
  expect(await shas('')).toEqual(['a3', 'a2', 'a1'])
  expect(await shas('?project=web&date_from=2026-11-02')).toEqual(['a2'])
  expect(await shas('?per_page=1&page=3')).toEqual(['a1'])
  expect((await ask('?per_page=0')).status).toBe(400)
  expect(await (await ask('?project=docs&per_page=all', 'text/csv')).text()).toContain('a3,docs,2026-11-03')

  const session = (id: string, project_name: string | null, calls: [string, number][]) =>
    sessionRecord(id, {
      project_name,
      turn_records: calls.map(([effort, cost]) => ({
        ...{ role: 'assistant', model: 'gpt-5.5', tokens: { input: 10, output: 1 }, cost, effort },
      })),
    })
  await writeTo(database.sql, orgId, [
    session('sess_1', 'web', [
      ['high', 1.25],
      ['low', 0.5],
    ]),
    session('sess_2', null, [['high', 2.000001]]),
  ])
  const efforts = async (query: string) => await (await ask(query, 'text/csv', 'efforts')).text()
  expect(await efforts('?per_page=all')).toBe('name,sessions,cost\r\nhigh,2,3.250001\r\nlow,1,0.5\r\n')
  expect(await efforts('?project=')).toBe('name,sessions,cost\r\nhigh,1,2.000001\r\n')
})
