import { describe, expect, test } from 'bun:test'
import { createLog } from '../../../src/base/log.ts'
import { listen } from '../../../src/http/listen.ts'
import { fields } from '../../../src/http/responses/csv.ts'
import { createWholeLists } from '../../../src/http/whole-list.ts'
import { bodyOf, client, got, jsonPost, limitOf, newKey, newOrg, testApp } from '../../support/api.ts'
import { atEnd } from '../../support/at-end.ts'
import { silent, testsDatabase } from '../../support/postgres.ts'
import { memberRecord, sessionRecord } from '../../support/records.ts'
import { makeRecords } from './by-hand.ts'

// `per_page=all` with `Accept: text/csv`: a whole list is its pages one after the other, of one snapshot, or is cut off.

const CSV = { headers: { accept: 'text/csv' } }

const db = await testsDatabase()
const app = testApp(db.sql)
const server = listen(app, { host: '127.0.0.1', port: 0 }, silent)
atEnd(server.stop)
const own = await newOrg(db.sql)
const ask = client(app, own.key)
const writer = await newKey(db.sql, own.orgId, ['write', 'audit:write', 'admin'])
async function send(...records: object[]): Promise<void> {
  if (records.length > 400) await send(...records.slice(400))
  await got(client(app, writer)('/v1/sync', jsonPost({ records: records.slice(0, 400) })))
}
const finding = (index: number) => ({
  ...{ id: `finding_${index}`, severity: 'high', title: 'A "key"; =1', created_at: '2026-02-01T00:00:00Z' },
  ...{ fingerprint: `print_${index % 7}`, file: 'src/a.ts', line: index + 1 },
  ...(index % 5 === 0 ? { status: 'dismissed', note: 'known, and fine' } : {}),
})
const sessions = makeRecords(1_200, 5).map((session, index) =>
  index % 4 > 0 ? session : { ...session, security_metadata: { findings: [finding(index)] } },
)
await send(...sessions)
await send(
  ...Array.from({ length: 130 }, (_, index) => ({
    ...{ type: 'pr_risk', repo: `acme/r${index % 3}`, pr_number: index + 1, pr_title: `Change ${index}` },
    ...{ files_changed: 1, created_at: '2026-02-01T00:00:00Z', project: 'p1' },
    author_email: 'ada@example.com',
    files: [{ path: 'src/a.ts', status: 'modified', additions: 1, deletions: 0 }],
  })),
  ...Array.from({ length: 230 }, (_, index) => ({
    ...{ type: 'audit', action: `thing.${index % 3}`, user_id: `user_${index % 4}`, details: { index } },
    created_at: `2026-02-0${1 + (index % 5)}T00:00:00Z`,
  })),
)

const rowsOf = (text: string) => text.split('\r\n').slice(1, -1)
const pathOf = (path: string, page: string) => `${path}${path.includes('?') ? '&' : '?'}per_page=${page}`

/** The pages of a list as CSV, one after the other. */
async function paged(path: string): Promise<string[]> {
  const rows: string[] = []
  for (let page = 1; ; page += 1) {
    const response = await ask(`${pathOf(path, '100')}&page=${page}`, CSV)
    const more = rowsOf(await response.text())
    rows.push(...more)
    if (more.length < 100) return rows
  }
}

describe('all rows are those of the pages, in their order:', () => {
  for (const [path, least] of [
    ['/v1/sessions', 1_200],
    ['/v1/sessions?order=asc', 1_200],
    ['/v1/sessions?sort=estimated_cost', 1_200],
    ['/v1/sessions?sort=turns&order=asc&project=p1&date_from=2026-02-01&date_to=2026-04-30', 100],
    ['/v1/sessions?agent=codex', 100],
    ['/v1/sessions?sort=estimated_cost&model=small&has_findings=true', 20],
    ['/v1/sessions?project=nobody', 0],
    ['/v1/findings', 300],
    ['/v1/findings?status=dismissed', 50],
    ['/v1/risk', 130],
    ['/v1/risk?include=cost&repo=acme/r1', 40],
    ['/v1/audit', 230],
    ['/v1/audit?action=thing.*&user_id=user_1&date_to=2026-02-04', 20],
    ['/v1/cost/breakdown?by=day&and_by=model', 200],
    ['/v1/cost/breakdown?by=project&and_by=member&top=2&sort=key&order=asc', 6],
    ['/v1/cost/breakdown?by=model&compare=previous&sort=change&date_from=2026-03-01&date_to=2026-03-31', 3],
  ] as const)
    test(path, async () => {
      const whole = await ask(pathOf(path, 'all'), CSV)
      expect([whole.status, whole.headers.get('content-type')]).toEqual([
        200,
        'text/csv; charset=utf-8; header=present',
      ])
      const pages = await paged(path)
      expect(pages.length).toBeGreaterThanOrEqual(least)
      const text = await whole.text()
      expect(rowsOf(text)).toEqual(pages)
      expect(text.split('\r\n')[0]).toBe((await (await ask(path, CSV)).text()).split('\r\n')[0] ?? '')
    })
})

test('the columns are the fields of an item in their order, objects as JSON', async () => {
  for (const path of ['/v1/findings?status=dismissed', '/v1/risk', '/v1/risk?include=cost', '/v1/audit']) {
    const { data } = (await (await ask(path)).json()) as { data: Record<string, unknown>[] }
    const [names] = (await (await ask(pathOf(path, 'all'), CSV)).text()).split('\r\n')
    expect([path, names]).toEqual([path, Object.keys(data[0] ?? {}).join(',')])
  }
  expect(fields<{ a: object | null }>('a').a?.({ a: { b: [1] } })).toBe('{"b":[1]}')
})

test('it needs text/csv, no page, and a list that has CSV; it counts as one request', async () => {
  const problems = async (path: string, init = {}) => {
    const { status, details } = { ...(await bodyOf(await ask(path, init))), status: 0 }
    expect(status).toBe(0)
    return details.map(({ field, message }) => `${field}: ${message}`)
  }
  expect(await problems('/v1/sessions?per_page=all')).toEqual(['per_page: all needs Accept: text/csv'])
  expect(await problems('/v1/audit?per_page=all&page=1&date_from=x', CSV)).toEqual([
    ...['page: must not be given with per_page=all', 'date_from: must be a date like 2026-01-31'],
  ])
  expect(await problems('/v1/sessions?per_page=all&p%61ge=2', CSV)).toEqual([
    'page: must not be given with per_page=all',
  ])
  expect((await ask('/v1/sessions?per_page=all&project=what?page=1', CSV)).status).toBe(200)
  expect(await problems('/v1/projects?per_page=all', CSV)).toEqual([
    'per_page: must be an integer from 1 to 100',
  ])
  const { remaining } = limitOf(await ask('/v1/cost'))
  const whole = await ask('/v1/sessions?per_page=all', CSV)
  expect(limitOf(whole).remaining).toBe(remaining - 1)
  // the organization's next list waits until this one has ended
  await whole.body?.cancel()
  const head = await ask('/v1/sessions?per_page=all', { ...CSV, method: 'HEAD' })
  expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, null, ''])
})

test('who sees only their own figures gets their own rows', async () => {
  const { orgId } = await newOrg(db.sql)
  const key = await newKey(db.sql, orgId, ['write', 'read'])
  const records = ['ada', 'bob'].flatMap((name) => [
    memberRecord(name),
    sessionRecord(`sess_${name}`, { user_email: `${name}@example.com` }),
  ])
  await got(client(app, key)('/v1/sync', jsonPost({ records })))
  await db.sql`update organizations set member_visibility = 'own' where org_id = ${orgId}`
  const bound = await newKey(db.sql, orgId, ['read'], 'ada@example.com')
  const asAda = client(app, bound)
  const rows = rowsOf(await (await asAda('/v1/sessions?per_page=all', CSV)).text())
  expect(rows.map((row) => row.split(',')[0])).toEqual(['sess_ada'])
})

test('it is of one snapshot: what is written meanwhile is not in it', async () => {
  const count = (await paged('/v1/sessions')).length
  const whole = await ask('/v1/sessions?per_page=all', CSV)
  expect(whole.status).toBe(200)
  const reader = whole.body?.getReader()
  const parts = [(await reader?.read())?.value]
  await send(
    ...[1, 2, 3].map((n) =>
      sessionRecord(`sess_new${n}`, { project_name: 'p1', created_at: '2020-01-01T00:00:00Z' }),
    ),
  )
  for (;;) {
    const part = await reader?.read()
    if (part === undefined || part.done) break
    parts.push(part.value)
  }
  const text = await new Response(new Blob(parts as Uint8Array<ArrayBuffer>[])).text()
  expect(rowsOf(text)).toHaveLength(count)
  expect(text).not.toContain('sess_new')
})

describe('where it cannot go on', () => {
  const QUERY = {
    orgId: '',
    columns: { n: (item: { n: number }) => item.n },
    itemOf: (parsed: never) => parsed,
  }
  const request = () => new Request('http://localhost/', CSV)
  const endOf = (response: Response) =>
    response.text().then(
      () => 'whole',
      () => 'cut',
    )

  test('the connection is cut, and an error before the first row is an answer', async () => {
    const lists = createWholeLists({ sql: db.sql, log: silent })
    const failing = (from: number) =>
      db.sql`select '{"n":' || 1 / (${from}::integer - g) || '}' as item from generate_series(0, 5000) g`
    await expect(lists.send(request(), { ...QUERY, statement: failing(0) })).rejects.toThrow(
      'division by zero',
    )
    const server = listen(
      { fetch: () => lists.send(request(), { ...QUERY, statement: failing(4_000) }), server: null } as never,
      { host: '127.0.0.1', port: 0 },
      silent,
    )
    const response = await fetch(server.url)
    expect(response.status).toBe(200)
    expect(await endOf(response)).toBe('cut')
    await server.stop()
  })

  test('a client that takes nothing, or leaves, holds its connection no longer', async () => {
    const lines: string[] = []
    const log = createLog('warn', 'json', (line) => lines.push(line))
    const lists = createWholeLists({ sql: db.sql, log }, 1_000)
    const statement = db.sql`select '{"n":' || g || '}' as item from generate_series(1, 5000) g`
    const slow = await lists.send(request(), { ...QUERY, statement })
    // one of an organization at once: this waits until the slow one is cut off
    const next = await lists.send(request(), { ...QUERY, statement })
    expect(lines.join()).toContain('too slowly')
    expect(await endOf(slow)).toBe('cut')
    await next.body?.cancel()
    const last = await lists.send(request(), { ...QUERY, statement })
    expect(rowsOf(await last.text())).toHaveLength(5_000)
  })
})
