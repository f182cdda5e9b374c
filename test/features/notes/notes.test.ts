import { expect, test } from 'bun:test'
import { asker, newOrg, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'

// Notes of days: their routes, their records, and what follows the name of a project.

const database = await testsDatabase()

async function organization(scopes = ['read', 'write', 'admin']) {
  const own = await newOrg(database.sql, { scopes })
  const ask = asker(testApp(database.sql), own.key)
  const texts = async (query = '') =>
    (await ask('GET', `/v1/notes${query}`)).body.data.map((note) => note.text)
  return { ...own, ask, texts }
}
const NOTE = { day: '2026-11-23', text: 'opus is the default model' }

test('a note is added once for a key, listed and deleted, with entries in the audit log', async () => {
  const { ask, texts } = await organization()
  const once = { 'idempotency-key': 'one' }
  const made = await ask('POST', '/v1/notes', { ...NOTE, project: 'web', team: null }, once)
  expect([made.status, made.body]).toEqual([
    201,
    { ...NOTE, id: expect.stringMatching(/^note_[0-9a-z]{20}$/), project: 'web' } as never,
  ])
  expect((await ask('POST', '/v1/notes', { ...NOTE, project: 'web', team: null }, once)).body).toEqual(
    made.body,
  )
  expect((await ask('POST', '/v1/notes', NOTE, once)).status).toBe(400)
  const list = (await ask('GET', '/v1/notes')).body
  expect(list).toEqual({ data: [made.body], pagination: { page: 1, per_page: 50, total: 1 } } as never)
  expect((await ask('DELETE', `/v1/notes/${made.body.id}`)).status).toBe(204)
  expect((await ask('DELETE', `/v1/notes/${made.body.id}`)).status).toBe(404)
  expect(await texts()).toEqual([])
  const audit = (await ask('GET', '/v1/audit?action=note.*')).body
  expect(audit.data.map(({ action }) => action)).toEqual(['note.deleted', 'note.created'])
})

test('notes are listed by day, of the organization and of what is asked for', async () => {
  const { ask, texts } = await organization()
  const noted = [
    { day: '2026-11-01', text: 'all' },
    { day: '2026-11-02', text: 'web', project: 'web' },
    { day: '2026-11-03', text: 'docs', project: 'docs' },
    { day: '2026-11-04', text: 'team', team: 'payments' },
  ]
  for (const note of noted) expect((await ask('POST', '/v1/notes', note)).status).toBe(201)
  expect(await texts()).toEqual(['team', 'docs', 'web', 'all'])
  expect(await texts('?date_from=2026-11-02&date_to=2026-11-03')).toEqual(['docs', 'web'])
  expect(await texts('?project=web')).toEqual(['web', 'all'])
  expect(await texts('?team=payments')).toEqual(['team', 'all'])
  expect(await texts('?project=')).toEqual(['all'])
  expect(await texts('?per_page=1&page=2')).toEqual(['docs'])
})

test.each([
  ['no text', { text: '' }, 'text'],
  ['201 characters', { text: 'n'.repeat(201) }, 'text'],
  ['a day that is none', { day: '2026-02-30' }, 'day'],
  ['an unknown field', { note: 1 }, 'note'],
])('%s is refused', async (_name, over, field) => {
  const { ask } = await organization()
  const refused = await ask('POST', '/v1/notes', { ...NOTE, ...over })
  expect([refused.status, refused.body.details.map(({ field: at }) => at)]).toEqual([400, [field]])
})
