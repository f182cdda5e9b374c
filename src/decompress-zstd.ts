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
