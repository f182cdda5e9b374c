import { decode } from '../../analysis/records/json.ts'
import { fieldError } from '../../base/errors.ts'
import { MAX_RECORDS, refuseTooMany } from '../sync/prepare.ts'

// Divides NDJSON into records while it is unpacked, and counts what JSON.parse would build before it does.

/** Limits of a body; see docs/sync.md. */
export const SPLIT_LIMITS = {
  records: MAX_RECORDS,
  /** Lines of NDJSON, blank ones too. */
  lines: 100_000,
  /** Values in one record: elements, fields and containers, at any depth. */
  recordValues: 1_000_000,
  /** Values in the whole body. */
  values: 2_500_000,
  /** Fields of one object. No schema has more than 100, and `details` of an audit entry no more than 3,300. */
  fields: 4_096,
  /** Objects and arrays inside each other; 30,000 would overflow the validators' stack. */
  depth: 64,
}

/** One record as it was sent; `at` is its line from 0, which names it in errors. */
export interface RecordText {
  at: number
  bytes: Uint8Array
}

const NEWLINE = 0x0a
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const BYTE_ORDER_MARK = 0xef
const NOTHING = new Uint8Array(0)
/** 1 for the bytes between values, those that end a line, and those that begin a text. */
const IS_STRUCTURE = new Uint8Array(256)
for (const byte of [NEWLINE, QUOTE, COMMA, COLON, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT])
  IS_STRUCTURE[byte] = 1

export const nameOf = (at: number): string => `records[${at}]`

/** True for white space only, and for a byte order mark among it. */
function isBlank(bytes: Uint8Array): boolean {
  const first = bytes[0] ?? SPACE
  return first <= SPACE || first === BYTE_ORDER_MARK ? decode(bytes).trim() === '' : false
}

/** The bytes since the last `take`, over the borders of chunks. */
function createCollector() {
  let parts: Uint8Array[] = []
  return {
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

/** Counts the values and fields of records; `nameHere` names the record that is being read. */
function createCounter(limits: typeof SPLIT_LIMITS, nameHere: () => string) {
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
      if (values > limits.recordValues)
        throw fieldError(nameHere(), `must have at most ${limits.recordValues} values`, 'TOO_LARGE')
      if (total > limits.values) {
        const message = `is beyond the ${limits.values} values of one request: send fewer records at a time`
        throw fieldError(nameHere(), message, 'TOO_LARGE')
      }
    },
    open(depth: number) {
      fields[depth] = 0
    },
    field(depth: number) {
      const count = (fields[depth] ?? 0) + 1
      fields[depth] = count
      if (count > limits.fields)
        throw fieldError(nameHere(), `must have at most ${limits.fields} fields in an object`)
    },
  }
}

/** A splitter of NDJSON, whose blank lines are no records. */
export function createSplitter(limits = SPLIT_LIMITS) {
  const collector = createCollector()
  let depth = 0
  let isInText = false
  let isEscaped = false
  let records = 0
  let line = 0
  const counter = createCounter(limits, () => nameOf(line))

  const endLine = (bytes: Uint8Array, out: RecordText[]): void => {
    depth = 0
    isInText = false
    isEscaped = false
    if (line >= limits.lines) throw fieldError('body', `must have at most ${limits.lines} lines`, 'TOO_LARGE')
    if (!isBlank(bytes)) {
      records += 1
      refuseTooMany(records, limits.records)
      out.push({ at: line, bytes })
    }
    line += 1
    counter.restart()
  }
  return {
    /** The records that end in this part of the body, some as views of it. Throws VALIDATION_ERROR. */
    push(chunk: Uint8Array): RecordText[] {
      const out: RecordText[] = []
      let start = 0
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i] ?? 0
        if (isInText && byte !== NEWLINE) {
          if (isEscaped) isEscaped = false
          else if (byte === BACKSLASH) isEscaped = true
          else if (byte === QUOTE) isInText = false
          continue
        }
        if (IS_STRUCTURE[byte] === 0) continue
        if (byte === QUOTE) {
          isInText = true
        } else if (byte === NEWLINE) {
          endLine(collector.take(chunk.subarray(start, i)), out)
          start = i + 1
        } else if (byte === COLON) {
          counter.field(depth)
        } else if (byte === COMMA) {
          counter.value()
        } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
          counter.value()
          depth += 1
          if (depth > limits.depth)
            throw fieldError(nameOf(line), `must be nested at most ${limits.depth} levels deep`)
          counter.open(depth)
        } else if (depth > 0) {
          depth -= 1
        }
      }
      collector.keep(chunk.subarray(start))
      return out
    },
    /** The rest. Throws VALIDATION_ERROR for a body without records. */
    end(): RecordText[] {
      const out: RecordText[] = []
      endLine(collector.take(NOTHING), out)
      if (records === 0) throw fieldError('body', 'must not be empty')
      return out
    },
  }
}
