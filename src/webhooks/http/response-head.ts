// The head of an HTTP/1.1 response (RFC 9112), read line by line. Only the fields that frame the body or
// decide about the connection are kept. What parsers could read differently is refused: bare LF, folded
// lines, two lengths.

/** Bytes of the body, or how its end is found. */
type Framing = number | 'chunked' | 'until-close'

export interface ResponseHead {
  status: number
  minorVersion: number
  contentLength: number | undefined
  /** The codings of all Transfer-Encoding fields, in lower case. */
  transferCodings: string[]
  /** The options of all Connection fields, in lower case. */
  connectionOptions: string[]
  /** A field `Keep-Alive: timeout=0` or `timeout=1`: the receiver would close the connection before we do. */
  isClosedSoon: boolean
}

const VERSION_PREFIX = 'HTTP/1.'
/** Field values: tabs, printable ASCII, and bytes above it. */
const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: [\t\x20-\x7e\x80-\xff]*)?$/
const FIELD_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/
/** It has fewer digits than the largest safe integer. */
const CONTENT_LENGTH = /^\d{1,15}$/

/** Whether a status line, or an empty line before it, may begin with this text. */
export const mayBeStatusLine = (text: string): boolean =>
  text.length < VERSION_PREFIX.length
    ? VERSION_PREFIX.startsWith(text) || '\r\n'.startsWith(text)
    : text.startsWith(VERSION_PREFIX)

/** Undefined when the line is not a status line of HTTP/1.0 or HTTP/1.1. */
export function parseStatusLine(line: string): ResponseHead | undefined {
  const [, minorVersion, status] = STATUS_LINE.exec(line) ?? []
  if (status === undefined) return undefined
  return {
    status: Number(status),
    minorVersion: Number(minorVersion),
    contentLength: undefined,
    transferCodings: [],
    connectionOptions: [],
    isClosedSoon: false,
  }
}

/** Whether the line is a header field or a trailer field. */
export const isFieldLine = (line: string): boolean => FIELD_LINE.test(line)

const listOf = (value: string): string[] =>
  value
    .toLowerCase()
    .split(',')
    .map((item) => item.trim())

/** Adds a header field to `head`. False when it is invalid, or a second Content-Length. */
export function addField(head: ResponseHead, line: string): boolean {
  const [, name, value] = FIELD_LINE.exec(line) ?? []
  if (name === undefined || value === undefined) return false
  switch (name.toLowerCase()) {
    case 'content-length': {
      const digits = value.trimEnd()
      if (head.contentLength !== undefined || !CONTENT_LENGTH.test(digits)) return false
      head.contentLength = Number(digits)
      return true
    }
    case 'transfer-encoding':
      head.transferCodings.push(...listOf(value))
      return value.trim() !== ''
    case 'connection':
      head.connectionOptions.push(...listOf(value))
      return true
    case 'keep-alive':
      head.isClosedSoon ||= /^timeout=0*[01](?!\d)/.test(value)
      return true
    default:
      return true
  }
}

/** 101 is not an interim response: what follows it is not HTTP. */
export const isInterim = (status: number): boolean => status >= 100 && status <= 199 && status !== 101

/** Finds the length of the body, or how it ends; undefined when it has two lengths. */
export function framingOf({ status, contentLength, transferCodings }: ResponseHead): Framing | undefined {
  if (transferCodings.length > 0 && contentLength !== undefined) return undefined
  if ((status >= 100 && status <= 199) || status === 204 || status === 304) return 0
  if (transferCodings.at(-1) === 'chunked') return 'chunked'
  return contentLength ?? 'until-close'
}

/** Whether the receiver keeps the connection after this response. */
export function isPersistent({
  status,
  minorVersion,
  connectionOptions,
  isClosedSoon,
}: ResponseHead): boolean {
  if (status === 101 || isClosedSoon || connectionOptions.includes('close')) return false
  return minorVersion === 1 || connectionOptions.includes('keep-alive')
}
