// Reads bytes of transcripts: packed or not, whole or their beginning.

import { closeSync, createReadStream, fstatSync, readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { decompressed, isPacked, MAGIC_BYTES } from '../../../base/decompress.ts'
import { openRegular } from '../git/regular-file.ts'

const CHUNK = 1024 * 1024
/** Bytes read of a packed file: a few kilobytes may unpack to any number, and take hours. */
const MAX_UNPACKED = 1024 ** 3
const DATABASE_MAGIC = 'SQLite format 3'

/** Whether the first bytes of a file are those of a SQLite database. */
export const isDatabase = (head: Buffer): boolean =>
  head.toString('latin1', 0, DATABASE_MAGIC.length) === DATABASE_MAGIC

/** Whether a file is packed by gzip or zstd. */
export const isPackedFile = (path: string): boolean => isPacked(headOf(path, MAGIC_BYTES))

/** The first bytes of a file as it is. Without promises: they take five times as long as the reads. */
function headOf(path: string, length: number): Buffer {
  const file = openRegular(path)
  try {
    return headIn(file, Math.min(length, fstatSync(file).size))
  } finally {
    closeSync(file)
  }
}

function headIn(file: number, length: number): Buffer {
  const head = Buffer.allocUnsafe(length)
  return head.subarray(0, readSync(file, head, 0, length, 0))
}

/**
 * The bytes of a file, unpacked if it is in gzip or zstd, streamed. A chunk's buffer may be reused when the next one is
 * requested. `onBytes` gets the size of each chunk as it is in the file; `from`: the first byte of a file that is not packed.
 * Throws what the file system, gunzip or zstd say, and for a file that is not regular or unpacks to more than 1 GiB.
 */
export async function* bytesOf(
  path: string,
  onBytes: (count: number) => void,
  from = 0,
): AsyncGenerator<Buffer> {
  const file = openRegular(path)
  if (!isPacked(headIn(file, MAGIC_BYTES))) return yield* chunksOf(file, onBytes, from)
  const stream = createReadStream(path, { fd: file, highWaterMark: CHUNK })
  try {
    let unpacked = 0
    for await (const chunk of await decompressed(counted(stream, onBytes))) {
      unpacked += chunk.length
      if (unpacked > MAX_UNPACKED) throw new Error(`it unpacks to more than ${MAX_UNPACKED / 1024 ** 3} GiB`)
      yield chunk
    }
  } finally {
    stream.destroy()
  }
}

/** The chunks as they are; `onBytes` gets the size of each. */
export async function* counted(
  chunks: AsyncIterable<Buffer>,
  onBytes: (count: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    onBytes(chunk.length)
    yield chunk
  }
}

/** Buffers of files that are read: new memory takes as long as the reads. */
const spare: Buffer[] = []

// All chunks of a file share one buffer. It is read without promises, since to hand a read to a thread takes longer than the
// read; timers, signals and requests get their turn after each chunk.
async function* chunksOf(
  file: number,
  onBytes: (count: number) => void,
  from: number,
): AsyncGenerator<Buffer> {
  const chunk = spare.pop() ?? Buffer.allocUnsafe(CHUNK)
  try {
    let position = from
    for (;;) {
      const count = readSync(file, chunk, 0, CHUNK, position)
      if (count === 0) return
      position += count
      onBytes(count)
      yield chunk.subarray(0, count)
      await setImmediate()
    }
  } finally {
    closeSync(file)
    spare.push(chunk)
  }
}

/** The first bytes of a file, unpacked, at most `length`; `isWhole`: there are no more. */
export async function readHead(path: string, length: number): Promise<{ head: Buffer; isWhole: boolean }> {
  const head = headOf(path, length)
  if (!isPacked(head)) return { head, isWhole: head.length < length }
  const parts: Buffer[] = []
  let size = 0
  for await (const chunk of bytesOf(path, () => {})) {
    const part = Buffer.from(chunk.subarray(0, length - size))
    parts.push(part)
    size += part.length
    if (size >= length) break
  }
  return { head: Buffer.concat(parts), isWhole: size < length }
}
