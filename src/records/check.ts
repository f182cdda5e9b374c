import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import type { FieldProblem } from '../errors.ts'
import { findUnstorable } from '../text.ts'
import './formats.ts'
import { RECORD_SCHEMAS } from './records.ts'
import { type PrRiskRecord, riskProblem } from './risk.ts'

const COMPILED = new Map<string, TypeCheck<TSchema>>(
  Object.entries(RECORD_SCHEMAS).map(([type, schema]) => [type, TypeCompiler.Compile<TSchema>(schema)]),
)

/** The first problem of a record; undefined for a valid one. `at` names the record in it: `records[3]`. */
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
    // the schema cannot express it: either the scores, or the files from which they are computed
    const problem = riskProblem(record as PrRiskRecord, at)
    if (problem !== undefined) return problem
  }
  const problems: FieldProblem[] = []
  findUnstorable(record, at, problems, 1)
  return problems[0]
}

/** The most specific of nested union errors: for `X or null` with a value, what is wrong with the X. */
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
