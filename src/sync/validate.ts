import { FormatRegistry, type TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { isDate, isTimestamp } from '../dates.ts'
import { ApiError, type FieldProblem, validationError } from '../errors.ts'
import { riskProblem } from '../risk/prepare.ts'
import { findUnstorable } from '../text.ts'
import { createPause } from './pause.ts'
import { RECORD_SCHEMAS, type SyncRecord } from './records.ts'
import type { PrRiskRecord } from './risk-record.ts'

FormatRegistry.Set('timestamp', isTimestamp)
FormatRegistry.Set('day', isDate)
FormatRegistry.Set('month', (text) => /^\d{4}-\d{2}$/.test(text) && isDate(`${text}-01`))
// in the index of a table with the project's name and a hash beside it: an entry holds 2,700 bytes
FormatRegistry.Set('repository-path', (text) => Buffer.byteLength(text) <= MAX_PATH_BYTES)
// one @, something before it, a dotted or plain host behind it, no spaces: delivery is not ours to judge
FormatRegistry.Set('email', (text) => /^[^\s@]+@[^\s@]+$/.test(text))

/** Of a file's name in a commit, in UTF-8. */
export const MAX_PATH_BYTES = 1_024
/** Records in one request; import and sync send more in several. */
export const MAX_RECORDS = 10_000
/** Problems named in one answer; a file in the wrong format has one in every record. */
const MAX_PROBLEMS = 20

const COMPILED = new Map<string, TypeCheck<TSchema>>(
  Object.entries(RECORD_SCHEMAS).map(([type, schema]) => [type, TypeCompiler.Compile<TSchema>(schema)]),
)

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
    // what has no problem is one of RECORD_SCHEMAS
    if (problem === undefined) checked.push(record as SyncRecord)
    else problems.push(problem)
    if (problems.length === MAX_PROBLEMS) break
    await pause()
  }
  if (problems.length > 0) throw validationError(...problems)
  return checked
}

/** What is wrong with a record, its first problem; undefined when nothing is. `at` is the record's name. */
export function problemOf(record: unknown, at: string): FieldProblem | undefined {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    return { field: at, message: 'must be an object' }
  }
  const type = 'type' in record ? record.type : undefined
  const check = typeof type === 'string' ? COMPILED.get(type) : undefined
  if (check === undefined) {
    return { field: `${at}.type`, message: `must be one of ${[...COMPILED.keys()].join(', ')}` }
  }
  if (!check.Check(record)) {
    const error = check.Errors(record).First()
    if (error !== undefined) return describe(error, at)
  }
  if (type === 'pr_risk') {
    // what the schema cannot say: either the parts or what they are computed from
    const problem = riskProblem(record as PrRiskRecord, at)
    if (problem !== undefined) return problem
  }
  const problems: FieldProblem[] = []
  findUnstorable(record, at, problems, 1)
  return problems[0]
}

/** The most telling of nested union errors: for `X or null` with a value, what is wrong with the X. */
function describe(error: ValueError, at: string): FieldProblem {
  if (error.type === ValueErrorType.Union && error.value !== null && error.value !== undefined) {
    const nested = error.errors
      .map((variant) => variant.First())
      .find(
        (inner) =>
          inner !== undefined && inner.type !== ValueErrorType.Literal && inner.type !== ValueErrorType.Null,
      )
    if (nested !== undefined) return describe(nested, at)
    const literals = error.schema.anyOf?.flatMap((option: TSchema) =>
      option.const === undefined ? [] : [String(option.const)],
    )
    if (literals?.length > 0)
      return { field: at + dotted(error.path), message: `must be one of ${literals.join(', ')}` }
  }
  return { field: at + dotted(error.path), message: messageOf(error) }
}

function messageOf(error: ValueError): string {
  switch (error.type) {
    case ValueErrorType.ObjectAdditionalProperties:
      return 'is not a known field'
    case ValueErrorType.ObjectRequiredProperty:
      return 'is required'
    case ValueErrorType.StringFormat:
      return `must be a valid ${error.schema.format}`
    default:
      return error.message.charAt(0).toLowerCase() + error.message.slice(1)
  }
}

/** `/turn_records/0/cost` as `.turn_records[0].cost`. */
const dotted = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map((part) =>
      /^\d+$/.test(part) ? `[${part}]` : `.${part.replaceAll('~1', '/').replaceAll('~0', '~')}`,
    )
    .join('')
