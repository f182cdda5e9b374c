import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  createCollector,
  createCounter,
  isBlank,
  NEWLINE,
  NOTHING,
  nameOf,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  refused,
  type SplitLimits,
  tooManyRecords,
} from './split-limits.ts'
import type { RecordText, Splitter } from './splitter.ts'

/** A splitter of NDJSON; blank lines are no records. */
export function createLineSplitter(limits: SplitLimits): Splitter {
  const collector = createCollector()
  let line = 0
  let records = 0
  let depth = 0
  let isInText = false
  let isEscaped = false
  const nameHere = () => nameOf(line)
  const counter = createCounter(limits, nameHere)

  const endLine = (last: Uint8Array, out: RecordText[]): void => {
    const bytes = collector.take(last)
    const at = line
    line += 1
    depth = 0
    isInText = false
    isEscaped = false
    counter.restart()
    if (line > limits.lines) throw refused('body', `must have at most ${limits.lines} lines`, 413)
    if (isBlank(bytes)) return
    records += 1
    if (records > limits.records) throw tooManyRecords(limits.records)
    out.push({ at, bytes })
  }
  return {
    push(chunk) {
      const out: RecordText[] = []
      let start = 0
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i]
        if (byte === NEWLINE) {
          endLine(chunk.subarray(start, i), out)
          start = i + 1
        } else if (isInText) {
          if (isEscaped) isEscaped = false
          else if (byte === BACKSLASH) isEscaped = true
          else if (byte === QUOTE) isInText = false
        } else if (byte === QUOTE) {
          isInText = true
        } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
          depth += 1
          counter.value()
          counter.open(depth, nameHere)
        } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
          if (depth > 0) depth -= 1
        } else if (byte === COMMA) {
          counter.value()
        } else if (byte === COLON) {
          counter.field(depth)
        }
      }
      collector.keep(chunk.subarray(start))
      return out
    },
    end() {
      const out: RecordText[] = []
      endLine(NOTHING, out)
      if (records === 0) throw refused('body', 'must not be empty')
      return out
    },
  }
}
