// Describes a value that does not match its schema, in the words of every message of a bad request: "must be …", "is
// required", "is not a known field". A form is shown by an example.

import { Kind, type Static, type TSchema, TypeGuard, TypeRegistry } from '@sinclair/typebox'
import {
  type TypeCheck,
  TypeCompiler,
  type ValueError,
  type ValueErrorIterator,
  ValueErrorType,
} from '@sinclair/typebox/compiler'
import { type FieldProblem, MAX_PROBLEMS, validationError } from '../../base/errors.ts'
import { MAX_PATH_BYTES } from './commit.ts'
import './text-formats.ts'

/** Describes a text of each format. */
const FORMATS: Record<string, string> = {
  timestamp: 'a date, or a date and time, like 2026-01-31T12:34:56.789Z',
  'exact-timestamp': 'a timestamp like 2026-01-31T12:34:56.789Z',
  date: 'a date like 2026-01-31',
  day: 'a date like 2026-01-31',
  month: 'a month like 2026-01',
  'time-zone': 'the name of a time zone of IANA, like Europe/Berlin',
  email: 'an e-mail address like ada@example.com',
  'repository-path': `a path like src/app.ts, of at most ${MAX_PATH_BYTES} bytes`,
}

/** ` from 1 to 5`, ` from 1`, ` up to 5`; empty without limits. */
function range(
  minimum: unknown,
  maximum: unknown,
  words: [both: string, least: string, most: string],
): string {
  const [both, least, most] = words
  if (minimum !== undefined && maximum !== undefined) return ` ${both} ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` ${least} ${minimum}`
  return maximum === undefined ? '' : ` ${most} ${maximum}`
}

const numbers = ({ minimum, maximum }: TSchema): string => range(minimum, maximum, ['from', 'from', 'up to'])
const sizes = (minimum: unknown, maximum: unknown, what: string): string => {
  const least = minimum === 0 ? undefined : minimum
  const text = range(least, maximum, ['of', 'of at least', 'of at most'])
  return text === '' ? '' : `${text} ${what}`
}

const texts = ({ format, pattern, examples, minLength, maxLength }: TSchema): string => {
  const size = sizes(minLength, maxLength, 'characters')
  if (format !== undefined && FORMATS[format] !== undefined) return `${FORMATS[format]}${size && `,${size}`}`
  return pattern !== undefined && Array.isArray(examples) ? `like ${examples.join(' or ')}` : `a text${size}`
}

/** Describes a value of the schema: `an integer from 1 to 100`. */
export function meaningOf(schema: TSchema): string {
  // an empty one is described by its parameter
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.filter((value) => value !== '').join(', ')}`
  if (Array.isArray(schema.anyOf)) return meaningOfUnion(schema.anyOf)
  if ('const' in schema) return String(schema.const)
  switch (schema.type) {
    case 'integer':
      return `an integer${numbers(schema)}`
    case 'number':
      return `a number${numbers(schema)}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return `an array${sizes(schema.minItems, schema.maxItems, 'items')}`
    case 'object':
      return `an object${sizes(schema.minProperties, schema.maxProperties, 'fields')}`
    case 'null':
      return 'null'
    default:
      return texts(schema)
  }
}

function meaningOfUnion(variants: TSchema[]): string {
  if (variants.every((variant) => 'const' in variant)) {
    return `one of ${variants.map((variant) => String(variant.const)).join(', ')}`
  }
  return variants.map(meaningOf).join(' or ')
}

/** The problems that TypeBox found, `at` before the name of each field; the first of a field only, `limit` at most. */
export function problemsIn(errors: ValueErrorIterator, at: string, limit: number): FieldProblem[] {
  const problems = new Map<string, FieldProblem>()
  const add = (error: ValueError): void => {
    const field = fieldOf(at, error.path)
    // that of a missing field comes before the mismatch of its type
    if (!problems.has(field)) problems.set(field, { field, message: messageOf(error) })
  }
  const addAll = (list: Iterable<ValueError>): void => {
    for (const error of list) {
      if (problems.size >= limit) return
      const nested = nestedOf(error)
      if (nested === undefined) add(error)
      else addAll(nested)
    }
  }
  addAll(errors)
  return [...problems.values()]
}

/** Returns the problems inside an object or array that may also be null. */
function nestedOf({ type, value, schema, errors }: ValueError): Iterable<ValueError> | undefined {
  if (type !== ValueErrorType.Union || typeof value !== 'object' || value === null) return undefined
  const kind = Array.isArray(value) ? TypeGuard.IsArray : isObjectOrRecord
  const at = (schema.anyOf as TSchema[]).findIndex((variant) => kind(variant))
  return at === -1 ? undefined : errors[at]
}

const isObjectOrRecord = (schema: TSchema): boolean =>
  TypeGuard.IsObject(schema) || TypeGuard.IsRecord(schema)

/** A reader puts an error in the place of a value that it cannot take. */
function messageOf({ type, schema, value }: ValueError): string {
  if (value instanceof Error) return value.message
  if (type === ValueErrorType.ObjectAdditionalProperties) return 'is not a known field'
  if (type === ValueErrorType.ObjectRequiredProperty) return 'is required'
  return `must be ${meaningOf(schema)}`
}

/** `records[3]` and `/turn_records/0/cost` as `records[3].turn_records[0].cost`; `body` for the whole of it. */
function fieldOf(at: string, pointer: string): string {
  const path = pointer
    .split('/')
    .slice(1)
    .map((part) =>
      /^\d+$/.test(part) ? `[${part}]` : `.${part.replaceAll('~1', '/').replaceAll('~0', '~')}`,
    )
    .join('')
  return at === '' ? path.replace(/^\./, '') || 'body' : at + path
}

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>()

/** A schema of this kind has a function that finds all that is wrong with a value. */
const REFINED = 'Refined'
type FindProblems = (value: unknown) => FieldProblem[]
TypeRegistry.Set<{ findProblems: FindProblems }>(
  REFINED,
  ({ findProblems }, value) => findProblems(value).length === 0,
)

/** A schema that is described as this one, and matches the values in which `findProblems` finds none. */
export const refined = <Schema extends TSchema>(schema: Schema, findProblems: FindProblems): Schema => ({
  ...schema,
  [Kind]: REFINED,
  findProblems,
})

/** The schema of an object in which `check` finds nothing either: how fields relate, and what no schema can express. */
export const checked = <Schema extends TSchema>(
  schema: Schema,
  check: (value: Static<Schema>) => FieldProblem[],
): Schema =>
  refined(schema, (value) => {
    const problems = new Map<string, FieldProblem>()
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    for (const problem of [...problemsBySchema(schema, value), ...check(isObject ? value : {})])
      if (!problems.has(problem.field)) problems.set(problem.field, problem)
    return [...problems.values()].slice(0, MAX_PROBLEMS)
  })

/** The compiled schema; each is compiled once. */
export function compiledSchema(schema: TSchema): TypeCheck<TSchema> {
  const check = compiled.get(schema) ?? TypeCompiler.Compile(schema)
  compiled.set(schema, check)
  return check
}

/** Finds all that is wrong with a value by its schema. */
export function problemsBySchema(schema: TSchema, value: unknown): FieldProblem[] {
  if (schema.findProblems !== undefined) return schema.findProblems(value)
  const check = compiledSchema(schema)
  return check.Check(value) ? [] : problemsIn(check.Errors(value), '', MAX_PROBLEMS)
}

/** Throws VALIDATION_ERROR with all that is wrong with a value by its schema. */
export function refuseUnlessValid(schema: TSchema, value: unknown): void {
  const problems = problemsBySchema(schema, value)
  if (problems.length > 0) throw validationError(...problems)
}
