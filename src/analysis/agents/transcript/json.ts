// Lenient access to fields of parsed JSON: agents' formats have no schema, so a field of an unexpected type is absent.

import { scanJson } from '../../records/sent-json.ts'

export type Json = Record<string, unknown>

/** Larger counts are cut to this one, the largest that the schema of records allows. */
const MAX_COUNT = 1e12
/** Values of one text, containers twice: a million are 128 MB of agents’ files, and up to 200 MB when they are parsed. */
const MAX_VALUES = 1_000_000
/** Nesting of one text: of agents' files 23 is the deepest known. */
const MAX_NESTING = 200

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {}
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

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
