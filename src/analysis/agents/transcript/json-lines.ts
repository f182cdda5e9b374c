// Reads files of agents as JSON: line by line, or as one document.

import { MAX_LINE_BYTES, splitBytes } from '../../../base/split-lines.ts'
import { readText } from '../git/regular-file.ts'
import { bytesOf } from './file-bytes.ts'
import { beyondLimits, isObject, type Json, parseJson } from './json.ts'
import type { SourceFile } from './source-file.ts'

/** The reason given for a line that is longer than `splitLines` reads. */
export const LINE_TOO_LONG = `longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB`

const NO_OBJECT = 'not a JSON object'
/** The largest document known has 30 MB. Reading one takes up to nine times its size of memory. */
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024

/** Gets a line with its number, from 1, or a message with its index; returns why it cannot use it, or undefined. */
type ReadObject = (value: Json, number: number) => string | undefined

/**
 * Streams a file of one JSON object per line. Lines that are no object and objects that `read` cannot use are
 * noted in `file.unreadable`.
 */
export async function readJsonLines(file: SourceFile, read: ReadObject): Promise<void> {
  for await (const { number, bytes } of splitBytes(bytesOf(file.path, file.onBytes))) {
    Object.assign(file.group.cursor, { line: number, item: 0 })
    const problem = bytes === undefined ? LINE_TOO_LONG : readLine(withoutMark(bytes), number, read)
    if (problem !== undefined) file.noteUnreadable(number, problem)
    await file.group.scan.flushIfFull()
  }
}

function readLine(text: string, number: number, read: ReadObject) {
  const value = parseJson(text)
  return value === undefined ? whyNotRead(text) : readObject(value, number, read)
}

/** Returns the reason why a text gave no value. */
export const whyNotRead = (text: string): string =>
  beyondLimits(text) ?? (text.includes('\u0000') ? 'not JSON (NUL bytes)' : 'not JSON, or cut off')

const readObject = (value: unknown, number: number, read: ReadObject): string | undefined =>
  isObject(value) ? read(value, number) : NO_OBJECT

/**
 * Reads a file that is one JSON document, as a whole in memory. `messagesOf` gives its messages, or says why there are none.
 */
export async function readJsonDocument(
  file: SourceFile,
  messagesOf: (document: unknown) => readonly unknown[] | string,
  read: ReadObject,
): Promise<void> {
  const parts: Buffer[] = []
  let size = 0
  for await (const chunk of bytesOf(file.path, file.onBytes)) {
    size += chunk.length
    if (size > MAX_DOCUMENT_BYTES)
      return file.noteUnreadable(1, `a document above ${MAX_DOCUMENT_BYTES / 1024 / 1024} MiB`)
    parts.push(Buffer.from(chunk))
  }
  const text = withoutMark(Buffer.concat(parts))
  const document = parseJson(text)
  const messages = document === undefined ? whyNotRead(text) : messagesOf(document)
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
export function jsonAt(path: string, onSkipped: (path: string, reason: string) => void = () => {}): unknown {
  const text = readText(path, onSkipped) ?? ''
  const value = parseJson(text)
  const reason = value === undefined ? beyondLimits(text) : undefined
  if (reason !== undefined) onSkipped(path, reason)
  return value
}

/** The text without a byte order mark. */
const withoutMark = (bytes: Buffer): string => bytes.toString('utf8').replace(/^\uFEFF/, '')
