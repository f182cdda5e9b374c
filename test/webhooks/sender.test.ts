import { describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createEgress, refusalOf } from '../../src/webhooks/http/egress.ts'
import type { SenderOptions } from '../../src/webhooks/http/exchange.ts'
import type { Resolve } from '../../src/webhooks/http/resolve.ts'
import { createSender } from '../../src/webhooks/http/sender.ts'
import { listening } from '../support/ports.ts'
import { type Answer, authority, receive, receiveTls } from '../support/raw-receiver.ts'

const LOOPBACK = createEgress({ allowCidrs: ['127.0.0.0/8'], allowHttp: true, ownAddresses: [] })
/** Limit of attempts that end by themselves: the machine may be busy. */
const PATIENT_MS = 20_000
/** Limit of attempts that end by it. */
const SHORT_MS = 600

const always =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses

function sender(options: Partial<SenderOptions> = {}) {
  const made = createSender({
    egress: LOOPBACK,
    resolve: always('127.0.0.1'),
    timeoutMs: PATIENT_MS,
    ...options,
  })
  return {
    to: (url: string, body = '{"a":"é"}') => made.send({ url, headers: { 'X-Test': 'yes' }, body }),
    [Symbol.dispose]: made.close,
  }
}

const answer =
  (text: string | Buffer): Answer =>
  (socket) =>
    socket.end(text)
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** Sends one request to a receiver that does so. */
async function attempt(how: Answer, options: Partial<SenderOptions> = {}) {
  await using receiver = await receive(how)
  using own = sender(options)
  const result = await own.to(`http://receiver.example:${receiver.port}/hook?a=b#c`)
  return { ...result, requests: receiver.requests }
}

/** The second of two requests to a receiver that does so: the first has left its connection to it. */
async function withKept(how: Answer) {
  await using receiver = await receive(how)
  using own = sender()
  const url = `http://receiver.example:${receiver.port}/`
  expect((await own.to(url)).ok).toBe(true)
  const result = await own.to(url)
  return { ...result, requests: receiver.requests.length, connections: receiver.connections }
}

describe('a request', () => {
  test('is a POST of the bytes as given', async () => {
    const { ok, statusCode, error, responseBody, refused, postponed, requests, startedAt, durationMs } =
      await attempt(answer(OK))
    expect({ ok, statusCode, error, responseBody, refused, postponed }).toEqual({
      ok: true,
      statusCode: 200,
      error: null,
      responseBody: 'ok',
      refused: false,
      postponed: false,
    })
    expect(durationMs).toBeGreaterThan(0)
    expect(Math.abs(Date.now() - startedAt.getTime())).toBeLessThan(60_000)
    const [head = '', body = ''] = (requests[0] ?? '').split('\r\n\r\n')
    expect(head).toStartWith('POST /hook?a=b HTTP/1.1\r\n')
    expect(head).toMatch(/^Host: receiver\.example:\d+$/im)
    expect(head).toMatch(/^X-Test: yes$/im)
    expect(head).toMatch(/^Content-Length: 10$/im)
    expect(head).toMatch(/^Accept-Encoding: identity$/im)
    expect(head).not.toMatch(/transfer-encoding|cookie|authorization/i)
    expect(Buffer.from(body, 'latin1').toString()).toBe('{"a":"é"}')
  })

  test('that cannot be made is a value too', async () => {
    const own = createSender({ egress: LOOPBACK, resolve: always('127.0.0.1'), timeoutMs: PATIENT_MS })
    const result = await own.send({
      url: 'http://127.0.0.1:9/',
      headers: { 'X-Test': 'a\r\nb: c' },
      body: '',
    })
    expect(result).toMatchObject({ ok: false, refused: false, error: 'protocol: the request cannot be made' })
    own.close()
  })

  test('keeps its connection for the next one, which is judged again', async () => {
    let isAllowed = true
    const egress = { ...LOOPBACK, isAllowed: (address: string) => isAllowed && LOOPBACK.isAllowed(address) }
    await using receiver = await receive((socket) => socket.write(OK))
    using own = sender({ egress })
    const url = `http://receiver.example:${receiver.port}/`
    expect((await own.to(url)).ok).toBe(true)
    expect((await own.to(url)).ok).toBe(true)
    expect(receiver.connections).toBe(1)
    isAllowed = false
    expect(await own.to(url)).toMatchObject({ ok: false, refused: true })
    await receiver.untilEmpty()
    expect([receiver.connections, receiver.requests.length]).toEqual([1, 2])
  })

  test('is never sent again by itself, also when its kept connection was closed meanwhile', async () => {
    const reset = await withKept((socket, number) =>
      number === 1 ? socket.write(OK) : socket.resetAndDestroy(),
    )
    expect(reset).toMatchObject({ ok: false, requests: 2, connections: 1 })
    expect(reset.error).toBe('connect: the connection was reset before an answer')
    const early = await withKept((socket, number) => {
      socket.write(number === 1 ? OK : 'HTTP/1.1 103 Early\r\n\r\n', () => number === 2 && socket.end())
    })
    expect(early).toMatchObject({ ok: false, requests: 2, connections: 1 })
    const late = await withKept((socket, number) => {
      if (number === 1) socket.write(OK)
      else setTimeout(() => socket.resetAndDestroy(), 50)
    })
    expect(late).toMatchObject({ ok: false, requests: 2, connections: 1 })
  })

  test('ignores the proxies of the environment', async () => {
    await using proxy = await receive(answer(OK))
    await using receiver = await receive(answer(OK))
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']
    const before = names.map((name) => process.env[name])
    for (const name of names)
      process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${proxy.port}`
    try {
      using own = sender()
      expect((await own.to(`http://receiver.example:${receiver.port}/`)).ok).toBe(true)
    } finally {
      for (const [index, name] of names.entries()) {
        const value = before[index]
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
    }
    expect([proxy.connections, receiver.requests.length]).toEqual([0, 1])
  })
})

describe('addresses', () => {
  // the same for every name: what DNS answered is not shown
  const REFUSED = `refused: the URL ${refusalOf()}`

  test.each([
    ['one that is refused', ['127.0.0.2']],
    ['one among many', ['127.0.0.1', '10.0.0.1']],
    ['one of the other family', ['127.0.0.1', '::1']],
    ['metadata', ['169.254.169.254']],
    ['mapped', ['::ffff:127.0.0.1']],
    ['no address at all', ['localhost']],
  ])('a name is refused for %s', async (_what, addresses) => {
    const egress = createEgress({ allowCidrs: ['127.0.0.1/32'], allowHttp: true, ownAddresses: [] })
    await using receiver = await receive(answer(OK))
    using own = sender({ egress, resolve: always(...addresses) })
    const result = await own.to(`http://receiver.example:${receiver.port}/`)
    expect(result).toMatchObject({
      ok: false,
      refused: true,
      statusCode: null,
      error: REFUSED,
      responseBody: null,
    })
    expect(receiver.connections).toBe(0)
  })

  test('the judged address is the one in use: a name is looked up once for a connection', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    let asked = 0
    await using receiver = await receive(answer('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n'))
    using own = sender({ resolve: async () => answers[asked++] ?? [] })
    const url = `http://receiver.example:${receiver.port}/`
    expect((await own.to(url)).ok).toBe(true)
    expect(asked).toBe(1)
    // the name has moved: the next connection sees it
    expect(await own.to(url)).toMatchObject({ refused: true, error: REFUSED })
    expect([asked, receiver.connections]).toEqual([2, 1])
  })

  test.each(['http', 'https'])('nothing is sent by %s to a peer that is refused', async (scheme) => {
    // the connection seems to have ignored its address
    const first = { count: 0 }
    const egress = { ...LOOPBACK, isAllowed: () => first.count++ === 0 }
    await using receiver = await (scheme === 'http' ? receive(answer(OK)) : receiveTls('valid', answer(OK)))
    using own = sender({ egress, ca: await authority() })
    expect(await own.to(`${scheme}://receiver.example:${receiver.port}/`)).toMatchObject({
      refused: true,
      error: REFUSED,
    })
    await receiver.untilEmpty()
    expect(receiver.requests).toEqual([])
  })

  test.each(['10.0.0.1', '[::1]', '2130706434', '0x7f.2', '[::ffff:127.0.0.1]'])(
    'one in the URL is refused without a connection: %s',
    async (host) => {
      const egress = createEgress({ allowCidrs: ['127.0.0.1/32'], allowHttp: true, ownAddresses: [] })
      using own = sender({ egress })
      const error = expect.stringMatching(/^refused: the URL .* WEBHOOK_ALLOW_CIDRS=\S+ /)
      expect(await own.to(`http://${host}:9/`)).toMatchObject({ refused: true, error })
    },
  )

  test.each(['127.0.0.1', 'localhost', 'a.localhost', '127.1', 'receiver'])(
    'allowed ones work: %s',
    async (host) => {
      await using receiver = await receive(answer(OK))
      using own = sender()
      expect(await own.to(`http://${host}:${receiver.port}/`)).toMatchObject({ ok: true })
    },
  )

  test('a URL against the rules of now is refused', async () => {
    using own = sender({ egress: createEgress({ allowCidrs: [], allowHttp: false, ownAddresses: [] }) })
    expect((await own.to('http://example.com/')).error).toMatch(
      /^refused: the URL must be .*WEBHOOK_ALLOW_HTTP/,
    )
    expect((await own.to('example.com')).error).toMatch(/^refused: the URL must be/)
  })

  test('the next address is tried when one does not answer', async () => {
    await using receiver = await receive(answer(OK))
    using own = sender({ resolve: always('127.0.0.2', '127.0.0.1') })
    expect(await own.to(`http://receiver.example:${receiver.port}/`)).toMatchObject({ ok: true })
  })
})

describe('look-ups that fail can be tried again', () => {
  const NO_NAME = 'dns: there is no such name, or it has no address'
  const failing =
    (code: string): Resolve =>
    () =>
      Promise.reject(Object.assign(new Error('10.9.8.7'), { code }))
  test.each([
    ['ENOTFOUND', failing('ENOTFOUND'), NO_NAME],
    ['ENODATA', failing('ENODATA'), NO_NAME],
    ['no addresses', always(), NO_NAME],
    ['ESERVFAIL', failing('ESERVFAIL'), 'dns: the look-up failed'],
    [
      'an error of its own',
      () => {
        throw new Error('no')
      },
      'dns: the look-up failed',
    ],
    ['no end', () => new Promise<string[]>(() => undefined), 'dns: no answer within 0.6 s'],
  ] satisfies [string, Resolve, string][])('%s', async (_what, resolve, error) => {
    const result = await attempt(answer(OK), { resolve, timeoutMs: SHORT_MS })
    expect(result).toMatchObject({ ok: false, refused: false, postponed: false, statusCode: null })
    // the whole attempt's timer and the look-up's are of one length here
    expect([error, 'timeout: no answer within 0.6 s']).toContain(result.error ?? '')
    expect(result.requests).toEqual([])
  })
})

describe('answers', () => {
  test.each([200, 201, 202, 204, 299])('%d is a success', async (status) => {
    const result = await attempt(answer(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`))
    expect(result).toMatchObject({ ok: true, statusCode: status, error: null, responseBody: '' })
  })

  test.each([400, 401, 404, 410, 429, 500, 503])('%d is a failure', async (status) => {
    const result = await attempt(answer(`HTTP/1.1 ${status} X\r\nContent-Length: 3\r\n\r\nwhy`))
    const error = `status: answered ${status}`
    expect(result).toMatchObject({
      ok: false,
      refused: false,
      statusCode: status,
      error,
      responseBody: 'why',
    })
  })

  test.each([300, 301, 302, 303, 304, 307, 308])('%d is a failure and not followed', async (status) => {
    await using target = await receive(answer(OK))
    const location = `Location: http://127.0.0.1:${target.port}/`
    const result = await attempt(answer(`HTTP/1.1 ${status} X\r\n${location}\r\nContent-Length: 0\r\n\r\n`))
    const error = `status: answered ${status}; redirects are not followed`
    expect(result).toMatchObject({ ok: false, refused: false, statusCode: status, error })
    expect([target.connections, result.requests.length]).toEqual([0, 1])
  })

  const PROTOCOL = /^protocol: /
  test.each([
    ['HTTP/0.9', 'hello', null],
    ['no HTTP', '\0\x01\x02garbage\r\n\r\n', null],
    ['TLS', Buffer.from([22, 3, 1, 0, 5, 1, 0, 0, 1, 0]), null],
    ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n', null],
    ['999', 'HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n', 999],
    ['600', 'HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n', 600],
    ['99', 'HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n', 99],
    ['1000', 'HTTP/1.1 1000 X\r\nContent-Length: 0\r\n\r\n', null],
    ['101', 'HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n', 101],
    ['101 without more', 'HTTP/1.1 101 X\r\n\r\n', 101],
    ['two lengths', 'HTTP/1.1 200 X\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello', null],
    ['many headers', `HTTP/1.1 200 X\r\n${'A: b\r\n'.repeat(10_000)}\r\n`, null],
    ['a line that is no header', 'HTTP/1.1 200 X\r\nno header\r\n\r\n', null],
  ])('a broken one: %s', async (_what, text, statusCode) => {
    const result = await attempt(answer(text))
    expect(result).toMatchObject({ ok: false, refused: false, postponed: false, statusCode })
    expect(result.error).toMatch(PROTOCOL)
  })

  test('answers of 1xx do not go on for ever, and a few are no harm', async () => {
    const early = 'HTTP/1.1 103 Early\r\nA: b\r\n\r\n'
    expect((await attempt(answer(early.repeat(1_000)))).error).toBe('protocol: more than 16 answers of 1xx')
    expect(await attempt(answer(`HTTP/1.1 100 Continue\r\n\r\n${early}${OK}`))).toMatchObject({ ok: true })
  })

  test.each([
    ['204 with a body', 'HTTP/1.1 204 X\r\nContent-Length: 5\r\n\r\nhello', ''],
    ['a body cut off', 'HTTP/1.1 200 X\r\nContent-Length: 500\r\n\r\nabc', 'abc'],
    ['a broken chunk', 'HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', ''],
    ['more than the body', `${OK}HTTP/1.1 500 X\r\n\r\n`, 'ok'],
    ['no length', 'HTTP/1.0 200 X\r\n\r\nabc', 'abc'],
  ])('after the headers the status has decided: %s', async (_what, text, responseBody) => {
    expect(await attempt(answer(text))).toMatchObject({ ok: true, error: null, responseBody })
  })

  test.each([
    [
      'before an answer',
      (socket) => socket.resetAndDestroy(),
      'connect: the connection was reset before an answer',
    ],
    ['without one', (socket) => socket.end(), 'connect: the connection was reset before an answer'],
    [
      'within the headers',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nA: '),
      'connect: the connection was reset before an answer',
    ],
  ] satisfies [string, Answer, string][])('closed %s', async (_what, how, error) => {
    const result = await attempt(how)
    expect(result).toMatchObject({ ok: false, refused: false, postponed: false, statusCode: null, error })
  })

  test('nobody listens', async () => {
    const receiver = await receive(answer(OK))
    await receiver[Symbol.asyncDispose]()
    using own = sender()
    for (const host of ['127.0.0.1', 'receiver.example'])
      expect(await own.to(`http://${host}:${receiver.port}/`)).toMatchObject({
        ok: false,
        postponed: false,
        error: 'connect: the connection was refused',
      })
  })
})

test('2,000 attempts of every bad kind leave nothing open', async () => {
  const kinds: Answer[] = [
    answer(OK),
    (socket) => socket.write(OK),
    (socket) => socket.resetAndDestroy(),
    answer('garbage'),
    answer('HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
    answer(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(40_000)}`),
    answer('HTTP/1.1 204 X\r\n\r\nhello'),
    () => undefined,
  ]
  const errors: unknown[] = []
  const note = (error: unknown) => errors.push(error)
  process.on('uncaughtException', note)
  await using receiver = await receive((socket, number) => kinds[number % kinds.length]?.(socket, number))
  using own = sender({ timeoutMs: 150 })
  const url = `http://receiver.example:${receiver.port}/`
  const round = async () => {
    for (let sent = 0; sent < 1_000; sent += 250)
      await Promise.all(Array.from({ length: 250 }, () => own.to(url)))
  }
  await round()
  const before = process.memoryUsage.rss()
  await round()
  expect((process.memoryUsage.rss() - before) / 1_048_576).toBeLessThan(64)
  // the kept ones go after a second without use
  await receiver.untilEmpty()
  process.off('uncaughtException', note)
  expect(errors).toEqual([])
}, 180_000)

describe('time', () => {
  /** Writes a piece again and again while the other side listens. */
  const drip =
    (first: string, piece: string): Answer =>
    (socket) => {
      socket.write(first)
      const timer = setInterval(() => socket.write(piece), 20)
      socket.on('close', () => clearInterval(timer))
    }

  test.concurrent.each([
    ['never answers', () => undefined],
    ['drips its headers', drip('HTTP/1.1 200 OK\r\n', 'A: b\r\n')],
    ['drips one header', drip('HTTP/1.1 200 OK\r\nA: ', 'b')],
    ['drips before a status', drip('', '\r\n')],
  ] satisfies [string, Answer][])('a receiver that %s', async (_what, how) => {
    const result = await attempt(how, { timeoutMs: SHORT_MS })
    expect(result).toMatchObject({ ok: false, statusCode: null, error: 'timeout: no answer within 0.6 s' })
    expect(result.durationMs).toBeGreaterThan(SHORT_MS - 50)
  })

  test('a body that does not end has been answered all the same', async () => {
    // the headers come in time on a busy machine too
    const options = { timeoutMs: 4_000 }
    const [result, failed] = await Promise.all([
      attempt(drip('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n', 'x'), options),
      attempt(drip('HTTP/1.1 500 X\r\n\r\n', 'x'), options),
    ])
    expect(result).toMatchObject({ ok: true, statusCode: 200 })
    expect(failed).toMatchObject({ ok: false, error: 'status: answered 500' })
    expect(failed.responseBody).toMatch(/^x+$/)
  })

  test('nor is it waited for as long as an answer', async () => {
    const result = await attempt(drip('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n', 'x'), {
      bodyTimeoutMs: 100,
    })
    expect(result).toMatchObject({ ok: true, statusCode: 200 })
    expect(result.durationMs).toBeGreaterThan(50)
    expect(result.durationMs).toBeLessThan(PATIENT_MS - 1_000)
  })
})

describe('bodies', () => {
  const body = (bytes: string | Buffer, headers = '') =>
    attempt(answer(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${headers}\r\n`), Buffer.from(bytes)])))

  test('an endless one is cut and its connection closed', async () => {
    const closed = Promise.withResolvers<number>()
    let written = 0
    const result = await attempt((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const more = () => {
        for (let open = true; open && !socket.destroyed; written += 65_536)
          open = socket.write('y'.repeat(65_536))
      }
      socket.on('drain', more)
      socket.on('close', () => closed.resolve(written))
      more()
    })
    expect(result).toMatchObject({ ok: true, responseBody: 'y'.repeat(1_024) })
    expect(await closed.promise).toBeLessThan(64 * 1_048_576)
  })

  test('a gzip bomb stays what it is', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const { ok, responseBody } = await body(
      bomb,
      `Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n`,
    )
    expect(ok).toBe(true)
    expect(Buffer.byteLength(responseBody ?? '')).toBeLessThanOrEqual(1_024)
  })

  test.each([
    ['short', 'abc', 'abc'],
    ['NUL', 'a\0b', 'a\uFFFDb'],
    ['no UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'a\uFFFDb'],
    ['half a surrogate pair', Buffer.from([0xed, 0xa0, 0x80]), '\uFFFD\uFFFD\uFFFD'],
    ['half a character at its end', Buffer.from([0x61, 0xc3]), 'a\uFFFD'],
    ['just so long', 'z'.repeat(1_024), 'z'.repeat(1_024)],
    ['too long', 'z'.repeat(1_025), 'z'.repeat(1_024)],
    ['cut within a character', `${'z'.repeat(1_022)}🙂`, 'z'.repeat(1_022)],
    ['all wrong', Buffer.alloc(1_024, 0xff), '\uFFFD'.repeat(341)],
    ['all NUL', Buffer.alloc(2_000), '\uFFFD'.repeat(341)],
  ])('%s', async (_what, bytes, kept) => {
    expect((await body(bytes)).responseBody).toBe(kept)
  })
})

describe('TLS', () => {
  const secure = async (name: string, host = 'receiver.example', withAuthority = true, options = {}) => {
    await using receiver = await receiveTls(
      name,
      answer(OK.replace('\r\n', '\r\nConnection: close\r\n')),
      options,
    )
    using own = sender(withAuthority ? { ca: await authority() } : {})
    const url = `https://${host}:${receiver.port}/`
    const results = [await own.to(url), await own.to(url)]
    // a failure repeats: no session of the first connection is taken up
    expect(results[1]?.error).toBe(results[0]?.error ?? null)
    return { ...results[0], requests: receiver.requests.length }
  }

  test.each(['receiver.example', 'receiver.example.', '127.0.0.1'])('verified, for %s', async (host) => {
    expect(await secure('valid', host)).toMatchObject({ ok: true, requests: 2 })
  })

  test.each([
    ['expired', 'expired', 'receiver.example', true, 'tls: the certificate has expired'],
    ['for another name', 'valid', 'other.example', true, 'tls: the certificate is for another name'],
    ['for another host', 'valid', 'localhost', true, 'tls: the certificate is for another name'],
    ['self-signed', 'self-signed', 'receiver.example', true, 'tls: the certificate is self-signed'],
    [
      'of an unknown authority',
      'valid',
      'receiver.example',
      false,
      'tls: the certificate is of an unknown authority',
    ],
  ])('a certificate that is %s: nothing is sent', async (_what, name, host, withAuthority, error) => {
    const result = await secure(name, host, withAuthority)
    expect(result).toMatchObject({ ok: false, refused: false, requests: 0 })
    expect(result.error).toStartWith(error)
  })

  test('NODE_TLS_REJECT_UNAUTHORIZED switches nothing off', async () => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      expect(await secure('self-signed')).toMatchObject({ ok: false, requests: 0 })
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
    }
  })

  test('TLS 1.1 is too old', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const
    expect(await secure('valid', 'receiver.example', true, old)).toMatchObject({
      ok: false,
      error: 'tls: the handshake failed',
      requests: 0,
    })
  })

  test.each([
    ['does not speak TLS', answer(OK)],
    ['closes', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
  ] satisfies [string, Answer][])('a receiver that %s in the handshake', async (_what, how) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => how(socket, 1))
    })
    const port = await listening(server)
    using own = sender()
    const result = await own.to(`https://receiver.example:${port}/`)
    expect(result).toMatchObject({ ok: false, statusCode: null, error: 'tls: the handshake failed' })
    server.close()
  })

  test('a handshake that hangs', async () => {
    await using receiver = await receive(() => undefined)
    using own = sender({ timeoutMs: SHORT_MS })
    using patient = sender({ connectTimeoutMs: 300 })
    const url = `https://receiver.example:${receiver.port}/`
    const [short, long] = await Promise.all([own.to(url), patient.to(url)])
    expect(short).toMatchObject({ ok: false, error: 'timeout: no answer within 0.6 s' })
    expect(long).toMatchObject({ ok: false, error: 'timeout: no connection within 0.3 s' })
  })
})
