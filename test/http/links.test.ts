import { expect, test } from 'bun:test'
import { linkOf } from '../../src/http/answers.ts'
import { client, jsonPost, newOrg, repeatingClient, testApp } from '../support/api.ts'
import { namesOf, storeWebhook } from '../support/isolation/records.ts'
import { testsDatabase } from '../support/postgres.ts'
import { sessionRecord } from '../support/records.ts'

// The Link header of paged responses: computed, from memory, and of both forms of the path.

const SESSIONS = 7
const names = namesOf('linked')
const db = await testsDatabase()

const own = await newOrg(db.sql, { scopes: ['read', 'write', 'webhooks'] })
const ask = repeatingClient(testApp(db.sql), own.key)
const records = Array.from({ length: SESSIONS }, (_, n) =>
  sessionRecord(`sess_${n}`, {
    project_name: 'a & b',
    created_at: `2026-01-0${n + 1}T12:00:00Z`,
    security_metadata: {
      findings: [{ rule_id: 'r', category: 'c', severity: 'low', title: 't', file: `src/${n}.ts` }],
    },
  }),
)
const sent = await ask('/v1/sync', jsonPost({ records }))
expect(sent.status).toBe(200)
await storeWebhook(db.sql, own.orgId, names)

/** The targets of a Link header by relation. */
const linksOf = (response: Response): Record<string, string> =>
  Object.fromEntries(
    [...(response.headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)].map((match) => [
      match[2] ?? '',
      match[1] ?? '',
    ]),
  )

test.each(['/v1', '/api/v1'])('%s/sessions: all pages by next, and back by prev', async (base) => {
  const seen: string[] = []
  const pages: string[] = []
  let path: string | undefined = `${base}/sessions?order=asc&per_page=3&project=a%20%26%20b`
  while (path !== undefined) {
    const response = await ask(path)
    pages.push(path)
    const links = linksOf(response)
    expect(links.first).toBe(`${base}/sessions?order=asc&per_page=3&project=a%20%26%20b&page=1`)
    expect(links.last).toBe(`${base}/sessions?order=asc&per_page=3&project=a%20%26%20b&page=3`)
    expect(links.prev).toBe(pages.length === 1 ? undefined : links.last?.replace(/3$/, `${pages.length - 1}`))
    const { data } = (await response.json()) as { data: { id: string }[] }
    seen.push(...data.map(({ id }) => id))
    path = links.next
  }
  expect(seen).toEqual(Array.from({ length: SESSIONS }, (_, n) => `sess_${n}`))
  expect(pages).toHaveLength(3)
})

test.each([
  ['/v1/sessions', 'first last'],
  ['/v1/sessions?per_page=2&page=2', 'first prev next last'],
  ['/v1/security/heatmap?per_page=2', 'first next last'],
  ['/v1/audit?per_page=100', 'first last'],
  ['/v1/risk?per_page=1', 'first last'],
  ['/v1/cost/breakdown?by=day&per_page=2', 'first next last'],
  [`/v1/webhooks/${names.hook}/deliveries?per_page=1`, 'first last'],
])('%s has %s, with or without a body', async (path, relations) => {
  expect(Object.keys(linksOf(await ask(path))).join(' ')).toBe(relations)
  const head = await ask(path, { method: 'HEAD' })
  expect(Object.keys(linksOf(head)).join(' ')).toBe(relations)
  const etag = head.headers.get('etag') ?? ''
  const again = await ask(path, { headers: { 'if-none-match': etag } })
  expect([again.status, Object.keys(linksOf(again)).join(' ')]).toEqual([304, relations])
})

test('the last page moves with the list, also in a response from memory', async () => {
  const other = await newOrg(db.sql)
  const asked = client(testApp(db.sql, { config: { cacheBytes: 1e7 } }), other.key)
  const lastPages: (string | undefined)[] = []
  for (let n = 0; n < 3; n += 1) {
    const record = sessionRecord(`sess_m${n}`, { project_name: 'p' })
    await asked('/v1/sync', jsonPost({ records: [record] }))
    for (let again = 0; again < 3; again += 1)
      lastPages.push(
        linksOf(await asked('/v1/sessions?per_page=1'))
          .last?.split('page=')
          .at(-1),
      )
  }
  expect(lastPages).toEqual(['1', '1', '1', '2', '2', '2', '3', '3', '3'])
})

test('what is no page, and what failed, has none', async () => {
  for (const path of ['/v1/sessions/sess_1', '/v1/cost', '/v1/webhooks', '/v1/sessions?page=0', '/v1/none'])
    expect([path, (await ask(path)).headers.has('link')]).toEqual([path, false])
})

test('the report of the audit log goes on by its cursor', async () => {
  const other = await newOrg(db.sql)
  await db.sql`
    insert into audit_log (org_id, id, action, user_id, details, ip_address, created_at)
    select ${other.orgId}, 'log_' || n, 'a.done', 'u', '{}', '', now() - n * interval '1 second'
    from generate_series(1, 10001) n`
  const asked = client(testApp(db.sql), other.key)
  const first = await asked('/v1/audit/report?direction=before')
  const { next_cursor } = (await first.json()) as { next_cursor: string }
  expect(linksOf(first)).toEqual({
    next: `/v1/audit/report?direction=before&cursor=${encodeURIComponent(next_cursor)}`,
  })
  const rest = await asked(linksOf(first).next ?? '')
  expect(((await rest.json()) as { data: unknown[] }).data.length).toBeGreaterThan(0)
  expect(linksOf(rest)).toEqual({})
})

test('a path that a proxy puts before ours is in it', async () => {
  const behind = testApp(db.sql, { config: { publicUrl: 'https://example.com/analytics/' } })
  const response = await client(behind, own.key)('/v1/sessions?per_page=4')
  expect(linksOf(response).next).toBe('/analytics/v1/sessions?per_page=4&page=2')
})

test('a browser may read it', async () => {
  expect((await ask('/v1/sessions')).headers.get('access-control-expose-headers')).toContain('Link')
})

test.each([
  ['/v1/sessions', '/v1/sessions?page=2'],
  ['/v1/sessions?', '/v1/sessions?page=2'],
  ['/v1/sessions?page=1&x=1&p%61ge=1', '/v1/sessions?x=1&page=2'],
  ['/v1/sessions?a=<">\u00e9 b&c=%zz', '/v1/sessions?a=%3C%22%3E%C3%A9%20b&c=%zz&page=2'],
  ['/v1/sessions?key=ca_live_abc&a=1', '/v1/sessions?a=1&page=2'],
])('of %s the next page is %s', (target, next) => {
  const link = linkOf(target, { page: 1, per_page: 50, total: 100 }, '')
  expect(link).toBe(
    [next.replace(/2$/, '1'), next, next]
      .map((path, index) => `<${path}>; rel="${['first', 'next', 'last'][index]}"`)
      .join(', '),
  )
})

test('behind the end the previous page is the last; an empty list has one page; a long URL has a Link too', () => {
  const of = (page: number, total: number) => linkOf('/l', { page, per_page: 10, total }, '')
  expect(of(1_000_000_000, 25)).toBe(
    '</l?page=1>; rel="first", </l?page=3>; rel="prev", </l?page=3>; rel="last"',
  )
  expect(of(1, 0)).toBe('</l?page=1>; rel="first", </l?page=1>; rel="last"')
  const long = `/l?a=${'x'.repeat(8_000)}`
  expect(linkOf(long, { page: 1, per_page: 1, total: 9 }, '')).toContain(`<${long}&page=2>; rel="next"`)
})
