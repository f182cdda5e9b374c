import { closeSync, createReadStream, existsSync, openSync, readSync, statSync } from 'node:fs'
import { Readable, type Transform } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { OperatorError } from '../errors.ts'

export interface NumberedLine {
  /** From 1; blank lines count and are left out. */
  number: number
  /** Undefined when the line is longer than the limit. */
  text: string | undefined
}

export const MAX_LINE_BYTES = 32 * 1024 * 1024
const CHUNK = 1024 * 1024
const NEWLINE = 10
const GZIP = [0x1f, 0x8b]
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd]

/** The size of a file in bytes; null for standard input (`-`). Throws OperatorError when it cannot be read. */
export function sizeOf(path: string): number | null {
  if (path === '-') return null
  if (!existsSync(path)) throw new OperatorError(`no such file: ${path}`)
  const stats = statSync(path)
  if (stats.isDirectory()) throw new OperatorError(`${path} is a folder`)
  return stats.size
}

/**
 * The lines of a file, or of standard input for `-`, unpacked when they are packed by gzip or zstd. Streams; `onBytes`
 * hears of what was read as it lies on disk. Throws OperatorError when the file cannot be read or is damaged.
 */
export async function* readNumberedLines(
  path: string,
  onBytes: (count: number) => void,
): AsyncGenerator<NumberedLine> {
  try {
    yield* splitLines(openUnpacked(path, onBytes))
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    throw new OperatorError(`${path} cannot be read: ${error.message}`)
  }
}

function openUnpacked(path: string, onBytes: (count: number) => void): AsyncIterable<Buffer> {
  const source = counted(
    path === '-' ? process.stdin : createReadStream(path, { highWaterMark: CHUNK }),
    onBytes,
  )
  const unpacker = path === '-' ? undefined : unpackerOf(path)
  if (unpacker === undefined) return source
  const packed = Readable.from(source)
  packed.on('error', (error) => unpacker.destroy(error))
  return packed.pipe(unpacker)
}

async function* counted(
  chunks: AsyncIterable<Buffer>,
  onBytes: (count: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    onBytes(chunk.length)
    yield chunk
  }
}

function unpackerOf(path: string): Transform | undefined {
  const head = Buffer.alloc(ZSTD.length)
  const descriptor = openSync(path, 'r')
  try {
    readSync(descriptor, head, 0, head.length, 0)
  } finally {
    closeSync(descriptor)
  }
  if (GZIP.every((byte, index) => head[index] === byte)) return createGunzip()
  return ZSTD.every((byte, index) => head[index] === byte) ? createZstdDecompress() : undefined
}

async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<NumberedLine> {
  let number = 1
  let parts: Buffer[] = []
  let length = 0
  const take = (end: Buffer): NumberedLine => {
    const isTooLong = length + end.length > MAX_LINE_BYTES
    const text = isTooLong ? undefined : Buffer.concat([...parts, end]).toString('utf8')
    parts = []
    length = 0
    return { number: number++, text }
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = take(chunk.subarray(start, end))
      if (!isBlank(line)) yield line
      start = end + 1
    }
    const rest = chunk.subarray(start)
    length += rest.length
    if (length <= MAX_LINE_BYTES) parts.push(rest)
    else parts = []
  }
  if (length === 0) return
  const line = take(Buffer.alloc(0))
  if (!isBlank(line)) yield line
}

const isBlank = ({ text }: NumberedLine): boolean => text !== undefined && text.trim() === ''
