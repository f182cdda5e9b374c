import { decode, notJson, refuseUnkept } from '../../analysis/records/json.ts'
import type { FieldProblem } from '../../base/errors.ts'
import { NDJSON_TYPE, type PackedBody, unpack } from '../../http/body.ts'
import type { BatchPreparer, PreparedBatch } from '../sync/prepare.ts'
import { createSplitter, nameOf, type RecordText } from './splitter.ts'

export interface ReadOptions {
  /** Largest unpacked body. */
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

/**
 * Unpacks a body, divides it into records and prepares them, one after the other: of the body no more than a part and a
 * record is in memory at once. Throws VALIDATION_ERROR.
 */
export async function readBatch(
  body: PackedBody,
  preparer: BatchPreparer,
  { maxBytes, pause, onBytes, onRecord }: ReadOptions,
): Promise<ReadBatch> {
  const isLines = body.mediaType === NDJSON_TYPE
  const splitter = createSplitter(isLines)
  const numbers: number[] = []
  const addAll = async (records: readonly RecordText[]): Promise<boolean> => {
    for (const text of records) {
      const { at } = text
      onRecord(nameOf(at))
      const record = parse(text, isLines)
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
function parse(
  { at, bytes }: RecordText,
  isLines: boolean,
): { value: unknown; text: string } | { problems: FieldProblem[] } {
  const text = decode(bytes).trim()
  let value: unknown
  try {
    value = JSON.parse(text) as unknown
  } catch {
    // the borders of the other records are unknown then in JSON
    if (!isLines) throw notJson()
    return { problems: [{ field: nameOf(at), message: 'must be valid JSON' }] }
  }
  const problems: FieldProblem[] = []
  refuseUnkept(text, value, nameOf(at), problems)
  return problems.length > 0 ? { problems } : { value, text }
}
