import { HTTPParser } from 'node:_http_common'

/** Of one answer of HTTP, interim ones too. */
const MAX_HEADER_BYTES = 16_384

/** What is heard of an answer while its bytes are read. */
export interface AnswerEvents {
  /** The headers of an answer are there, also of an interim one (1xx). */
  status(status: number): void
  body(chunk: Buffer): void
}

/** Reads the answers that come through one connection, one after another. */
export interface AnswerParser {
  /** Another answer is expected. */
  begin(): void
  /** What is wrong with the bytes, a code of HPE_ in it; null when nothing is. */
  read(bytes: Uint8Array): Error | null
  /** No more bytes will come, which is how some answers end. */
  end(): void
  /** The answer was read to its end. */
  isComplete(): boolean
  /** The receiver keeps the connection, and sent nothing after the answer. */
  isKept(): boolean
  free(): void
}

/** 101 is no such answer: what follows it is not HTTP. */
const isInterim = (status: number): boolean => status >= 100 && status <= 199 && status !== 101

/** Whether a header `Keep-Alive: timeout=1` (or 0) says that the connection goes before we would let it go. */
function isSoonClosed(headers: readonly string[]): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]
    if (name?.length === 10 && name.toLowerCase() === 'keep-alive')
      return /^timeout=0*[01](?!\d)/.test(headers[index + 1] ?? '')
  }
  return false
}

/**
 * The parser is llhttp, which node:http has as well: 1.5 µs an answer, and as strict as it is there. `free` has to be
 * called once, after which nothing may be.
 */
export function createAnswerParser(on: AnswerEvents): AnswerParser {
  const parser = new HTTPParser()
  let status = 0
  let isComplete = false
  let isKept = false
  const noteHeaders = (headers: readonly string[]) => {
    if (isSoonClosed(headers)) isKept = false
  }
  parser[HTTPParser.kOnMessageBegin] = () => {
    // of an answer that nobody asked for
    if (isComplete) isKept = false
  }
  parser[HTTPParser.kOnHeaders] = noteHeaders
  parser[HTTPParser.kOnHeadersComplete] = (...[, , headers, , , code, , , isKeptAlive]) => {
    if (isComplete) return 0
    status = code
    if (!isKeptAlive || code === 101) isKept = false
    if (headers !== undefined) noteHeaders(headers)
    on.status(code)
    return 0
  }
  parser[HTTPParser.kOnBody] = (chunk) => {
    if (!isComplete) on.body(chunk)
  }
  parser[HTTPParser.kOnMessageComplete] = () => {
    if (!isInterim(status)) isComplete = true
  }
  return {
    begin() {
      isComplete = false
      isKept = true
      parser.initialize(HTTPParser.RESPONSE, {}, MAX_HEADER_BYTES, HTTPParser.kLenientNone)
    },
    read(bytes) {
      const read = parser.execute(bytes)
      return typeof read === 'number' ? null : read
    },
    end() {
      parser.finish()
    },
    isComplete: () => isComplete,
    isKept: () => isKept,
    free: () => parser.close(),
  }
}
