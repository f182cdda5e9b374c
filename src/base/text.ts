// Small functions on texts: plurals, cutting, comparing, escaping, and what PostgreSQL cannot store (NUL, half surrogates).

import type { FieldProblem } from './errors.ts'

/** `1 session`, `1,234 sessions`: the count is written as it is given. */
export const plural = (count: number | bigint | string, one: string, many = `${one}s`): string =>
  `${count} ${String(count) === '1' ? one : many}`

const REPLACEMENT = '\uFFFD'

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Whether every string in `value`, names of fields included, can be stored. */
function isAllStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isAllStorable)
  for (const name in value)
    if (!isStorable(name) || !isAllStorable((value as Record<string, unknown>)[name])) return false
  return true
}

/** An escape that may stand for NUL or for half of a character. */
const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/

/** Adds to `problems`, up to `limit`, each string in `value` that PostgreSQL cannot store. `json`: its JSON, if known. */
export function findUnstorable(
  value: unknown,
  field: string,
  problems: FieldProblem[],
  limit: number,
  json?: string,
): void {
  // without names of fields: nearly every value is storable
  const hasNone = json === undefined ? isAllStorable(value) : !SUSPICIOUS_ESCAPE.test(json)
  if (problems.length >= limit || hasNone) return
  if (typeof value === 'string') {
    if (isStorable(value)) return
    problems.push({ field: field || 'body', message: 'must not contain NUL or unpaired surrogates' })
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) findUnstorable(item, `${field}[${index}]`, problems, limit)
  } else if (value !== null && typeof value === 'object') {
    for (const [name, item] of Object.entries(value)) {
      findUnstorable(name, field, problems, limit)
      findUnstorable(item, field === '' ? name : `${field}.${name}`, problems, limit)
    }
  }
}

/** The first `length` UTF-16 units, one less where that would split a surrogate pair. */
export function cut(text: string, length: number): string {
  const head = text.slice(0, length)
  const last = head.charCodeAt(head.length - 1)
  return head.length < text.length && last >= 0xd800 && last <= 0xdbff ? head.slice(0, -1) : head
}

/** Replaces NUL and unpaired surrogates by U+FFFD in every text inside a value of JSON, in place. */
export function makeStorable(value: object): void {
  // without a list of all entries: a session may have 50,000 turns
  for (const name in value) {
    const item: unknown = Reflect.get(value, name)
    if (typeof item === 'object' && item !== null) makeStorable(item)
    else if (typeof item === 'string' && !isStorable(item))
      Reflect.set(value, name, item.toWellFormed().replaceAll('\0', REPLACEMENT))
  }
}

/** An address with its ASCII letters in lower case, as it is compared. The Kelvin sign is not k. */
export const asciiLower = (address: string): string =>
  address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Compares by UTF-16 units, for `sort`: the same order on every machine, unlike `localeCompare`. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The text as one word of a shell's command line. */
export const shellWord = (text: string): string =>
  /^[\w/.:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** Decodes a part of a query string; undefined when its percent-encoding or UTF-8 is invalid. */
export function decodePart(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** Characters that a terminal obeys rather than shows: controls but tab and line feed, and those of direction. */
const OBEYED = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** The text with these characters as `\u001b`, which is also how JSON writes them. */
export const visible = (text: string): string => text.replace(OBEYED, escaped)

/** A character as JSON writes it: `\u001b`. */
export const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
