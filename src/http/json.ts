import { type FieldProblem, MAX_PROBLEMS } from '../errors.ts'
import { findUnstorable } from '../text.ts'

/** Deepest nesting: no record needs more, and 30,000 nested arrays would overflow the validators' stack. */
const MAX_DEPTH = 64
/** Largest number of values: no body of 1 MiB needs more, and half a million would take 50 ms to build. */
const MAX_VALUES = 50_000
/** An escape that may stand for NUL or for half of a character, which PostgreSQL cannot store. */
const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Names the limit that `text` exceeds, before parsing builds all values; undefined within the limits. */
function excessOf(text: string): string | undefined {
  let depth = 0
  let values = 1
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      // Skips to the end of the string. In invalid JSON the count may be wrong, but only after the position of the
      // error.
      for (i++; i < text.length; i++) {
        const inner = text.charCodeAt(i)
        if (inner === BACKSLASH) i++
        else if (inner === QUOTE) break
      }
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1
      values += 1
      if (depth > MAX_DEPTH) return `must be nested at most ${MAX_DEPTH} levels deep`
    } else if (code === 0x5d || code === 0x7d) {
      depth -= 1
    } else if (code === 0x2c) {
      values += 1
    }
    if (values > MAX_VALUES) return `must have at most ${MAX_VALUES} values`
  }
  return undefined
}

/** Adds what PostgreSQL cannot store in `value`, parsed from `text`, to `problems`. */
export function refuseUnstorable(
  text: string,
  value: unknown,
  field: string,
  problems: FieldProblem[],
): void {
  if (SUSPICIOUS_ESCAPE.test(text)) findUnstorable(value, field, problems, MAX_PROBLEMS)
}

/** The value of one JSON text; problems are added to `problems`. */
export function parseJson(text: string, problems: FieldProblem[]): unknown {
  const refuse = (message: string) => {
    problems.push({ field: 'body', message })
  }
  if (text.trim() === '') return refuse('must not be empty')
  const excess = excessOf(text)
  if (excess !== undefined) return refuse(excess)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refuse('must be valid JSON')
  }
  refuseUnstorable(text, value, '', problems)
  return value
}

/** The problems with `numberOf(position)`, unless undefined, in each `records[<position>]`. */
export const renumberRecords = (
  problems: readonly FieldProblem[],
  numberOf: (position: number) => number | undefined,
): FieldProblem[] =>
  problems.map(({ field, message }) => ({
    field: field.replace(/^records\[(\d+)\]/, (name, position: string) => {
      const number = numberOf(Number(position))
      return number === undefined ? name : `records[${number}]`
    }),
    message,
  }))
