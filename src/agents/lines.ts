import { open } from 'node:fs/promises'

/** A line of a file that could not be read, and why. */
export interface Unreadable {
  path: string
  /** From 1. */
  line: number
  reason: string
}

export interface Line {
  number: number
  /** Undefined when the line is longer than the limit. */
  text: string | undefined
}

const CHUNK = 1024 * 1024
/** A tool result of 67 MB on one line has been seen; such a line holds no usage and is named instead of read. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024
const NEWLINE = 10

/**
 * The lines of a file, streamed: at most one line and one megabyte are in memory. Blank lines are left out, their numbers
 * count. Bytes that are not UTF-8 become U+FFFD.
 */
export async function* readLines(path: string, onBytes: (count: number) => void): AsyncGenerator<Line> {
  const file = await open(path, 'r')
  try {
    let number = 1
    let parts: Buffer[] = []
    let length = 0
    const take = (end: Buffer): Line => {
      const tooLong = length + end.length > MAX_LINE_BYTES
      const whole = parts.length === 0 ? end : tooLong ? undefined : Buffer.concat([...parts, end])
      parts = []
      length = 0
      return { number: number++, text: tooLong ? undefined : whole?.toString('utf8') }
    }
    // one chunk for the whole file: what is left of a line at its end is copied out before it is filled again
    const chunk = Buffer.allocUnsafe(CHUNK)
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK)
      if (bytesRead === 0) break
      onBytes(bytesRead)
      const filled = chunk.subarray(0, bytesRead)
      let start = 0
      for (let end = filled.indexOf(NEWLINE); end !== -1; end = filled.indexOf(NEWLINE, start)) {
        const line = take(filled.subarray(start, end))
        if (!isBlank(line)) yield line
        start = end + 1
      }
      length += bytesRead - start
      if (length <= MAX_LINE_BYTES) parts.push(Buffer.from(filled.subarray(start)))
      else parts = []
    }
    if (length > 0) {
      const line = take(Buffer.alloc(0))
      if (!isBlank(line)) yield line
    }
  } finally {
    await file.close()
  }
}

const isBlank = ({ text }: Line): boolean => text !== undefined && /^[\s\uFEFF]*$/.test(text)

/** A JSON line without a byte order mark, or why it is none. */
export function parseLine({ text }: Line): { value: unknown } | { reason: string } {
  if (text === undefined) return { reason: `longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB` }
  try {
    return { value: JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) }
  } catch {
    return { reason: text.includes('\u0000') ? 'not JSON (NUL bytes)' : 'not JSON, or cut off' }
  }
}
