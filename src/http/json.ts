import { ApiError, type FieldProblem } from '../errors.ts'
import { findUnstorable } from '../text.ts'

/** More than any record needs; 30,000 nested arrays would overflow the validators' stack. */
const MAX_DEPTH = 64
const MAX_PROBLEMS = 20
/** An escape that may stand for NUL or for half of a character, which PostgreSQL cannot store. */
const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** By body, where it was NDJSON: the line of each record, from 0. */
const linesOfBody = new WeakMap<object, number[]>()

/** True when brackets in `text` nest deeper than MAX_DEPTH; counted before parsing builds them all. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      // To the end of the string. In invalid JSON the count may be wrong, but only after the position of the
      // error.
      for (i++; i < text.length; i++) {
        const inner = text.charCodeAt(i)
        if (inner === BACKSLASH) i++
        else if (inner === QUOTE) break
      }
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1
      if (depth > MAX_DEPTH) return true
    } else if (code === 0x5d || code === 0x7d) {
      depth -= 1
    }
  }
  return false
}

/** The value of one JSON text; problems are added to `problems`, under `field`. */
export function parseJson(text: string, problems: FieldProblem[], field = ''): unknown {
  const refuse = (message: string) => {
    problems.push({ field: field || 'body', message })
  }
  if (text.trim() === '') return refuse('is empty')
  if (isTooDeep(text)) return refuse(`is nested deeper than ${MAX_DEPTH}`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refuse('is not valid JSON')
  }
  if (SUSPICIOUS_ESCAPE.test(text)) findUnstorable(value, field, problems, MAX_PROBLEMS)
  return value
}

/** NDJSON as `{ records }`; blank lines are left out. Problems are under `records[<line>]`. */
export function parseLines(text: string, problems: FieldProblem[]): { records: unknown[] } {
  const body: { records: unknown[] } = { records: [] }
  const lines: number[] = []
  let line = 0
  for (let start = 0; start < text.length && problems.length < MAX_PROBLEMS; line++) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const content = text.slice(start, end).trim()
    start = end + 1
    if (content === '') continue
    body.records.push(parseJson(content, problems, `records[${line}]`))
    lines.push(line)
  }
  if (body.records.length === 0) problems.push({ field: 'body', message: 'is empty' })
  linesOfBody.set(body, lines)
  return body
}

/**
 * Runs `work`, which processes `body`. If the body was NDJSON, the problems that `work` throws name
 * `records[<line>]` in place of `records[<position>]`: the two differ after blank lines.
 */
export async function withLineNumbers<Result>(body: object, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const lines = linesOfBody.get(body)
    if (lines === undefined || !(error instanceof ApiError) || error.options.details === undefined)
      throw error
    const details = renumberRecords(error.options.details, (position) => lines[position])
    const message = details.map(({ field, message }) => `${field}: ${message}`).join('; ')
    throw new ApiError(error.code, message, { ...error.options, details })
  }
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
