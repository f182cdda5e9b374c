// Pure functions that make the document's schemas, and examples, from TypeBox schemas.

/** A JSON Schema as plain data. */
export type Schema = { [keyword: string]: unknown }

/** Examples by property name, for schemas that have none. */
const EXAMPLES_BY_NAME: Record<string, unknown> = {
  branch: 'main',
  category: 'secrets',
  classification: 'feature',
  description: 'What happened, in a sentence',
  display_name: 'Ada Lovelace',
  file: 'src/payments/stripe.ts',
  file_path: 'src/payments/stripe.ts',
  fingerprint: '5f2b9c',
  issues: 'Two tests were skipped',
  model: 'claude-sonnet-4-5',
  models: 'claude-sonnet-4-5',
  name: 'Edit',
  files_touched: 'src/payments/stripe.ts',
  project: 'checkout',
  rule_id: 'aws-access-key',
  summary: 'Adds retries to the payment client',
  title: 'Retries need jitter',
  type: 'decision',
}
const EXAMPLES_BY_FORMAT: Record<string, string> = {
  'date-time': '2026-01-31T12:34:56.789Z',
  date: '2026-01-31',
  email: 'ada@example.com',
  uri: 'https://example.com/hook',
}
/** JSON Schema's names of our formats. */
const FORMATS: Record<string, string> = {
  timestamp: 'date-time',
  'exact-timestamp': 'date-time',
  day: 'date',
}
const MONTH = '^\\d{4}-(0[1-9]|1[0-2])$'

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `pr_risk` as `PrRisk`. */
export const pascal = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** Collects schemas that have a name, so that the document contains each once. */
export interface Components {
  schemas: Record<string, Schema>
  /** The schema in plain form, those inside it that have a `title` replaced by references. */
  plain(schema: unknown): Schema
  /** Adds the plain schema under its `title`, else under `name`, and returns a reference. Throws where another has the name. */
  named(name: string, schema: unknown): Schema
}

/** An empty collection. */
export function createComponents(): Components {
  const schemas: Record<string, Schema> = {}

  const addNamed = (name: string, schema: Schema): Schema => {
    const before = schemas[name]
    if (before !== undefined && !Bun.deepEquals(before, schema))
      throw new Error(`two schemas of the API's document are named ${name}: give one another title`)
    schemas[name] = schema
    return { $ref: `#/components/schemas/${name}` }
  }

  const plainValue = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plainValue)
    return isSchema(value) ? plain(value) : value
  }

  const plain = (schema: unknown): Schema => {
    if (!isSchema(schema)) return {}
    // keywords of the program alone
    const { title, noValidate, elysiaMeta, findProblems, takesEmpty, ...rest } = schema
    if (typeof title === 'string') return addNamed(pascal(title), plain(rest))
    const made: Schema = {}
    for (const [keyword, value] of Object.entries(rest)) {
      // names of properties are not keywords: a property may be called `examples`
      if (keyword === 'properties' && isSchema(value)) {
        made.properties = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]))
      } else if (keyword === 'examples' || keyword === 'default' || keyword === 'enum') made[keyword] = value
      // Elysia would fill a `default` in before it checks a body, into arrays and numbers too
      else if (keyword === 'fallback') made.default = value
      else made[keyword] = plainValue(value)
    }
    return simplified(made)
  }

  const named = (name: string, schema: unknown): Schema => {
    const made = plain(schema)
    return '$ref' in made ? made : addNamed(name, made)
  }

  return { schemas, plain, named }
}

/** Replaces forms that only TypeBox has by those that other tools expect. */
function simplified(schema: Schema): Schema {
  const { format, patternProperties, anyOf, ...rest } = schema
  if (isSchema(patternProperties))
    return { ...rest, additionalProperties: Object.values(patternProperties)[0] ?? true }
  const meaning = FORMATS[String(format)] ?? String(format)
  if (meaning in EXAMPLES_BY_FORMAT) return { ...rest, format: meaning }
  if (format === 'month') return { ...rest, pattern: MONTH, examples: rest.examples ?? ['2026-01'] }
  // Other programs do not know our own formats.
  if (format !== undefined) return rest
  if (!Array.isArray(anyOf) || !anyOf.every(isSchema)) return schema
  if (anyOf.every((part) => 'const' in part))
    return { ...rest, type: anyOf[0]?.type, enum: anyOf.map((part) => part.const) }
  const [first, second] = anyOf
  const nullable = anyOf.length === 2 && second?.type === 'null' && typeof first?.type === 'string'
  if (!nullable || 'enum' in first || 'const' in first) return schema
  return { ...first, ...rest, type: [first.type, 'null'] }
}

/** A value that the schema allows; `schemas` are those it may refer to. */
export function exampleOf(schema: Schema, schemas: Record<string, Schema>, name = ''): unknown {
  if (typeof schema.$ref === 'string')
    return exampleOf(schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {}, schemas, name)
  const { examples, anyOf, oneOf, items, properties, enum: values, minimum } = schema
  if (Array.isArray(examples)) return examples[0]
  for (const keyword of ['default', 'const']) if (keyword in schema) return schema[keyword]
  if (Array.isArray(values)) return values[0]
  const [alternative] = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : []
  if (isSchema(alternative)) return exampleOf(alternative, schemas, name)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object') {
    const parts = Object.entries(isSchema(properties) ? properties : {})
    return Object.fromEntries(
      parts.flatMap(([key, part]) => (isSchema(part) ? [[key, exampleOf(part, schemas, key)]] : [])),
    )
  }
  if (type === 'array') return isSchema(items) ? [exampleOf(items, schemas, name)] : []
  if (type === 'integer' || type === 'number') return Math.max(1, Number(minimum ?? 1))
  if (type === 'boolean') return true
  if (type === 'null') return null
  return EXAMPLES_BY_FORMAT[String(schema.format)] ?? EXAMPLES_BY_NAME[name] ?? 'text'
}
