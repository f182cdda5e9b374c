import type { CachedResponse } from './cached-response.ts'

/** A smaller body saves no packet when it is compressed. */
export const MIN_COMPRESSED_BYTES = 1_024

/** A page of 50 sessions, 7,741 bytes: zstd 17 µs and 1,252 bytes, gzip 27 µs and 1,392 (brotli 66 µs and 1,228). */
const ENCODERS = {
  zstd: (body: Uint8Array<ArrayBuffer>) => Bun.zstdCompressSync(body, { level: 3 }),
  gzip: (body: Uint8Array<ArrayBuffer>) => Bun.gzipSync(body, { level: 4 }),
}
export type Encoding = keyof typeof ENCODERS
const PREFERRED: readonly Encoding[] = ['zstd', 'gzip']

/** The first of `encodings` that an Accept-Encoding header allows; undefined: none. */
export function acceptedEncoding<Name extends string>(
  header: string | null,
  encodings: readonly Name[],
): Name | undefined {
  if (header === null) return undefined
  const allowed = header.split(',').flatMap((item) => {
    const [name = '', ...parameters] = item.toLowerCase().split(';')
    const isRefused = parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(parameter))
    return isRefused ? [] : [name.trim()]
  })
  return encodings.find((encoding) => allowed.includes(encoding))
}

/** The encoding that an Accept-Encoding header allows for this response; undefined: none. */
export const encodingOf = ({ body }: CachedResponse, header: string | null): Encoding | undefined =>
  body.length < MIN_COMPRESSED_BYTES ? undefined : acceptedEncoding(header, PREFERRED)

/** The ETag of the response in this encoding. */
export const encodedEtag = ({ etag }: CachedResponse, encoding: Encoding | undefined): string =>
  encoding === undefined ? etag : `${etag.slice(0, -1)}-${encoding}"`

/** The body of the response in this encoding; a compressed one is kept beside it. */
export function encodedBody(
  response: CachedResponse,
  encoding: Encoding | undefined,
  grow: (response: CachedResponse, bytes: number) => void,
): Uint8Array<ArrayBuffer> {
  const { body, compressed } = response
  if (encoding === undefined) return body
  const known = compressed.get(encoding)
  if (known !== undefined) return known
  const packed = new Uint8Array(ENCODERS[encoding](body))
  compressed.set(encoding, packed)
  grow(response, packed.length)
  return packed
}
