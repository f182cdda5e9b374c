import { describe, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { ApiError } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { connect } from '../../src/database/client.ts'
import { bodyOf, client, jsonPost, newOrg, testApp } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'
import { smallApp } from './small-app.ts'

const db = await testsDatabase()

test('with the database away every route is 503, with the limit’s headers, and says when to try again', async () => {
  const sql = connect(
    { url: 'postgres://nobody@localhost/none?host=/nonexistent' },
    { max: 1, applicationName: 'test' },
  )
  const ask = client(testApp(sql), (await newOrg(db.sql)).key)
  const json = { 'content-type': 'application/json' }
  for (const [path, init] of [
    ['/v1/sessions', {}],
    ['/v1/cost?page=0', {}],
    ['/v1/sync', { method: 'POST', body: '{"records":[]}', headers: json }],
  ] as const) {
    const answer = await ask(path, init)
    expect(answer.status).toBe(503)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(answer.headers.get('x-ratelimit-limit')).toBe('600')
    expect(await bodyOf(answer)).toMatchObject({ code: 'INTERNAL_ERROR' })
  }
  expect((await ask('/v1/nothing')).status).toBe(404)
  await sql.end()
})

describe('errors', () => {
  const hidden = { detail: { hide: true } }
  const failing = (error: unknown) => {
    const lines: string[] = []
    const log = createLog('warn', 'json', (line) => lines.push(line))
    const app = smallApp(
      db.sql,
      () =>
        new Elysia()
          .get(
            '/fails',
            () => {
              throw error
            },
            hidden,
          )
          .get('/lies', () => ({ count: 'two' }) as never, {
            ...hidden,
            response: { 200: Type.Object({ count: Type.Integer() }) },
          })
          .post('/checks', ({ body }) => body, {
            ...hidden,
            body: Type.Object(
              { url: Type.String(), tags: Type.Array(Type.Object({ name: Type.String({ minLength: 1 }) })) },
              { additionalProperties: false },
            ),
          }),
      { log },
    )
    const ask = async (path: string, init?: RequestInit) => {
      const answer = await app.handle(new Request(`http://localhost${path}`, init))
      return { answer, body: await bodyOf(answer) }
    }
    return { ask, lines }
  }
  const coded = (code: string, message = 'secret /home/me select 1') =>
    Object.assign(new Error(message), { code })

  const DATABASE_AWAY = [
    '57P01',
    '57P02',
    '57P03',
    '08006',
    'CONNECTION_CLOSED',
    'CONNECTION_ENDED',
    'ECONNREFUSED',
  ]
    .concat(['CONNECTION_DESTROYED', 'CONNECT_TIMEOUT', 'ENOENT', 'ECONNRESET'])
    .map((code) => [code, coded(code), 503, 'INTERNAL_ERROR', 1] as const)

  // Named, because the runner would print the errors themselves.
  test.each([
    ['one for the caller', new ApiError('NOT_FOUND', 'no such thing'), 404, 'NOT_FOUND', 0],
    ['429', new ApiError('RATE_LIMITED', 'x', { retryAfterS: 5 }), 429, 'RATE_LIMITED', 0],
    ['any other', new Error('secret /home/me select 1'), 500, 'INTERNAL_ERROR', 1],
    ['a thrown text', 'secret text', 500, 'INTERNAL_ERROR', 1],
    ['a data exception', coded('22P05'), 400, 'VALIDATION_ERROR', 1],
    ['an unknown table', coded('42P01'), 500, 'INTERNAL_ERROR', 1],
    ['several addresses', new AggregateError([coded('ECONNREFUSED')]), 503, 'INTERNAL_ERROR', 1],
    ...DATABASE_AWAY,
  ] as [string, unknown, number, string, number][])('%s', async (_name, error, status, code, logged) => {
    const { ask, lines } = failing(error)
    const { answer, body } = await ask('/v1/fails')
    expect([answer.status, body.code]).toEqual([status, code])
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(body.request_id).toBe(answer.headers.get('x-request-id'))
    expect(JSON.stringify(body)).not.toMatch(/secret|home|select|stack/)
    expect(answer.headers.has('retry-after')).toBe(status === 429 || status === 503)
    expect(lines).toHaveLength(logged)
    if (logged > 0) expect(lines[0]).toContain(String(body.request_id))
  })

  test('an answer that is not as its schema says is our fault and logged', async () => {
    const { ask, lines } = failing(null)
    const { answer, body } = await ask('/v1/lies')
    expect([answer.status, body]).toMatchObject([500, { code: 'INTERNAL_ERROR' }])
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('count')
    expect(body.error).not.toContain('count')
  })

  test('a wrong body names its fields with dots and brackets', async () => {
    const { ask } = failing(null)
    const post = (body: unknown) => ask('/v1/checks', jsonPost(body))
    const fieldsOf = async (body: unknown) => {
      const answer = await post(body)
      expect([answer.answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR'])
      return answer.body.details.map(({ field }) => field)
    }
    expect(await fieldsOf({ url: 1, tags: [] })).toEqual(['url'])
    expect(await fieldsOf({ tags: [{ name: 'a' }, { name: '' }], extra: 1, url: 'u' })).toEqual([
      'extra',
      'tags[1].name',
    ])
    expect(await fieldsOf([])).toContain('body')
    expect((await post({ url: 1, tags: [] })).body.error).toContain('url')
  })
})
