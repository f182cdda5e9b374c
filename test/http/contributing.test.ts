import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

test('the lists of CONTRIBUTING.md have a filter, pages and CSV', async () => {
  const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
  for (const [, path = '', code = ''] of page.matchAll(/^```ts\n\/\/ src\/(\S+)\n(.*?)^```$/gms)) {
    const file = join(folder.path, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(
      file,
      code
        .replaceAll("from '../../", `from '${ROOT}/src/`)
        .replaceAll("from '../usage/", `from '${ROOT}/src/features/usage/`)
        .replace(/from '(@?[a-z/]+)'/g, (_, name: string) => `from '${Bun.resolveSync(name, ROOT)}'`),
    )
  }
  const { historyRoutes } = await import(join(folder.path, 'features/history/routes.ts'))
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
