// Schemas of fields that several kinds of records share.

import { type ObjectOptions, type TProperties, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
export const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(nullable(schema))
type Optionals<Fields extends TProperties> = {
  [Name in keyof Fields]: ReturnType<typeof optional<Fields[Name]>>
}
export const optionals = <Fields extends TProperties>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([field, schema]) => [field, optional(schema)]),
  ) as Optionals<Fields>

/** One of the values. Elysia does not derive the type of a union whose members are not a tuple. */
export const literals = <const Value extends string | number>(values: readonly Value[]) =>
  Type.Union(values.map((value) => Type.Literal(value))) as unknown as TUnsafe<Value>

export const strict = { additionalProperties: false } as const
export const closed = <Fields extends TProperties>(fields: Fields, options: ObjectOptions = {}) =>
  Type.Object(fields, { ...strict, ...options })
/** The same as a component of the API's document, by its title. */
export const component = <Fields extends TProperties>(title: string, fields: Fields) =>
  closed(fields, { title })

/** Description and example of a field, for the API's document. */
const said = <Value>(description: string, example?: Value) => ({
  description,
  ...(example !== undefined && { examples: [example] }),
})
export const Text = (description: string, example?: string) => Type.String(said(description, example))
export const Integer = (description: string, example?: number) => Type.Integer(said(description, example))
export const Decimal = (description: string, example?: number) => Type.Number(said(description, example))
export const Flag = (description: string, example?: boolean) => Type.Boolean(said(description, example))

/** A time in bodies: requests may give it as `isTime` (base/dates.ts) says. */
export const Timestamp = (description = 'A date and time, or a date; UTC without an offset') =>
  Type.String({ format: 'timestamp', description, examples: ['2026-01-31T12:34:56.789Z'] })

export const TimeZone = Type.String({
  format: 'time-zone',
  description: 'A name of IANA: days, weeks and months are those of the zone',
  examples: ['Europe/Berlin'],
})

export const name = (maxLength: number) => Type.String({ minLength: 1, maxLength })
export const count = (maximum = 1e12) => Type.Integer({ minimum: 0, maximum })
/** 0 to 100; more than 2 decimals are rounded half up when stored. */
export const score = Type.Number({ minimum: 0, maximum: 100 })
