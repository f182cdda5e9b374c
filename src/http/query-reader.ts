import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { isDate } from '../dates.ts'
import { type FieldProblem, validationError } from '../errors.ts'
import { meaningOf } from '../records/problems.ts'

// Query strings are read from the raw text and not by Elysia, which takes the last of two equal names,
// accepts 1e3, 0x10 and +1 as integers, and keeps invalid percent-encoding.

const INTEGER = /^(0|-?[1-9]\d*)$/
const DECIMAL = /^-?(0|[1-9]\d*)(\.\d{1,9})?$/
const MORE_DECIMALS = /^-?(0|[1-9]\d*)\.\d{10,}$/

/** Parameters of which the first must not be above the second. */
const BOUNDS = [
  ['min_cost', 'max_cost'],
  ['min_quality', 'max_quality'],
] as const

type Read = (text: string) => string | number | FieldProblem

interface ParameterSchema extends TSchema {
  type?: string
  enum?: readonly string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  format?: string
  pattern?: string
}

function readerOf(field: string, schema: ParameterSchema): Read {
  const problem: FieldProblem = { field, message: `must be ${meaningOf(schema)}` }
  if (schema.type === 'integer' || schema.type === 'number') {
    const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema
    const form = schema.type === 'integer' ? INTEGER : DECIMAL
    return (text) => {
      if (schema.type === 'number' && MORE_DECIMALS.test(text)) {
        return { field, message: 'must have at most 9 decimals' }
      }
      // + 0: a negative zero is zero
      const value = form.test(text) ? Number(text) + 0 : Number.NaN
      return value >= minimum && value <= maximum ? value : problem
    }
  }
  if (schema.enum !== undefined) {
    const values = schema.enum
    return (text) => (values.includes(text) ? text : problem)
  }
  if (schema.format === 'date') {
    return (text) => (isDate(text) ? text : problem)
  }
  if (schema.type !== 'string')
    throw new TypeError(`query parameter ${field}: the reader does not know this schema`)
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
  const pattern = schema.pattern === undefined ? null : new RegExp(schema.pattern)
  return (text) => {
    if (text.length < minLength || text.length > maxLength) return problem
    return pattern === null || pattern.test(text) ? text : problem
  }
}

/** Decodes a part of a query string; undefined when its percent-encoding or UTF-8 is invalid. */
function decode(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function readParameter(field: string, read: Read, raw: string): string | number | FieldProblem {
  const text = decode(raw)
  // Bun replaces raw bytes that are not UTF-8 by U+FFFD.
  if (text === undefined || text.includes('\uFFFD') || !text.isWellFormed()) {
    return { field, message: 'must be percent-encoded UTF-8' }
  }
  if (text.includes('\0')) return { field, message: 'must not contain the NUL character' }
  return read(text)
}

/** `schema` for a route's types and the API's document, marked so that Elysia does not check it again. */
export const uncheckedQuery = <Schema extends TObject>(schema: Schema): Schema => ({
  ...schema,
  noValidate: true,
})

/**
 * A function that reads a URL's query string by `schema` (integer, number, enum, date and string parameters)
 * and returns the values, with the defaults filled in, in the order of the schema, whatever order they were
 * given in. Throws VALIDATION_ERROR naming every invalid, repeated or missing parameter; unknown ones are ignored.
 */
export function queryReader<Schema extends TObject>(schema: Schema): (url: string) => Static<Schema> {
  const readers = new Map<string, Read>()
  const defaults: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(schema.properties)) {
    readers.set(name, readerOf(name, property))
    defaults[name] = property.default
  }
  const required = schema.required ?? []
  return (url) => {
    const values: Record<string, unknown> = { ...defaults }
    const start = url.indexOf('?')
    const seen = new Set<string>()
    const problems = new Map<string, FieldProblem>()
    for (const pair of (start === -1 ? '' : url.slice(start + 1)).split('&')) {
      const equals = pair.indexOf('=')
      const name = decode(equals === -1 ? pair : pair.slice(0, equals))
      const read = name === undefined ? undefined : readers.get(name)
      if (name === undefined || read === undefined) continue
      if (seen.has(name)) {
        problems.set(name, { field: name, message: 'must be given once' })
        continue
      }
      seen.add(name)
      const value = readParameter(name, read, equals === -1 ? '' : pair.slice(equals + 1))
      if (typeof value === 'object') problems.set(name, value)
      else values[name] = value
    }
    const { date_from: from, date_to: to } = values
    if (typeof from === 'string' && typeof to === 'string' && from > to) {
      problems.set('date_from', { field: 'date_from', message: 'must not be after date_to' })
    }
    for (const [least, most] of BOUNDS) {
      const [low, high] = [values[least], values[most]]
      if (typeof low === 'number' && typeof high === 'number' && low > high) {
        problems.set(least, { field: least, message: `must not be above ${most}` })
      }
    }
    for (const name of required) {
      if (!seen.has(name)) problems.set(name, { field: name, message: 'is required' })
    }
    if (problems.size > 0) throw validationError(...problems.values())
    return values as Static<Schema>
  }
}
