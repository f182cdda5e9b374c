import { decode, notJson, parseOnce } from '../../analysis/records/json.ts'
import { fieldError } from '../../base/errors.ts'
import { MAX_RECORDS, refuseTooMany } from '../sync/prepare.ts'

// Divides a body into records while it is unpacked, and counts what JSON.parse would build before it does.

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

/** One record as it was sent; `at` names it in errors: its line from 0 in NDJSON, else its index. */
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

const notAnObject = () => fieldError('body', 'must be an object')

/** The name of a record in errors. */
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
        throw fieldError(nameHere(), `must have at most ${limits.recordValues} values`, { status: 413 })
      if (total > limits.values) {
        const message = `is beyond the ${limits.values} values of one request: send fewer records at a time`
        throw fieldError(nameHere(), message, { status: 413 })
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

/**
 * A splitter of NDJSON (`isLines`), whose blank lines are no records, or of JSON of the form `{"records": [...]}`. Of JSON
 * the object around the records is kept, without them, and parsed at the end; its other fields are ignored.
 */
export function createSplitter(isLines: boolean, limits = SPLIT_LIMITS) {
  const collector = createCollector()
  /** 0: outside of all; in JSON 1: in the object, 2 and more: in the value of one of its fields. */
  let depth = 0
  let isInText = false
  let isEscaped = false
  let records = 0
  /** The line of NDJSON, else the index of the record. */
  let at = 0
  let isInRecords = isLines
  let envelope = ''
  let parts = 0
  let key = ''
  const counter = createCounter(limits, () => (isInRecords ? nameOf(at) : 'body'))

  const endRecord = (bytes: Uint8Array, isRecord: boolean, out: RecordText[]): void => {
    if (isRecord) {
      records += 1
      refuseTooMany(records, limits.records)
      out.push({ at, bytes })
    }
    at += 1
    counter.restart()
  }
  const endLine = (bytes: Uint8Array, out: RecordText[]): void => {
    depth = 0
    isInText = false
    isEscaped = false
    if (at >= limits.lines)
      throw fieldError('body', `must have at most ${limits.lines} lines`, { status: 413 })
    endRecord(bytes, !isBlank(bytes), out)
  }
  /** An element of `records` ends at `byte`. */
  const endElement = (byte: number, bytes: Uint8Array, out: RecordText[]): void => {
    const isRecord = !isBlank(bytes)
    // an empty array has none
    if (byte === CLOSE_OBJECT || (!isRecord && (byte === COMMA || records > 0))) throw notJson()
    endRecord(bytes, isRecord, out)
    if (byte === COMMA) return
    isInRecords = false
    envelope += ']'
  }
  /** A bracket, a colon or a comma of the object around the records; `bytes` is all since the one before. */
  const endPart = (byte: number, bytes: Uint8Array): void => {
    if (depth === 0 && byte === OPEN_ARRAY) throw notAnObject()
    parts += 1
    // a field has a colon, a comma, and a bracket that opens its value
    if (parts > 3 * limits.fields + 2) throw notJson()
    const part = decode(bytes)
    envelope += part + String.fromCharCode(byte)
    isInRecords = depth === 1 && byte === OPEN_ARRAY && part.trim() === '' && key === 'records'
    if (isInRecords && records > 0) throw fieldError('records', 'must be given once')
    if (byte === COLON) key = String(parseOnce(part))
    else if (byte === COMMA) key = ''
  }
  return {
    /** The records that end in this part of the body, some as views of it. Throws VALIDATION_ERROR. */
    push(chunk: Uint8Array): RecordText[] {
      const out: RecordText[] = []
      let start = 0
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i] ?? 0
        if (isInText && (byte !== NEWLINE || !isLines)) {
          if (isEscaped) isEscaped = false
          else if (byte === BACKSLASH) isEscaped = true
          else if (byte === QUOTE) isInText = false
          continue
        }
        if (IS_STRUCTURE[byte] === 0) continue
        if (byte === QUOTE) {
          isInText = true
          continue
        }
        if (byte === NEWLINE) {
          if (!isLines) continue
          endLine(collector.take(chunk.subarray(start, i)), out)
          start = i + 1
          continue
        }
        const isOpening = byte === OPEN_OBJECT || byte === OPEN_ARRAY
        if (isOpening || byte === COMMA) counter.value()
        else if (byte === COLON) counter.field(depth)
        if (!isLines && (isInRecords ? depth === 2 && !isOpening && byte !== COLON : depth <= 1)) {
          const bytes = collector.take(chunk.subarray(start, i))
          if (isInRecords) endElement(byte, bytes, out)
          else endPart(byte, bytes)
          start = i + 1
        }
        if (isOpening) {
          depth += 1
          if (depth > limits.depth) {
            const message = `must be nested at most ${limits.depth} levels deep`
            throw fieldError(isLines ? nameOf(at) : 'body', message)
          }
          counter.open(depth)
        } else if (depth > 0 && (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY)) {
          depth -= 1
        }
      }
      collector.keep(chunk.subarray(start))
      return out
    },
    /** The rest. Throws VALIDATION_ERROR for a body that is not complete. */
    end(): RecordText[] {
      const out: RecordText[] = []
      const rest = collector.take(NOTHING)
      if (isLines) endLine(rest, out)
      else envelope = (envelope + decode(rest)).trim()
      if (isLines ? records === 0 : envelope === '') throw fieldError('body', 'must not be empty')
      if (!isLines) refuseWithoutRecords(parseOnce(envelope))
      return out
    },
  }
}

function refuseWithoutRecords(envelope: unknown): void {
  if (typeof envelope !== 'object' || envelope === null || Array.isArray(envelope)) throw notAnObject()
  if (!('records' in envelope)) throw fieldError('records', 'is required')
  if (!Array.isArray(envelope.records)) throw fieldError('records', 'must be an array')
}
