import {
  addField,
  framingOf,
  isFieldLine,
  isInterim,
  isPersistent,
  mayBeStatusLine,
  parseStatusLine,
  type ResponseHead,
} from './response-head.ts'

/** Limit for the heads of one response, interim ones too; and for its trailers and chunk extensions. */
const MAX_HEAD_BYTES = 16_384
const LF = 10

/** The parser calls these while it reads the bytes of a response. */
export interface ResponseEvents {
  /** The head of a response was read, also of an interim one (1xx). */
  status(status: number): void
  body(chunk: Buffer): void
}

/** A response cannot be read; the message is shown to the endpoint's owner. */
export class ResponseError extends Error {}

const headTooLarge = () => new ResponseError('the headers of the answer are larger than 16 KiB')
const notHttp = () => new ResponseError('the answer is not HTTP/1.1')

/** The kind of the next bytes: lines, except in the bodies, `chunk-data` and `complete`. */
type State =
  | 'status-line'
  | 'fields'
  | 'body'
  | 'body-until-close'
  | 'chunk-size'
  | 'chunk-data'
  | 'chunk-end'
  | 'trailers'
  | 'complete'

/** A parser for one connection. Reading a response takes some 3 µs. */
export function createResponseParser(on: ResponseEvents) {
  let state: State = 'status-line'
  let isKept = true
  let head: ResponseHead | undefined
  /** Bytes of the body or the chunk that have not been received. */
  let left = 0
  /** The line so far. */
  let line = ''
  /** Bytes of lines that count against MAX_HEAD_BYTES. */
  let lineBytes = 0

  const endHead = (ended: ResponseHead): boolean => {
    const framing = framingOf(ended)
    if (framing === undefined) return false
    head = undefined
    lineBytes = 0
    if (isInterim(ended.status)) state = 'status-line'
    else {
      if (!isPersistent(ended) || framing === 'until-close') isKept = false
      if (framing === 'chunked') state = 'chunk-size'
      else if (framing === 'until-close') state = 'body-until-close'
      else state = framing === 0 ? 'complete' : 'body'
      if (typeof framing === 'number') left = framing
    }
    on.status(ended.status)
    return true
  }
  const readChunkSize = (text: string): boolean => {
    const [, digits] = /^([0-9A-Fa-f]+)(?:;[\t\x20-\x7e\x80-\xff]*)?$/.exec(text) ?? []
    if (digits === undefined) return false
    left = Number.parseInt(digits, 16)
    state = left === 0 ? 'trailers' : 'chunk-data'
    // only extensions count, since a body may have any number of chunks
    lineBytes -= digits.length + 2
    return left <= Number.MAX_SAFE_INTEGER
  }
  /** A line without its CRLF; false when it is invalid. */
  const readLine = (text: string): boolean => {
    switch (state) {
      case 'status-line':
        // empty lines before a response are skipped, as RFC 9112 asks of servers
        if (text === '') return true
        head = parseStatusLine(text)
        state = 'fields'
        return head !== undefined
      case 'fields':
        if (head === undefined) return false
        return text === '' ? endHead(head) : addField(head, text)
      case 'chunk-size':
        return readChunkSize(text)
      case 'chunk-end':
        state = 'chunk-size'
        lineBytes -= 2
        return text === ''
      case 'trailers':
        if (text === '') state = 'complete'
        return text === '' || isFieldLine(text)
      default:
        return false
    }
  }
  /** Reports the bytes that belong to the body. Returns the index after them. */
  const readBody = (bytes: Buffer, from: number): number => {
    const end = state === 'body-until-close' ? bytes.length : Math.min(bytes.length, from + left)
    left -= end - from
    if (left === 0 && state === 'body') state = 'complete'
    if (left === 0 && state === 'chunk-data') state = 'chunk-end'
    on.body(from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end))
    return end
  }
  return {
    /** Prepares for the next response. */
    begin() {
      state = 'status-line'
      isKept = true
      head = undefined
      line = ''
      lineBytes = 0
    },
    /** Returns the error in the bytes; null when there is none. After an error only `begin` may be called. */
    read(bytes: Buffer): ResponseError | null {
      for (let at = 0; at < bytes.length; ) {
        if (state === 'complete') {
          isKept = false
          return null
        }
        if (state === 'body' || state === 'body-until-close' || state === 'chunk-data') {
          at = readBody(bytes, at)
          continue
        }
        const lineEnd = bytes.indexOf(LF, at)
        const end = lineEnd === -1 ? bytes.length : lineEnd + 1
        lineBytes += end - at
        if (lineBytes > MAX_HEAD_BYTES) return headTooLarge()
        line += bytes.toString('latin1', at, end)
        at = end
        // bytes of another protocol may never end a line
        if (state === 'status-line' && !mayBeStatusLine(line)) return notHttp()
        if (lineEnd === -1) return null
        const text = line
        line = ''
        if (!text.endsWith('\r\n') || !readLine(text.slice(0, -2))) return notHttp()
      }
      return null
    },
    /** No more bytes will come; some bodies end so. */
    end() {
      if (state === 'body-until-close') state = 'complete'
    },
    /** The response was read to its end. */
    isComplete: (): boolean => state === 'complete',
    /** The receiver keeps the connection, and sent nothing after the response. */
    isKept: (): boolean => isKept,
  }
}

/** Reads the responses of one connection, one after another. */
export type ResponseParser = ReturnType<typeof createResponseParser>
