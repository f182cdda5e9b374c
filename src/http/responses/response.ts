// Makes headers and bodies of responses: CORS, ETags, compression, streams.

import { JsonText, type PagePosition } from '../../base/json-text.ts'

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

/** A smaller body saves no packet when it is compressed. */
const MIN_COMPRESSED_BYTES = 1_024

/** A page of 50 sessions, 7,741 bytes: zstd 17 µs and 1,252 bytes, gzip 27 µs and 1,392 (brotli 66 µs and 1,228). */
const ENCODERS = {
  zstd: (body: Uint8Array<ArrayBuffer>) => Bun.zstdCompressSync(body, { level: 3 }),
  gzip: (body: Uint8Array<ArrayBuffer>) => Bun.gzipSync(body, { level: 4 }),
}
export type Encoding = keyof typeof ENCODERS
const PREFERRED: readonly Encoding[] = ['zstd', 'gzip']
const NONE: readonly Encoding[] = []

export type Computed = JsonText | object | null

/** Identifies a response, and says what it is made of. */
export interface ResponseSource {
  /** Route and parameters, and the day where the response depends on it. */
  key: string
  convert?(value: Computed): Computed
  /** Whether a value is kept, by the first request already. Absent: each is kept from the second request on. */
  keeps?(value: Computed): boolean
  /** Whether the request's Accept header chose this response among others of the same URL. */
  variesByAccept?: boolean | undefined
  /** Absent: JSON. */
  contentType?: string | undefined
}

/** A key of flat parameters, each object with its names in an order of its own. No text of a request contains NUL. */
export function cacheKeyOf(route: string, ...parameters: readonly Readonly<Record<string, unknown>>[]) {
  let key = route
  for (const values of parameters)
    for (const name in values) {
      const value = values[name]
      if (value !== undefined) key += `\0${name}\0${value}`
    }
  return key
}

export class CachedResponse {
  /** The compressed bodies by encoding; each is kept when it is first sent. */
  readonly compressed = new Map<Encoding, Uint8Array<ArrayBuffer>>()

  constructor(
    /** JSON, in UTF-8. */
    readonly body: Uint8Array<ArrayBuffer>,
    readonly etag: string,
    readonly source: Pick<ResponseSource, 'contentType' | 'variesByAccept'>,
    /** It is sent in these encodings, or in none. */
    readonly encodings = body.length < MIN_COMPRESSED_BYTES ? NONE : PREFERRED,
    /** The page's position, when the response is a page of a list. */
    readonly pagination?: PagePosition,
    /** The owner and the key, under which it is kept. */
    readonly name = '',
    /** Version of the owner's data; undefined when the owner has no version, or it was not read. */
    readonly version?: string,
  ) {}

  /** The first of its encodings that an Accept-Encoding header allows; undefined: none. */
  encodingFor(header: string | null): Encoding | undefined {
    if (header === null || this.encodings.length === 0) return undefined
    const qualities = qualitiesOf(header)
    return this.encodings.find((encoding) => (qualities.get(encoding) ?? 0) > 0)
  }

  etagIn(encoding: Encoding | undefined): string {
    return encoding === undefined ? this.etag : `${this.etag.slice(0, -1)}-${encoding}"`
  }

  bodyIn(
    encoding: Encoding | undefined,
    grow: (response: CachedResponse, bytes: number) => void = () => {},
  ): Uint8Array<ArrayBuffer> {
    if (encoding === undefined) return this.body
    const body = this.compressed.get(encoding)
    if (body !== undefined) return body
    const packed = new Uint8Array(ENCODERS[encoding](this.body))
    this.compressed.set(encoding, packed)
    grow(this, packed.length)
    return packed
  }
}

export function responseOf(
  value: unknown,
  { contentType, variesByAccept }: Pick<ResponseSource, 'contentType' | 'variesByAccept'>,
  name?: string,
  version?: string,
): CachedResponse {
  const text = value instanceof JsonText ? value.text : JSON.stringify(value)
  const { pagination } = (value ?? {}) as { pagination?: PagePosition }
  const body = new TextEncoder().encode(text)
  const source = { contentType, variesByAccept }
  return new CachedResponse(body, etagOf(text), source, undefined, pagination, name, version)
}
