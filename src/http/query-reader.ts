import type { Static, TSchema } from '@sinclair/typebox'
import { refuseUnlessValid } from '../analysis/records/problems.ts'
import { isDate } from '../base/dates.ts'
import { decodePart } from '../base/text.ts'
import { ALL } from './query.ts'

// Query strings are read from the raw text and not by Elysia, which takes the last of two equal names, accepts 1e3, 0x10
// and +1 as integers, and keeps invalid percent-encoding. What is read is then checked by its schema.

const INTEGER = /^(0|-?[1-9]\d*)$/
const DECIMAL = /^-?(0|[1-9]\d*)(\.\d{1,9})?$/
const MORE_DECIMALS = /^-?(0|[1-9]\d*)\.\d{10,}$/

/** Filters whose empty value is what has none of them; any other parameter with an empty value is not given. */
const MAY_BE_EMPTY = new Set([
  ...['project', 'team', 'branch', 'ticket', 'assignee'],
  ...['version', 'effort', 'skill', 'subagent', 'mcp_server', 'plugin'],
])

/** Parameters of which the first must not be above the second. */
const BOUNDS = [
  ['min_cost', 'max_cost'],
  ['min_quality', 'max_quality'],
] as const

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

/** Refuses parameters that are the wrong way round. */
function refuseCrossed(values: Record<string, unknown>): void {
  const { date_from: from, date_to: to } = values
  if (typeof from === 'string' && typeof to === 'string' && from > to && isDate(from) && isDate(to)) {
    values.date_from = new Error('must not be after date_to')
  }
  for (const [least, most] of BOUNDS) {
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
      if (raw === '' && !MAY_BE_EMPTY.has(name) && !property.enum?.includes('')) continue
      values[name] = seen.includes(name) ? new Error('must be given once') : readParameter(property.type, raw)
      seen.push(name)
    }
    refuseCrossed(values)
    return values
  }
}

/** The query of a URL with its defaults, read and checked at once. Throws VALIDATION_ERROR. */
export function readQuery<Schema extends TSchema>(schema: Schema, url: string): Static<Schema> {
  const values = queryReader(schema)(url)
  refuseUnlessValid(schema, values)
  return values as Static<Schema>
}
