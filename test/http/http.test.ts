import { describe, expect, test } from 'bun:test'
import { createLog } from '../../src/base/log.ts'
import { VERSION } from '../../src/base/version.ts'
import { connect } from '../../src/database/client.ts'
import { bodyOf, client, newOrg, testApp } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'

const db = await testsDatabase()

const asker = async (options = {}) => client(testApp(db.sql), (await newOrg(db.sql, options)).key)

test('no route has Elysia parse cookies, which it does when a hook gives the context to a function', () => {
  const composed = testApp(db.sql).routes.map((route) => [route.path, route.compile().toString()] as const)
  expect(composed.length).toBeGreaterThan(40)
  expect(composed.filter(([, code]) => code.includes('parseCookie(')).map(([path]) => path)).toEqual([])
})

describe('a good answer', () => {
  test('is JSON with an ETag, never cached by others, and the same under both prefixes', async () => {
    const ask = await asker()
    const answer = await ask('/v1/sessions?per_page=7')
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^"[0-9a-z-]+"$/),
    })
    const twin = await ask('/api/v1/sessions?per_page=7')
    expect(await twin.text()).toBe(await answer.text())
    expect(twin.headers.get('etag')).toBe(answer.headers.get('etag'))
  })

  test('If-None-Match gives 304 without a body', async () => {
    const ask = await asker()
    const etag = (await ask('/v1/cost')).headers.get('etag') ?? ''
    for (const condition of [etag, `W/${etag}`, `"x", ${etag}`, `"x",W/${etag} , "y"`, '*']) {
      const answer = await ask('/v1/cost', { headers: { 'if-none-match': condition } })
      expect([condition, answer.status, await answer.text()]).toEqual([condition, 304, ''])
      expect(answer.headers.get('etag')).toBe(etag)
      expect(answer.headers.get('content-type')).toBeNull()
      expect(answer.headers.get('x-ratelimit-remaining')).not.toBeNull()
      expect(answer.headers.get('cache-control')).toBe('private, no-cache')
    }
    for (const condition of ['', '"x"', etag.slice(1), etag.slice(0, -2)]) {
      expect((await ask('/v1/cost', { headers: { 'if-none-match': condition } })).status).toBe(200)
    }
    expect((await ask('/v1/quality', { headers: { 'if-none-match': etag } })).status).toBe(200)
    const post = { method: 'POST', body: '{"records":[]}', headers: { 'content-type': 'application/json' } }
    expect(
      (await ask('/v1/sync', { ...post, headers: { ...post.headers, 'if-none-match': '*' } })).status,
    ).toBe(200)
  })

  test('HEAD has the headers of GET and no body', async () => {
    const ask = await asker()
    for (const path of ['/v1/sessions', '/v1/cost/trend', '/v1/sessions/sess_none', '/v1/nothing', '/live']) {
      const [get, head] = [await ask(path), await ask(path, { method: 'HEAD' })]
      const fixed = (answer: Response) =>
        Object.entries(Object.fromEntries(answer.headers)).filter(
          ([name]) => !/ratelimit-re|request-id|content-length/.test(name),
        )
      expect(head.status).toBe(get.status)
      expect(fixed(head)).toEqual(fixed(get))
      const body = await get.text()
      if (get.status === 200) {
        expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(body)))
        expect(await head.text()).toBe('')
      }
    }
  })

  test('X-Request-Id is the caller’s when sane, else ours and unique', async () => {
    const ask = await asker()
    const idOf = async (given: string) =>
      (await ask('/v1/cost', { headers: { 'x-request-id': given } })).headers.get('x-request-id')
    for (const sane of ['a', 'A.b_c-9', 'x'.repeat(128)]) expect(await idOf(sane)).toBe(sane)
    const made = [
      await idOf(''),
      await idOf('a b'),
      await idOf('x'.repeat(129)),
      await idOf('a"'),
      await idOf('é'),
    ]
    expect(new Set(made).size).toBe(made.length)
    for (const id of made) expect(id).toMatch(/^[A-Za-z0-9._-]{10,128}$/)
  })
})

test('CORS any page may ask, without credentials', async () => {
  const ask = await asker()
  const answer = await client(testApp(db.sql))('/v1/sync', {
    method: 'OPTIONS',
    headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
  })
  expect([answer.status, await answer.text()]).toEqual([204, ''])
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
  const words = (name: string) => (answer.headers.get(name) ?? '').toLowerCase().split(', ')
  expect(words('access-control-allow-methods')).toEqual(['get', 'head', 'post', 'put', 'patch', 'delete'])
  expect(words('access-control-allow-headers')).toEqual(
    expect.arrayContaining([
      'authorization',
      'content-type',
      'if-none-match',
      'idempotency-key',
      'x-machine',
    ]),
  )
  for (const path of ['/v1/cost', '/v1/nothing', '/v1/cost?date_from=x']) {
    const { headers } = await ask(path, { headers: { origin: 'https://a.example' } })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-expose-headers')).toContain('X-RateLimit-Remaining')
  }
})

test.each(['/docs/json', '/health', '/api/badge/none/quality', '/api/badge/none/cost.json'])(
  'any page may read %s, and ask whether it may',
  async (path) => {
    const ask = client(testApp(db.sql))
    const origin = { origin: 'https://a.example' }
    const answer = await ask(path, { headers: origin })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    const preflight = await ask(path, {
      method: 'OPTIONS',
      headers: { ...origin, 'access-control-request-method': 'GET' },
    })
    expect([preflight.status, await preflight.text()]).toEqual([204, ''])
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
    expect(preflight.headers.get('access-control-allow-methods')).toContain('GET')
  },
)

test.each([
  ['/v1/cost', 'GET, HEAD'],
  ['/v1/cost/', 'GET, HEAD'],
  ['/api/v1/members/user_none', 'DELETE, PATCH'],
  ['/v1/sync', 'POST'],
  ['/otlp/v1/logs', 'POST'],
  ['/mcp', 'POST'],
  ['/auth/password', 'POST'],
  ['/health', 'GET, HEAD'],
  ['/docs', 'GET, HEAD'],
  ['/api/badge/none/quality', 'GET, HEAD'],
])('OPTIONS %s without a preflight tells the methods', async (path, allow) => {
  for (const headers of [{}, { origin: 'https://a.example' }]) {
    const answer = await client(testApp(db.sql))(path, { method: 'OPTIONS', headers })
    expect([answer.status, answer.headers.get('allow'), await answer.text()]).toEqual([204, allow, ''])
  }
  expect((await client(testApp(db.sql))(`${path}/no/thing`, { method: 'OPTIONS' })).status).toBe(404)
})

describe('a slash at the end of a path', () => {
  test('changes no answer', async () => {
    const ask = await asker({ scopes: ['read', 'write', 'admin', 'webhooks'] })
    const json = { 'content-type': 'application/json' }
    for (const [path, init] of [
      ['/v1/sessions'],
      ['/api/v1/sessions'],
      ['/v1/sessions/sess_none'],
      ['/v1/cost?group_by=week'],
      ['/v1/cost', { method: 'DELETE' }],
      ['/v1/budgets/2027-01', { method: 'PUT', body: '{"limit":5}', headers: json }],
      ['/api/badge/none/quality.json'],
      ['/health'],
      ['/docs/json'],
      ['/dashboard/icon.svg'],
    ] as [string, RequestInit?][]) {
      const [plain, slashed] = [await ask(path, init), await ask(path.replace(/(?=\?|$)/, '/'), init)]
      const shown = async (answer: Response) => [
        answer.status,
        answer.headers.get('allow'),
        (await answer.text()).replace(/"request_id":"[^"]*"/, ''),
      ]
      expect([path, ...(await shown(slashed))]).toEqual([path, ...(await shown(plain))])
    }
    const post = { method: 'POST', headers: json, body: '{"name":"x","scopes":["read"]}' }
    const made = await ask('/v1/keys/', post)
    expect(made.headers.get('location')).toBe(`/v1/keys/${(await bodyOf(made)).id}`)
    expect((await ask('/v1/organization/badge-token/', { method: 'POST' })).headers.get('location')).toBe(
      '/v1/organization',
    )
    for (const path of ['/v1/sessions//', '//v1/sessions/', '/v1/nothing/'])
      expect([path, (await ask(path)).status]).toEqual([path, 404])
  })

  test.each(['docs', 'accept', 'device', 'setup'])('a browser at /%s/ is sent to the page', async (page) => {
    const ask = client(testApp(db.sql))
    const answer = await ask(`/${page}/?a=/b`)
    expect([answer.status, answer.headers.get('location')]).toEqual([308, `../${page}?a=/b`])
    expect((await ask(`/${page}?a=/b`)).status).toBe(200)
  })
})

test('the explorer and its page are for this origin only', async () => {
  const answer = await client(testApp(db.sql))('/docs', { headers: { origin: 'https://a.example' } })
  expect(answer.headers.has('access-control-allow-origin')).toBe(false)
})

test('/ says what serves here to a client that accepts JSON alone', async () => {
  const init = { headers: { accept: 'application/json' } }
  const behind = testApp(db.sql, { config: { publicUrl: 'https://example.com/analytics' } })
  for (const [app, docs] of [
    [testApp(db.sql), '/docs'],
    [behind, '/analytics/docs'],
  ] as const) {
    const answer = await client(app)('/', init)
    expect(await answer.json()).toEqual({ name: 'Cloud Analytics', version: VERSION, docs })
    expect(answer.headers.get('content-type')).toBe('application/json')
  }
  const page = await client(behind)('/')
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
})

test('a key in the query is no key, and in no line of the log', async () => {
  const lines: string[] = []
  const app = testApp(db.sql, {
    log: createLog('debug', 'json', (text) => lines.push(...text.trim().split('\n'))),
  })
  const { key } = await newOrg(db.sql)
  for (const name of ['key', 'api_key', 'access_token', 'token', 'Authorization']) {
    const answer = await client(app)(`/v1/sessions?${name}=${key}`)
    expect([name, answer.status]).toEqual([name, 401])
    expect(JSON.stringify([[...answer.headers], await answer.text()])).not.toContain(key)
  }
  const known = await client(app, key)(`/v1/sessions?key=${key}`)
  expect(known.status).toBe(200)
  expect(JSON.stringify([...known.headers])).not.toContain(key)
  app.flushAccessLog()
  expect(lines).toHaveLength(6)
  expect(lines.join('')).not.toContain(key)
})

describe('unknown paths and methods', () => {
  test.each([
    '/v2/sessions',
    '/v1',
    '/v1/',
    '/v1/cost/budget',
    '/v1/security/alerts',
    '/v1/security/score',
    '/v1/team/members',
    '/v1/team/activity',
    '/v1/risk/prs',
    '/V1/sessions',
    '/v1/Sessions',
    '//v1/sessions',
    '/v1//sessions',
    '/v1/%73essions',
    '/v1/sessions/sess_1/more',
  ])('%s is 404', async (path) => {
    const answer = await (await asker())(path)
    expect(answer.status).toBe(404)
    expect(await bodyOf(answer)).toMatchObject({ code: 'NOT_FOUND', request_id: expect.any(String) })
  })

  test.each([
    ['DELETE', '/v1/sessions', 'GET, HEAD'],
    ['POST', '/api/v1/sessions/sess_1', 'DELETE, GET, HEAD'],
    ['GET', '/v1/sync', 'POST'],
    ['HEAD', '/v1/sync', 'POST'],
    ['PUT', '/health', 'GET, HEAD'],
  ])('%s %s is 405 and names what is allowed', async (method, path, allow) => {
    const answer = await (await asker())(path, { method })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe(allow)
    if (method !== 'HEAD') expect(await bodyOf(answer)).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('/health and /live', () => {
  test('need no key', async () => {
    const app = testApp(db.sql)
    const health = await client(app)('/health')
    expect([health.status, await health.json()]).toEqual([
      200,
      {
        status: 'ok',
        version: expect.any(String),
        instance: expect.any(String),
        database: 'ok',
        worker: 'ok',
      },
    ])
    expect(await (await client(app)('/live')).json()).toEqual({ status: 'ok' })
    expect(await (await client(app)('/ready')).json()).toEqual({
      status: 'ready',
      database: 'ok',
      disk: 'ok',
      worker: 'ok',
      schema: 'ok',
    })
  })

  test('/health is 503 and names the failing part', async () => {
    const worker = await client(testApp(db.sql, { worker: () => 'stopped' }))('/health')
    expect([worker.status, await bodyOf(worker)]).toMatchObject([503, { database: 'ok', worker: 'stopped' }])
    const sql = connect(
      { url: 'postgres://nobody@localhost/none?host=/nonexistent' },
      { max: 1, applicationName: 'test' },
    )
    const database = await client(testApp(sql))('/health')
    expect([database.status, await bodyOf(database)]).toMatchObject([
      503,
      { database: 'unreachable', worker: 'ok' },
    ])
    expect((await client(testApp(sql))('/ready')).status).toBe(503)
    expect((await client(testApp(sql))('/live')).status).toBe(200)
    await sql.end()
  })
})

test('each request is logged with its id, organization and key, and without its query', async () => {
  const lines: string[] = []
  const app = testApp(db.sql, {
    log: createLog('info', 'json', (text) => lines.push(...text.trim().split('\n'))),
  })
  const { key, keyId, orgId } = await newOrg(db.sql)
  const answer = await client(app, key)('/v1/cost?project=private')
  await client(app)('/v1/cost', { method: 'OPTIONS' })
  app.flushAccessLog()
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      message: 'request',
      level: 'info',
      method: 'GET',
      path: '/v1/cost',
      status: 200,
      ms: expect.any(Number),
      request_id: answer.headers.get('x-request-id'),
      org_id: orgId,
      key_id: keyId,
    },
    { method: 'OPTIONS', status: 204 },
  ])
  expect(lines.join('')).not.toContain('private')
  expect(lines.join('')).not.toContain(key)
})
