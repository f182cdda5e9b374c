// Finds times, texts and objects in values of parsed JSON, for the readers of formats.

import { isNormalized, isTimestamp, normalizeTimestamp } from '../../../base/dates.ts'
import { isObject, type Json, listOf, textOf } from './json.ts'

/** UTC with milliseconds; null where it is not known. */
export type Time = string | null

const LAST_TIME_MS = Date.UTC(10_000, 0, 1)
/** Texts nested deeper are left out: a hostile file must not exhaust the stack. */
const MAX_DEPTH = 40

/** An RFC 3339 string or milliseconds since 1970 as `2026-01-31T12:34:56.789Z`; null for anything else. */
export function timeOf(value: unknown): Time {
  // most are: to read and write one takes eight times as long
  if (typeof value === 'string' && isNormalized(value)) return value
  if (typeof value === 'string') return isTimestamp(value) ? normalizeTimestamp(value) : null
  if (typeof value !== 'number' || !(value > 0) || value >= LAST_TIME_MS) return null
  return new Date(value).toISOString()
}

/** The same for a database's `datetime('now')` too, which is in UTC and says so nowhere. */
export const storedTime = (value: unknown): Time =>
  timeOf(value) ?? timeOf(`${textOf(value)?.replace(' ', 'T')}Z`)

/** The time of a UUIDv7 in milliseconds since 1970; undefined for any other id. */
export function timeOfUuid7(id: string | null): number | undefined {
  const digits = id?.match(/^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/i)
  return digits == null ? undefined : Number.parseInt(`${digits[1]}${digits[2]}`, 16)
}

export const objectsIn = (value: unknown): Json[] => listOf(value).filter(isObject)

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
