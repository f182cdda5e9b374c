import { MAX_STORED_BODY_BYTES } from './attempt-result.ts'

/** After this many bytes of a body the connection is closed. */
const MAX_READ_BODY_BYTES = 16_384

/** Cuts a body to MAX_STORED_BODY_BYTES of text that PostgreSQL can store, without an incomplete last character. */
function textOf(bytes: Uint8Array, isWhole: boolean): string {
  const text = new TextDecoder().decode(bytes, { stream: !isWhole }).replaceAll('\0', '\uFFFD')
  // longer, since each invalid byte becomes U+FFFD, which has three bytes
  if (Buffer.byteLength(text) <= MAX_STORED_BODY_BYTES) return text
  return new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_STORED_BODY_BYTES), { stream: true })
}

export function createResponseBody() {
  const chunks: Buffer[] = []
  let read = 0
  return {
    /** Returns whether more is to be read. */
    add(chunk: Buffer): boolean {
      if (read < MAX_STORED_BODY_BYTES) chunks.push(chunk.subarray(0, MAX_STORED_BODY_BYTES - read))
      read += chunk.length
      return read < MAX_READ_BODY_BYTES
    },
    text: (): string => (read === 0 ? '' : textOf(Buffer.concat(chunks), read <= MAX_STORED_BODY_BYTES)),
  }
}

/** Reads a response's body and keeps its beginning. */
export type ResponseBody = ReturnType<typeof createResponseBody>
