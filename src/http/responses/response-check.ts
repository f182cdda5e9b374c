import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import '../../records/formats.ts'
import { CachedResponse } from './cached-response.ts'

/** Throws when a response does not match the schema of its route: a defect of ours. */
export type CheckResponse = (schema: TSchema, value: unknown) => void

/** A check of responses by their schemas, for tests and `bun run dev`. */
export function createResponseCheck(): CheckResponse {
  const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>()
  return (schema, value) => {
    if (schema.type === 'void') return
    if (value instanceof CachedResponse && value.source.contentType !== undefined) return
    const check = compiled.get(schema) ?? TypeCompiler.Compile<TSchema>(schema)
    compiled.set(schema, check)
    const sent: unknown =
      value instanceof CachedResponse ? JSON.parse(new TextDecoder().decode(value.body)) : value
    const problem = check.Errors(sent).First()
    if (problem !== undefined) {
      throw new Error(`the response does not match its schema: ${problem.path} ${problem.message}`)
    }
  }
}
