import type { SyncRecord } from '../../records/records.ts'
import { outputStream } from '../command/output.ts'

/** Prints the records instead of sending them: NDJSON, or with --json one document. */
export async function printRecords(
  json: boolean,
  records: AsyncIterable<{ record: SyncRecord }>,
): Promise<void> {
  const output = outputStream()
  let separator = json ? '{"records":[' : ''
  for await (const { record } of records) {
    const isRead = await output.write(separator + JSON.stringify(record) + (json ? '' : '\n'))
    if (!isRead) return
    separator = json ? ',' : ''
  }
  if (json) await output.write(separator === ',' ? ']}\n' : '{"records":[]}\n')
}
