import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { loadPricer } from '../../src/analysis/scoring/prices.ts'
import { type HttpServer, listen } from '../../src/http/listen.ts'
import type { App } from '../../src/server/app.ts'
import { client, jsonPost, newOrg, type Org, testApp } from '../support/api.ts'
import { namesOf, recordsOf, storeWebhook } from '../support/isolation/records.ts'
import { silent, type TestDatabase, testDatabase } from '../support/postgres.ts'

// Requests made from the API document: its paths under both addresses with valid, wrong and hostile parameters, headers
// and bodies, over a socket. None may end in a 5xx or a status that the document does not describe, take longer than
// 2 s or have no request id. GENERATED_REQUESTS sets another number than 2,000.

const ROOT = join(import.meta.dir, '../..')
const REQUESTS = Number(process.env.GENERATED_REQUESTS ?? 2_000)
const MAX_MS = 2_000

interface Operation {
  method: string
  path: string
  parameters: { name: string; in: string; schema: Record<string, unknown> }[]
  statuses: string[]
  examples: unknown[]
}

interface Generated {
  operation: Operation
  prefix: string
  values: Record<string, string>
  query: [string, string][]
  headers: Record<string, string>
  body: Uint8Array | undefined
}

const PLENTY = { cloud_pro: 1e9, cloud_team: 1e9, cloud_enterprise: 1e9 }
const names = namesOf('made')
/** Ids of the organization: many endpoints, since requests delete them. */
const OWN = Array.from({ length: 40 }, (_, n) => {
  const webhook = namesOf(`made${n}`)
  return {
    webhook,
    ids: {
      session_id: names.session,
      webhook_id: webhook.hook,
      delivery_id: webhook.delivery,
      user_id: names.user,
      month: `2025-${n % 12 < 9 ? '0' : ''}${(n % 12) + 1}`,
    } as Record<string, string>,
  }
})
let db: TestDatabase
let server: HttpServer
let app: App
let own: Org
let operations: Operation[]

beforeAll(async () => {
  db = await testDatabase()
  app = testApp(db.sql, {
    pricer: loadPricer,
    config: { rateLimits: PLENTY, webhookMaxEndpoints: 100_000 },
  })
  own = await newOrg(db.sql, { scopes: ['read', 'write', 'audit:write', 'webhooks', 'admin'] })
  const synced = await client(app, own.key)('/v1/sync', jsonPost({ records: recordsOf(names) }))
  expect(synced.status).toBe(200)
  for (const { webhook } of OWN) await storeWebhook(db.sql, own.orgId, webhook)
  // the document is another app's: this one makes its document after the requests
  operations = operationsOf(JSON.parse(await (await client(testApp(db.sql))('/docs/json')).text()))
  server = listen(app, { host: '127.0.0.1', port: 0 }, silent)
})
afterAll(async () => {
  await server.stop()
  await db.drop()
})

interface Described {
  parameters: Partial<Operation['parameters'][number]>[]
  responses: object
  requestBody?: { content: Record<string, { example: unknown }> }
}

function operationsOf(document: { paths: Record<string, Record<string, Described>> }): Operation[] {
  const made: Operation[] = []
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(item).filter(([name]) => name !== 'servers'))
      made.push({
        method: method.toUpperCase(),
        path,
        parameters: operation.parameters.filter((one) => one.name !== undefined) as Operation['parameters'],
        statuses: Object.keys(operation.responses),
        examples: [
          ...Object.values(operation.requestBody?.content ?? {}).map(({ example }) => example),
          ...(path === '/v1/sync' ? [{ records: recordsOf(names) }] : []),
        ],
      })
  return made
}

const HOSTILE = [
  '',
  ' ',
  '0',
  '-1',
  '1e309',
  '9007199254740993',
  'null',
  '\u0000',
  '\ud800',
  '🦄'.repeat(50),
  'a'.repeat(3_000),
  "'; drop table sessions; --",
  '../../etc/passwd',
  '%00',
  '%',
  '2026-02-30',
  '2026-01-01T00:00:00.000001Z',
  '9999-12-31',
  '-infinity',
  'constructor',
  '__proto__',
  '[]',
  '*',
]
const hostile = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 40 }))

/** A value that a parameter's schema allows, or any other. */
const parameterOf = ({ schema }: { schema: Record<string, unknown> }) =>
  fc.oneof(
    fc.constantFrom(
      ...[schema.enum, schema.examples, [schema.default], [schema.minimum], [schema.maximum], ['2025-11-10']]
        .flat()
        .filter((value) => value !== undefined)
        .map(String),
    ),
    hostile,
  )

/** The value with some of its leaves and members replaced or removed. */
function changed(value: unknown, edits: readonly [at: number, to: unknown][]): unknown {
  const copy = { root: structuredClone(value) }
  for (const [at, to] of edits) {
    const places: [object, string][] = []
    const collect = (parent: object) => {
      for (const [name, child] of Object.entries(parent)) {
        places.push([parent, name])
        if (typeof child === 'object' && child !== null) collect(child)
      }
    }
    collect(copy)
    const [parent, name] = places[at % places.length] ?? [copy, 'root']
    if (to === undefined) Reflect.deleteProperty(parent, name)
    else Reflect.set(parent, name, to)
  }
  return copy.root
}

const bodyOf = ({ examples }: Operation): fc.Arbitrary<Uint8Array | undefined> => {
  const edit = fc.tuple(fc.nat(), fc.oneof(fc.jsonValue({ maxDepth: 3 }), hostile, fc.constant(undefined)))
  const edited = fc
    .tuple(fc.constantFrom(...examples, {}), fc.array(edit, { maxLength: 3 }))
    .map(([example, edits]) => JSON.stringify(changed(example, edits)) ?? '')
  const text = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...examples, {}).map((example) => JSON.stringify(example)) },
    { weight: 4, arbitrary: edited },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.tuple(edited, fc.nat(200)).map(([whole, length]) => whole.slice(0, length)) },
    { weight: 1, arbitrary: hostile },
  )
  const bytes = text.map((whole) => new TextEncoder().encode(whole))
  return fc.oneof(
    { weight: 8, arbitrary: bytes },
    { weight: 1, arbitrary: bytes.map((whole) => Bun.gzipSync(whole.slice())) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  )
}

const plainHeaders = fc.constant({ authorization: 'own', 'content-type': 'application/json' })
const anyHeaders = fc.record(
  {
    authorization: fc.oneof(
      { weight: 12, arbitrary: fc.constant('own') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          '',
          'Bearer',
          'Bearer x',
          'Basic eDp5',
          `Bearer ca_live_${'a'.repeat(50)}`,
        ),
      },
    ),
    'content-type': fc.constantFrom(
      'application/json',
      'application/json',
      'application/json; charset=latin1',
      'application/x-ndjson',
      'text/plain',
      'multipart/form-data; boundary=x',
      '',
    ),
    'content-encoding': fc.constantFrom('gzip', 'zstd', 'br', 'identity', 'gzip, gzip'),
    'accept-encoding': fc.constantFrom('gzip', 'zstd', 'br;q=1', '*', 'identity;q=0'),
    'if-none-match': fc.constantFrom('*', 'W/"x"', '"', '"a", "b"'),
    'idempotency-key': fc.oneof(fc.uuid(), fc.constantFrom('', 'x'.repeat(300), 'é')),
    'x-request-id': fc.constantFrom('mine-1', '', 'x'.repeat(500), '<script>'),
    origin: fc.constantFrom('null', 'https://example.com'),
    'x-forwarded-for': fc.constantFrom('1.2.3.4', 'x, y', '::1'),
  },
  { requiredKeys: ['authorization', 'content-type'] },
)

const request = (): fc.Arbitrary<Generated> =>
  fc.constantFrom(...operations).chain((operation) => {
    const inQuery = operation.parameters.filter((one) => one.in === 'query')
    const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    const hasBody = ['POST', 'PUT', 'PATCH'].includes(operation.method)
    return fc.record({
      operation: fc.constant(operation),
      prefix: fc.constantFrom('', operation.path.startsWith('/v1/') ? '/api' : ''),
      values: fc
        .constantFrom(...OWN)
        .chain(({ ids }) =>
          fc.record(
            Object.fromEntries(
              inPath.map((name) => [
                name,
                fc.oneof(
                  { weight: 4, arbitrary: fc.constant(ids[name] ?? own.slug) },
                  { weight: 1, arbitrary: hostile.filter((text) => text !== '' && !/^\.+$/.test(text)) },
                ),
              ]),
            ),
          ),
        ),
      query: fc
        .subarray(inQuery)
        .chain((some) =>
          fc.tuple(
            ...some.map((one) => parameterOf(one).map((value): [string, string] => [one.name, value])),
          ),
        )
        .chain((pairs) =>
          fc
            .array(fc.tuple(fc.constantFrom('page', 'unknown', 'project', '__proto__'), hostile), {
              maxLength: 1,
            })
            .map((more) => [...pairs, ...more]),
        ),
      headers: fc.oneof(plainHeaders, anyHeaders).map((some) => ({
        ...some,
        authorization: some.authorization === 'own' ? `Bearer ${own.key}` : some.authorization,
      })),
      body: hasBody ? bodyOf(operation) : fc.constant(undefined),
    })
  })

/** The operation's first example, with ids that exist. */
const plainRequest = (operation: Operation, index: number): Generated => ({
  operation,
  prefix: '',
  values: { ...OWN[index % OWN.length]?.ids, org_slug: own.slug },
  query: [],
  headers: { authorization: `Bearer ${own.key}`, 'content-type': 'application/json' },
  body:
    operation.examples.length > 0
      ? new TextEncoder().encode(JSON.stringify(operation.examples[0]))
      : undefined,
})

/** Percent-encoded; a surrogate without its other half as U+FFFD. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

async function send({ operation, prefix, values, query, headers: sent, body }: Generated): Promise<Response> {
  const path = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) => encoded(values[name] ?? ''))
  const search = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
  const url = `${server.url}${prefix}${path}${search === '' ? '' : `?${search}`}`
  const init = { method: operation.method, headers: sent, redirect: 'manual' as const, decompress: false }
  return await fetch(url, body === undefined ? init : { ...init, body: body.slice() })
}

test(`${REQUESTS} generated requests are answered as documented, in time and with a request id`, async () => {
  const seen = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(request(), async (generated) => {
      const timed = async () => {
        const startedAt = performance.now()
        const response = await send(generated)
        // a stream of events has no end that a test waits for
        if (response.headers.get('content-type') === 'text/event-stream') await response.body?.cancel()
        else await response.bytes()
        return { response, ms: performance.now() - startedAt }
      }
      const { response, ms } = await timed()
      seen.set(response.status, (seen.get(response.status) ?? 0) + 1)
      expect(response.status).toBeLessThan(500)
      expect(generated.operation.statuses).toContain(String(response.status))
      expect(response.headers.get('x-request-id')).toMatch(/^\S+$/)
      // the machine may be busy for a moment
      if (ms >= MAX_MS) expect((await timed()).ms).toBeLessThan(MAX_MS)
    }),
    // the first ones are good, one of each operation
    { numRuns: REQUESTS, examples: operations.map((operation, index) => [plainRequest(operation, index)]) },
  )
  // the requests are of every kind: successes, and each refusal
  for (const status of [200, 201, 202, 204, 400, 401, 404, 415])
    expect([status, seen.get(status) ?? 0]).not.toEqual([status, 0])
})

test('the document made after them is that of `bun run openapi`, to the byte', async () => {
  const printed = Bun.spawn({ cmd: [process.execPath, 'src/build/openapi.ts'], cwd: ROOT, stderr: 'inherit' })
  const served = await (await client(app)('/docs/json')).text()
  expect(served === (await printed.stdout.text())).toBe(true)
  expect(served === (await (await client(app)('/docs/json')).text())).toBe(true)
  expect(JSON.parse(served).openapi).toBe('3.1.0')
})
