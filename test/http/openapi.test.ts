import { describe, expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import Ajv from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import { loadPricer } from '../../src/analysis/scoring/prices.ts'
import { connect } from '../../src/database/client.ts'
import { createComponents } from '../../src/http/openapi/schema.ts'
import { EVENT_NAMES } from '../../src/webhooks/outbox/catalogue.ts'
import { client, jsonPost, newOrg, testApp } from '../support/api.ts'
import { namesOf, storeWebhook } from '../support/isolation/records.ts'
import { testsDatabase } from '../support/postgres.ts'
import { memberRecord, sessionRecord } from '../support/records.ts'

// The document against the app: what it says exists, and whatever the app answers is in it.

interface Described {
  description?: string
  headers?: Record<string, unknown>
  content?: Record<string, { schema: object; example?: unknown }>
}
interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters: {
    $ref?: string
    name: string
    in: string
    schema: Record<string, unknown>
    required?: boolean
    example?: unknown
  }[]
  requestBody?: { content: Record<string, { schema: object; example: unknown }> }
  responses: Record<string, Described & { $ref?: string }>
}
interface OpenApi {
  openapi: string
  info: { description: string }
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: Operation }>
  tags: { name: string }[]
  components: { schemas: Record<string, object>; responses: Record<string, Described> }
}

/** The swagger plugin hides its own routes. */
const OF_PLUGIN = /^\/docs(\/json)?$/

const SAMPLE = [
  sessionRecord('sess_1', {
    project_name: 'checkout',
    created_at: new Date().toISOString(),
    user_email: 'ada@example.com',
    source: 'claude-code',
    model: 'claude-sonnet-4-5',
    turns: 3,
    estimated_cost: 1.5,
    tokens: { input: 10, output: 20 },
    tools_used: [{ name: 'Edit', calls: 3, errors: 1 }],
    turn_records: [{ role: 'assistant', tool_calls: [{ name: 'Edit', ok: true }] }],
    observations: [{ type: 'decision', title: 'Retries need jitter' }],
    security_metadata: {
      findings: [
        { rule_id: 'r', category: 'secret', severity: 'high', title: 'A key', file: 'src/a.ts', line: 3 },
      ],
    },
  }),
  { type: 'session', id: 'sess_2', project_name: 'bare', created_at: '2026-01-31T12:00:00Z' },
  memberRecord('ada', { role: 'admin' }),
  { type: 'budget', month: '2026-01', limit: 100 },
]

const db = await testsDatabase()
const make = (over: Parameters<typeof testApp>[1] = {}) => testApp(db.sql, { pricer: loadPricer, ...over })
const app = make()
const text = await (await client(app)('/docs/json')).text()
const document: OpenApi = JSON.parse(text)
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => method !== 'servers')
    .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)
const own = await newOrg(db.sql, { scopes: ['read', 'write', 'audit:write', 'webhooks', 'admin'] })
const key = own.key
const answer = await client(app, key)('/v1/sync', jsonPost({ records: SAMPLE }))
expect(answer.status).toBe(200)

const ajv = new Ajv({ strict: false, allErrors: true })
addFormats(ajv)

/** The schema, which refers to those of the document by their names alone: each is compiled once. */
const withNames = (schema: object): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', ''))
for (const [name, schema] of Object.entries(document.components.schemas))
  ajv.addSchema(withNames(schema), name)

const compiled = new Map<string, ReturnType<typeof ajv.compile>>()

/** Returns the problems of `value` by a schema of the document; '' when there are none. */
function problems(schema: object, value: unknown): string {
  const name = JSON.stringify(schema)
  const check = compiled.get(name) ?? ajv.compile(withNames(schema))
  compiled.set(name, check)
  return check(value) ? '' : ajv.errorsText(check.errors)
}

const resolved = (answer: (Described & { $ref?: string }) | undefined): Described | undefined =>
  answer?.$ref === undefined
    ? answer
    : document.components.responses[answer.$ref.replace('#/components/responses/', '')]

/** Holds an answer to what the document says of its operation. */
async function expectDocumented(operation: Operation, answer: Response): Promise<void> {
  const label = `${operation.operationId} ${answer.status}`
  const described = resolved(operation.responses[answer.status])
  expect([label, described === undefined ? 'undocumented' : '']).toEqual([label, ''])
  const missing = Object.keys(described?.headers ?? {}).filter((name) => !answer.headers.has(name))
  expect([label, missing]).toEqual([label, []])
  if (answer.headers.get('content-type') === 'text/event-stream') {
    // it goes on: test/features/changes
    await answer.body?.cancel()
    return expect([label, Object.keys(described?.content ?? {})]).toEqual([label, ['text/event-stream']])
  }
  const text = await answer.text()
  const [type] = (answer.headers.get('content-type') ?? '').split(';')
  const content = described?.content
  if (content === undefined) return expect([label, text]).toEqual([label, ''])
  expect([label, Object.keys(content)]).toEqual([label, expect.arrayContaining([type ?? ''])])
  const schema = content[type ?? '']?.schema ?? {}
  const value = type === 'application/json' ? JSON.parse(text) : text
  expect([label, problems(schema, value)]).toEqual([label, ''])
}

const placed = (path: string) =>
  path
    .replace('{session_id}', 'sess_1')
    .replace('{month}', '2026-11')
    .replace(/\{\w+\}/g, 'nothing_here')

/** The same with a webhook endpoint and a delivery of its own, where it names them. */
async function placedAnew(path: string, word: string): Promise<string> {
  if (!path.includes('{webhook_id}')) return placed(path)
  const names = namesOf(word)
  await storeWebhook(db.sql, own.orgId, names)
  return path.replace('{webhook_id}', names.hook).replace('{delivery_id}', names.delivery)
}

/** A request as the document's own examples make it. */
function exampleRequest(operation: Operation, method: string): RequestInit {
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  if (type === undefined) return { method }
  return { method, headers: { 'content-type': type }, body: JSON.stringify(content?.example) }
}

describe('the document', () => {
  test('breaks none of the rules that Redocly recommends', async () => {
    // 3xx is one, too
    const config = await createConfig({
      extends: ['recommended'],
      rules: { 'operation-2xx-response': 'off' },
    })
    const found = await lintFromString({ source: text, config })
    expect(found.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  }, 360_000)

  test('has every route of the app once, and nothing else', () => {
    const served = app.routes
      .filter(
        ({ path, hooks }) =>
          !/^\/(?:api|otlp)\/v1\//.test(path) && (hooks.detail?.hide !== true || OF_PLUGIN.test(path)),
      )
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(served.sort())
    const twins = app.routes.filter(({ path }) => path.startsWith('/api/v1/'))
    expect(twins).toHaveLength(served.filter((route) => route.includes(' /v1/')).length)
  })

  test('names, describes and groups each operation, and who may call it', () => {
    expect(document.openapi).toBe('3.1.0')
    const tags = document.tags.map(({ name }) => name)
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { method, path, operation } of operations) {
      // given at the route: `detail: { operationId: 'listSessions', … }`
      expect([method, path, operation.operationId]).toEqual([
        method,
        path,
        expect.stringMatching(/^[a-z]+([A-Z][a-z]*)*$/),
      ])
      expect(operation.summary.length).toBeGreaterThan(3)
      expect(operation.description.length).toBeGreaterThan(3)
      expect(tags).toContain(operation.tags[0] ?? 'none')
      // each says what it does when all is well: signing in by an identity provider redirects
      expect([path, Object.keys(operation.responses)]).toEqual([
        path,
        expect.arrayContaining([expect.stringMatching(/^[23]/)]),
      ])
      const needsKey = operation.security.some((one) => 'apiKey' in one)
      expect([path, needsKey]).toEqual([path, path.startsWith('/v1/') || path === '/mcp'])
      if (path.startsWith('/v1/'))
        expect(operation.description).toMatch(/Needs (the scopes? `|an API key, with any)/)
    }
  })

  test('names its schemas by what they are, each once', () => {
    const { schemas } = document.components
    const shownAs = (method: string, path: string, status: number) =>
      resolved(document.paths[path]?.[method]?.responses[status])?.content?.['application/json']?.schema
    for (const [method, path, status, name] of [
      ['get', '/v1/sessions', 200, 'SessionPage'],
      ['get', '/v1/sessions/{session_id}', 200, 'SessionDetail'],
      ['get', '/v1/audit', 200, 'AuditEntryPage'],
      ['post', '/v1/webhooks', 201, 'CreatedWebhookEndpoint'],
      ['get', '/v1/webhooks/{webhook_id}', 200, 'WebhookEndpoint'],
      ['post', '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver', 202, 'Delivery'],
      ['get', '/v1/sessions', 400, 'Error'],
    ] as const)
      expect(shownAs(method, path, status)).toEqual({ $ref: `#/components/schemas/${name}` })
    for (const name of ['Session', 'AuditEntry', 'Finding', 'Pagination'])
      expect(schemas).toHaveProperty(name)
    // a title at the schema names what an answer or a body is; without one it would be named by its operation
    const untitled = operations.flatMap(({ operation: { operationId } }) => {
      const word = `${operationId[0]?.toUpperCase()}${operationId.slice(1)}`
      return [`${word}Response`, `${word}Request`].filter((name) => name in schemas)
    })
    expect(untitled).toEqual(['SyncRequest'])
    expect(() => {
      const components = createComponents()
      components.named('Thing', { type: 'string' })
      components.named('Thing', { type: 'number' })
    }).toThrow("two schemas of the API's document are named Thing")
  })

  test('has examples that its own schemas allow', () => {
    const shown = operations.flatMap(({ operation }) => [
      ...Object.values(operation.responses).map(resolved),
      ...(operation.requestBody === undefined ? [] : [operation.requestBody]),
    ])
    for (const content of [...shown, ...Object.values(document.components.responses)].map(
      (one) => one?.content,
    )) {
      for (const { schema, example } of Object.values(content ?? {})) {
        expect(example).toBeDefined()
        expect([JSON.stringify(schema), problems(schema, example)]).toEqual([JSON.stringify(schema), ''])
      }
    }
  })

  test('has examples that agree with themselves', () => {
    const exampleOf = (path: string, status: number) => {
      const [content] = Object.values(document.paths[path]?.get?.responses[status]?.content ?? {})
      return JSON.stringify(content?.example)
    }
    expect(exampleOf('/v1/risk', 200)).toMatch(/"risk_score":65.*"rating":"high"/)
    expect(exampleOf('/health', 503)).toMatch(/"status":"error".*"database":"unreachable"/)
    expect(exampleOf('/v1/audit/report', 200)).toMatch(/"next_cursor":"[^"]*\.\d{6}Z"/)
  })

  test('shows what is sent to webhook endpoints, each event with a body that its schema allows', () => {
    const shown = Object.entries(document.webhooks)
    expect(shown.map(([name]) => name)).toEqual([...EVENT_NAMES, 'webhook.test'])
    for (const [name, { post }] of shown) {
      const { schema = {}, example } = post.requestBody?.content['application/json'] ?? {}
      expect([name, problems(schema, example)]).toEqual([name, ''])
      expect(problems(schema, { ...(example as object), event: 'other' })).not.toBe('')
      expect(post.parameters.map((parameter) => parameter.name)).toContain('X-Service-Signature-256')
    }
  })

  test('names CSV and whole lists where there are any', async () => {
    const ask = client(app, key)
    const ofCsv: string[] = []
    for (const { method, path, operation } of operations.filter((one) => !one.path.includes('{'))) {
      if (method !== 'GET' || !path.startsWith('/v1/') || path === '/v1/changes') continue
      const query = path === '/v1/cost/breakdown' ? 'by=project&' : ''
      const answer = await ask(`${path}?${query}per_page=all`, { headers: { accept: 'text/csv' } })
      // another whole list waits for the end of this one
      await answer.text()
      const isCsv = answer.headers.get('content-type')?.startsWith('text/csv') === true
      const size = operation.parameters.find(({ name }) => name === 'per_page')?.schema.anyOf as
        | unknown[]
        | undefined
      const content = operation.responses[200]?.content ?? {}
      expect([path, 'text/csv' in content, size?.length]).toEqual([path, isCsv, isCsv ? 2 : undefined])
      if (isCsv) ofCsv.push(path)
    }
    expect(ofCsv).toContain('/v1/sessions')
  })

  test('says exactly which scopes a key needs', () => {
    expect(document.paths['/v1/outcomes']?.get?.security).toEqual([
      { apiKey: ['cost:read', 'risk:read'] },
      { apiKey: ['read'] },
      { session: [] },
    ])
    expect(document.paths['/v1/outcomes']?.get?.description).toContain(
      'Needs the scopes `cost:read` and `risk:read` or `read`.',
    )
    expect(document.paths['/v1/quality']?.get?.security.slice(0, 2)).toEqual([
      { apiKey: ['quality:read'] },
      { apiKey: ['read'] },
    ])
  })

  test('says how deliveries are verified and repeated, and that the secret is shown once', () => {
    const { description } = document.info
    expect(description).toContain('X-Service-Signature-256')
    expect(description).toContain('HMAC-SHA256 of the raw body')
    expect(description).toContain('again 60, 300, 1800 s after')
    for (const path of ['/v1/webhooks', '/v1/webhooks/{webhook_id}/rotate-secret'])
      expect(document.paths[path]?.post?.description).toContain('shown once')
  })

  test('names the headers that a request may have', () => {
    const { parameters } = document.paths['/v1/webhooks']?.post ?? { parameters: [] }
    expect(parameters.map(({ name }) => name)).toContain('Idempotency-Key')
  })

  test('describes every parameter, and fills in none that would filter', () => {
    for (const { path, operation } of operations) {
      for (const parameter of operation.parameters.filter(({ $ref }) => $ref === undefined)) {
        expect([path, parameter.name, Object.keys(parameter)]).toEqual([
          path,
          parameter.name,
          expect.arrayContaining(['description', 'schema', 'required']),
        ])
        const isOptional = parameter.in === 'query' && parameter.required !== true
        if (parameter.example !== undefined && isOptional) {
          expect(parameter.schema.default).toEqual(parameter.example)
        }
      }
    }
  })

  test('is made for the path that a proxy puts before ours', async () => {
    const behind = make({ config: { publicUrl: 'https://example.com/analytics' } })
    const { servers } = JSON.parse(await (await client(behind)('/docs/json')).text())
    expect(servers.map(({ url }: { url: string }) => url)).toEqual(['/analytics', '/analytics/api'])
  })
})

describe('answers are as documented', () => {
  test('to the requests of its own examples, and again by their ETag', async () => {
    const ask = client(app, key)
    for (const [index, { method, path, operation }] of operations.entries()) {
      const asked = await placedAnew(path, `asked${index}`)
      const answer = await ask(asked, exampleRequest(operation, method))
      if (path.includes('/webhooks')) expect([path, answer.ok]).toEqual([path, true])
      const etag = answer.headers.get('etag')
      await expectDocumented(operation, answer)
      if (method !== 'GET' || etag === null) continue
      const again = await ask(asked, { headers: { 'if-none-match': etag } })
      expect([path, again.status]).toEqual([path, 304])
      await expectDocumented(operation, again)
    }
  })

  test('to ids that do not exist', async () => {
    const ask = client(app, key)
    const ofIds = operations.filter(({ path }) => /^\/v1\/.*\{/.test(path))
    for (const { method, path, operation } of ofIds) {
      // makes what is not there
      if (method === 'PUT') continue
      const answer = await ask(path.replace(/\{\w+\}/g, 'sess_none'), exampleRequest(operation, method))
      expect(answer.status).toBe(404)
      await expectDocumented(operation, answer)
    }
  })

  test('to bad values of each parameter', async () => {
    const ask = client(app, key)
    for (const { method, path, operation } of operations) {
      for (const { name, in: place } of operation.parameters.filter(
        (parameter) => parameter.in === 'query',
      )) {
        expect(place).toBe('query')
        for (const query of [`${name}=%00`, `${name}=1&${name}=1`, `${name}=${'x'.repeat(300)}`]) {
          await expectDocumented(operation, await ask(`${placed(path)}?${query}`, { method }))
        }
      }
    }
  })

  test('to callers without a key, without the scope, beyond the limit, and with long URLs', async () => {
    const narrow = client(app, (await newOrg(db.sql, { scopes: ['webhooks'], plan: 'cloud_pro' })).key)
    const limits = { cloud_pro: 1, cloud_team: 1, cloud_enterprise: 1 }
    const limited = make({
      config: { rateLimits: limits },
      windowClock: () => new Date('2026-11-15T12:00:00Z'),
    })
    const tired = client(limited, (await newOrg(db.sql)).key)
    await tired('/v1/quality')
    await tired('/v1/sync', { method: 'POST' })
    // a minute has 60 requests of an address without a key
    let minute = Date.now()
    const anonymous = client(make({ now: () => new Date(minute) }))
    for (const { method, path, operation } of operations) {
      minute += 60_000
      const request = exampleRequest(operation, method)
      const guarded = path.startsWith('/v1/')
      const isForAnyKey = operation.security.some((one) => 'apiKey' in one && one.apiKey?.length === 0)
      for (const [ask, status] of [
        [anonymous, 401],
        [narrow, isForAnyKey ? 200 : 403],
        [tired, 429],
      ] as const) {
        const answer = await ask(placed(path), request)
        if (guarded) expect([path, answer.status]).toEqual([path, status])
        await expectDocumented(operation, answer)
      }
      await expectDocumented(operation, await anonymous(`${placed(path)}?${'x'.repeat(9_000)}`, request))
    }
  })

  test('to other methods', async () => {
    for (const { path, operation } of operations) {
      // `mine` is no month
      const other = path.startsWith('/v1/budgets/') ? 'POST' : 'PUT'
      const answer = await client(app, key)(placed(path), { method: other })
      expect([path, answer.status, answer.headers.has('allow')]).toEqual([path, 405, true])
      await expectDocumented(operation, answer)
    }
  })

  test('to bodies that are none', async () => {
    const ask = client(app, key)
    const json = { 'content-type': 'application/json' }
    // these are read once a signature or a session is right, or while there is no organization
    const later = ['/github/{org_slug}', '/auth/device/approve', '/auth/setup']
    const withBody = operations.filter((one) => one.operation.requestBody && !later.includes(one.path))
    for (const { method, path, operation } of withBody) {
      for (const [status, init] of [
        [400, { headers: json, body: '{' }],
        [400, { headers: json, body: '[]' }],
        [415, { headers: { 'content-type': 'text/plain' }, body: '{}' }],
        [415, { headers: { ...json, 'content-encoding': 'br' }, body: '{}' }],
        [413, { headers: { ...json, 'content-length': '99999999' }, body: '{}' }],
      ] as const) {
        const answer = await ask(placed(path), { method, ...init })
        expect([path, answer.status]).toEqual([path, status])
        await expectDocumented(operation, answer)
      }
      const [ndjson] = Object.entries(operation.requestBody?.content ?? {}).filter(([type]) =>
        type.includes('nd'),
      )
      if (ndjson === undefined) continue
      const [type, { example }] = ndjson
      const answer = await ask(placed(path), {
        method,
        headers: { 'content-type': type },
        body: String(example),
      })
      expect(answer.status).toBe(200)
      await expectDocumented(operation, answer)
    }
  })

  test('while the database is away', async () => {
    const sql = connect({ url: db.url }, { max: 1, applicationName: 'test-away' })
    const gone = testApp(sql, { pricer: loadPricer, worker: () => 'gone' })
    await sql.end({ timeout: 1 })
    for (const { method, path, operation } of operations) {
      const answer = await client(gone, key)(placed(path), exampleRequest(operation, method))
      if (path.startsWith('/v1/')) expect([path, answer.status]).toEqual([path, 503])
      await expectDocumented(operation, answer)
    }
  })
})
