import { createReadStream, existsSync, statSync } from 'node:fs'
import { counted } from '../../analysis/agents/transcript/file-bytes.ts'
import { decompressed } from '../../base/decompress.ts'
import { OperatorError } from '../../base/errors.ts'
import { type Line, splitLines } from '../../base/split-lines.ts'

const CHUNK = 1024 * 1024

/** A file's size in bytes; null for standard input (`-`). Throws OperatorError when it cannot be read. */
export function sizeOf(path: string): number | null {
  if (path === '-') return null
  if (!existsSync(path)) throw new OperatorError(`no such file: ${path}`)
  const stats = statSync(path)
  if (stats.isDirectory()) throw new OperatorError(`${path} is a folder`)
  return stats.size
}

/**
 * The lines of a file, or of standard input for `-`, decompressed if they are in gzip or zstd. Streams;
 * `onBytes` gets the number of bytes read, before decompression. Throws OperatorError when the file cannot be
 * read or is damaged.
 */
export async function* readDecompressedLines(
  path: string,
  onBytes: (count: number) => void,
): AsyncGenerator<Line> {
  const source = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: CHUNK })
  try {
    yield* splitLines(await decompressed(counted(source, onBytes)))
  } catch (error) {
    // errors of the file system and of gunzip have a code; DecompressionStream throws a TypeError
    if (!(error instanceof Error) || !('code' in error || error instanceof TypeError)) throw error
    throw new OperatorError(`${path} cannot be read: ${error.message}`)
  }
}
