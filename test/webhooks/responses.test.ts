import { afterAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import fc from 'fast-check'
import { createEgress } from '../../src/webhooks/http/egress.ts'
import { createSender } from '../../src/webhooks/http/sender.ts'
import { receive } from '../support/raw-receiver.ts'

// A receiver sends what it likes: whatever the bytes and however they are split, the attempt ends in a defined state.

const RUNS = { numRuns: 300 }
const crlf = '\r\n'

/** Writes the response to the next request. */
let respond: (socket: Socket) => void
const uncaught: unknown[] = []
const note = (error: unknown) => uncaught.push(error)

process.on('uncaughtException', note)
const receiver = await receive((socket) => respond(socket))
const egress = createEgress({ allowCidrs: ['127.0.0.0/8'], allowHttp: true, ownAddresses: [] })
const sender = createSender({ egress, resolve: async () => ['127.0.0.1'], timeoutMs: 20_000 })
afterAll(async () => {
  sender.close()
  await receiver[Symbol.asyncDispose]()
  process.off('uncaughtException', note)
  expect(uncaught).toEqual([])
})

const send = () => sender.send({ url: `http://receiver.example:${receiver.port}/`, headers: {}, body: '{}' })

/** Sends one request, whose response comes in these pieces and ends with the connection if `closes`. */
async function attempt(pieces: readonly Buffer[], closes: boolean) {
  respond = (socket) => {
    const write = (index: number) => {
      const piece = pieces[index]
      if (piece !== undefined) socket.write(piece, () => setImmediate(write, index + 1))
      else if (closes) socket.end()
    }
    write(0)
  }
  const result = await send()
  // the next request must not be sent on a connection that is being closed
  if (closes) await receiver.untilEmpty()
  return result
}
const whole = (text: string) => attempt([Buffer.from(text, 'latin1')], true)

function splitAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  const pieces = [...places, bytes.length].map((end, index) => bytes.subarray(places[index - 1] ?? 0, end))
  return pieces.filter((piece) => piece.length > 0)
}

/** Printable ASCII and the bytes above it, no space at its ends. */
const fieldValue = fc.stringMatching(/^[!-~\x80-\xff]([\t -~\x80-\xff]{0,30}[!-~\x80-\xff])?$/)
const otherField = fc.tuple(fc.stringMatching(/^X-[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/), fieldValue)
const fields = fc
  .array(otherField, { maxLength: 5 })
  .map((all) => all.map(([name, value]) => `${name}: ${value}`))

/** A valid response, what it means, and whether its connection can be used again. */
const response = fc
  .record({
    interim: fc.array(fc.constantFrom(100, 102, 103), { maxLength: 3 }),
    status: fc.integer({ min: 200, max: 599 }),
    framing: fc.constantFrom('length', 'chunked', 'close'),
    closes: fc.boolean(),
    fields,
    trailers: fields,
    chunks: fc.array(fc.stringMatching(/^[ -~\r\n]{1,100}$/), { maxLength: 4 }),
    extension: fc.constantFrom('', ';a', ';a=b;c="d"'),
  })
  .map(({ interim, status, framing, closes, chunks, extension, ...of }) => {
    const hasBody = status !== 204 && status !== 304
    const body = hasBody ? chunks.join('') : ''
    const headers = [...of.fields, ...(closes ? ['Connection: close'] : [])]
    let sent = body
    if (framing === 'length') headers.push(`Content-Length: ${body.length}`)
    if (framing === 'chunked') {
      headers.push('Transfer-Encoding: chunked')
      const pieces = chunks.map((chunk) => `${chunk.length.toString(16)}${extension}${crlf}${chunk}${crlf}`)
      const end = [`0${crlf}`, ...of.trailers.map((line) => `${line}${crlf}`), crlf]
      sent = hasBody ? [...pieces, ...end].join('') : ''
    }
    const head = [`HTTP/1.1 ${status} Reason`, ...headers, '', ''].join(crlf)
    const before = interim.map((code) => `HTTP/1.1 ${code} X${crlf}A: b${crlf}${crlf}`).join('')
    return {
      bytes: Buffer.from(`${before}${head}${sent}`, 'latin1'),
      closes: closes || (framing === 'close' && hasBody),
      expected: { statusCode: status, responseBody: body, ok: status <= 299 },
    }
  })

test('any valid response is read as it was written, however it is split', async () => {
  const cuts = fc.array(fc.nat(), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(response, cuts, async ({ bytes, closes, expected }, places) => {
      expect(await attempt(splitAt(bytes, places), closes)).toMatchObject(expected)
    }),
    RUNS,
  )
  // the responses that end by themselves left their connections for the next
  expect(receiver.connections).toBeLessThan(receiver.requests.length)
})

test('any bytes end the attempt, and the next one is read as its own', async () => {
  const byteText = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
  const part = fc.constantFrom(
    ...['HTTP/1.1 200 OK\r\n', 'HTTP/1.1 103 X\r\n', 'HTTP/1.0 200 \r\n', 'Content-Length: 3\r\n'],
    ...['Transfer-Encoding: chunked\r\n', 'Connection: close\r\n', '\r\n', '\n', '\r', '3\r\nabc\r\n'],
    ...['0\r\n', '3;x\r\n', 'ffffffffffffffff\r\n', ' folded\r\n', 'A: b\r\n', 'abc'],
  )
  const parts = fc.array(fc.oneof(byteText, part), { maxLength: 12 })
  const cuts = fc.array(fc.nat(), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(parts, cuts, async (texts, places) => {
      const { ok, statusCode, error, refused, postponed } = await attempt(
        splitAt(Buffer.from(texts.join(''), 'latin1'), places),
        true,
      )
      expect([refused, postponed, ok]).toEqual([false, false, error === null])
      if (!ok) expect(error).toMatch(/^(protocol|connect|status): /)
      if (ok) expect(statusCode).toBe(200)
      expect(await whole(`HTTP/1.1 201 X${crlf}Content-Length: 4${crlf}${crlf}next`)).toMatchObject({
        statusCode: 201,
        responseBody: 'next',
      })
    }),
    RUNS,
  )
})

describe('a response is refused', () => {
  test.each([
    ['another protocol', 'SPDY/1.0 200 OK\r\n\r\n'],
    ['bare LF', 'HTTP/1.1 200 OK\nA: b\n\n'],
    ['bare CR', 'HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n'],
    ['a folded line', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok'],
    ['NUL', 'HTTP/1.1 200 OK\r\nA: \0\r\n\r\n'],
    ['the same length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'],
    ['a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'],
    ['a signed length', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok'],
    ['a length beyond integers', `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\nok`],
    ['length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok'],
  ])('for %s', async (_what, text) => {
    expect(await whole(text)).toMatchObject({
      ok: false,
      statusCode: null,
      error: 'protocol: the answer is not HTTP/1.1',
    })
  })

  test('for a head of 16 KiB, in one piece and in many', async () => {
    const large = (bytes: number) =>
      Buffer.from(`HTTP/1.1 200 OK\r\nA: ${'x'.repeat(bytes)}\r\nContent-Length: 0\r\n\r\n`)
    for (const cuts of [[], [5_000, 10_000, 15_000]]) {
      expect(await attempt(splitAt(large(16_000), cuts), true)).toMatchObject({ ok: true })
      expect(await attempt(splitAt(large(16_384), cuts), true)).toMatchObject({
        ok: false,
        error: 'protocol: the headers of the answer are larger than 16 KiB',
      })
    }
  })
})

test('after the head the status has decided, whatever the body is', async () => {
  const chunked = `HTTP/1.1 200 OK${crlf}Transfer-Encoding: chunked${crlf}${crlf}`
  const bodies = [
    'x\r\n',
    '2 \r\nok\r\n0\r\n\r\n',
    'ffffffffffffffff\r\n',
    '2\r\nokX\r\n',
    '0\r\nbad\r\n\r\n',
  ]
  const extension = `1;${'x'.repeat(100_000)}`
  const trailers = `0\r\n${'A: b\r\n'.repeat(20_000)}`
  for (const text of [...bodies, extension, trailers])
    expect(await whole(`${chunked}${text}`)).toMatchObject({ ok: true, statusCode: 200 })
})
