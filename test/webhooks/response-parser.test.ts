import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createResponseParser } from '../../src/webhooks/http/response-parser.ts'

// The parser reads what any receiver sends: whatever the bytes and however they are split, it ends in a defined state.

const RUNS = { numRuns: 2_000 }

/** Collects the parser's reports of bytes that come in these pieces and then end. */
function parse(pieces: readonly Buffer[]) {
  const statuses: number[] = []
  const body: Buffer[] = []
  const parser = createResponseParser({
    status: (status) => statuses.push(status),
    body: (chunk) => body.push(chunk),
  })
  parser.begin()
  let error: string | undefined
  for (const piece of pieces) {
    error ??= parser.read(piece)?.message
    if (error !== undefined) break
  }
  const isComplete = parser.isComplete()
  if (error === undefined) parser.end()
  return {
    statuses,
    body: Buffer.concat(body).toString('latin1'),
    error,
    isComplete,
    isCompleteAtEnd: parser.isComplete(),
    isKept: isComplete && parser.isKept(),
  }
}
const whole = (text: string) => parse([Buffer.from(text, 'latin1')])

function splitAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...places, bytes.length].map((end, index) => bytes.subarray(places[index - 1] ?? 0, end))
}

const crlf = '\r\n'
const byteText = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
/** Printable ASCII and the bytes above it, no space at its ends. */
const fieldValue = fc.stringMatching(/^[!-~\x80-\xff]([\t -~\x80-\xff]{0,30}[!-~\x80-\xff])?$/)
const otherField = fc.tuple(fc.stringMatching(/^X-[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/), fieldValue)
const fields = fc
  .array(otherField, { maxLength: 5 })
  .map((all) => all.map(([name, value]) => `${name}: ${value}`))

/** A valid response, how its body is framed, and whether its connection is kept. */
const response = fc
  .record({
    interim: fc.array(fc.constantFrom(100, 102, 103), { maxLength: 3 }),
    status: fc.integer({ min: 200, max: 599 }),
    framing: fc.constantFrom('length', 'chunked', 'close'),
    closes: fc.boolean(),
    fields,
    trailers: fields,
    chunks: fc.array(
      byteText.filter((text) => text !== ''),
      { maxLength: 4 },
    ),
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
    const endsItself = framing !== 'close' || !hasBody
    return {
      text: `${before}${head}${sent}`,
      expected: {
        statuses: [...interim, status],
        body,
        error: undefined,
        isComplete: endsItself,
        isCompleteAtEnd: true,
        isKept: endsItself && !closes,
      },
    }
  })

describe('any valid response', () => {
  test('is read as it was written, however it is split', () => {
    fc.assert(
      fc.property(response, fc.array(fc.nat(), { maxLength: 8 }), ({ text, expected }, cuts) => {
        const bytes = Buffer.from(text, 'latin1')
        expect(parse(splitAt(bytes, cuts))).toEqual(expected)
      }),
      RUNS,
    )
  })

  test('is read the same after another one on the connection', () => {
    fc.assert(
      fc.property(response, response, (first, second) => {
        const statuses: number[] = []
        const parser = createResponseParser({ status: (status) => statuses.push(status), body: () => {} })
        for (const { text, expected } of [first, second]) {
          parser.begin()
          expect(parser.read(Buffer.from(text, 'latin1'))).toBe(null)
          expect(parser.isComplete()).toBe(expected.isComplete)
          expect(parser.isComplete() && parser.isKept()).toBe(expected.isKept)
        }
        expect(statuses).toEqual([...first.expected.statuses, ...second.expected.statuses])
      }),
      RUNS,
    )
  })
})

describe('any bytes', () => {
  /** Parts of responses in any order, with any bytes between them. */
  const parts = fc.array(
    fc.oneof(
      byteText,
      fc.constantFrom(
        ...['HTTP/1.1 200 OK\r\n', 'HTTP/1.1 103 X\r\n', 'HTTP/1.0 200 \r\n', 'Content-Length: 3\r\n'],
        ...['Transfer-Encoding: chunked\r\n', 'Connection: close\r\n', '\r\n', '\n', '\r', '3\r\nabc\r\n'],
        ...['0\r\n', '3;x\r\n', 'ffffffffffffffff\r\n', ' folded\r\n', 'A: b\r\n', 'abc'],
      ),
    ),
    { maxLength: 12 },
  )

  test('end in a state that does not depend on how they are split', () => {
    fc.assert(
      fc.property(parts, fc.array(fc.nat(), { maxLength: 8 }), (texts, cuts) => {
        const bytes = Buffer.from(texts.join(''), 'latin1')
        expect(parse(splitAt(bytes, cuts))).toEqual(parse([bytes]))
      }),
      RUNS,
    )
  })

  test('are refused after 16 KiB without the end of a head, a chunk line or trailers', () => {
    const head = `HTTP/1.1 200 OK${crlf}`
    const chunked = `${head}Transfer-Encoding: chunked${crlf}${crlf}`
    for (const start of [head, `${head}A: `, `${chunked}1;`, `${chunked}0${crlf}A: `, '']) {
      for (const unit of ['x', `a: b${crlf}`]) {
        const { error } = parse([Buffer.from(start), ...Array(200).fill(Buffer.from(unit.repeat(100)))])
        expect(error).toMatch(/^the (headers of the answer are larger than 16 KiB|answer is not HTTP\/1\.1)$/)
      }
    }
    expect(parse(Array(20_000).fill(Buffer.from(crlf))).error).toMatch(/16 KiB/)
  })

  test('of many chunks are no head: only their extensions count', () => {
    const chunked = `HTTP/1.1 200 OK${crlf}Transfer-Encoding: chunked${crlf}${crlf}`
    const text = `${chunked}${`1${crlf}x${crlf}`.repeat(16_000)}0${crlf}${crlf}`
    expect(whole(text)).toMatchObject({ error: undefined, isComplete: true, body: 'x'.repeat(16_000) })
  })
})

describe('a response is refused', () => {
  const refused = { statuses: [], error: 'the answer is not HTTP/1.1', isComplete: false }
  test.each([
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['bare LF', 'HTTP/1.1 200 OK\nA: b\n\n'],
    ['bare CR', 'HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n'],
    ['a folded line', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok'],
    ['NUL', 'HTTP/1.1 200 OK\r\nA: \0\r\n\r\n'],
    ['the same length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'],
    ['a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'],
    ['a signed length', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok'],
    ['a length beyond integers', `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(17)}\r\n\r\nok`],
    ['length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok'],
  ])('for %s', (_what, text) => {
    expect(whole(text)).toMatchObject(refused)
  })

  test.each([
    ['no number', 'x\r\n'],
    ['a space', '2 \r\nok\r\n0\r\n\r\n'],
    ['a number beyond integers', 'ffffffffffffff\r\n'],
    ['more bytes than it says', '2\r\nokX\r\n0\r\n\r\n'],
    ['bare LF', '2\nok\n0\n\n'],
    ['a trailer that is no field', '0\r\nbad\r\n\r\n'],
  ])('after its head, for a chunk of %s', (_what, text) => {
    expect(whole(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${text}`)).toMatchObject({
      ...refused,
      statuses: [200],
    })
  })
})
