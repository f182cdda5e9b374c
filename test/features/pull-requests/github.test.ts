import { beforeEach, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { RISK_TABLES } from '../../../src/features/risk/rollup.ts'
import { USAGE_TABLES } from '../../../src/features/usage/check.ts'
import type { App } from '../../../src/server/app.ts'
import { client, newOrg, type Org, testApp } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { pullRecord } from '../../support/records.ts'

// GitHub's webhook: state, title, branch and merge of pull requests.

const SECRET = 'a secret of the tests'
const database = await testsDatabase()
let app: App
let owner: Org
let ask: ReturnType<typeof client>

beforeEach(async () => {
  app = testApp(database.sql)
  owner = await newOrg(database.sql, { scopes: ['read', 'write', 'admin'] })
  ask = client(app, owner.key)
  expect((await send('PATCH', '/v1/organization', { github_secret: SECRET })).status).toBe(200)
})

const send = (method: string, path: string, body: unknown) =>
  ask(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

const event = (fields: object = {}, number = 7) => ({
  action: 'edited',
  number,
  pull_request: {
    ...{ number, title: 'Refund twice', state: 'open', merged_at: null, closed_at: null },
    ...{
      updated_at: '2026-06-10T10:00:00Z',
      merge_commit_sha: 'trial',
      head: { ref: 'refunds', sha: 'abc' },
    },
    html_url: `https://github.com/acme/checkout/pull/${number}`,
    ...fields,
  },
  repository: { full_name: 'acme/checkout', default_branch: 'trunk' },
})
const merged = (updated_at: string) => ({
  ...{ state: 'closed', merged_at: '2026-06-11T09:00:00Z', closed_at: '2026-06-11T09:00:00Z' },
  ...{ merge_commit_sha: 'f00', updated_at },
})

function deliver(body: unknown, { secret = SECRET, name = 'pull_request', slug = owner.slug } = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const signature = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`
  return app.handle(
    new Request(`http://localhost/github/${slug}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': name,
        'x-github-delivery': '72d3162e',
        'x-hub-signature-256': signature,
      },
      body: text,
    }),
  )
}
const record = (fields: object = {}) => ({
  ...pullRecord(7, { id: 'risk_7', repo: 'acme/checkout', pr_title: 'Refunds' }),
  ...{ created_at: '2026-06-09T00:00:00Z', project: 'checkout' },
  ...{ impact_score: 1, regression_score: 1, security_score: 1, coupling_score: 1 },
  ...fields,
})
const shown = async () => (await (await ask('/v1/risk/risk_7')).json()) as Record<string, unknown>
async function refuseDifferences() {
  expect(await findDifferences(database.sql, owner.orgId, [...RISK_TABLES, ...USAGE_TABLES])).toEqual([])
}

test('a stored pull request gets title, state and branch, and its sessions', async () => {
  const session = {
    ...{ type: 'session', id: 'sess_a', project_name: 'checkout', created_at: '2026-06-08T00:00:00Z' },
    ...{ branch: 'refunds', estimated_cost: 2.5 },
  }
  await send('POST', '/v1/sync', { records: [session, record()] })
  expect((await deliver(event())).status).toBe(204)
  expect(await shown()).toMatchObject({
    ...{ pr_title: 'Refund twice', state: 'open', url: 'https://github.com/acme/checkout/pull/7' },
    sessions: { count: 1, cost: 2.5 },
  })
  await refuseDifferences()
  expect((await deliver(event(merged('2026-06-11T09:00:01Z')))).status).toBe(204)
  const after = await shown()
  expect(after).toMatchObject({ state: 'merged', merged_at: '2026-06-11T09:00:00.000Z' })
  const log = (await (await ask('/v1/audit?action=pr_risk.synced')).json()) as { data: { user_id: string }[] }
  expect(log.data.map(({ user_id }) => user_id)).toEqual(['github', 'github', `key_${owner.keyId}`])

  // twice, and an older one
  for (const body of [event(merged('2026-06-11T09:00:01Z')), event({ title: 'Older' })]) {
    expect((await deliver(body)).status).toBe(204)
    expect(await shown()).toEqual(after)
  }
  await refuseDifferences()
})

test('a closed one is opened again', async () => {
  await send('POST', '/v1/sync', {
    records: [record({ state: 'closed', closed_at: '2026-06-10T00:00:00Z' })],
  })
  expect(await shown()).toMatchObject({ state: 'closed', closed_at: '2026-06-10T00:00:00.000Z' })
  await deliver(event({ updated_at: '2026-06-12T00:00:00Z' }))
  expect(await shown()).toMatchObject({ state: 'open', closed_at: null, merged_at: null })
  await refuseDifferences()
})

test('one that is not stored yet has it when its record comes', async () => {
  expect((await deliver(event(merged('2026-06-11T09:00:01Z')))).status).toBe(204)
  expect((await ask('/v1/risk/risk_7')).status).toBe(404)
  await send('POST', '/v1/sync', { records: [record()] })
  expect(await shown()).toMatchObject({
    ...{ state: 'merged', merged_at: '2026-06-11T09:00:00.000Z' },
    url: 'https://github.com/acme/checkout/pull/7',
  })
  await refuseDifferences()
})

test('may begin with a byte order mark', async () => {
  expect((await deliver(`\uFEFF${JSON.stringify(event())}`)).status).toBe(204)
})

test('is refused without the right signature, and only that is limited', async () => {
  for (const given of [{ secret: 'another' }, { slug: 'nobody' }, { slug: 'no%00body' }]) {
    const refused = await deliver(event(), given)
    expect([given, refused.status]).toEqual([given, 401])
  }
  await send('PATCH', '/v1/organization', { github_secret: null })
  expect((await deliver(event())).status).toBe(401)
  await send('PATCH', '/v1/organization', { github_secret: SECRET })
  for (let count = 0; count < 100; count += 1)
    expect((await deliver('{}', { name: 'ping' })).status).toBe(202)
  let status = 401
  for (let count = 0; status === 401 && count < 100; count += 1) {
    status = (await deliver(event(), { secret: 'another' })).status
  }
  expect(status).toBe(429)
})

/** A body that begins with 2 MiB and never ends, how often it was read, and its end. */
function endless() {
  let end = () => {}
  let reads = 0
  const begun = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        end = () => controller.close()
        reads += 1
        begun.resolve()
        if (reads === 1) controller.enqueue(new Uint8Array(2 * 1024 * 1024))
        return reads === 1 ? undefined : new Promise(() => {})
      },
    },
    { highWaterMark: 0 },
  )
  return { body, begun: begun.promise, reads: () => reads, end: () => end() }
}

test('bodies whose signature is not checked are few, and take nothing of the organization', async () => {
  app = testApp(database.sql, { config: { trustProxy: 1 } })
  ask = client(app, owner.key)
  const open = (from: string, signature: string | null, slug = owner.slug) => {
    const sent = endless()
    const headers: Record<string, string> = {
      ...{ 'x-forwarded-for': from, 'x-github-event': 'pull_request' },
      ...(signature === null ? {} : { 'x-hub-signature-256': signature }),
    }
    const init = { method: 'POST', headers, body: sent.body, duplex: 'half' as const }
    return { ...sent, answer: app.handle(new Request(`http://localhost/github/${slug}`, init)) }
  }
  const wrong = `sha256=${'a'.repeat(64)}`
  for (const signature of [null, '', 'sha256=xyz', `sha1=${'a'.repeat(40)}`, `${wrong}a`]) {
    for (let count = 0; count < 20; count += 1) {
      const { answer, reads } = open('10.0.0.1', signature)
      expect([signature, (await answer).status, reads()]).toEqual([signature, 401, 0])
    }
  }
  const held = Array.from({ length: 16 }, (_, index) => open(`10.0.0.${1 + (index % 4)}`, wrong))
  await Promise.all(held.map(({ begun }) => begun))
  const refused = [open('10.0.0.1', wrong, 'nobody'), open('10.0.0.9', wrong)]
  for (const { answer, reads } of refused) {
    const response = await answer
    expect([response.status, response.headers.get('retry-after'), reads()]).toEqual([429, '10', 0])
  }
  const others = await newOrg(database.sql, { scopes: ['admin', 'write'] })
  for (const { key } of [owner, others]) {
    // more than a small body: it needs a place among the large ones
    const body = JSON.stringify({ records: [] }).padEnd(2 * 1024 * 1024)
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    expect((await ask('/v1/sync', { method: 'POST', headers, body })).status).toBe(200)
  }
  for (const { end } of held) end()
  const statuses = await Promise.all(held.map(async ({ answer }) => (await answer).status))
  expect(new Set(statuses)).toEqual(new Set([401]))
  // the places are free again
  expect((await deliver(event())).status).toBe(204)
})

test('without the name of the event it is refused', async () => {
  const answer = await deliver(event(), { name: '' })
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { details: [{ field: 'X-GitHub-Event' }] },
  ])
})

test('another form of body is named', async () => {
  for (const body of [
    'no json',
    '{}',
    // is not parsed: millions of brackets would take seconds of all organizations
    `{"pull_request":${'['.repeat(70)}${']'.repeat(70)}}`,
    JSON.stringify(event({ number: 0 })),
    JSON.stringify(event({ updated_at: 'now' })),
  ]) {
    const answer = await deliver(body)
    expect([body, answer.status]).toEqual([body, 400])
  }
  const deep = (await (await deliver('['.repeat(70))).json()) as object
  expect(deep).toMatchObject({ details: [{ message: 'must be nested at most 64 levels deep' }] })
  const large = JSON.stringify({ ...event(), padding: 'x'.repeat(3 * 1024 * 1024) })
  expect((await deliver(large)).status).toBe(204)
})
