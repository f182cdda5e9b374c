import { describe, expect, test } from 'bun:test'
import net from 'node:net'
import { Elysia } from 'elysia'
import { makeKey } from '../../src/accounts/keys/format.ts'
import { OperatorError } from '../../src/base/errors.ts'
import { listen } from '../../src/http/listen.ts'
import { newOrg, testApp } from '../support/api.ts'
import { atEnd } from '../support/at-end.ts'
import { silent, testsDatabase } from '../support/postgres.ts'

// Over real sockets, with bytes that no HTTP client would send.

const PLACE = { host: '127.0.0.1', port: 0 }

const db = await testsDatabase()
const server = listen(testApp(db.sql), PLACE, silent)
atEnd(server.stop)
const key = (await newOrg(db.sql)).key

interface Connection {
  send(bytes: string | Uint8Array): void
  /** Waits until `done` says that the text so far is enough, or the connection closes. */
  wait(done?: (text: string) => boolean): Promise<string>
  /** The same, and closes the connection. */
  read(done?: (text: string) => boolean): Promise<string>
  closed: Promise<void>
}

function dial(port = server.port): Connection {
  const socket = net.connect(port, '127.0.0.1')
  let text = ''
  let wake = () => {}
  let open = true
  const closed = new Promise<void>((resolve) => socket.on('close', resolve))
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
    wake()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    open = false
    wake()
  })
  const wait = async (done = isWhole) => {
    while (open && !done(text)) await new Promise<void>((resolve) => (wake = resolve))
    return text
  }
  return {
    closed,
    wait,
    send: (bytes) => socket.write(bytes),
    async read(done) {
      await wait(done)
      socket.destroy()
      return text
    },
  }
}

/** One answer, headers and as much body as they promise. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
  return end !== -1 && text.length >= end + 4 + length
}

const request = (head: string, body = '') =>
  `${head.replaceAll('\n', '\r\n').replace('KEY', `Bearer ${key}`)}\r\n\r\n${body}`

async function exchange(head: string, body = ''): Promise<{ status: number; text: string }> {
  const connection = dial()
  connection.send(request(head, body))
  const text = await connection.read()
  return { status: Number(text.slice(9, 12)), text }
}

const stillServes = async () => {
  expect((await exchange('GET /v1/cost HTTP/1.1\nHost: a\nAuthorization: KEY')).status).toBe(200)
}

describe('requests that clients rarely send', () => {
  test.each([
    ['HTTP/1.0 without a host', 'GET /v1/cost HTTP/1.0\nAuthorization: KEY', 200],
    ['HTTP/1.0 below the other prefix', 'GET /api/v1/cost HTTP/1.0\nAuthorization: KEY', 200],
    ['HTTP/1.0, unknown path', 'GET /v1/nothing HTTP/1.0', 404],
    ['HTTP/1.0 without a key', 'GET /v1/cost HTTP/1.0', 401],
    ['a host of one letter', 'GET /v1/cost HTTP/1.1\nHost: a\nAuthorization: KEY', 200],
    ['an empty host', 'GET /v1/cost HTTP/1.1\nHost:\nAuthorization: KEY', 200],
    ['a host with a path', 'GET /v1/cost HTTP/1.1\nHost: a/live?x\nAuthorization: KEY', 200],
    ['two hosts', 'GET /v1/cost HTTP/1.1\nHost: a\nHost: b\nAuthorization: KEY', 400],
    ['one host twice', 'GET /v1/cost HTTP/1.1\nHost: a\nhost: a\nAuthorization: KEY', 400],
    ['two hosts without a key', 'GET /health HTTP/1.1\nHost: a\nHost:', 400],
    ['an absolute target', 'GET http://other/v1/cost HTTP/1.1\nHost: a\nAuthorization: KEY', 200],
    ['two keys', 'GET /v1/cost HTTP/1.1\nHost: a\nAuthorization: KEY\nAuthorization: KEY', 401],
    ['TRACE', 'TRACE /v1/cost HTTP/1.1\nHost: a\nAuthorization: KEY', 405],
    ['CONNECT', 'CONNECT /v1/cost HTTP/1.1\nHost: a\nAuthorization: KEY', 405],
    ['bytes that are no UTF-8', 'GET /v1/cost?project=\xff HTTP/1.1\nHost: a\nAuthorization: KEY', 400],
    ['dots in the path', 'GET /x/../v1/cost HTTP/1.1\nHost: a\nAuthorization: KEY', 200],
    ['two slashes', 'GET //v1/cost HTTP/1.1\nHost: a\nAuthorization: KEY', 404],
    ['a URL of 9 KiB', `GET /v1/cost?x=${'x'.repeat(9_000)} HTTP/1.1\nHost: a\nAuthorization: KEY`, 414],
    ['100 headers', `GET /v1/cost HTTP/1.1\nHost: a\nAuthorization: KEY${'\nX: y'.repeat(100)}`, 200],
    ['a key of 8 KiB', `GET /v1/cost HTTP/1.1\nHost: a\nAuthorization: Bearer ${'k'.repeat(8_000)}`, 401],
  ])('%s', async (_name, head, status) => {
    const connection = dial()
    connection.send(Buffer.from(request(head), 'latin1'))
    const text = await connection.read()
    expect(text).toStartWith(`HTTP/1.1 ${status} `)
    expect(text).toContain('\r\nContent-Type: application/json\r\n')
    const versioned = head.includes('/v1/') && !head.includes(' //')
    if (versioned) expect(text).toMatch(/\r\nx-ratelimit-remaining: \d+\r\n/i)
    await stillServes()
  })

  test.each([
    ['GET /v1/cost', '', 200],
    ['GET /v1/cost', '\nAccept-Encoding: gzip\nIf-None-Match: *', 304],
    ['GET /v1/sessions?per_page=all', '\nAccept: text/csv', 200],
    ['GET /v1/changes', '', 200],
    ['GET /v1/nothing', '', 404],
    ['DELETE /v1/cost', '', 405],
    ['DELETE /v1/budgets/2020-01', '', 403],
    ['OPTIONS /v1/cost', '', 204],
    ['OPTIONS /v1/cost', '\nOrigin: http://b\nAccess-Control-Request-Method: GET', 204],
    ['GET /v1/cost', '\nAuthorization: none', 401],
    ['GET /api/badge/nobody/quality', '', 200],
    ['GET /health', '', 200],
    ['GET /docs/json', '', 200],
  ])('the names of headers have their usual case: %s%s', async (line, headers, status) => {
    const connection = dial()
    connection.send(request(`${line} HTTP/1.1\nHost: a\nAuthorization: KEY${headers}`))
    const text = await connection.read((sent) => sent.includes('\r\n\r\n'))
    expect(text).toStartWith(`HTTP/1.1 ${status} `)
    const [head = ''] = text.split('\r\n\r\n')
    const names = head
      .split('\r\n')
      .slice(1)
      .map((header) => header.split(':')[0])
    expect(names).toContain('X-Request-Id')
    if (line.includes('/v1/')) expect(names).toContain('X-RateLimit-Limit')
    const usual = /^(ETag|WWW-Authenticate|X-RateLimit-\w+|([A-Z][a-z]*-?)+)$/
    expect(names.filter((name = '') => !usual.test(name))).toEqual([])
  })

  test.each([
    ['HTTP/1.0 without a host', 'HTTP/1.0'],
    ['a host that is none', 'HTTP/1.1\nHost: a/live?x'],
    ['a usual one', 'HTTP/1.1\nHost: a'],
  ])('the address of a client is known: %s', async (_name, end) => {
    const { key, orgId } = await newOrg(db.sql, { scopes: ['admin'] })
    const head = `PATCH /v1/organization ${end}\nAuthorization: Bearer ${key}\nContent-Type: application/json`
    expect((await exchange(`${head}\nContent-Length: 12`, '{"name":"B"}')).status).toBe(200)
    const rows = await db.sql`
      select l.ip_address from audit_log l where l.org_id = ${orgId} and l.action = 'organization.updated'`
    expect(rows.map(({ ip_address }) => ip_address)).toEqual(['127.0.0.1'])
  })

  test.each([
    ['a method of nobody', 'FOO /v1/cost HTTP/1.1\nHost: a'],
    ['two lengths', 'POST /v1/sync HTTP/1.1\nHost: a\nContent-Length: 1\nContent-Length: 2'],
    ['a length and chunks', 'POST /v1/sync HTTP/1.1\nHost: a\nContent-Length: 1\nTransfer-Encoding: chunked'],
    ['a URL of 17 KiB', `GET /v1/cost?x=${'x'.repeat(17_000)} HTTP/1.1\nHost: a`],
    ['300 headers', `GET /v1/cost HTTP/1.1\nHost: a${'\nX: y'.repeat(300)}`],
    ['TLS', '\x16\x03\x01\x02'],
  ])('%s is refused by the parser', async (_name, head) => {
    expect((await exchange(head)).text).toMatch(/^(HTTP\/1\.1 (4\d\d|505) .*|)/)
    await stillServes()
  })
})

describe('bodies', () => {
  const POST = 'POST /v1/sync HTTP/1.1\nHost: a\nAuthorization: KEY\nContent-Type: application/json'

  test('in chunks', async () => {
    const answer = await exchange(
      `${POST}\nTransfer-Encoding: chunked`,
      '4\r\n{"re\r\na\r\ncords":[]}\r\n0\r\n\r\n',
    )
    expect(answer.status).toBe(200)
  })

  test('after 100 Continue', async () => {
    const connection = dial()
    connection.send(request(`${POST}\nExpect: 100-continue\nContent-Length: 14`))
    connection.send('{"records":[]}')
    expect(await connection.read((text) => text.includes('"received":0'))).toContain('HTTP/1.1 200 OK')
  })

  test.each([
    ['beyond the limit', `${POST}\nContent-Length: 999999999999`, 413],
    ['without a key', 'POST /v1/sync HTTP/1.1\nHost: a\nContent-Length: 1000000', 401],
  ])('%s are refused in JSON before they come', async (_name, head, status) => {
    const answer = await exchange(head, 'x')
    expect(answer.status).toBe(status)
    expect(answer.text).toContain('"request_id"')
    await stillServes()
  })

  test('cut off', async () => {
    const connection = dial()
    connection.send(request(`${POST}\nContent-Length: 14`, '{"rec'))
    setImmediate(() => connection.read(() => true))
    await connection.closed
    await stillServes()
  })
})

test('callers are told apart by the address of their connection', async () => {
  const own = listen(testApp(db.sql), PLACE, silent)
  const headers = { authorization: `Bearer ${makeKey().key}` }
  const remaining = async () =>
    (await fetch(`${own.url}/v1/cost`, { headers })).headers.get('x-ratelimit-remaining')
  expect([await remaining(), await remaining()]).toEqual(['599', '598'])
  await own.stop()
})

describe('listening', () => {
  test('on a port in use is refused and names it', () => {
    const again = () => listen(testApp(db.sql), { host: '127.0.0.1', port: server.port }, silent)
    expect(again).toThrow(OperatorError)
    expect(again).toThrow(`port ${server.port} is in use`)
  })

  test('stops: what is under way ends well, idle connections close at once, nobody new is let in', async () => {
    const gate = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    const app = new Elysia()
      .get('/quick', () => 'quick')
      .get('/slow', async () => {
        arrived.resolve()
        await gate.promise
        return 'slow'
      })
    const own = listen(app, PLACE, silent)
    const [idle, busy] = [dial(own.port), dial(own.port)]
    idle.send(request('GET /quick HTTP/1.1\nHost: localhost'))
    await idle.wait()
    busy.send(request('GET /slow HTTP/1.1\nHost: localhost'))
    await arrived.promise
    const stopped = own.stop()
    await idle.closed
    expect(fetch(`${own.url}/quick`)).rejects.toThrow()
    gate.resolve()
    expect(await busy.read()).toEndWith('slow')
    await stopped
  })
})
