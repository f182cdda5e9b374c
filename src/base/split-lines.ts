// Splits a stream of bytes into lines, and cuts those that are too long.

import { fieldError } from './errors.ts'

export interface Line {
  /** The number of the line, from 1. Blank lines are counted, but not returned. */
  number: number
  /** Undefined when the line is longer than the limit. */
  text: string | undefined
}

/** Tool results of 67 MB on one line exist. Such a line holds no usage: only its number is reported. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024
const NEWLINE = 10
/** The first byte of nearly all lines, which are objects of JSON. */
const OPENING_BRACE = 0x7b

/** A line as bytes, which may be reused when the next line is requested. Undefined when it is longer than the limit. */
export interface LineBytes {
  number: number
  bytes: Buffer | undefined
}

/** The lines of a stream of bytes: see `splitBytes`. Bytes that are not UTF-8 become U+FFFD. */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  for await (const { number, bytes } of splitBytes(chunks)) yield { number, text: bytes?.toString('utf8') }
}

/**
 * The lines of a stream of bytes. At most one line and one chunk are in memory; a chunk's buffer may be reused later. Throws
 * VALIDATION_ERROR beyond `maxLines`, blank ones included.
 */
export async function* splitBytes(
  chunks: AsyncIterable<Buffer>,
  maxLines = Number.POSITIVE_INFINITY,
): AsyncGenerator<LineBytes> {
  let number = 1
  let parts: Buffer[] = []
  let length = 0
  const take = (end: Buffer): LineBytes => {
    if (number > maxLines) throw fieldError('body', `must have at most ${maxLines} lines`, 'TOO_LARGE')
    const isTooLong = length + end.length > MAX_LINE_BYTES
    const whole = parts.length === 0 || isTooLong ? end : Buffer.concat([...parts, end])
    parts = []
    length = 0
    return { number: number++, bytes: isTooLong ? undefined : whole }
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = take(chunk.subarray(start, end))
      if (!isBlank(line)) yield line
      start = end + 1
    }
    length += chunk.length - start
    if (length <= MAX_LINE_BYTES) parts.push(Buffer.from(chunk.subarray(start)))
    else parts = []
  }
  if (length === 0) return
  const line = take(Buffer.alloc(0))
  if (!isBlank(line)) yield line
}

const isBlank = ({ bytes }: LineBytes): boolean =>
  bytes !== undefined && bytes[0] !== OPENING_BRACE && /^[\s\uFEFF]*$/.test(bytes.toString('utf8'))
