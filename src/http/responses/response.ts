// Headers and bodies of responses.

export type ResponseHeaders = Record<string, string | number>

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
 * fit its buffer by themselves, some fifty system calls; a stream is sent at once (28 KB: 48,000 a second, not 3,400). An
 * HTTP/1.0 proxy closes the connection, and needs a length to know the end.
 */
export function streamOf(
  bytes: Uint8Array<ArrayBuffer>,
  { headers }: Request,
): Uint8Array<ArrayBuffer> | ReadableStream {
  if (bytes.length <= MAX_BUFFERED_BYTES || headers.get('connection')?.toLowerCase() === 'close') return bytes
  return new ReadableStream({
    type: 'direct',
    pull(controller) {
      controller.write(bytes)
      controller.end()
    },
  })
}

export const etagOf = (body: string | Uint8Array<ArrayBuffer>): string =>
  `"${Bun.hash.xxHash3(body).toString(36)}-${body.length.toString(36)}"`

/** Whether an If-None-Match header names this ETag. */
export const matchesEtag = (header: string | null, etag: string): boolean =>
  header?.split(',').some((part) => {
    const candidate = part.trim()
    return candidate === '*' || candidate.replace(/^W\//, '') === etag
  }) === true

/** The qualities of the names in a header such as Accept, from 0, which refuses one, to 1. */
export function qualitiesOf(header: string): Map<string, number> {
  const qualities = new Map<string, number>()
  for (const item of header.toLowerCase().split(',')) {
    const end = item.indexOf(';')
    const q = end === -1 ? undefined : /;\s*q\s*=([^;]*)/.exec(item)?.[1]
    qualities.set((end === -1 ? item : item.slice(0, end)).trim(), q === undefined ? 1 : Number(q) || 0)
  }
  return qualities
}
