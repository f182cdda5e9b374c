import { isTimestamp, normalizeTimestamp } from '../../dates.ts'

// Lenient access to what agents write: their formats have no schema and drift with every version, so a field of a wrong
// kind counts as absent.

export type Json = Record<string, unknown>

/** Above this no field of ours holds a count. */
const MAX_COUNT = 1e12
/** Deeper than any agent nests; a hostile file must not exhaust the stack. */
const MAX_DEPTH = 40
const LAST_TIME_MS = Date.UTC(10_000, 0, 1)

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is an object, else an empty one. */
export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {}
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value if it is a text that is not empty. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A whole number from 0 to 1e12, also from a quoted one; anything else is 0. */
export function countOf(value: unknown): number {
  const number = typeof value === 'string' && /^\d{1,13}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && number > 0 ? Math.min(MAX_COUNT, Math.round(number)) : 0
}

/** An RFC 3339 text or milliseconds since 1970, as `2026-01-31T12:34:56.789Z`; null for anything else. */
export function timeOf(value: unknown): string | null {
  if (typeof value === 'string') return isTimestamp(value) ? normalizeTimestamp(value) : null
  if (typeof value !== 'number' || !(value > 0) || value >= LAST_TIME_MS) return null
  return new Date(value).toISOString()
}

/** A copy that does not keep alive the long text it was cut from, as a slice does (seen: 235 MB by 578 ids). */
export function ownText(text: string): string {
  return Buffer.from(text).toString()
}

/** The parsed text, or undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Every text inside a value, one a line, so that a scan sees them decoded (`\"` in JSON hides secrets). */
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
