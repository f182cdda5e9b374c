import { describe, expect, test } from 'bun:test'
import { decode } from '../../../src/analysis/records/json.ts'
import { ApiError } from '../../../src/base/errors.ts'
import { createSplitter, SPLIT_LIMITS } from '../../../src/server/intake/splitter.ts'

const MIB = 1024 * 1024
const LIMITS = { ...SPLIT_LIMITS, records: 3, lines: 6, recordValues: 10, values: 20, fields: 4, depth: 5 }

/** The texts of the records, as the splitter gives them for parts of `size` bytes, and how many bytes it took. */
function split(
  body: string | Uint8Array,
  { size = 64 * 1024, limits = SPLIT_LIMITS } = {},
): { at: number; text: string }[] {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const splitter = createSplitter(limits)
  const parts = []
  for (let start = 0; start < bytes.length; start += size) {
    parts.push(...splitter.push(bytes.subarray(start, start + size)))
  }
  parts.push(...splitter.end())
  return parts.map(({ at, bytes: record }) => ({ at, text: decode(record).trim() }))
}

test('lines keep their numbers, in parts of any size; blank ones are no records', () => {
  for (const size of [1, 2, 3, 100]) {
    expect(split('\uFEFF1\n\r\n \n{"a":"\\"}"}\r\n[2]', { size })).toEqual([
      { at: 0, text: '1' },
      { at: 3, text: '{"a":"\\"}"}' },
      { at: 4, text: '[2]' },
    ])
  }
})

describe('the first one too many', () => {
  test.each([
    ['records', '0\n0\n0\n0', 'TOO_LARGE', 'records: must be at most 3'],
    ['lines', '\n'.repeat(7), 'TOO_LARGE', 'body: must have at most 6 lines'],
    ['depth', '0\n[[[[[[', 'VALIDATION_ERROR', 'records[1]: must be nested at most 5 levels deep'],
    [
      'values of a record',
      `0\n[${'0,'.repeat(20)}0]`,
      'TOO_LARGE',
      'records[1]: must have at most 10 values',
    ],
    ['values', '[0,0,0,0,0,0,0]\n'.repeat(3), 'TOO_LARGE', 'records[2]: is beyond'],
    [
      'fields',
      '0\n{"a":1,"b":1,"c":1,"d":1,"e":1}',
      'VALIDATION_ERROR',
      'records[1]: must have at most 4 fields in an object',
    ],
  ])('of %s in NDJSON', (_name, body, code, message) => {
    expect(() => split(body, { limits: LIMITS })).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    )
  })

  /** A splitter that is given endless parts ends soon after the limit. */
  test.each([
    ['lines of a digit', '', '0\n'],
    ['empty lines', '', '\n'],
    ['fields of a line', '{', '"a":1,'],
  ])('of %s ends the reading of an endless body within 4 MiB', (_name, start, part) => {
    const splitter = createSplitter()
    const chunk = Buffer.from(part.repeat(20_000))
    let taken = 0
    expect(() => {
      splitter.push(Buffer.from(start))
      for (; taken < 4 * MIB; taken += chunk.length) splitter.push(chunk)
    }).toThrow(ApiError)
  })
})
