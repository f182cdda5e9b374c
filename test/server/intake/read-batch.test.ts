import { expect, test } from 'bun:test'
import { readBatch } from '../../../src/server/intake/read-batch.ts'
import type { BatchPreparer } from '../../../src/server/sync/prepare.ts'

/** The records that a body has, by the names under which they are prepared. */
async function read(text: string, mediaType = 'application/json'): Promise<[string, unknown][]> {
  const taken: [string, unknown][] = []
  const preparer = {
    refuse: () => true,
    add: async (record: unknown, name: string) => taken.push([name, record]) > 0,
    finish: async () => ({ received: 0, sent: {}, sessions: [] }),
  } satisfies BatchPreparer
  const body = { bytes: new TextEncoder().encode(text), encoding: undefined, mediaType }
  const limits = {
    maxBytes: 32 * 1024 * 1024,
    pause: () => undefined,
    onBytes: () => undefined,
    onRecord: () => {},
  }
  await readBatch(body, preparer, limits)
  return taken
}

test('records of JSON are named by their place', async () => {
  expect(await read('{"a":[1],"records":[{"b":1},2],"c":{}}')).toEqual([
    ['records[0]', { b: 1 }],
    ['records[1]', 2],
  ])
  expect(await read('{"records":[]}')).toEqual([])
})

test.each([
  ['[1]', 'VALIDATION_ERROR', 'body: must be an object'],
  ['{}', 'VALIDATION_ERROR', 'records: is required'],
  ['{"records":{}}', 'VALIDATION_ERROR', 'records: must be an array'],
  ['{"records":[{"a":1,"a":2}]}', 'VALIDATION_ERROR', 'records[0].a: must be given once'],
  ['{"records":[1', 'VALIDATION_ERROR', 'body: must be valid JSON'],
  [`{"records":[${'['.repeat(80)}`, 'VALIDATION_ERROR', 'body: must be nested at most 64 levels deep'],
  [`{"records":[${'0,'.repeat(10_000)}0]}`, 'TOO_LARGE', 'records: must be at most 10000'],
  [`{"records":[[${'0,'.repeat(1_000_000)}0]]}`, 'TOO_LARGE', 'body: must have at most 1000000 values'],
  [`{"records":["${'x'.repeat(8 * 1024 * 1024)}"]}`, 'TOO_LARGE', 'application/x-ndjson'],
])('text %# is refused', async (text, code, message) => {
  expect(read(text)).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
})

const NDJSON = 'application/x-ndjson'
const zeros = (count: number) => `[${'0,'.repeat(count - 1)}0]\n`

test('records of NDJSON are named by their line; blank ones are no records', async () => {
  expect(await read('\uFEFF1\n\r\n \n{"a":"\\"}"}\r\n[2]', NDJSON)).toEqual([
    ['records[0]', 1],
    ['records[3]', { a: '"}' }],
    ['records[4]', [2]],
  ])
})

test.each([
  ['', 'VALIDATION_ERROR', 'body: must not be empty'],
  ['\n'.repeat(100_001), 'TOO_LARGE', 'body: must have at most 100000 lines'],
  ['0\n'.repeat(10_001), 'TOO_LARGE', 'records: must be at most 10000'],
  [`0\n${'['.repeat(65)}`, 'VALIDATION_ERROR', 'records[1]: must be nested at most 64 levels deep'],
  [`0\n${zeros(1_000_000)}`, 'TOO_LARGE', 'records[1]: must have at most 1000000 values'],
  [zeros(900_000).repeat(3), 'TOO_LARGE', 'records[2]: is beyond the 2500000 values of one request'],
  [
    `0\n{${'"a":1,'.repeat(4_096)}"b":1}`,
    'VALIDATION_ERROR',
    'records[1]: must have at most 4096 fields in an object',
  ],
])('NDJSON %# is refused', async (text, code, message) => {
  expect(read(text, NDJSON)).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
})

test('NDJSON may be larger', async () => {
  const line = JSON.stringify({ text: 'x'.repeat(9 * 1024 * 1024) })
  expect(await read(`${line}\n1\n`, NDJSON)).toHaveLength(2)
})
