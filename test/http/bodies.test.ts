import { describe, expect, test } from 'bun:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { readBody } from '../../src/http/body.ts'
import { createGate } from '../../src/http/queues/gate.ts'
import { bodyOf, client, newOrg, PLENTY, testApp } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'
import { memberRecord } from '../support/records.ts'

const MIB = 1024 * 1024
const EMPTY = '{"records":[]}'

const db = await testsDatabase()
const ask = client(
  testApp(db.sql, {
    gate: createGate({ waitMs: 120_000 }),
    config: { rateLimits: PLENTY },
  }),
  (await newOrg(db.sql)).key,
)

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream
const post = async (body: Body | null, headers: Record<string, string> = {}) => {
  const answer = await ask('/v1/sync', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: answer.status, body: await bodyOf(answer), headers: answer.headers }
}
const bytes = (...values: number[]) => new Uint8Array(values)
const member = (email: string) => JSON.stringify(memberRecord('m', { id: undefined, email }))

describe('what is taken', () => {
  test.each<[string, Body, Record<string, string>]>([
    ['JSON', EMPTY, {}],
    ['a charset', EMPTY, { 'content-type': 'Application/JSON; charset="UTF-8"' }],
    ['white space around', ` \r\n${EMPTY}\n`, {}],
    ['a byte order mark', `\uFEFF${EMPTY}`, {}],
    ['gzip', gzipSync(EMPTY), { 'content-encoding': 'gzip' }],
    ['zstd', zstdCompressSync(EMPTY), { 'content-encoding': 'ZSTD' }],
    ['identity', EMPTY, { 'content-encoding': 'identity' }],
    ['a stream', new Blob([EMPTY]).stream(), {}],
    ['8 MiB of JSON', `{"records":[]${' '.repeat(8 * MIB - EMPTY.length)}}`, {}],
    [
      '32 MiB of NDJSON',
      `${member('a@b.example')}${' '.repeat(32 * MIB - member('a@b.example').length)}`,
      { 'content-type': 'application/x-ndjson' },
    ],
    [
      'NDJSON',
      `\n${member('a@b.example')}\r\n\n${member('c@d.example')}\n`,
      { 'content-type': 'application/x-ndjson' },
    ],
  ])('%s', async (_name, body, headers) => {
    const answer = await post(body, headers)
    expect([answer.status, answer.body]).toMatchObject([200, { received: expect.any(Number) }])
  })

  test('JSON without a type, but at /auth', async () => {
    const send = (path: string, text: string) =>
      ask(path, { method: 'POST', body: new TextEncoder().encode(text) })
    expect((await send('/v1/sync', EMPTY)).status).toBe(200)
    expect((await send('/v1/sync', '{')).status).toBe(400)
    const signIn = await send('/auth/password', '{"email":"a@b.example","password":"p"}')
    expect(signIn.status).toBe(415)
    expect((await bodyOf(signIn)).error).toContain('Content-Type')
    const initialize = { jsonrpc: '2.0', id: 1, method: 'ping' }
    const mcp = await ask('/mcp', {
      method: 'POST',
      body: new TextEncoder().encode(JSON.stringify(initialize)),
      headers: { accept: 'application/json, text/event-stream' },
    })
    expect(mcp.status).toBe(200)
  })

  test('a name that an object has twice is refused, in the body of any route', async () => {
    const request = new Request('http://localhost', {
      method: 'POST',
      body: '{"url":"https://a.example","events":[{"a":1,"a":1}],"url":"https://b.example"}',
      headers: { 'content-type': 'application/json' },
    })
    const pass = createGate().pass(request, 'org_1')
    expect(await readBody(request, {}, pass).catch(({ options }) => options.details)).toEqual([
      { field: 'events[0].a', message: 'must be given once' },
    ])
  })

  test('a body may begin with a byte order mark, and has no other white space than that of JSON', async () => {
    const read = (body: string) => {
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
      const request = new Request('http://localhost', init)
      return readBody(request, {}, createGate().pass(request, 'org_1'))
    }
    expect(await read('\uFEFF {"a":1}\r\n')).toEqual({ a: 1 })
    for (const space of ['\u00A0', '\u2028', '\f', '\uFEFF\uFEFF'])
      expect(await read(`${space}{}`).catch(({ options }) => options.details)).toEqual([
        { field: 'body', message: 'must be valid JSON' },
      ])
  })

  test.each([
    ['64 levels', `${'['.repeat(64)}${']'.repeat(64)}`],
    ['brackets in texts', `["${'['.repeat(100)}\\"${'{'.repeat(100)}"]`],
    ['what only looks like an escape', String.raw`["\\u0000", "\\ud800"]`],
    ['names of prototypes', '{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}'],
  ])('%s', async (_name, text) => {
    const request = new Request('http://localhost', {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'application/json' },
    })
    const pass = createGate().pass(request, 'org_1')
    expect(JSON.stringify(await readBody(request, { maxBytes: MIB }, pass))).toBe(
      JSON.stringify(JSON.parse(text)),
    )
    expect('x' in {}).toBe(false)
  })
})

describe('what is refused', () => {
  const bomb = (pack: (data: Uint8Array) => Uint8Array<ArrayBuffer>) => pack(new Uint8Array(33 * MIB))
  test.each<[string, Body | null, Record<string, string>, number, string]>([
    ['nothing', null, {}, 400, 'body'],
    ['white space', ' \n', {}, 400, 'body'],
    ['a brace', '{', {}, 400, 'body'],
    ['garbage behind', `${EMPTY}x`, {}, 400, 'body'],
    ['an array', '[]', {}, 400, 'body'],
    ['null', 'null', {}, 400, 'body'],
    ['a text', '"x"', {}, 400, 'body'],
    ['a number', '1', {}, 400, 'body'],
    ['no records', '{}', {}, 400, 'records'],
    ['30,000 arrays', '['.repeat(30_000), {}, 400, 'body'],
    ['30,000 arrays, closed', `{"records":[${'['.repeat(30_000)}${']'.repeat(30_000)}]}`, {}, 400, 'body'],
    ['65 levels', `{"records":[${'['.repeat(63)}${']'.repeat(63)}]}`, {}, 400, 'body'],
    ['invalid UTF-8', bytes(0x22, 0xc3, 0x28, 0x22), {}, 400, 'body'],
    ['surrogates in UTF-8', bytes(0x22, 0xed, 0xa0, 0x80, 0x22), {}, 400, 'body'],
    ['UTF-16', new Uint8Array(Buffer.from(`\uFEFF${EMPTY}`, 'utf16le')), {}, 400, 'body'],
    ['NUL', '{"records":[{"type":"\\u0000"}]}', {}, 400, 'records[0].type'],
    ['half a character', '{"records":[{"a":["\\ud800"]}]}', {}, 400, 'records[0].a[0]'],
    ['half a character in a name', '{"records":[{"\\udc00":1}]}', {}, 400, 'records[0]'],
    ['a name twice', '{"records":1,"records":[]}', {}, 400, 'records'],
    ['another name twice', '{"a":1,"records":[],"a":2}', {}, 400, 'a'],
    [
      'a name twice in a record',
      '{"records":[{},{"a":[0,{"b":1,"\\u0062":2}]}]}',
      {},
      400,
      'records[1].a[1].b',
    ],
    [
      'a name twice in a line',
      '{}\n{"__proto__":1,"__proto__":2}',
      { 'content-type': 'application/x-ndjson' },
      400,
      'records[1].__proto__',
    ],
    ['garbage for gzip', 'x', { 'content-encoding': 'gzip' }, 400, 'body'],
    ['garbage for zstd', 'x', { 'content-encoding': 'zstd' }, 400, 'body'],
    ['cut gzip', gzipSync(EMPTY).subarray(0, -4), { 'content-encoding': 'gzip' }, 400, 'body'],
    [
      'cut zstd',
      zstdCompressSync('x'.repeat(999)).subarray(0, -4),
      { 'content-encoding': 'zstd' },
      400,
      'body',
    ],
    ['plain for gzip', EMPTY, { 'content-encoding': 'gzip' }, 400, 'body'],
    ['brotli', EMPTY, { 'content-encoding': 'br' }, 415, 'body'],
    ['twice packed', EMPTY, { 'content-encoding': 'gzip, gzip' }, 415, 'body'],
    ['a form', EMPTY, { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'body'],
    ['another JSON', EMPTY, { 'content-type': 'application/vnd.api+json' }, 415, 'body'],
    ['UTF-16 by name', EMPTY, { 'content-type': 'application/json; charset=utf-16' }, 415, 'body'],
    ['two types', EMPTY, { 'content-type': 'application/json, application/json' }, 415, 'body'],
    ['a declared length', EMPTY, { 'content-length': String(32 * MIB + 1) }, 413, 'body'],
    ['more than 8 MiB of JSON', `{"records":[]${' '.repeat(8 * MIB)}}`, {}, 413, 'body'],
    ['more than 32 MiB', ' '.repeat(32 * MIB + 1), { 'content-type': 'application/x-ndjson' }, 413, 'body'],
    ['a gzip bomb', bomb(gzipSync), { 'content-encoding': 'gzip' }, 413, 'body'],
    ['a zstd bomb', bomb(zstdCompressSync), { 'content-encoding': 'zstd' }, 413, 'body'],
    [
      'a bad line',
      `${member('a@b.example')}\n\n{`,
      { 'content-type': 'application/x-ndjson' },
      400,
      'records[2]',
    ],
    [
      'a bad field of a line',
      '\n{"type":"member"}',
      { 'content-type': 'application/x-ndjson' },
      400,
      'records[1].email',
    ],
    ['a deep line', `${'['.repeat(99)}`, { 'content-type': 'application/x-ndjson' }, 400, 'records[0]'],
    ['blank lines', '\n \n', { 'content-type': 'application/x-ndjson' }, 400, 'body'],
  ])('%s', async (_name, body, headers, status, field) => {
    const answer = await post(body, headers)
    expect([answer.status, answer.body.code]).toEqual([status, 'VALIDATION_ERROR'])
    expect(answer.body.details.map((problem) => problem.field)).toContain(field)
    expect(answer.body.error).toContain(field)
    expect(answer.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
  })

  test('an endless stream, at 32 MiB', async () => {
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += MIB
        controller.enqueue(new Uint8Array(MIB).fill(32))
      },
    })
    expect((await post(endless)).status).toBe(413)
    expect(sent).toBeLessThan(40 * MIB)
  })

  test('415 names what is taken', async () => {
    const { body } = await post('x', { 'content-type': 'text/csv' })
    expect(body.error).toContain('application/json or application/x-ndjson')
  })
})

describe('many bodies at once', () => {
  test('a place that nobody gives back is free again', async () => {
    const gate = createGate({ large: { total: 1, each: 1, waiting: 1 }, holdMs: 20 })
    for (const _ of [1, 2]) await gate.pass(new Request('http://localhost'), 'org_1').takeLarge()
  })

  test('large ones wait, small ones pass, and every answer gives its place back', async () => {
    const open: ReadableStreamDefaultController[] = []
    const pulled = Promise.withResolvers<void>()
    const read = new Set<ReadableStreamDefaultController>()
    const slow = () =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(`{"records":[]${' '.repeat(1.1 * MIB)}`))
          open.push(controller)
        },
        // asked again for each read that waits
        pull(controller) {
          read.add(controller)
          if (read.size === 2) pulled.resolve()
        },
      })
    const held = Array.from({ length: 2 }, () => post(slow()))
    await pulled.promise
    const large = `{"records":[]${' '.repeat(1.1 * MIB)}}`
    const refused: Awaited<ReturnType<typeof post>>[] = []
    const full = Promise.withResolvers<void>()
    const waiting = Array.from({ length: 40 }, async () => {
      const answer = await post(large)
      if (answer.status === 503 && refused.push(answer) === 8) full.resolve()
      return answer
    })
    // all have arrived: 32 wait for a place, and only now places come free
    await full.promise
    expect(refused[0]?.headers.get('retry-after')).toBe('5')
    expect((await post(EMPTY)).status).toBe(200)
    expect((await post(gzipSync(EMPTY), { 'content-encoding': 'gzip' })).status).toBe(200)
    for (const [index, controller] of open.entries()) {
      // one ends badly
      controller.enqueue(new TextEncoder().encode(index === 0 ? '' : '}'))
      controller.close()
    }
    expect((await Promise.all(held)).map(({ status }) => status).sort()).toEqual([200, 400])
    const statuses = (await Promise.all(waiting)).map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(32).fill(200), ...Array(8).fill(503)])
    expect((await post(large)).status).toBe(200)
  })
})
