import { JsonText, type PagePosition } from '../../base/json-text.ts'
import { etagOf, qualitiesOf } from './response.ts'

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
    const known = this.compressed.get(encoding)
    if (known !== undefined) return known
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
