import { afterAll, beforeEach, expect, test } from 'bun:test'
import { slugOf } from '../../../src/features/sign-in/setup-routes.ts'
import type { createApp } from '../../../src/server/app.ts'
import { testApp } from '../../support/api.ts'
import { type TestDatabase, testDatabase } from '../../support/postgres.ts'
import { cookieOf, PASSWORD, post } from './people.ts'

// The first organization, made in the browser by the link that `serve` prints.

const TOKEN = 'the-token-of-the-printed-link'
const WANTED = {
  token: TOKEN,
  organization: { name: 'Acme GmbH & Co.' },
  display_name: 'Ada',
  email: 'ada@example.com',
  password: PASSWORD,
}

const databases: TestDatabase[] = []
let database: TestDatabase
let app: ReturnType<typeof createApp>

beforeEach(async () => {
  database = await testDatabase()
  databases.push(database)
  app = testApp(database.sql, { writes: database.pool(4), setupToken: TOKEN })
})
afterAll(async () => {
  for (const each of databases) await each.drop()
})

const methods = async () => await (await app.handle(new Request('http://localhost/auth/methods'))).json()

test('makes the organization and its owner, who is signed in', async () => {
  expect(await methods()).toEqual({ password: true, oidc: false, setup: true })
  const made = await post(app, '/auth/setup', WANTED)
  expect(made.status).toBe(201)
  const body = (await made.json()) as { csrf_token: string }
  expect(body).toMatchObject({
    organization: { slug: 'acme-gmbh-co', name: 'Acme GmbH & Co.', plan: 'cloud_team' },
    key: null,
    member: { email: 'ada@example.com', display_name: 'Ada', role: 'owner' },
    limits: { read: 500, sync: 500 },
  })
  const cookie = cookieOf(made)
  const get = async (path: string) =>
    await (await app.handle(new Request(`http://localhost${path}`, { headers: { cookie } }))).json()
  expect(await get('/v1/whoami')).toEqual(body)
  const actions = ((await get('/v1/audit')) as { data: { action: string }[] }).data.map(
    ({ action }) => action,
  )
  expect(actions.toSorted()).toEqual(['member.created', 'member.signed_in', 'organization.created'])
  expect(await methods()).toMatchObject({ setup: false })
  // whatever is sent, also the right link again
  for (const again of [WANTED, { ...WANTED, token: 'x' }, {}])
    expect((await post(app, '/auth/setup', again)).status).toBe(404)
  const signIn = await post(app, '/auth/password', { email: 'ADA@example.com', password: PASSWORD })
  expect(signIn.status).toBe(204)
})

test('refuses other tokens, ten a minute for an address, and names wrong fields', async () => {
  const wrong = async (change: object) => {
    const response = await post(app, '/auth/setup', { ...WANTED, ...change })
    const { details = [] } = (await response.json()) as { details?: { field: string }[] }
    return [response.status, details.map(({ field }) => field)]
  }
  expect(await wrong({ organization: { name: '' }, password: 'short' })).toEqual([
    400,
    ['organization.name', 'password'],
  ])
  expect(await wrong({ organization: { name: 'A', time_zone: '+01:00' } })).toEqual([
    400,
    ['organization.time_zone'],
  ])
  expect(await wrong({ organization: { name: 'A', slug: 'No Slug' }, email: 'ada' })).toEqual([
    400,
    ['organization.slug', 'email'],
  ])
  for (let nth = 1; nth <= 10; nth++) expect(await wrong({ token: `guess-${nth}` })).toEqual([401, []])
  const refused = await post(app, '/auth/setup', { ...WANTED, token: 'guess-11' })
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await post(app, '/auth/setup', WANTED)).status).toBe(201)
})

test('takes the time zone of the organization', async () => {
  const organization = { name: 'Acme', time_zone: 'Asia/Calcutta' }
  const made = await post(app, '/auth/setup', { ...WANTED, organization })
  expect(await made.json()).toMatchObject({ organization: { slug: 'acme', time_zone: 'Asia/Calcutta' } })
})

test('of several at once one wins', async () => {
  const statuses = await Promise.all(
    ['a', 'b', 'c', 'd'].map(
      async (name) => (await post(app, '/auth/setup', { ...WANTED, organization: { name } })).status,
    ),
  )
  expect(statuses.toSorted()).toEqual([201, 404, 404, 404])
  const [row] = await database.sql`select count(*)::integer as n from organizations`
  expect(row?.n).toBe(1)
})

test('there is no set-up without a token of the process', async () => {
  const other = testApp(database.sql, { writes: database.pool(2) })
  expect((await post(other, '/auth/setup', WANTED)).status).toBe(404)
})

test('a slug is made of any name', () => {
  expect(['Acme', 'Crème Brûlée', '  --', '日本', `${'a'.repeat(62)} b`].map(slugOf)).toEqual([
    'acme',
    'creme-brulee',
    'organization',
    'organization',
    'a'.repeat(62),
  ])
})
