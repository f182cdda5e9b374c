// Schemas that the features' models and routes share, and the reader of query strings. Files with SQL import models,
// so nothing here may import Elysia.

import {
  Kind,
  type Static,
  type StringOptions,
  type TInteger,
  type TSchema,
  type TUnsafe,
  Type,
  TypeRegistry,
} from '@sinclair/typebox'
import { refuseUnlessValid } from '../analysis/records/problems.ts'
import { isDate } from '../base/dates.ts'
import type { JsonText } from '../base/json-text.ts'
import { decodePart } from '../base/text.ts'
import { CODES } from './failure.ts'

const MAX_PAGE = 1_000_000_000
export const MAX_PER_PAGE = 100
/** The value of `per_page` for all rows, which lists as CSV take (whole-list.ts). */
export const ALL = 'all'
const ONE_OF = 'OneOf'

TypeRegistry.Set<{ enum: readonly unknown[] }>(ONE_OF, (schema, value) => schema.enum.includes(value))

/** Optional in requests and the API's document, always present in handlers: the reader sets the default. */
const defaulted = <Schema extends TSchema>(schema: Schema): Schema =>
  Type.Optional(schema) as unknown as Schema

export const Page: TInteger = defaulted(
  Type.Integer({
    minimum: 1,
    maximum: MAX_PAGE,
    default: 1,
    description:
      'Page to return, from 1. While data arrive, the next one may repeat a row: ascending order avoids it',
    examples: [1],
  }),
)

export const PerPage: TInteger = defaulted(
  Type.Integer({
    minimum: 1,
    maximum: MAX_PER_PAGE,
    default: 50,
    description: 'Items on a page',
    examples: [50],
  }),
)

/** The parameters of every list. */
export const Paged = { page: Page, per_page: PerPage }
export const PageQuery = Type.Object(Paged)
export type PageQuery = Static<typeof PageQuery>

const day = (description: string, example: string) =>
  Type.Optional(Type.String({ format: 'date', description, examples: [example] }))

export const DateFrom = day('First day of the time zone, inclusive', '2026-01-01')
export const DateTo = day('Last day of the time zone, inclusive', '2026-01-31')
export const DayRange = { date_from: DateFrom, date_to: DateTo }
/** Days of histories, which are those of UTC. */
export const UtcDateFrom = day('First UTC day, inclusive', '2026-01-01')
export const UtcDateTo = day('Last UTC day, inclusive', '2026-01-31')

export const textFilter = (description: string, example: string, maxLength = 200) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description, examples: [example] }))

/** A filter whose empty value stands for what has none. That of another parameter counts as not given. */
export const filterOrNone = (description: string, maxLength: number, example?: string) =>
  Type.Optional(
    Type.String({
      ...{ maxLength, description, takesEmpty: true },
      ...(example !== undefined && { examples: [example] }),
    }),
  )

/** A filter by a number, which Elysia would convert again unless it is marked as plain. */
export const numberFilter = (maximum: number, description: string, example: number) =>
  Type.Optional(Type.Number({ minimum: 0, maximum, description, examples: [example], elysiaMeta: 'plain' }))

/** One of `values`; wrap it in `Type.Optional` where the parameter may be missing. */
export function oneOf<const Values extends readonly string[]>(
  values: Values,
  options: StringOptions = {},
): TUnsafe<Values[number]> {
  return Type.Unsafe<Values[number]>({ ...options, [Kind]: ONE_OF, type: 'string', enum: values })
}

/** A parameter, or field, that may be missing, else one of `values`. */
export const choiceOf = <const Values extends readonly string[]>(
  values: Values,
  description: string,
  example?: NoInfer<Values[number]>,
) => Type.Optional(oneOf(values, { description, ...(example !== undefined && { examples: [example] }) }))

/** One of `values`, and `fallback` when the parameter is missing. */
export function oneOfOr<const Values extends readonly string[]>(
  values: Values,
  fallback: NoInfer<Values[number]>,
  description: string,
): TUnsafe<Values[number]> {
  return defaulted(oneOf(values, { default: fallback, description, examples: [fallback] }))
}

/** The body of every response that is not 2xx or 304. */
export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'What is wrong, for people', examples: ['page: must be at least 1'] }),
    code: oneOf(CODES, { description: 'What is wrong, for programs' }),
    request_id: Type.String({ description: 'Names this request in the logs; also in X-Request-Id' }),
    details: Type.Optional(
      Type.Array(Type.Object({ field: Type.String(), message: Type.String() }), {
        description: 'The fields that are wrong',
      }),
    ),
  },
  { description: 'Error', title: 'Error' },
)
export type ErrorBody = Static<typeof ErrorBody>

/** The schema of a response that the handler has as text. */
export const sentAsText = (schema: TSchema): TUnsafe<JsonText> => schema as unknown as TUnsafe<JsonText>

/** The position of a page in its list. */
export const Pagination = Type.Object(
  {
    page: Type.Integer({ minimum: 1 }),
    per_page: Type.Integer({ minimum: 1, maximum: 100, examples: [50] }),
    total: Type.Integer({ minimum: 0, description: 'Items on all pages, exactly', examples: [1284] }),
  },
  { title: 'Pagination' },
)
export type Pagination = Static<typeof Pagination>

/** The schema of a page of `item`s; in the API's document `<title of the item>Page`. */
export const PageOf = <Item extends TSchema>(item: Item) =>
  Type.Object(
    { data: Type.Array(item), pagination: Pagination },
    { additionalProperties: false, ...(item.title !== undefined && { title: `${item.title}Page` }) },
  )

/** A page of a list: `data` are its items, `total` those on all pages. */
export function page<Item>(
  data: Item[],
  query: { page: number; per_page: number },
  total: number,
): { data: Item[]; pagination: Pagination } {
  return { data, pagination: { page: query.page, per_page: query.per_page, total } }
}

// Query strings are read from the raw text and not by Elysia, which takes the last of two equal names, accepts 1e3, 0x10
// and +1 as integers, and keeps invalid percent-encoding. What is read is then checked by its schema.

const INTEGER = /^(0|-?[1-9]\d*)$/
const DECIMAL = /^-?(0|[1-9]\d*)(\.\d{1,9})?$/
const MORE_DECIMALS = /^-?(0|[1-9]\d*)\.\d{10,}$/

/** The value of a parameter, NaN for a number in another than the usual form, ALL as it is; an error where it is none. */
function readParameter(type: unknown, raw: string): string | number | Error {
  const text = decodePart(raw)
  // Bun replaces raw bytes that are not UTF-8 by U+FFFD.
  if (text === undefined || text.includes('\uFFFD') || !text.isWellFormed()) {
    return new Error('must be percent-encoded UTF-8')
  }
  if (text.includes('\0')) return new Error('must not contain the NUL character')
  if ((type !== 'integer' && type !== 'number') || text === ALL) return text
  if (type === 'number' && MORE_DECIMALS.test(text)) return new Error('must have at most 9 decimals')
  // + 0: a negative zero is zero
  return (type === 'integer' ? INTEGER : DECIMAL).test(text) ? Number(text) + 0 : Number.NaN
}

/** Refuses a range of days, and `bounds`, pairs of the least and the most, that are the wrong way round. */
function refuseCrossed(
  values: Record<string, unknown>,
  bounds: readonly (readonly [string, string])[],
): void {
  const { date_from: from, date_to: to } = values
  if (typeof from === 'string' && typeof to === 'string' && from > to && isDate(from) && isDate(to)) {
    values.date_from = new Error('must not be after date_to')
  }
  for (const [least, most] of bounds) {
    const [low, high] = [values[least], values[most]]
    if (typeof low === 'number' && typeof high === 'number' && low > high) {
      values[least] = new Error(`must not be above ${most}`)
    }
  }
}

/**
 * A function that reads a URL's query string by `schema`, of integers, numbers and texts. Returns the values in the order
 * of the schema, whatever order they were given in, the default or undefined for those that are missing or empty; unknown ones
 * are ignored. What is given twice, badly encoded or crossed is an error, which the schema refuses as any wrong value.
 */
export function queryReader(schema?: TSchema): (url: string) => Record<string, unknown> {
  const properties = new Map<string, TSchema>(Object.entries(schema?.properties ?? {}))
  const missing = Object.fromEntries([...properties].map(([name, property]) => [name, property.default]))
  const bounds = [...properties.keys()].flatMap((least) => {
    const most = least.replace(/^min_/, 'max_')
    return most !== least && properties.has(most) ? [[least, most] as const] : []
  })
  return (url) => {
    const values: Record<string, unknown> = { ...missing }
    const start = url.indexOf('?')
    if (start === -1) return values
    const seen: string[] = []
    for (const pair of url.slice(start + 1).split('&')) {
      const equals = pair.indexOf('=')
      const name = decodePart(equals === -1 ? pair : pair.slice(0, equals))
      const property = name === undefined ? undefined : properties.get(name)
      if (name === undefined || property === undefined) continue
      const raw = equals === -1 ? '' : pair.slice(equals + 1)
      if (raw === '' && property.takesEmpty !== true && !property.enum?.includes('')) continue
      values[name] = seen.includes(name) ? new Error('must be given once') : readParameter(property.type, raw)
      seen.push(name)
    }
    refuseCrossed(values, bounds)
    return values
  }
}

/** The query of a URL with its defaults, read and checked at once. Throws VALIDATION_ERROR. */
export function readQuery<Schema extends TSchema>(schema: Schema, url: string): Static<Schema> {
  const values = queryReader(schema)(url)
  refuseUnlessValid(schema, values)
  return values as Static<Schema>
}
