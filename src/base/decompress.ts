// Unpacks gzip and zstd (transcripts, files of `import` and of backups), which their first bytes distinguish.

import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

const GZIP = [0x1f, 0x8b]
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd]
/** The bytes that tell whether a stream is packed. */
export const MAGIC_BYTES = ZSTD.length

/** Whether a stream that begins with these bytes is packed by gzip or zstd. */
export const isPacked = (head: Uint8Array): boolean => startsWith(head, ZSTD) || startsWith(head, GZIP)

/**
 * A stream without its packing by gzip or zstd, if it has one. Detects it by the first bytes, which are then put back:
 * standard input cannot be read twice. Chunks must have memory of their own. Errors of gunzip have a code; those of
 * zstd are TypeErrors.
 */
export async function decompressed(chunks: AsyncGenerator<Buffer>): Promise<AsyncIterable<Buffer>> {
  let head = Buffer.alloc(0)
  while (head.length < MAGIC_BYTES) {
    const { done, value } = await chunks.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  const whole = prepend(head, chunks)
  if (startsWith(head, ZSTD)) return decompressZstd(whole)
  if (!startsWith(head, GZIP)) return whole
  const compressed = Readable.from(whole)
  const gunzip = createGunzip()
  compressed.on('error', (error) => gunzip.destroy(error))
  return compressed.pipe(gunzip)
}

const startsWith = (head: Uint8Array, bytes: readonly number[]): boolean =>
  bytes.every((byte, index) => head[index] === byte)

async function* prepend(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head
  yield* rest
}

/**
 * Decompresses a stream of zstd frames. By DecompressionStream: Bun 1.4.5's `createZstdDecompress` accepts a truncated
 * file as a complete one. Throws TypeError when the input is damaged or cut off.
 */
export async function* decompressZstd(compressed: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await compressed.next()
      if (done) controller.close()
      else controller.enqueue(new Uint8Array(value))
    },
  })
  for await (const chunk of source.pipeThrough(new DecompressionStream('zstd')))
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
