import type { TSchema } from '@sinclair/typebox'
import { problemsBySchema, refined } from '../../analysis/records/problems.ts'
import { JsonText } from '../../base/json-text.ts'
import { CachedResponse } from './cached-response.ts'

// Schemas of responses, as Elysia gets them: it checks responses in tests and under `bun run dev`. In production that
// took 15 % of a request.

/** A handler may return the text of its JSON. */
const sentFor = (value: unknown): unknown => {
  if (value instanceof JsonText) return JSON.parse(value.text)
  return value instanceof CachedResponse ? JSON.parse(new TextDecoder().decode(value.body)) : value
}

const isJson = (value: unknown) =>
  !(value instanceof CachedResponse) || value.source.contentType === undefined

/** The schema for Elysia, of what is sent. It is a copy: Elysia closes the objects that it gets. */
export const responseSchema = (schema: TSchema, isChecked: boolean): TSchema =>
  isChecked && schema.type !== 'void'
    ? refined(schema, (value) => (isJson(value) ? problemsBySchema(schema, sentFor(value)) : []))
    : { ...schema, noValidate: true }
