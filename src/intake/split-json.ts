import {
  BACKSLASH,
  BYTE_ORDER_MARK,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  createCollector,
  createCounter,
  decode,
  isBlank,
  NOTHING,
  nameOf,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  refused,
  SPACE,
  type SplitLimits,
  tooManyRecords,
} from './split-limits.ts'
import type { RecordText, Splitter } from './splitter.ts'

/** The first character of a value that is no object and no array. */
const BEGINS_VALUE = /["\-\dtfn]/

const notAnObject = () => refused('body', 'must be an object')
const notJson = () => refused('body', 'must be valid JSON')

function parsed(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw notJson()
  }
}

/** The object around the records: its fields one after the other, `records` without its elements. */
function createEnvelope() {
  /** Undefined before the colon. */
  let key: string | undefined
  let fields = 0
  let isAfterRecords = false
  let records: 'missing' | 'array' | 'other' = 'missing'
  return {
    /** Whether a value may begin here. */
    isBeforeValue: () => key !== undefined && !isAfterRecords,
    isRecords: () => key === 'records',
    endKey(bytes: Uint8Array) {
      if (key !== undefined) throw notJson()
      const name = parsed(bytes)
      if (typeof name !== 'string') throw notJson()
      key = name
    },
    beginRecords(before: Uint8Array) {
      if (!isBlank(before)) throw notJson()
      records = 'array'
    },
    endRecords() {
      isAfterRecords = true
    },
    /** Ends a field at a comma or at the end of the object. */
    endField(bytes: Uint8Array) {
      if (isAfterRecords) {
        if (!isBlank(bytes)) throw notJson()
      } else {
        if (key === undefined) throw notJson()
        parsed(bytes)
        if (key === 'records') records = 'other'
      }
      key = undefined
      isAfterRecords = false
      fields += 1
    },
    end(bytes: Uint8Array) {
      if (key !== undefined) this.endField(bytes)
      else if (fields > 0 || !isBlank(bytes)) throw notJson()
    },
    refuseWithoutRecords() {
      if (records === 'missing') throw refused('records', 'is required')
      if (records === 'other') throw refused('records', 'must be an array')
    },
  }
}

/** A splitter of JSON of the form `{"records": [...]}`; other fields of the object are ignored. */
export function createJsonSplitter(limits: SplitLimits): Splitter {
  const collector = createCollector()
  const envelope = createEnvelope()
  /** 0: outside; 1: in the object; 2 and more: in the value of one of its fields. */
  let depth = 0
  let isInRecords = false
  let records = 0
  let isInText = false
  let isEscaped = false
  let isOver = false
  /** Bytes of the byte order mark so far. */
  let marks = 0
  const nameHere = () => (isInRecords ? nameOf(records) : 'body')
  const nameOfBody = () => 'body'
  const counter = createCounter(limits, nameHere)

  const endRecord = (bytes: Uint8Array, isLast: boolean, out: RecordText[]): void => {
    counter.restart()
    if (isBlank(bytes)) {
      if (isLast && records === 0) return
      throw notJson()
    }
    if (records >= limits.records) throw tooManyRecords(limits.records)
    out.push({ at: records, bytes })
    records += 1
  }
  /** A bracket, a colon or a comma of the object or of the array of records; `part` is all since the one before. */
  const endPart = (byte: number, part: Uint8Array, out: RecordText[]): void => {
    if (depth === 2) {
      if (byte !== COMMA && byte !== CLOSE_ARRAY) throw notJson()
      endRecord(part, byte === CLOSE_ARRAY, out)
      if (byte === COMMA) return
      depth = 1
      isInRecords = false
      envelope.endRecords()
    } else if (depth === 0) {
      if (byte === OPEN_ARRAY && !isOver) throw notAnObject()
      if (byte !== OPEN_OBJECT || isOver || !isBlank(part)) throw notJson()
      depth = 1
    } else if (byte === COLON) {
      envelope.endKey(part)
    } else if (byte === COMMA) {
      envelope.endField(part)
    } else if (byte === CLOSE_OBJECT) {
      envelope.end(part)
      depth = 0
      isOver = true
    } else {
      envelope.beginRecords(part)
      if (records > 0) throw refused('records', 'must be given once')
      depth = 2
      isInRecords = true
    }
  }
  /** Whether a bracket, colon or comma ends a part of the object or of the array of records. */
  const endsPart = (byte: number, isOpening: boolean): boolean => {
    if (depth === 2) return isInRecords && !isOpening && byte !== COLON
    if (depth !== 1) return depth === 0
    if (byte === CLOSE_ARRAY || (isOpening && !envelope.isBeforeValue())) throw notJson()
    return !isOpening || (byte === OPEN_ARRAY && envelope.isRecords())
  }
  return {
    push(chunk) {
      const out: RecordText[] = []
      let start = 0
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i] ?? 0
        if (isInText) {
          if (isEscaped) isEscaped = false
          else if (byte === BACKSLASH) isEscaped = true
          else if (byte === QUOTE) isInText = false
          continue
        }
        const isOpening = byte === OPEN_OBJECT || byte === OPEN_ARRAY
        if (isOpening) {
          counter.value()
          counter.open(depth + 1, nameOfBody)
        } else if (byte === COMMA) {
          counter.value()
        } else if (byte === COLON) {
          counter.field(depth)
        } else if (byte !== CLOSE_OBJECT && byte !== CLOSE_ARRAY) {
          if (byte === QUOTE && depth > 0) isInText = true
          else if (depth === 0 && byte > SPACE) {
            if (isOver || byte !== BYTE_ORDER_MARK[marks])
              throw !isOver && BEGINS_VALUE.test(String.fromCharCode(byte)) ? notAnObject() : notJson()
            marks += 1
          }
          continue
        }
        if (depth <= 2 && endsPart(byte, isOpening)) {
          endPart(byte, collector.take(chunk.subarray(start, i)), out)
          start = i + 1
        } else if (isOpening) {
          depth += 1
        } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
          depth -= 1
        }
      }
      if (depth > 0 || !isOver) collector.keep(chunk.subarray(start))
      return out
    },
    end() {
      if (!isOver)
        throw depth === 0 && isBlank(collector.take(NOTHING))
          ? refused('body', 'must not be empty')
          : notJson()
      envelope.refuseWithoutRecords()
      return []
    },
  }
}
