import { bodyError, type PackedBody, tooLarge } from '../http/body.ts'

/** Parts of a body that is not packed: scanning one takes some 0.1 ms. */
const CHUNK_BYTES = 64 * 1024

/** The unpacked body in parts. Throws VALIDATION_ERROR: 413 beyond `maxBytes`, 400 for a damaged body. */
export async function* unpack(
  { bytes, encoding }: PackedBody,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void, void> {
  let size = 0
  for await (const chunk of encoding === undefined ? chunksOf(bytes) : decompressed(bytes, encoding)) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge(maxBytes)
    yield chunk
  }
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

/** Uses DecompressionStream: Bun 1.4.5's `createZstdDecompress` accepts a truncated body as a complete one. */
async function* decompressed(
  bytes: Uint8Array<ArrayBuffer>,
  encoding: 'gzip' | 'zstd',
): AsyncGenerator<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(encoding))
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw bodyError(`must be valid ${encoding}`)
      })
      if (done) return
      yield value
    }
  } finally {
    // a body may be refused before its end
    await reader.cancel().catch(() => {})
  }
}
