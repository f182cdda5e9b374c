import { describe, expect, test } from 'bun:test'
import { bodyOf, client, jsonPost, newOrg, PLENTY, repeatingClient, testApp } from '../support/api.ts'
import { changeOf, v1Routes } from '../support/isolation/routes.ts'
import { testsDatabase } from '../support/postgres.ts'
import { sessionRecord } from '../support/records.ts'

// Whatever is asked: the right status and code, the limit's headers, and the next request is served as before.

const db = await testsDatabase()
const errors: string[] = []
const note = (message: string) => errors.push(message)
const log = {
  debug: note,
  info: () => {},
  all: () => {},
  warn: note,
  error: note,
  rarely: (_level: string, message: string) => note(message),
}
const ask = repeatingClient(
  testApp(db.sql, { log, config: { rateLimits: PLENTY } }),
  (await newOrg(db.sql)).key,
)

const CODES: Record<number, string> = { 400: 'VALIDATION_ERROR', 404: 'NOT_FOUND', 414: 'VALIDATION_ERROR' }

async function check(path: string, status: number, field?: string, init?: RequestInit) {
  errors.length = 0
  const answer = await ask(path, init)
  const body = await bodyOf(answer)
  expect([answer.status, body.code]).toEqual([status, CODES[status]])
  if (field !== undefined && status === 400) {
    expect(body.error).toContain(field)
    expect(body.details.map((problem) => problem.field)).toContain(field)
  }
  for (const name of ['limit', 'remaining', 'reset']) {
    expect(answer.headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/)
  }
  expect(body.request_id).toBe(answer.headers.get('x-request-id'))
  expect(errors).toEqual([])
  expect((await ask('/v1/cost')).status).toBe(200)
}

const spaced = (text: string) => text.split(' ')
const NO_INTEGERS = spaced(
  '0 -1 1.5 abc 1e3 0x10 %201 1%20 +1 %2B1 01 %D9%A1 NaN Infinity 1,000 1_000 1000000000000 9007199254740993 ' +
    '99999999999999999999 -0 null 1%00',
)
const NO_DATES = spaced(
  '2026-02-30 2026-02-29 0000-00-00 0000-01-01 2026-13-01 2026-00-10 %2B275760-09-13 -000001-01-01 now today ' +
    'infinity epoch 20260101 2026-1-1 01/02/2026 J2451187 10000-01-01 2026-01-01T00:00:00Z 2026-01-01%20 ' +
    '2026-01-01%00 %D9%A2026-01-01 2026-01-01+00:00',
)
const NO_TEXTS = spaced(`%00 a%00b %zz % %C3%28 %ED%A0%80 %F5%80%80%80 %C0%80 ${'x'.repeat(201)}`)
const NO_WORDS = spaced('DESC Day cost __proto__ constructor toString hour year created_at%20 %00 1')

const LISTS = ['/v1/sessions']
const DATED = ['/v1/sessions', '/v1/quality', '/v1/quality/trend', '/v1/cost', '/v1/cost/trend']
const WORDED = [
  ['/v1/sessions', 'sort'],
  ['/v1/sessions', 'order'],
  ['/v1/quality/trend', 'granularity'],
  ['/v1/cost', 'group_by'],
  ['/v1/cost/trend', 'granularity'],
]
const EVERYWHERE: [string, string][] = [
  ...LISTS.flatMap((path): [string, string][] => [
    [path, 'page'],
    [path, 'per_page'],
  ]),
  ...DATED.flatMap((path): [string, string][] => [
    [path, 'date_from'],
    [path, 'date_to'],
    [path, 'project'],
  ]),
  ...WORDED.map(([path = '', field = '']): [string, string] => [path, field]),
]

describe('integers', () => {
  const cases = LISTS.flatMap((path) =>
    ['page', 'per_page'].flatMap((field) => NO_INTEGERS.map((value) => [path, field, value])),
  )
  test.each(cases)('%s?%s=%s', (path = '', field = '', value = '') =>
    check(`${path}?${field}=${value}`, 400, field),
  )

  test.each(['101', '1000000'])('per_page=%s is no clamp', (value) =>
    check(`/v1/sessions?per_page=${value}`, 400, 'per_page'),
  )

  test('page may be 1,000,000,000, and what is beyond the end is empty', async () => {
    const answer = await ask('/v1/sessions?page=1000000000&per_page=100')
    expect([answer.status, await bodyOf(answer)]).toMatchObject([
      200,
      { data: [], pagination: { page: 1e9, total: 0 } },
    ])
    await check('/v1/sessions?page=1000000001', 400, 'page')
  })
})

describe('dates', () => {
  const cases = DATED.flatMap((path) =>
    ['date_from', 'date_to'].flatMap((field) => NO_DATES.map((value) => [path, field, value])),
  )
  test.each(cases)('%s?%s=%s', (path = '', field = '', value = '') =>
    check(`${path}?${field}=${value}`, 400, field),
  )

  test.each(DATED)('%s with date_from after date_to', (path) =>
    check(`${path}?date_from=2026-02-02&date_to=2026-02-01`, 400, 'date_from'),
  )

  test.each(DATED)('%s takes one day, a leap day, and the last of all days', async (path) => {
    for (const query of [
      'date_from=2026-02-01&date_to=2026-02-01',
      'date_from=2024-02-29&date_to=2024-02-29',
      'date_from=9999-12-31',
      'date_to=1970-01-01',
    ]) {
      expect([query, (await ask(`${path}?${query}`)).status]).toEqual([query, 200])
    }
  })
})

describe('words', () => {
  const cases = WORDED.flatMap(([path, field]) => NO_WORDS.map((value) => [path, field, value]))
  test.each(cases)('%s?%s=%s', (path = '', field = '', value = '') =>
    check(`${path}?${field}=${value}`, 400, field),
  )
})

describe('texts', () => {
  const cases = DATED.flatMap((path) => NO_TEXTS.map((value) => [path, value]))
  test.each(cases)('%s?project=%s', (path = '', value = '') =>
    check(`${path}?project=${value}`, 400, 'project'),
  )

  test.each([
    "';drop table sessions;--",
    '%',
    '_',
    '\\',
    'a+b',
    '🙂',
    'ﷺ',
    '\u202eabc',
    'e\u0301',
    'x'.repeat(200),
    '$1',
    '{}',
  ])('%s is a project like any other', async (project) => {
    for (const path of DATED) {
      expect((await ask(`${path}?project=${encodeURIComponent(project)}`)).status).toBe(200)
    }
  })
})

describe('names', () => {
  test.each(EVERYWHERE)('%s?%s given twice', async (path, field) => {
    await check(`${path}?${field}=1&${field}=1`, 400, field)
    await check(
      `${path}?${field}=2026-01-01&x=1&%${field.charCodeAt(0).toString(16)}${field.slice(1)}=2`,
      400,
      field,
    )
  })

  test.each([
    'page[]=0',
    'page[a]=0',
    'Page=0',
    'PAGE=0',
    '%zz=1',
    '%00=1',
    '=0',
    '&&&',
    '__proto__=1',
    'a=1&a=2',
    '?page=0',
  ])('%s is unknown and ignored', async (query) => {
    expect((await ask(`/v1/sessions?${query}`)).status).toBe(200)
  })

  test('a parameter with an empty value is not given', async () => {
    const shown = async (query: string) => await (await ask(`/v1/sessions?${query}`)).text()
    const empty =
      'page=&per_page=&sort=&order=&date_from=&date_to=&member=&model=&agent=&min_cost=&has_findings'
    expect(await shown(`${empty}&per_page=7`)).toBe(await shown('per_page=7'))
    const csv = { headers: { accept: 'text/csv' } }
    expect((await ask('/v1/sessions?per_page=all&page=', csv)).status).toBe(200)
    expect((await ask('/v1/sessions?per_page=all&page=1', csv)).status).toBe(400)
  })

  test('all that is wrong is named at once', async () => {
    const body = await bodyOf(
      await ask('/v1/sessions?page=0&per_page=0&sort=x&order=y&date_from=z&branch=%00&model='),
    )
    expect(body.details.map(({ field }) => field).sort()).toEqual([
      'branch',
      'date_from',
      'order',
      'page',
      'per_page',
      'sort',
    ])
  })
})

describe('ids', () => {
  test.each([
    'sess_',
    'sess_unknown',
    'hook_abc',
    'SESS_abc',
    'sess_a%20b',
    'sess_%00',
    'sess_%zz',
    'sess_%C3%28',
    'sess_é',
    '..%2f..%2fetc',
    '%2e%2e%2fetc',
    "sess_'--",
    'x'.repeat(5_000),
    `sess_${'x'.repeat(65)}`,
    `sess_${'x'.repeat(5_000)}`,
    'undefined',
    '__proto__',
  ])('%s is not found', (id) => check(`/v1/sessions/${id}`, 404))

  test('whose percent-encoding is broken are not found, by any route', async () => {
    const app = testApp(db.sql, {
      config: { rateLimits: PLENTY },
    })
    const { key } = await newOrg(db.sql, { scopes: ['read', 'write', 'webhooks', 'admin'] })
    const broken = client(app, key)
    const routes = v1Routes(app).filter(({ path }) => path.includes(':'))
    expect(routes.length).toBeGreaterThan(15)
    for (const route of routes) {
      const path = route.path.replace(/:\w+/g, '%ff')
      const { status } = await broken(
        path,
        route.method === 'GET' ? {} : changeOf(`${route.method} ${route.path.slice('/v1'.length)}`),
      )
      // a month is no id
      const expected = route.method === 'PUT' ? 400 : 404
      expect([route.method, path, status]).toEqual([route.method, path, expected])
    }
    expect((await client(app)('/github/%ff', { method: 'POST', body: '{}' })).status).toBe(404)
  })

  test('of another organization, of nobody and of a wrong form are answered alike', async () => {
    const mine = await newOrg(db.sql)
    const owner = client(testApp(db.sql), mine.key)
    const record = sessionRecord('sess_theirs', { project_name: 'p' })
    const sent = await owner('/v1/sync', jsonPost({ records: [record] }))
    expect(sent.status).toBe(200)
    expect((await owner('/v1/sessions/sess_theirs')).status).toBe(200)
    const texts = []
    for (const id of ['sess_theirs', 'sess_nobodys', 'wrong']) {
      const answer = await ask(`/v1/sessions/${id}`)
      const { request_id, ...body } = await bodyOf(answer)
      texts.push([answer.status, typeof request_id, body])
    }
    expect(texts[1]).toEqual(texts[0])
    expect(texts[2]).toEqual(texts[0])
  })
})

describe('records', () => {
  const post = (records: unknown) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof records === 'string' ? records : JSON.stringify({ records }),
  })
  const session = { type: 'session', id: 'sess_1', project_name: 'p', created_at: '2026-01-01T00:00:00Z' }
  test('times are dates, or dates and times of UTC without an offset', async () => {
    const times = ['2026-01-01', '2026-01-01T10:00', '2026-01-01 10:00:01.5', '2026-01-01T10:00+02:00']
    const app = testApp(db.sql)
    const own = client(app, (await newOrg(db.sql)).key)
    const records = times.map((created_at, index) => ({ ...session, id: `sess_${index}`, created_at }))
    expect((await own('/v1/sync', post(records))).status).toBe(200)
    const page = await bodyOf(await own('/v1/sessions?order=asc'))
    expect(
      (page.data as { id: string; created_at: string }[]).map(({ id, created_at }) => [id, created_at]),
    ).toEqual([
      ['sess_0', '2026-01-01T00:00:00.000Z'],
      ['sess_3', '2026-01-01T08:00:00.000Z'],
      ['sess_1', '2026-01-01T10:00:00.000Z'],
      ['sess_2', '2026-01-01T10:00:01.500Z'],
    ])
  })

  test('1e400 is not a number we take', async () => {
    const text = JSON.stringify({ records: [{ ...session, estimated_cost: 0.5 }] }).replace('0.5', '1e400')
    await check('/v1/sync', 400, 'records[0].estimated_cost', post(text))
  })
})
