import { isObject } from '../../analysis/agents/transcript/json.ts'
import { decode, parseJson, refuseUnkept } from '../../analysis/records/json.ts'
import { type FieldProblem, fieldError } from '../../base/errors.ts'
import { NDJSON_TYPE, type PackedBody, unpack } from '../../http/body.ts'
import { type BatchPreparer, type PreparedBatch, refuseTooMany } from '../sync/prepare.ts'
import { createSplitter, nameOf, type RecordText } from './splitter.ts'

// Reads the body of a sync: JSON, or NDJSON record by record.

/** Largest body of JSON, which is parsed as a whole. */
const MAX_JSON_BYTES = 8 * 1024 * 1024
/** Values in it: 1,000,000 take 0.2 s to parse. */
const MAX_JSON_VALUES = 1_000_000

export interface ReadOptions {
  maxBytes: number
  /** Called between two parts of the body and two records, as the preparer's. */
  pause: () => Promise<void> | undefined
  /** Called with the bytes unpacked so far; may wait. */
  onBytes: (bytes: number) => Promise<void> | undefined
  /** Called with what names the record that is read. */
  onRecord: (name: string) => void
}

interface ReadBatch {
  batch: PreparedBatch
  /** Names each record in errors: its line in NDJSON, else its index. */
  numbers: number[]
}

/** Unpacks a body, divides it into records and prepares them, one after the other. Throws VALIDATION_ERROR. */
export function readBatch(body: PackedBody, preparer: BatchPreparer, options: ReadOptions) {
  return (body.mediaType === NDJSON_TYPE ? readLines : readJson)(body, preparer, options)
}

async function readJson(
  body: PackedBody,
  preparer: BatchPreparer,
  { maxBytes, pause, onBytes, onRecord }: ReadOptions,
): Promise<ReadBatch> {
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
  for (const [index, record] of (records as unknown[]).entries()) {
    onRecord(nameOf(index))
    if (!(await preparer.add(record, nameOf(index)))) break
    await pause()
  }
  return { batch: await preparer.finish(), numbers: records.map((_, index) => index) }
}

/** Keeps a part of the body and one record in memory. */
async function readLines(
  body: PackedBody,
  preparer: BatchPreparer,
  { maxBytes, pause, onBytes, onRecord }: ReadOptions,
): Promise<ReadBatch> {
  const splitter = createSplitter()
  const numbers: number[] = []
  const addAll = async (records: readonly RecordText[]): Promise<boolean> => {
    for (const text of records) {
      const { at } = text
      onRecord(nameOf(at))
      const record = parse(text)
      numbers.push(at)
      const goesOn =
        'problems' in record
          ? record.problems.every(preparer.refuse)
          : await preparer.add(record.value, nameOf(at), record.text)
      if (!goesOn) return false
      await pause()
    }
    return true
  }
  let size = 0
  for await (const chunk of unpack(body, maxBytes)) {
    size += chunk.length
    await onBytes(size)
    if (!(await addAll(splitter.push(chunk)))) return { batch: await preparer.finish(), numbers }
    await pause()
  }
  await addAll(splitter.end())
  return { batch: await preparer.finish(), numbers }
}

/** The value of a record's text, or what is wrong with it. */
function parse({ at, bytes }: RecordText): { value: unknown; text: string } | { problems: FieldProblem[] } {
  const text = decode(bytes).trim()
  let value: unknown
  try {
    value = JSON.parse(text) as unknown
  } catch {
    return { problems: [{ field: nameOf(at), message: 'must be valid JSON' }] }
  }
  const problems: FieldProblem[] = []
  refuseUnkept(text, value, nameOf(at), problems)
  return problems.length > 0 ? { problems } : { value, text }
}
