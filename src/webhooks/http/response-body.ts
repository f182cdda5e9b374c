import { KEPT_BODY_BYTES } from './attempt-result.ts'

/** Of an answer's body at most so many bytes are read; then its connection is closed. */
const READ_BODY_BYTES = 16_384

/** Takes an answer's body as it comes and keeps its beginning. */
export interface KeptBody {
  /** Whether more is wanted. */
  add(chunk: Buffer): boolean
  text(): string
}

/** Bytes as text that PostgreSQL can store, of at most KEPT_BODY_BYTES bytes; a character that is cut off is left out. */
function textOf(bytes: Uint8Array, isWhole: boolean): string {
  const text = new TextDecoder().decode(bytes, { stream: !isWhole }).replaceAll('\0', '\uFFFD')
  // what is no UTF-8 grows: a wrong byte becomes a character of three
  if (Buffer.byteLength(text) <= KEPT_BODY_BYTES) return text
  return new TextDecoder().decode(Buffer.from(text).subarray(0, KEPT_BODY_BYTES), { stream: true })
}

export function createKeptBody(): KeptBody {
  const chunks: Buffer[] = []
  let read = 0
  return {
    add(chunk) {
      if (read < KEPT_BODY_BYTES) chunks.push(chunk.subarray(0, KEPT_BODY_BYTES - read))
      read += chunk.length
      return read < READ_BODY_BYTES
    },
    text: () => (read === 0 ? '' : textOf(Buffer.concat(chunks), read <= KEPT_BODY_BYTES)),
  }
}
