import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decode } from '../../../src/analysis/records/json.ts'
import { createSplitter, SPLIT_LIMITS } from '../../../src/server/intake/splitter.ts'

const MIB = 1024 * 1024
const LIMITS = { ...SPLIT_LIMITS, records: 3, lines: 6, recordValues: 10, values: 20, fields: 4, depth: 5 }

/** The texts of the records, as the splitter gives them for parts of `size` bytes, and how many bytes it took. */
function split(
  body: string | Uint8Array,
  { isLines = false, size = 64 * 1024, limits = SPLIT_LIMITS } = {},
): { at: number; text: string }[] {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const splitter = createSplitter(isLines, limits)
  const parts = []
  for (let start = 0; start < bytes.length; start += size) {
    parts.push(...splitter.push(bytes.subarray(start, start + size)))
  }
  parts.push(...splitter.end())
  return parts.map(({ at, bytes: record }) => ({ at, text: decode(record).trim() }))
}

test('any JSON with records, in parts of any size, gives these records', () => {
  const names = fc.string().filter((name) => name !== 'records')
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 4 })),
      fc.dictionary(names, fc.jsonValue()),
      fc.dictionary(names, fc.jsonValue()),
      fc.boolean(),
      fc.integer({ min: 1, max: 30 }),
      (records, before, after, isIndented, size) => {
        const text = JSON.stringify({ ...before, records, ...after }, null, isIndented ? 1 : 0)
        const found = split(text, { size })
        expect(found.map(({ at }) => at)).toEqual([...records.keys()])
        expect(found.map((record) => JSON.parse(record.text))).toEqual(JSON.parse(text).records)
      },
    ),
  )
})

test('a body with one character changed has records or is refused as JSON.parse does', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 3 })),
      fc.nat(),
      fc.constantFrom(...'{}[],:"x 1'),
      (records, place, character) => {
        const text = JSON.stringify({ a: [1], records, b: { c: 2 } })
        const at = place % text.length
        const changed = text.slice(0, at) + character + text.slice(at + 1)
        const expected = attempt(() => recordsOf(JSON.parse(changed)))
        expect(attempt(() => split(changed).map((record) => JSON.parse(record.text)))).toEqual(expected)
      },
    ),
    { numRuns: 1_000 },
  )
})

/** Returns the result of `work`; undefined when it throws. */
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function recordsOf({ records }: { records?: unknown }): unknown[] {
  if (!Array.isArray(records)) throw new TypeError('no records')
  return records
}

test('lines keep their numbers, in parts of any size; blank ones are no records', () => {
  for (const size of [1, 2, 3, 100]) {
    expect(split('\uFEFF1\n\r\n \n{"a":"\\"}"}\r\n[2]', { isLines: true, size })).toEqual([
      { at: 0, text: '1' },
      { at: 3, text: '{"a":"\\"}"}' },
      { at: 4, text: '[2]' },
    ])
  }
})

test('an object around the records may have as many fields with brackets as an object may have fields', () => {
  const body = '{"a":[1],"b":{},"records":[0,[1],{}],"c":[[2]]}'
  expect(split(body, { limits: LIMITS }).map(({ text }) => text)).toEqual(['0', '[1]', '{}'])
})

test.each([
  ['commas', '{', ','],
  ['objects', '', '{}'],
  ['values of one field', '{"a":', '[]'],
])('%s that no JSON has around the records are refused before the body ends', (_name, start, part) => {
  const splitter = createSplitter(false)
  expect(() => splitter.push(Buffer.from(start + part.repeat(20_000)))).toThrow('body: must be valid JSON')
})

test('an array in place of the object is refused at its beginning', () => {
  const splitter = createSplitter(false)
  expect(() => splitter.push(Buffer.from(' [1,'))).toThrow('body: must be an object')
})

describe('the first one too many', () => {
  const inJson = (...records: string[]) => `{"records":[${records.join()}]}`
  test.each([
    ['records', inJson('0', '0', '0', '0'), 413, 'records: must be at most 3 in one request'],
    ['depth', inJson('[[[[]]]]'), 400, 'body: must be nested at most 5 levels deep'],
    [
      'values of a record',
      inJson('0', `[${'0,'.repeat(20)}0]`),
      413,
      'records[1]: must have at most 10 values',
    ],
    ['values', inJson('[0,0,0,0,0,0,0]', '[0,0,0,0,0,0,0]', '[0,0,0,0,0,0,0]'), 413, 'records[2]: is beyond'],
    [
      'fields',
      inJson('0', '{"a":1,"b":1,"c":1,"d":1,"e":1}'),
      400,
      'records[1]: must have at most 4 fields in an object',
    ],
    [
      'fields beside',
      '{"a":{"a":1,"b":1,"c":1,"d":1,"e":1}}',
      400,
      'body: must have at most 4 fields in an object',
    ],
  ])('of %s in JSON', (_name, body, status, message) => {
    expect(() => split(body, { limits: LIMITS })).toThrow(
      expect.objectContaining({ status, message: expect.stringContaining(message) }),
    )
  })
  test.each([
    ['records', '0\n0\n0\n0', 413, 'records: must be at most 3'],
    ['lines', '\n'.repeat(7), 413, 'body: must have at most 6 lines'],
    ['depth', '0\n[[[[[[', 400, 'records[1]: must be nested at most 5 levels deep'],
    ['values of a record', `0\n[${'0,'.repeat(20)}0]`, 413, 'records[1]: must have at most 10 values'],
    ['values', '[0,0,0,0,0,0,0]\n'.repeat(3), 413, 'records[2]: is beyond'],
    [
      'fields',
      '0\n{"a":1,"b":1,"c":1,"d":1,"e":1}',
      400,
      'records[1]: must have at most 4 fields in an object',
    ],
  ])('of %s in NDJSON', (_name, body, status, message) => {
    expect(() => split(body, { isLines: true, limits: LIMITS })).toThrow(
      expect.objectContaining({ status, message: expect.stringContaining(message) }),
    )
  })

  /** A splitter that is given endless parts ends soon after the limit. */
  test.each([
    ['lines of a digit', true, '', '0\n'],
    ['empty lines', true, '', '\n'],
    ['fields of a line', true, '{', '"a":1,'],
    ['empty objects', false, '{"records":[', '{},'],
    ['empty objects in a record', false, '{"records":[[', '{},'],
    ['fields of a record', false, '{"records":[{', '"k":1,'],
    ['values beside the records', false, '{"a":[', '1,'],
    ['arrays in arrays', false, '{"records":[', '['],
    ['closing brackets', false, '', '}'],
    ['closing brackets of arrays', false, '{}', ']'],
  ])('of %s ends the reading of an endless body within 4 MiB', (_name, isLines, start, part) => {
    const splitter = createSplitter(isLines)
    const chunk = Buffer.from(part.repeat(20_000))
    let taken = 0
    expect(() => {
      splitter.push(Buffer.from(start))
      for (; taken < 4 * MIB; taken += chunk.length) splitter.push(chunk)
    }).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }))
  })
})
