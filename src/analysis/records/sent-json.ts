// Reads JSON that clients send (bodies of requests, lines of a sync), within limits of depth and of values.

import { type JSONPath, visit } from 'jsonc-parser'
import { type FieldProblem, fieldError, MAX_PROBLEMS, validationError } from '../../base/errors.ts'
import { cut, findUnstorable } from '../../base/text.ts'

/** Deepest nesting: no record needs more, and 30,000 nested arrays would overflow the validators' stack. */
const MAX_DEPTH = 64
/** Largest number of values: no body of 1 MiB needs more, and half a million would take 50 ms to build. */
const MAX_VALUES = 50_000

/** Characters of a place that an error names. */
const MAX_PLACE = 200
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

interface JsonLimits {
  depth: number
  values: number
  /** Fields of one object; no limit unless given. */
  fields?: number
}

/**
 * The numbers of names and values in `text`, and the limit that it is beyond. It takes a twentieth of parsing, which builds
 * all values: a million of them take 80 to 180 MB. In invalid JSON the numbers may be wrong.
 */
export function scanJson(
  text: string,
  limits: JsonLimits,
): { names: number; values: number; beyond?: keyof JsonLimits } {
  const { fields: maxFields = Number.POSITIVE_INFINITY } = limits
  /** The fields of the object at each depth. */
  const fields: number[] = [0]
  let depth = 0
  let values = 1
  let names = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      i = endOfText(text, i)
      if (i === -1) break
    } else if (code === COLON) {
      names += 1
      const count = (fields[depth] ?? 0) + 1
      fields[depth] = count
      if (count > maxFields) return { names, values, beyond: 'fields' }
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      depth += 1
      values += 1
      if (depth > limits.depth) return { names, values, beyond: 'depth' }
      fields[depth] = 0
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
      depth = Math.max(0, depth - 1)
    } else if (code === COMMA) {
      values += 1
    }
    if (values > limits.values) return { names, values, beyond: 'values' }
  }
  return { names, values }
}

/** The number of names in `text`. Throws VALIDATION_ERROR beyond the limits. */
function countNames(text: string, maxValues: number): number {
  const { names, beyond } = scanJson(text, { depth: MAX_DEPTH, values: maxValues })
  if (beyond === 'depth') throw fieldError('body', `must be nested at most ${MAX_DEPTH} levels deep`)
  if (beyond === 'values') throw fieldError('body', `must have at most ${maxValues} values`, 'TOO_LARGE')
  return names
}

/** Adds to `problems` what PostgreSQL cannot store in `value`, parsed from `text`, and names that an object has twice. */
export function refuseUnkept(
  text: string,
  value: unknown,
  field: string,
  problems: FieldProblem[],
  names = countNames(text, Number.POSITIVE_INFINITY),
): void {
  findUnstorable(value, field, problems, MAX_PROBLEMS, text)
  const repeated = repeatedName(text, names, value)
  if (repeated === undefined) return
  problems.push({ field: field === '' ? repeated : `${field}.${repeated}`, message: 'must be given once' })
}

/** The text of a body, also with a byte order mark. Throws VALIDATION_ERROR unless it is UTF-8. */
export function decode(bytes: Uint8Array): string {
  try {
    return DECODER.decode(bytes)
  } catch {
    throw fieldError('body', 'must be valid UTF-8')
  }
}

const notJson = () => fieldError('body', 'must be valid JSON')

/** The value of a JSON text, and the number of names in it. Throws VALIDATION_ERROR as `countNames`, and for what is not JSON. */
function parse(text: string, maxValues: number): { value: unknown; names: number } {
  const names = countNames(text, maxValues)
  try {
    return { value: JSON.parse(text), names }
  } catch {
    throw notJson()
  }
}

/** Decodes the text of a JSON body, which may begin with a byte order mark. Throws VALIDATION_ERROR as `decode`. */
export const decodeJson = (bytes: Uint8Array): string => decode(bytes).replace(/^\uFEFF/, '')

/** The value of a JSON text. Throws VALIDATION_ERROR as `parse`, and for what an object has twice. */
export function parseOnce(text: string, maxValues = MAX_VALUES): unknown {
  const { value, names } = parse(text, maxValues)
  const repeated = repeatedName(text, names, value)
  if (repeated !== undefined) throw fieldError(repeated, 'must be given once')
  return value
}

/** The value of a body. Throws VALIDATION_ERROR as `parse`, and for what `refuseUnkept` finds. */
export function parseJson(bytes: Uint8Array, maxValues = MAX_VALUES): unknown {
  const text = decodeJson(bytes)
  if (text.trim() === '') throw fieldError('body', 'must not be empty')
  const { value, names } = parse(text, maxValues)
  const problems: FieldProblem[] = []
  refuseUnkept(text, value, '', problems, names)
  if (problems.length > 0) throw validationError(...problems)
  return value
}

/** The place of the first name that an object of `text` has twice; undefined for none: a value that it was parsed to has as many. */
function repeatedName(text: string, names: number, value: unknown): string | undefined {
  return names === namesOf(value) ? undefined : cut(placeOfRepeated(text), MAX_PLACE)
}

// elements of arrays have no names; Object.values and Reflect.get take four times as long
function namesOf(value: unknown): number {
  let names = 0
  if (Array.isArray(value)) for (const item of value) names += namesOf(item)
  else if (typeof value === 'object' && value !== null)
    for (const name in value) names += 1 + namesOf((value as Record<string, unknown>)[name])
  return names
}

/** The position of the quote that ends the text which begins at `start`; -1 for none, in invalid JSON. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1
    if ((end - before) % 2 === 0) return end
  }
  return -1
}

/** jsonc-parser takes five times as long as all above: it reads only what is refused. */
function placeOfRepeated(text: string): string {
  const open: Set<string>[] = []
  let place: JSONPath | undefined
  visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty(name, _offset, _length, _line, _character, path) {
      const names = open.at(-1)
      if (names?.has(name)) place ??= [...path(), name]
      names?.add(name)
    },
  })
  const parts = (place ?? []).map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
  return parts.join('').replace(/^\./, '')
}
