import { Kind, type TSchema, TypeRegistry } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type FieldProblem, MAX_PROBLEMS } from '../../base/errors.ts'
import { JsonText } from '../../base/json-text.ts'
import '../../analysis/records/formats.ts'
import { problemsIn } from '../../analysis/records/problems.ts'
import { CachedResponse } from './cached-response.ts'

// Schemas of responses, as Elysia gets them: it checks responses in tests and under `bun run dev`. In production that
// took 15 % of a request.

/** Elysia checks a value of this kind by what is sent for it: a handler may return the text of its JSON. */
const SENT = 'Sent'
interface SentSchema extends TSchema {
  sent: TSchema
}

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>()
const checkOf = (schema: TSchema): TypeCheck<TSchema> => {
  const check = compiled.get(schema) ?? TypeCompiler.Compile<TSchema>(schema)
  compiled.set(schema, check)
  return check
}

const sentFor = (value: unknown): unknown => {
  if (value instanceof JsonText) return JSON.parse(value.text)
  return value instanceof CachedResponse ? JSON.parse(new TextDecoder().decode(value.body)) : value
}

const isJson = (value: unknown) =>
  !(value instanceof CachedResponse) || value.source.contentType === undefined

TypeRegistry.Set<SentSchema>(SENT, ({ sent }, value) => !isJson(value) || checkOf(sent).Check(sentFor(value)))

/** The schema for Elysia. It is a copy: Elysia closes the objects that it gets. */
export const responseSchema = (schema: TSchema, isChecked: boolean): TSchema =>
  isChecked && schema.type !== 'void'
    ? { ...schema, [Kind]: SENT, sent: schema }
    : { ...schema, noValidate: true }

/** The problems of a value that does not match a schema made by `responseSchema`. */
export const problemsOfResponse = ({ sent }: TSchema, value: unknown): FieldProblem[] =>
  sent === undefined ? [] : problemsIn(checkOf(sent).Errors(sentFor(value)), '', MAX_PROBLEMS)
