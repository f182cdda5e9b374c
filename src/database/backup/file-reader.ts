// Opens the file of a backup, checks its checksum and signature, and reads its tables.

import { createReadStream, type Stats, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { decompressZstd } from '../../base/decompress.ts'
import { codeOf, messageOf, OperatorError } from '../../base/errors.ts'
import {
  END_OF_ROWS,
  parseHeader,
  parseSignature,
  parseSums,
  parseTableLine,
  type TableSum,
  TRAILER_BYTES,
  trailerOf,
} from './format.ts'
import { checkSignature, type Signature } from './signature.ts'

const READ_BYTES = 256 * 1024
/** The header holds a checksum for each migration, the sums a line for each table: both are some kilobytes. */
const MAX_LINE_BYTES = 1024 * 1024
const LINE_FEED = Buffer.from('\n')
const END = Buffer.from(`\n${END_OF_ROWS}`)

/** Opens a backup whose checksum is right. `onBytes` gets bytes of the file read. Throws OperatorError. */
export async function openBackup(path: string, onBytes: (count: number) => void) {
  const size = sizeOf(path)
  const { length, digest, signature } = await checkBytes(path, size)
  const source = createTextSource(decompressZstd(readBytes(path, length, onBytes)))
  const header = await damaged(path, async () => parseHeader(await source.line()))
  let sums: readonly TableSum[] | undefined
  return {
    header,
    /** Tells who made it, as far as the key at hand can tell. */
    signatureBy: (key: Uint8Array | undefined): Signature => checkSignature(signature, digest, key),
    /** All tables; once, in their order. */
    tables: readTables(path, source, (list) => (sums = list)),
    /** The sums of all tables; known after the last one. */
    sums(): readonly TableSum[] {
      if (sums === undefined) throw new Error('the tables were not read to their end')
      return sums
    },
  }
}

/** A backup whose bytes are those that were written. */
export type OpenBackup = Awaited<ReturnType<typeof openBackup>>

/** A file's size in bytes. Throws OperatorError when it is not a file that can be read. */
export function sizeOf(path: string): number {
  let stats: Stats
  try {
    stats = statSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new OperatorError(`no such file: ${path}`)
    throw new OperatorError(`${path} cannot be read: ${messageOf(error)}`)
  }
  if (!stats.isFile()) throw new OperatorError(`${path} is not a file`)
  return stats.size
}

/** Compares all bytes with the checksum at the end. Returns the length of the frames with text and their SHA-256. */
async function checkBytes(path: string, size: number) {
  const unusable = new OperatorError(`${path} is damaged or cut off, or is not a backup of this program`)
  if (size <= TRAILER_BYTES) throw unusable
  const end = await readEnd(path, size)
  const before = end.subarray(0, -TRAILER_BYTES)
  const signature = parseSignature(before)
  const length = size - TRAILER_BYTES - (signature === undefined ? 0 : TRAILER_BYTES)
  const hasher = new Bun.CryptoHasher('sha256')
  for await (const chunk of readBytes(path, length, () => {})) hasher.update(chunk)
  const digest = hasher.copy().digest()
  if (signature !== undefined) hasher.update(before)
  if (!trailerOf(hasher.digest()).equals(end.subarray(-TRAILER_BYTES))) throw unusable
  return { length, digest, signature }
}

/** Reads as many of the last bytes as the two frames behind the text may have. */
async function readEnd(path: string, size: number): Promise<Buffer> {
  const length = Math.min(size, 2 * TRAILER_BYTES)
  const handle = await open(path)
  try {
    return (await handle.read(Buffer.alloc(length), 0, length, size - length)).buffer
  } finally {
    await handle.close()
  }
}

async function* readBytes(
  path: string,
  length: number,
  onBytes: (count: number) => void,
): AsyncGenerator<Buffer> {
  if (length === 0) return
  for await (const chunk of createReadStream(path, { end: length - 1, highWaterMark: READ_BYTES })) {
    onBytes(chunk.length)
    yield chunk
  }
}

/** The tables with their rows as the text of COPY. `chunks` has to be read before the next table. */
async function* readTables(path: string, source: TextSource, onSums: (sums: readonly TableSum[]) => void) {
  for (;;) {
    const line = await damaged(path, () => source.line())
    const table = parseTableLine(line)
    if (table === undefined) {
      const sums = parseSums(line)
      if (sums === undefined)
        throw new OperatorError(`${path} is damaged: neither a table nor the sums follow`)
      return onSums(sums)
    }
    yield { ...table, chunks: source.rows() }
  }
}

async function damaged<Result>(path: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    throw new OperatorError(`${path} cannot be used: ${messageOf(error)}`)
  }
}

type TextSource = ReturnType<typeof createTextSource>

function createTextSource(chunks: AsyncGenerator<Buffer>) {
  let rest: Buffer = Buffer.alloc(0)
  const more = async (): Promise<Buffer> => {
    const { done, value } = await chunks.next()
    if (done) throw new OperatorError('it ends in the middle')
    return value
  }
  return {
    async line(): Promise<string> {
      let end = rest.indexOf(LINE_FEED)
      while (end === -1) {
        if (rest.length > MAX_LINE_BYTES) throw new OperatorError('it is not a backup of this program')
        const from = rest.length
        rest = Buffer.concat([rest, await more()])
        end = rest.indexOf(LINE_FEED, from)
      }
      const line = rest.toString('utf8', 0, end + 1)
      rest = rest.subarray(end + 1)
      return line
    },
    /** Everything up to the next `END_OF_ROWS`, which is read too. */
    async *rows(): AsyncGenerator<Buffer> {
      // begins with the line feed before the rows, so that the end of an empty table is found like any other
      let held: Buffer = Buffer.concat([LINE_FEED, rest])
      let from = LINE_FEED.length
      for (;;) {
        const end = held.indexOf(END)
        if (end !== -1) {
          rest = held.subarray(end + END.length)
          if (end + 1 > from) yield held.subarray(from, end + 1)
          return
        }
        // these bytes may be the beginning of the end
        const until = held.length - (END.length - 1)
        if (until > from) {
          yield held.subarray(from, until)
          held = held.subarray(until)
          from = 0
        }
        held = Buffer.concat([held, await more()])
      }
    },
  }
}
