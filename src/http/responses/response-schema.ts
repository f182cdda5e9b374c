import { Kind, type TSchema, TypeRegistry } from '@sinclair/typebox'
import { problemsBySchema } from '../../analysis/records/problems.ts'
import type { FieldProblem } from '../../base/errors.ts'
import { JsonText } from '../../base/json-text.ts'
import { CachedResponse } from './cached-response.ts'

// Schemas of responses, as Elysia gets them: it checks responses in tests and under `bun run dev`. In production that
// took 15 % of a request.

/** Elysia checks a value of this kind by what is sent for it: a handler may return the text of its JSON. */
const SENT = 'Sent'
interface SentSchema extends TSchema {
  sent: TSchema
}

const sentFor = (value: unknown): unknown => {
  if (value instanceof JsonText) return JSON.parse(value.text)
  return value instanceof CachedResponse ? JSON.parse(new TextDecoder().decode(value.body)) : value
}

const isJson = (value: unknown) =>
  !(value instanceof CachedResponse) || value.source.contentType === undefined

TypeRegistry.Set<SentSchema>(
  SENT,
  ({ sent }, value) => !isJson(value) || problemsBySchema(sent, sentFor(value)).length === 0,
)

/** The schema for Elysia. It is a copy: Elysia closes the objects that it gets. */
export const responseSchema = (schema: TSchema, isChecked: boolean): TSchema =>
  isChecked && schema.type !== 'void'
    ? { ...schema, [Kind]: SENT, sent: schema }
    : { ...schema, noValidate: true }

/** The problems of a value that does not match a schema made by `responseSchema`. */
export const problemsOfResponse = ({ sent }: TSchema, value: unknown): FieldProblem[] =>
  problemsBySchema(sent, sentFor(value))
