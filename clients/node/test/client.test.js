import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import * as library from '../src/index.js'

const { CloudAnalytics, verifyWebhook } = library

/** A server of one test: `answer(request, response, number)` answers the requests in turn. */
async function serve(answer) {
  const requests = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push({ method: request.method, url: request.url, headers: request.headers, body })
    answer(request, response, requests.length)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { requests, baseUrl: `http://127.0.0.1:${server.address().port}` }
}
const json = (response, status, value, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
const page = (number, total) => ({
  data: [{ id: `sess_${number}` }],
  pagination: { page: number, per_page: 1, total },
})
const failure = (code, more) => ({ error: 'no', code, request_id: 'r-1', ...more })

test('iterates with one request for each page, and stops when the loop does', async () => {
  const { requests, baseUrl } = await serve((request, response) =>
    json(response, 200, page(Number(new URL(request.url, 'http://x').searchParams.get('page') ?? 1), 3)),
  )
  const client = new CloudAnalytics({ apiKey: 'k', baseUrl })
  const ids = []
  for await (const { id } of client.sessions.list({ project: '', per_page: 1 })) ids.push(id)
  assert.deepEqual(ids, ['sess_1', 'sess_2', 'sess_3'])
  assert.deepEqual(
    requests.map(({ url }) => url),
    ['', '&page=2', '&page=3'].map((more) => `/v1/sessions?project=&per_page=1${more}`),
  )
  for await (const _ of client.sessions.list({ page: 2 })) break
  assert.equal(requests.length, 4)
  const list = client.sessions.list()
  assert.equal((await list).pagination.total, 3)
  assert.equal((await list).data[0].id, 'sess_1')
  assert.equal(requests.length, 5)
  assert.equal(requests[0].headers.authorization, 'Bearer k')
})

test('repeats no id while items arrive', async () => {
  const pages = [['c', 'b'], ['b', 'a'], ['a']]
  const { baseUrl } = await serve((_, response, number) =>
    json(response, 200, {
      data: pages[number - 1].map((id) => ({ id })),
      pagination: { page: number, per_page: 2, total: 5 },
    }),
  )
  const ids = []
  for await (const { id } of new CloudAnalytics({ apiKey: 'k', baseUrl }).sessions.list()) ids.push(id)
  assert.deepEqual(ids, ['c', 'b', 'a'])
})

test('trims and checks the key, and no error shows it', async () => {
  const { requests, baseUrl } = await serve((_, response) => json(response, 200, {}))
  await new CloudAnalytics({ apiKey: ' ca_live_k\n', baseUrl }).whoami()
  assert.equal(requests[0].headers.authorization, 'Bearer ca_live_k')
  for (const apiKey of ['ca_live_\nk', 'ca_live_ k', 'ca_live_ké'])
    assert.throws(
      () => new CloudAnalytics({ apiKey, baseUrl }),
      (error) => error instanceof TypeError && !error.stack.includes('ca_live_'),
    )
})

test('waits as Retry-After says and tries again, maxRetries times', async () => {
  const { requests, baseUrl } = await serve((_, response, number) =>
    number === 1
      ? json(response, 429, failure('RATE_LIMITED'), { 'retry-after': '1' })
      : number === 2
        ? json(response, 503, failure('INTERNAL_ERROR'), { 'retry-after': '0' })
        : json(response, 200, { received: 1 }),
  )
  const started = performance.now()
  assert.deepEqual(
    await new CloudAnalytics({ apiKey: 'k', baseUrl }).sync([{ type: 'budget' }], { machine: 'm' }),
    { received: 1 },
  )
  assert.ok(performance.now() - started >= 990)
  assert.equal(requests.length, 3)
  assert.equal(requests[2].body, '{"type":"budget"}\n')
  assert.equal(requests[2].headers['x-machine'], 'm')
})

test('gives up with the last error, and at once where the server asks for more than 5 minutes', async () => {
  const { requests, baseUrl } = await serve((_, response, number) =>
    json(response, 429, failure('RATE_LIMITED'), { 'retry-after': number > 2 ? '301' : '0' }),
  )
  const client = new CloudAnalytics({ apiKey: 'k', baseUrl, maxRetries: 1 })
  await assert.rejects(client.whoami(), library.RateLimitedError)
  assert.equal(requests.length, 2)
  await assert.rejects(client.whoami(), { retry_after: 301 })
  assert.equal(requests.length, 3)
})

test('a broken connection is tried again, a POST only with its idempotency key', async () => {
  const { requests, baseUrl } = await serve((request, response, number) =>
    number % 2 === 1 ? request.socket.destroy() : json(response, 200, { id: 'hook_1' }),
  )
  const client = new CloudAnalytics({ apiKey: 'k', baseUrl })
  assert.deepEqual(await client.whoami(), { id: 'hook_1' })
  const hook = { url: 'https://example.com', events: ['*'] }
  await client.webhooks.create(hook, { idempotencyKey: 'one' })
  assert.equal(requests[3].headers['idempotency-key'], 'one')
  assert.deepEqual(JSON.parse(requests[3].body), hook)
  await assert.rejects(client.webhooks.create(hook), library.ConnectionError)
  assert.equal(requests.length, 5)
})

test('a server that does not answer is a TimeoutError, once', async () => {
  const { requests, baseUrl } = await serve((_, response, number) => {
    if (number === 2) response.writeHead(200).write('{')
  })
  const client = new CloudAnalytics({ apiKey: 'k', baseUrl, timeout: 500 })
  await assert.rejects(client.whoami(), library.TimeoutError)
  await assert.rejects(client.whoami(), library.TimeoutError)
  assert.equal(requests.length, 2)
  const signal = AbortSignal.timeout(20)
  await assert.rejects(new CloudAnalytics({ apiKey: 'k', baseUrl }).whoami({ signal }), {
    name: 'TimeoutError',
  })
})

test('errors have the class of their code, and a proxy’s page that of its status', async () => {
  const details = [{ field: 'page', message: 'must be at least 1' }]
  const { baseUrl } = await serve((_, response, number) =>
    number === 1
      ? json(response, 400, failure('VALIDATION_ERROR', { details }))
      : number === 2
        ? response.writeHead(401, { 'x-request-id': 'p-1' }).end('<html>')
        : number === 3
          ? response.writeHead(302, { location: 'https://elsewhere.example' }).end()
          : json(response, 503, { status: 'error', version: '1', database: 'unreachable', worker: 'ok' }),
  )
  const client = new CloudAnalytics({ apiKey: 'k', baseUrl, maxRetries: 0 })
  await assert.rejects(client.sessions.list(), (error) => {
    assert.ok(error instanceof library.ValidationError && error instanceof library.ApiError)
    assert.deepEqual(
      [error.code, error.status, error.request_id, error.details, error.name],
      ['VALIDATION_ERROR', 400, 'r-1', details, 'ValidationError'],
    )
    return true
  })
  await assert.rejects(client.whoami(), {
    code: 'UNAUTHORIZED',
    request_id: 'p-1',
    name: 'UnauthorizedError',
  })
  await assert.rejects(client.whoami(), { message: /redirected to https:\/\/elsewhere\.example/ })
  assert.equal((await client.service.health()).database, 'unreachable')
})

test('ids never leave their place in the path', async () => {
  const { requests, baseUrl } = await serve((_, response) => response.writeHead(204).end())
  const client = new CloudAnalytics({ apiKey: 'k', baseUrl: `${baseUrl}/analytics/api/v1/` })
  assert.equal(await client.sessions.delete('a/b?c'), undefined)
  assert.equal(requests[0].url, '/analytics/v1/sessions/a%2Fb%3Fc')
  assert.throws(() => client.webhooks.test('hook_1', {}, { idempotencyKey: 'a' }), TypeError)
  for (const id of ['', '.', '..', undefined]) assert.throws(() => client.sessions.get(id), TypeError)
})

test('verifies either signature, in headers of any kind and case', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const body = '{"id":"evt_1","event":"webhook.test"}'
  const now = Math.floor(Date.now() / 1000)
  const own = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const standard = (time) => ({
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(time),
    'webhook-signature': `v1,AAAA v1,${createHmac('sha256', Buffer.alloc(32, 7)).update(`evt_1.${time}.${body}`).digest('base64')}`,
  })
  const vector = {
    'x-service-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  }
  assert.equal(verifyWebhook('Hello, World!', vector, "It's a Secret to Everybody"), 'Hello, World!')
  for (const headers of [
    { 'X-SERVICE-Signature-256': own },
    { 'x-service-signature': [own] },
    { 'X-Acme-Signature-256-Next': own },
    new Headers(standard(now)),
    { ...standard(now), 'x-service-signature-256': 'sha256=0' },
    { ...standard(now - 400), 'x-service-signature': own },
  ])
    assert.equal(verifyWebhook(Buffer.from(body), headers, secret).id, 'evt_1')
  for (const headers of [
    {},
    standard(now - 301),
    standard(now + 301),
    { 'x-service-signature-256': own.slice(0, -1) },
    { ...standard(now), 'webhook-id': 'evt_2' },
  ])
    assert.throws(() => verifyWebhook(body, headers, secret), library.WebhookVerificationError)
  assert.throws(
    () => verifyWebhook(`${body} `, { 'x-service-signature': own }, secret),
    library.WebhookVerificationError,
  )
})

/** Run where `bun run clients:test` names a server. */
async function job() {
  const client = new CloudAnalytics({ maxRetries: 12 })
  const month = { date_from: '2026-01-01', date_to: '2026-01-31', sort: 'created_at', order: 'asc' }
  const ids = new Set()
  for await (const session of client.sessions.list({ ...month, per_page: 50 })) ids.add(session.id)
  const { pagination } = await client.sessions.list(month)
  assert.deepEqual([ids.size, pagination.total], [230, 230])

  let delivered
  const receiver = await serve((_, response) => response.writeHead(200).end('ok'))
  const webhook = await client.webhooks.create(
    { url: receiver.baseUrl, events: '*' },
    { idempotencyKey: 'node-job' },
  )
  try {
    assert.equal((await client.webhooks.test(webhook.id)).success, true)
    const [request] = receiver.requests
    delivered = verifyWebhook(request.body, request.headers, webhook.secret)
    assert.deepEqual([delivered.event, delivered.data.webhook_id], ['webhook.test', webhook.id])
    assert.throws(
      () => verifyWebhook(`${request.body} `, request.headers, webhook.secret),
      library.WebhookVerificationError,
    )
    for await (const delivery of client.webhooks.deliveries.list(webhook.id))
      assert.equal(delivery.status, 'success')
    assert.equal((await client.webhooks.update(webhook.id, { description: null })).description, null)
  } finally {
    await client.webhooks.delete(webhook.id)
  }
  await assert.rejects(
    client.webhooks.get(webhook.id),
    (error) => error instanceof library.NotFoundError && error.request_id !== null,
  )
  await assert.rejects(new CloudAnalytics({ apiKey: 'wrong' }).whoami(), library.UnauthorizedError)
  assert.equal((await client.service.health()).status, 'ok')
  assert.match(await client.badges.quality((await client.whoami()).organization.slug), /^<svg/)
  assert.equal((await client.badges.costJson('acme')).schemaVersion, 1)
}
if (process.env.CLOUD_ANALYTICS_SERVER) test('the five-minute job against a running server', job)
