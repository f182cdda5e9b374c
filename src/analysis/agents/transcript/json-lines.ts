import { type LineBytes, MAX_LINE_BYTES, splitBytes } from '../../../base/split-lines.ts'
import { readText } from '../git/regular-file.ts'
import { bytesOf, readDocument } from './file-bytes.ts'
import { isObject, type Json, parseJson } from './json-fields.ts'
import type { SourceFile } from './source-file.ts'

/** The reason given for a line that is longer than `splitLines` reads. */
export const LINE_TOO_LONG = `longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB`

const NO_OBJECT = 'not a JSON object'

/**
 * Streams a file of one JSON object per line. `read` gets each with its line number, from 1, and returns why it cannot
 * use it, or undefined. Lines that are no object and objects that `read` cannot use are noted in `file.unreadable`.
 */
export async function readJsonLines(
  file: SourceFile,
  read: (value: Json, lineNumber: number) => string | undefined,
): Promise<void> {
  for await (const line of splitBytes(bytesOf(file.path, file.onBytes))) {
    Object.assign(file.group.cursor, { line: line.number, item: 0 })
    const parsed = parseLine(line)
    const problem = 'reason' in parsed ? parsed.reason : readObject(parsed.value, line.number, read)
    if (problem !== undefined) file.noteUnreadable(line.number, problem)
    await file.group.scan.flushIfFull()
  }
}

const readObject = (
  value: unknown,
  number: number,
  read: (value: Json, number: number) => string | undefined,
): string | undefined => (isObject(value) ? read(value, number) : NO_OBJECT)

/**
 * Reads a file that is one JSON document. `messagesOf` gives its messages, or says why there are none; `read` gets each with
 * its index and returns why it cannot use it, or undefined.
 */
export async function readJsonDocument(
  file: SourceFile,
  messagesOf: (document: unknown) => readonly unknown[] | string,
  read: (message: Json, index: number) => string | undefined,
): Promise<void> {
  const found = await readDocument(file.path, file.onBytes)
  const messages = 'reason' in found ? found.reason : messagesOf(found.value)
  if (typeof messages === 'string') return file.noteUnreadable(1, messages)
  for (const [index, message] of messages.entries()) {
    const problem = readObject(message, index, read)
    if (problem !== undefined) file.noteUnreadable(1, `message ${index + 1}: ${problem}`)
    await file.group.scan.flushIfFull()
  }
}

/** Gives the messages of a document that is an object; `read` gets the object before them. */
export const messagesIn =
  (read: (document: Json) => readonly unknown[]) =>
  (document: unknown): readonly unknown[] | string =>
    isObject(document) ? read(document) : NO_OBJECT

/** The value of a JSON file beside a session's; undefined where it cannot be read. */
export const jsonAt = (path: string, onSkipped: (path: string, reason: string) => void = () => {}): unknown =>
  parseJson(readText(path, onSkipped) ?? '')

function parseLine({ bytes }: LineBytes): { value: unknown } | { reason: string } {
  if (bytes === undefined) return { reason: LINE_TOO_LONG }
  const text = bytes.toString('utf8')
  try {
    // without a byte order mark
    return { value: JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) }
  } catch {
    return { reason: text.includes('\u0000') ? 'not JSON (NUL bytes)' : 'not JSON, or cut off' }
  }
}
