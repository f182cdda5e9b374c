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
import type { JsonText } from '../base/json-text.ts'
import { CODES } from './failure.ts'

// Schemas that the features' models and routes share. Files with SQL import models, so nothing here may
// import Elysia.

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

const day = (description: string, example: string) =>
  Type.Optional(Type.String({ format: 'date', description, examples: [example] }))

export const DateFrom = day('First day of the time zone, inclusive', '2026-01-01')
export const DateTo = day('Last day of the time zone, inclusive', '2026-01-31')
/** Days of histories, which are those of UTC. */
export const UtcDateFrom = day('First UTC day, inclusive', '2026-01-01')
export const UtcDateTo = day('Last UTC day, inclusive', '2026-01-31')

export const textFilter = (description: string, example: string, maxLength = 200) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description, examples: [example] }))

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
export const textOf = (schema: TSchema): TUnsafe<JsonText> => schema as unknown as TUnsafe<JsonText>

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

/** A page of a list: `data` are its items, `total` those on all pages. A list with CSV needs `pageText`. */
export function page<Item>(
  data: Item[],
  query: { page: number; per_page: number },
  total: number,
): { data: Item[]; pagination: Pagination } {
  return { data, pagination: { page: query.page, per_page: query.per_page, total } }
}
