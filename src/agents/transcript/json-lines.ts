import { type Line, type LineBytes, MAX_LINE_BYTES, splitBytes, splitLines } from '../../split-lines.ts'
import { bytesOf } from './file-bytes.ts'
import { noteUnreadable, type SourceFile } from './source-file.ts'

/** The reason given for a line that is longer than `splitLines` reads. */
export const LINE_TOO_LONG = `longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB`

/**
 * Streams a file of one JSON value per line. `read` gets each value with its line number, from 1, and returns why it cannot
 * use the value, or undefined. Lines that are no JSON and values that `read` cannot use are noted in `file.unreadable`.
 * `parsePart` may give the value of a line without fields that `read` has no use for; undefined for a line to parse whole.
 */
export async function readJsonLines(
  file: SourceFile,
  read: (value: unknown, lineNumber: number) => string | undefined,
  parsePart: (line: Buffer) => unknown = () => undefined,
): Promise<void> {
  for await (const line of splitBytes(bytesOf(file.path, file.onBytes))) {
    Object.assign(file.group.cursor, { line: line.number, item: 0 })
    const parsed = parseLine(line, parsePart)
    const problem = 'reason' in parsed ? parsed.reason : read(parsed.value, line.number)
    if (problem !== undefined) noteUnreadable(file, line.number, problem)
    await file.group.scan.flushIfFull()
  }
}

/** The lines of a file, streamed: see `splitLines` and `bytesOf`. */
export async function* readLines(path: string, onBytes: (count: number) => void): AsyncGenerator<Line> {
  yield* splitLines(bytesOf(path, onBytes))
}

function parseLine(
  { bytes }: LineBytes,
  parsePart: (line: Buffer) => unknown,
): { value: unknown } | { reason: string } {
  if (bytes === undefined) return { reason: LINE_TOO_LONG }
  const part = parsePart(bytes)
  if (part !== undefined) return { value: part }
  const text = bytes.toString('utf8')
  try {
    // without a byte order mark
    return { value: JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) }
  } catch {
    return { reason: text.includes('\u0000') ? 'not JSON (NUL bytes)' : 'not JSON, or cut off' }
  }
}
