import { ApiError, type FieldProblem } from '../errors.ts'
import { MAX_RECORDS } from '../sync/prepare.ts'

// These limits of a body are counted while it is unpacked, before JSON.parse builds it.

/** Limits of a body; see docs/sync.md. */
export interface SplitLimits {
  records: number
  /** Lines of NDJSON, blank ones too. */
  lines: number
  /** Values in one record: elements, fields and containers, at any depth. */
  recordValues: number
  /** Values in the whole body. */
  values: number
  /** Fields of one object. No schema has more than 100, and `details` of an audit entry no more than 3,300. */
  fields: number
  /** Objects and arrays inside each other; 30,000 would overflow the validators' stack. */
  depth: number
}

export const SPLIT_LIMITS: SplitLimits = {
  records: MAX_RECORDS,
  lines: 100_000,
  recordValues: 1_000_000,
  values: 2_500_000,
  fields: 4_096,
  depth: 64,
}

export const NEWLINE = 0x0a
export const QUOTE = 0x22
export const COMMA = 0x2c
export const COLON = 0x3a
export const BACKSLASH = 0x5c
export const OPEN_ARRAY = 0x5b
export const CLOSE_ARRAY = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
export const SPACE = 0x20
export const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
export const NOTHING = new Uint8Array(0)

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A VALIDATION_ERROR about one field. */
export const refused = (field: string, message: string, status = 400): ApiError =>
  new ApiError('VALIDATION_ERROR', `${field}: ${message}`, {
    status,
    details: [{ field, message } satisfies FieldProblem],
  })

/** The text of a record. Throws VALIDATION_ERROR unless it is UTF-8. */
export function decode(bytes: Uint8Array): string {
  try {
    return DECODER.decode(bytes)
  } catch {
    throw refused('body', 'must be valid UTF-8')
  }
}

export const tooManyRecords = (limit: number) =>
  new ApiError('VALIDATION_ERROR', `records: must be at most ${limit} in one request`, {
    status: 413,
    details: [{ field: 'records', message: `must be at most ${limit} in one request` }],
  })

/** The name of a record in errors. */
export const nameOf = (at: number): string => `records[${at}]`

/** True for white space only, and for a byte order mark among it. */
export function isBlank(bytes: Uint8Array): boolean {
  const first = bytes[0] ?? SPACE
  return first <= SPACE || first === BYTE_ORDER_MARK[0] ? decode(bytes).trim() === '' : false
}

/** The bytes since the last `take`, over the borders of chunks. */
export function createCollector() {
  let parts: Uint8Array[] = []
  return {
    /** Keeps a copy. */
    keep(part: Uint8Array) {
      if (part.length > 0) parts.push(part.slice())
    },
    /** All that was kept and `last`, as a view where that needs no copy. */
    take(last: Uint8Array): Uint8Array {
      if (parts.length === 0) return last
      const whole = Buffer.concat([...parts, last])
      parts = []
      return whole
    },
  }
}

/** Counts the values, fields and levels of records; `nameHere` names the record that is being read. */
export function createCounter(limits: SplitLimits, nameHere: () => string) {
  const fields = new Uint32Array(limits.depth + 2)
  let values = 0
  let total = 0
  return {
    restart() {
      values = 0
    },
    /** An element, a field or a container more. */
    value() {
      values += 1
      total += 1
      if (values > limits.recordValues) {
        throw refused(nameHere(), `must have at most ${limits.recordValues} values`, 413)
      }
      if (total > limits.values) {
        const message = `is beyond the ${limits.values} values of one request: send fewer records at a time`
        throw refused(nameHere(), message, 413)
      }
    },
    open(depth: number, name: () => string) {
      if (depth > limits.depth) throw refused(name(), `must be nested at most ${limits.depth} levels deep`)
      fields[depth] = 0
    },
    field(depth: number) {
      const count = (fields[depth] ?? 0) + 1
      fields[depth] = count
      if (count > limits.fields)
        throw refused(nameHere(), `must have at most ${limits.fields} fields in an object`)
    },
  }
}
