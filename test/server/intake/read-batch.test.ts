import { expect, test } from 'bun:test'
import { readBatch } from '../../../src/server/intake/read-batch.ts'
import type { BatchPreparer } from '../../../src/server/sync/prepare.ts'

/** The records that a body has, by the names under which they are prepared. */
async function read(text: string, mediaType = 'application/json'): Promise<[string, unknown][]> {
  const taken: [string, unknown][] = []
  const preparer = {
    refuse: () => true,
    add: async (record: unknown, name: string) => taken.push([name, record]) > 0,
    finish: async () => ({ records: [], sessions: [] }),
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

test('NDJSON may be larger', async () => {
  const line = JSON.stringify({ text: 'x'.repeat(9 * 1024 * 1024) })
  expect(await read(`${line}\n1\n`, 'application/x-ndjson')).toHaveLength(2)
})
