import { expect, test } from 'bun:test'
import { SCOPES } from '../../src/accounts/keys/scopes.ts'
import { updateOrganization } from '../../src/features/organization/queries.ts'
import { client, newOrg, PLENTY, testApp } from '../support/api.ts'
import { changeOf, type Route, v1Routes } from '../support/isolation/routes.ts'
import { testsDatabase } from '../support/postgres.ts'

// The order of checks, tried on every route: each request is wrong in all ways that are checked later.

const ONE = { cloud_pro: 1, cloud_team: 1, cloud_enterprise: 1 }
/** Each route refuses one of these at least. */
const NARROW = [['audit:write'], ['audit:read']]
const EVERYTHING = ['read', 'write', 'audit:write', 'webhooks', 'admin', 'ingest']

const db = await testsDatabase()

const app = testApp(db.sql, { config: { rateLimits: PLENTY } })
// each request is in a minute of its own: an address has 60 a minute
let minute = 0
const anonymous = client(testApp(db.sql, { now: () => new Date(Date.UTC(2026, 10, 15, 12, minute++)) }))
const routes = v1Routes(app)
expect(routes.length).toBeGreaterThan(50)

/** Nothing has these ids. */
const placed = (path: string) => path.replace(':month', '2020-01').replace(/:\w+/g, 'nothing_here')
/** Whether a path with parameters takes another: `/budgets/:month` takes `/budgets/mine`. */
const takes = (path: string, other: string) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`).test(other)
const withQuery = ({ path, hooks }: Route): string => {
  const [name = 'page'] = Object.keys(hooks.query?.properties ?? {})
  return `${placed(path)}?${name}=1&${name}=%00`
}

/** A request with a body that says whether it was read. */
function unread(method: string) {
  let pulled = 0
  const pull = (controller: ReadableStreamDefaultController) => {
    pulled += 1
    controller.enqueue(new Uint8Array([0x7b]))
  }
  const body = new ReadableStream({ pull }, { highWaterMark: 0 })
  return { init: method === 'GET' ? { method } : { method, body }, pulled: () => pulled }
}

async function statusOf(ask: ReturnType<typeof client>, route: Route, method = route.method) {
  const { init, pulled } = unread(method)
  const { status } = await ask(withQuery(route), init)
  return [route.method, route.path, status, ...(status === 200 || status === 400 ? [] : [pulled()])]
}

test('1. the path and its methods, whoever asks', async () => {
  for (const route of routes) {
    const taken = routes.filter(({ path }) => takes(path, placed(route.path))).map(({ method }) => method)
    const other = ['PUT', 'DELETE', 'POST'].find((method) => !taken.includes(method)) ?? 'GET'
    expect(await statusOf(anonymous, route, other)).toEqual([route.method, route.path, 405, 0])
    const unknown = { ...route, path: `${route.path}/nothing/at/all` }
    expect(await statusOf(anonymous, unknown)).toEqual([route.method, unknown.path, 404, 0])
  }
})

test('2. the key', async () => {
  for (const route of routes)
    expect(await statusOf(anonymous, route)).toEqual([route.method, route.path, 401, 0])
})

test('3. the limit', async () => {
  const windowClock = () => new Date('2026-11-15T12:00:00Z')
  const tired = testApp(db.sql, { config: { rateLimits: ONE }, windowClock })
  for (const scopes of NARROW) {
    const { key } = await newOrg(db.sql, { scopes, plan: 'cloud_pro' })
    const ask = client(tired, key)
    await ask('/v1/whoami')
    await ask('/v1/sync', { method: 'POST' })
    for (const route of routes) expect(await statusOf(ask, route)).toEqual([route.method, route.path, 429, 0])
    const unknown = { ...(routes[0] as Route), path: '/v1/nothing' }
    expect(await statusOf(ask, unknown)).toEqual(['GET', '/v1/nothing', 404, 0])
  }
})

test('4. the scope', async () => {
  const narrow = await Promise.all(NARROW.map((scopes) => newOrg(db.sql, { scopes })))
  for (const route of routes.filter(({ hooks }) => hooks.scope !== 'any key')) {
    const refused = []
    for (const { key } of narrow) refused.push(await statusOf(client(app, key), route))
    expect(refused).toContainEqual([route.method, route.path, 403, 0])
  }
})

test('4. the members, where they are hidden', async () => {
  const scopes = SCOPES.filter((scope) => scope !== 'read' && scope !== 'team:read')
  const { key, slug } = await newOrg(db.sql, { scopes })
  await updateOrganization(db.sql, slug, { hide_members: true })
  const naming = routes.filter(({ hooks }) => hooks.members === true)
  expect(naming).not.toBeEmpty()
  for (const route of naming)
    expect(await statusOf(client(app, key), route)).toEqual([route.method, route.path, 403, 0])
})

test('4. the plan', async () => {
  const { key } = await newOrg(db.sql, { scopes: EVERYTHING, plan: 'cloud_pro' })
  const ofWebhooks = routes.filter(({ hooks }) => hooks.scope === 'webhooks')
  expect(ofWebhooks.map(({ path }) => path)).toEqual(
    routes.map(({ path }) => path).filter((path) => path.startsWith('/v1/webhooks')),
  )
  for (const route of ofWebhooks)
    expect(await statusOf(client(app, key), route)).toEqual([route.method, route.path, 403, 0])
})

test('5. the query and the body', async () => {
  const ask = client(app, (await newOrg(db.sql, { scopes: EVERYTHING })).key)
  for (const route of routes) {
    const { method, path, hooks } = route
    const headers = { 'content-type': 'application/json' }
    const wrong = [
      ...(hooks.query === undefined
        ? []
        : [ask(withQuery(route), method === 'GET' ? {} : { method, headers, body: '{}' })]),
      ...(hooks.body === undefined ? [] : [ask(placed(path), { method, headers, body: '{' })]),
    ]
    for (const { status } of await Promise.all(wrong))
      expect([method, path, status]).toEqual([method, path, 400])
  }
})

test('6. whether it exists', async () => {
  const ask = client(app, (await newOrg(db.sql, { scopes: EVERYTHING })).key)
  // a limit is set for any month
  const named = routes.filter(({ method, path }) => path.includes(':') && method !== 'PUT')
  expect(named.length).toBeGreaterThan(15)
  for (const { method, path } of named) {
    const init = method === 'GET' ? {} : changeOf(`${method} ${path.replace('/v1', '')}`)
    const { status } = await ask(placed(path), init)
    expect([method, path, status]).toEqual([method, path, 404])
  }
})

test('each concern has one hook, of the whole app and of every route', () => {
  const { request = [], mapResponse = [], error = [] } = app.event
  expect([request.length, mapResponse.length, error.length]).toEqual([1, 1, 1])
  for (const { method, path, hooks } of routes) {
    const counts = ['parse', 'transform', 'beforeHandle', 'afterHandle', 'mapResponse', 'error'].map(
      (name) => [(hooks as Record<string, unknown>)[name] ?? []].flat().length,
    )
    // `resolve` is among the hooks of beforeHandle
    expect([method, path, ...counts]).toEqual([method, path, 1, 1, 1, 1, 1, 1])
  }
})
