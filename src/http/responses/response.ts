// Turns what a handler returns, unless it is a Response, into text: the JSON is made once, hashed for its
// ETag, and given to Elysia with status and headers in `set`.

export type ResponseHeaders = Record<string, string | number>

/** Elysia's `set`, as far as it is used here. */
export interface ResponseSet {
  headers: ResponseHeaders
  status?: number | string
}

/** Headers of every response. */
export const COMMON_HEADERS = { 'x-content-type-options': 'nosniff' }

/** Headers of every response below /v1: any page may read it, without the browser's credentials. */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ETag, X-Request-Id, Retry-After, Location, Link',
}

/** A response to a preflight also has these headers. */
export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'Authorization, Content-Type, Content-Encoding, If-None-Match, Idempotency-Key, X-Request-Id, X-Machine',
  'access-control-max-age': '86400',
}

/** A larger body does not fit the runtime's buffer of 16 KiB beside its headers. */
const MAX_BUFFERED_BYTES = 15_000

/**
 * The body as a Response takes it. Bun 1.4.5 sends each header and the body of a response that was awaited and does not
 * fit its buffer by themselves, some fifty system calls; a stream is sent at once (28 KB: 48,000 a second, not 3,400).
 */
export function bodyOf(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | ReadableStream {
  if (bytes.length <= MAX_BUFFERED_BYTES) return bytes
  return new ReadableStream({
    type: 'direct',
    pull(controller) {
      controller.write(bytes)
      controller.end()
    },
  })
}

/** The ETag of a response with this text. */
export function etagOf(text: string): string {
  return `"${Bun.hash.xxHash3(text).toString(36)}-${text.length.toString(36)}"`
}

/** Whether an If-None-Match header names this ETag. */
export function matchesEtag(header: string, etag: string): boolean {
  return header.split(',').some((part) => {
    const candidate = part.trim()
    return candidate === '*' || candidate.replace(/^W\//, '') === etag
  })
}

/**
 * The body of a response for `value`: JSON, unless the handler returned a text and set its content type. Sets
 * headers and status in `set`. A GET or HEAD below /v1 gets an ETag, and 304 with an empty body when the
 * client has that ETag.
 */
export function responseText(value: unknown, set: ResponseSet, request: Request, versioned: boolean): string {
  if (set.status === 204 || value === undefined) return ''
  const { headers } = set
  let text: string
  if (typeof value === 'string' && headers['content-type'] !== undefined) {
    text = value
  } else {
    text = JSON.stringify(value)
    headers['content-type'] = 'application/json'
  }
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const isOk = set.status === undefined || set.status === 200
  if (!isOk) headers['cache-control'] ??= 'no-store'
  else if (!versioned) headers['cache-control'] ??= 'no-cache'
  else if (isRead) {
    const etag = etagOf(text)
    headers.etag = etag
    headers['cache-control'] ??= 'private, no-cache'
    const condition = request.headers.get('if-none-match')
    if (condition !== null && matchesEtag(condition, etag)) {
      set.status = 304
      delete headers['content-type']
      return ''
    }
  } else headers['cache-control'] ??= 'no-store'
  return text
}
