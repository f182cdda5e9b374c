// Unpacks the body of a sync, JSON or NDJSON, divides it into records and prepares them, one after the other. Errors name a
// record by its line in NDJSON, else by its index. Throws VALIDATION_ERROR.

import { isObject } from '../../analysis/agents/transcript/json.ts'
import { decode, parseJson, refuseUnkept, scanJson } from '../../analysis/records/sent-json.ts'
import { type FieldProblem, fieldError } from '../../base/errors.ts'
import { splitBytes } from '../../base/split-lines.ts'
import { NDJSON_TYPE, type PackedBody, unpack } from '../../http/body.ts'
import { type BatchPreparer, refuseTooMany } from '../sync/prepare.ts'

/** Largest body of JSON, which is parsed as a whole. */
const MAX_JSON_BYTES = 8 * 1024 * 1024
/** Values in it: 1,000,000 take 0.2 s to parse. */
const MAX_JSON_VALUES = 1_000_000

/** Lines of NDJSON, blank ones too; see docs/sync.md. */
const MAX_LINES = 100_000
/** Values in all records of NDJSON. */
const MAX_VALUES = 2_500_000
/** Limits of one record in NDJSON: elements, fields and containers are values. */
const RECORD_LIMITS = {
  /** 30,000 would overflow the validators' stack. */
  depth: 64,
  values: 1_000_000,
  /** No schema has more than 100, and `details` of an audit entry no more than 3,300. */
  fields: 4_096,
}
const NOTHING = Buffer.alloc(0)

const recordField = (at: number): string => `records[${at}]`

export interface ReadOptions {
  maxBytes: number
  /** Called between two parts of the body and two records, as the preparer's. */
  pause: () => Promise<void> | undefined
  /** Called with the bytes unpacked so far; may wait. */
  onBytes: (bytes: number) => Promise<void> | undefined
  /** Called with what names the record that is read. */
  onRecord: (name: string) => void
}

/** A record as it was read: its value, or what is wrong with it; and its text where it has one of its own. */
type ReadRecord = { name: string; text?: string } & ({ value: unknown } | { problems: FieldProblem[] })

export async function readBatch(body: PackedBody, preparer: BatchPreparer, options: ReadOptions) {
  for await (const record of (body.mediaType === NDJSON_TYPE ? linesOf : itemsOf)(body, options)) {
    const goesOn =
      'problems' in record
        ? record.problems.every(preparer.refuse)
        : await preparer.add(record.value, record.name, record.text)
    if (!goesOn) break
    await options.pause()
  }
  return await preparer.finish()
}

async function* itemsOf(
  body: PackedBody,
  { maxBytes, pause, onBytes, onRecord }: ReadOptions,
): AsyncGenerator<ReadRecord> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of unpack(body, maxBytes)) {
    size += chunk.length
    if (size > MAX_JSON_BYTES) {
      const message = 'of JSON must be at most 8 MiB: send the records as lines, application/x-ndjson'
      throw fieldError('body', message, 'TOO_LARGE')
    }
    await onBytes(size)
    parts.push(chunk)
    await pause()
  }
  const value = parseJson(Buffer.concat(parts), MAX_JSON_VALUES)
  if (!isObject(value)) throw fieldError('body', 'must be an object')
  const { records } = value
  if (records === undefined) throw fieldError('records', 'is required')
  if (!Array.isArray(records)) throw fieldError('records', 'must be an array')
  refuseTooMany(records.length)
  for (const [index, value] of (records as unknown[]).entries()) {
    onRecord(recordField(index))
    yield { name: recordField(index), value }
  }
}

/** Keeps a part of the body and one record in memory. */
async function* linesOf(
  body: PackedBody,
  { maxBytes, pause, onBytes, onRecord }: ReadOptions,
): AsyncGenerator<ReadRecord> {
  let count = 0
  let size = 0
  let values = 0
  async function* chunks() {
    for await (const chunk of unpack(body, maxBytes)) {
      size += chunk.length
      await onBytes(size)
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
      await pause()
    }
  }
  for await (const { number, bytes } of splitBytes(chunks(), MAX_LINES)) {
    const name = recordField(number - 1)
    onRecord(name)
    count += 1
    refuseTooMany(count)
    // a body is no larger than a line may be
    const text = decode(bytes ?? NOTHING).trim()
    const scanned = scanRecord(text, name)
    values += scanned.values
    if (values > MAX_VALUES) {
      const message = `is beyond the ${MAX_VALUES} values of one request: send fewer records at a time`
      throw fieldError(name, message, 'TOO_LARGE')
    }
    yield { name, text, ...parse(text, name, scanned.names) }
  }
  if (count === 0) throw fieldError('body', 'must not be empty')
}

/** Counts what JSON.parse would build of a record. Throws VALIDATION_ERROR beyond the limits. */
function scanRecord(text: string, name: string): { names: number; values: number } {
  const { beyond, ...counts } = scanJson(text, RECORD_LIMITS)
  const { depth, values, fields } = RECORD_LIMITS
  if (beyond === 'depth') throw fieldError(name, `must be nested at most ${depth} levels deep`)
  if (beyond === 'values') throw fieldError(name, `must have at most ${values} values`, 'TOO_LARGE')
  if (beyond === 'fields') throw fieldError(name, `must have at most ${fields} fields in an object`)
  return counts
}

/** The value of a record's text, or what is wrong with it. */
function parse(text: string, name: string, names: number): { value: unknown } | { problems: FieldProblem[] } {
  let value: unknown
  try {
    value = JSON.parse(text) as unknown
  } catch {
    return { problems: [{ field: name, message: 'must be valid JSON' }] }
  }
  const problems: FieldProblem[] = []
  refuseUnkept(text, value, name, problems, names)
  return problems.length > 0 ? { problems } : { value }
}
