import type { SyncRecord } from '../../analysis/records/records.ts'
import { outputStream } from '../command/output.ts'
import type { Summary } from './summary.ts'

/**
 * Prints the records instead of sending them: NDJSON, or with --json one document, which at its end names what was passed
 * over by then.
 */
export async function printRecords(
  json: boolean,
  records: AsyncIterable<{ record: SyncRecord }>,
  passedOver: Summary['skipped'],
): Promise<void> {
  const output = outputStream()
  let separator = json ? '{"records":[' : ''
  for await (const { record } of records) {
    const isRead = await output.write(separator + JSON.stringify(record) + (json ? '' : '\n'))
    if (!isRead) return
    separator = json ? ',' : ''
  }
  if (!json) return
  const skipped = passedOver.map(({ path, line, reason }) => ({
    path,
    reason: line === null ? reason : `line ${line}: ${reason}`,
  }))
  await output.write(`${separator === ',' ? '' : separator}],"skipped":${JSON.stringify(skipped)}}\n`)
}
