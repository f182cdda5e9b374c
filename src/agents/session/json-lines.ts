import { type FileHandle, open } from 'node:fs/promises'
import { type Line, MAX_LINE_BYTES, splitLines } from '../../lines.ts'

/** A line of a file that could not be read, and why. */
export interface Unreadable {
  path: string
  /** From 1. */
  line: number
  reason: string
}

const CHUNK = 1024 * 1024

/** The lines of a file, streamed: see `splitLines`. */
export async function* readLines(path: string, onBytes: (count: number) => void): AsyncGenerator<Line> {
  const file = await open(path, 'r')
  try {
    yield* splitLines(chunksOf(file, onBytes))
  } finally {
    await file.close()
  }
}

// one chunk for the whole file
async function* chunksOf(file: FileHandle, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  const chunk = Buffer.allocUnsafe(CHUNK)
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK)
    if (bytesRead === 0) return
    onBytes(bytesRead)
    yield chunk.subarray(0, bytesRead)
  }
}

/** A JSON line without a byte order mark, or why it is none. */
export function parseLine({ text }: Line): { value: unknown } | { reason: string } {
  if (text === undefined) return { reason: `longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB` }
  try {
    return { value: JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) }
  } catch {
    return { reason: text.includes('\u0000') ? 'not JSON (NUL bytes)' : 'not JSON, or cut off' }
  }
}
