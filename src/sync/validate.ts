import { ApiError, type FieldProblem, validationError } from '../errors.ts'
import { createPause } from '../pause.ts'
import { problemOf } from '../records/check.ts'
import type { SyncRecord } from '../records/records.ts'

/** Records in one request; import and sync send more in several. */
export const MAX_RECORDS = 10_000
/** Problems in one response: a file in the wrong format has one in every record. */
const MAX_PROBLEMS = 20

/** The records, checked. Throws VALIDATION_ERROR whose details name `records[<index>].<field>`. */
export async function checkRecords(records: readonly unknown[]): Promise<readonly SyncRecord[]> {
  if (records.length > MAX_RECORDS) {
    throw new ApiError(
      'VALIDATION_ERROR',
      `at most ${MAX_RECORDS} records in one request, got ${records.length}`,
      { status: 413, details: [{ field: 'records', message: `at most ${MAX_RECORDS}` }] },
    )
  }
  const problems: FieldProblem[] = []
  const checked: SyncRecord[] = []
  const pause = createPause()
  for (const [index, record] of records.entries()) {
    const problem = problemOf(record, `records[${index}]`)
    // a record without a problem matches one of RECORD_SCHEMAS
    if (problem === undefined) checked.push(record as SyncRecord)
    else problems.push(problem)
    if (problems.length === MAX_PROBLEMS) break
    await pause()
  }
  if (problems.length > 0) throw validationError(...problems)
  return checked
}
