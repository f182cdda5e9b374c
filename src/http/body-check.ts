import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type FieldProblem, validationError } from '../errors.ts'
import '../records/formats.ts'
import { problemsIn } from '../records/problems.ts'

/** Problems in one response. */
export const MAX_PROBLEMS = 20

/** What a schema cannot say of a body, each field named once; called for objects only, whose fields may be anything. */
export type MoreProblems = (body: object) => FieldProblem[]

/** A check of bodies by `schema` and `more`. It throws VALIDATION_ERROR naming all that is wrong, up to 20 fields. */
export function createBodyCheck(schema: TSchema, more: MoreProblems = () => []): (body: unknown) => void {
  // compiled at the first body: compiling all schemas would delay the start
  let compiled: TypeCheck<TSchema> | undefined
  return (body) => {
    compiled ??= TypeCompiler.Compile<TSchema>(schema)
    const problems = compiled.Check(body) ? [] : problemsIn(compiled.Errors(body), '', MAX_PROBLEMS)
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
      const known = new Set(problems.map(({ field }) => field))
      problems.push(...more(body).filter(({ field }) => !known.has(field)))
    }
    if (problems.length > 0) throw validationError(...problems.slice(0, MAX_PROBLEMS))
  }
}
