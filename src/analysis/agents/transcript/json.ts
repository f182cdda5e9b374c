import { isNormalized, isTimestamp, normalizeTimestamp } from '../../../base/dates.ts'
import { scanJson } from '../../records/json.ts'

// Lenient access to fields of parsed JSON: agents' formats have no schema and change with every version, so a field of an
// unexpected type counts as absent.

export type Json = Record<string, unknown>

/** Larger counts are cut to this one, the largest that the schema of records allows. */
const MAX_COUNT = 1e12
/** Texts nested deeper are left out: a hostile file must not exhaust the stack. */
const MAX_DEPTH = 40
/** Values of one text, containers twice: a million are 128 MB of agents’ files, and up to 200 MB when they are parsed. */
const MAX_VALUES = 1_000_000
/** Nesting of one text: of agents' files 23 is the deepest known. */
const MAX_NESTING = 200
const LAST_TIME_MS = Date.UTC(10_000, 0, 1)

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {}
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export const objectsIn = (value: unknown): Json[] => listOf(value).filter(isObject)

/** The value at the end of a path of keys; undefined where it leads nowhere. */
export const valueAt = (value: unknown, ...keys: string[]): unknown =>
  keys.reduce((inner, key) => objectOf(inner)[key], value)

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A number or a string of digits as an integer from 0 to 1e12; 0 for anything else. */
export function countOf(value: unknown): number {
  const number = typeof value === 'string' && /^\d{1,13}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && number > 0 ? Math.min(MAX_COUNT, Math.round(number)) : 0
}

/** An RFC 3339 string or milliseconds since 1970 as `2026-01-31T12:34:56.789Z`; null for anything else. */
export function timeOf(value: unknown): string | null {
  // most are: to read and write one takes eight times as long
  if (typeof value === 'string' && isNormalized(value)) return value
  if (typeof value === 'string') return isTimestamp(value) ? normalizeTimestamp(value) : null
  if (typeof value !== 'number' || !(value > 0) || value >= LAST_TIME_MS) return null
  return new Date(value).toISOString()
}

/** The same for a database's `datetime('now')` too, which is in UTC and says so nowhere. */
export const storedTime = (value: unknown): string | null =>
  timeOf(value) ?? timeOf(`${textOf(value)?.replace(' ', 'T')}Z`)

/** The time of a UUIDv7 in milliseconds since 1970; undefined for any other id. */
export function timeOfUuid7(id: string | null): number | undefined {
  const digits = id?.match(/^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/i)
  return digits == null ? undefined : Number.parseInt(`${digits[1]}${digits[2]}`, 16)
}

/** A copy in memory of its own: a slice keeps its whole source alive (578 ids kept 235 MB). */
export function copyText(text: string): string {
  return Buffer.from(text).toString()
}

/** Returns the reason why a text is not parsed, although it may be JSON; undefined for one that is. */
export function beyondLimits(text: string): string | undefined {
  const { beyond } = scanJson(text, { depth: MAX_NESTING, values: MAX_VALUES })
  if (beyond === 'depth') return `nested more than ${MAX_NESTING} levels deep`
  return beyond && `more than ${MAX_VALUES} values`
}

/** The parsed value, or undefined for a text that is not JSON, or beyond the limits. */
export function parseJson(text: string): unknown {
  if (beyondLimits(text) !== undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text of message content: a string, or a list of strings and blocks with `text`, joined by newlines. */
export function blockText(content: unknown): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .flatMap((block) =>
      typeof block === 'string' ? block : isObject(block) ? (textOf(block.text) ?? []) : [],
    )
    .join('\n')
}

/** Every string inside a value, one per line and decoded: escapes of JSON such as `\"` would hide secrets from a scan. */
export function textsIn(value: unknown): string {
  const texts: string[] = []
  const collect = (part: unknown, depth: number): void => {
    if (typeof part === 'string') texts.push(part)
    else if (depth >= MAX_DEPTH) return
    else if (Array.isArray(part)) for (const item of part) collect(item, depth + 1)
    else if (isObject(part)) for (const item of Object.values(part)) collect(item, depth + 1)
  }
  collect(value, 0)
  return texts.join('\n')
}
