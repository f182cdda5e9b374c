import { packedPath } from '../base/packed-path.ts'
import { CachedResponse, type Encoding } from './responses/cached-response.ts'
import { etagOf, type ResponseHeaders } from './responses/response.ts'

export const HTML_TYPE = 'text/html; charset=utf-8'
const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  html: HTML_TYPE,
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** A file that is made at the first request and kept, packed and unpacked as asked for. */
export type StaticFile = () => Promise<CachedResponse>

/** `make` with its result kept; what fails is made again. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return async () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return await made
  }
}

/** A text that the server makes. */
export const textFile = (contentType: string, text: () => string | Promise<string>): StaticFile =>
  once(async () => {
    const bytes = new TextEncoder().encode(await text())
    return new CachedResponse(bytes, etagOf(bytes), undefined, '', { contentType }, undefined)
  })

/** A file packed by the build; it is unpacked at most once, for who does not take gzip. */
class PackedFile extends CachedResponse {
  private plain: Uint8Array<ArrayBuffer> | undefined
  constructor(
    private readonly gzip: Uint8Array<ArrayBuffer>,
    contentType: string,
  ) {
    super(new Uint8Array(), etagOf(gzip), undefined, '', { contentType }, undefined, ['gzip'])
  }
  override bodyIn(encoding: Encoding | undefined): Uint8Array<ArrayBuffer> {
    if (encoding !== undefined) return this.gzip
    this.plain ??= Bun.gunzipSync(this.gzip)
    return this.plain
  }
}

export const packedFile = (name: string): StaticFile =>
  once(async () => {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? ''
    return new PackedFile(await Bun.file(packedPath(name)).bytes(), type)
  })

/** Sets the headers of files, with the Content-Security-Policy of a page that loads them. */
export const fileHeaders =
  (policy: string) =>
  ({ set }: { set: { headers: ResponseHeaders } }): void => {
    set.headers['content-security-policy'] = policy
    set.headers['referrer-policy'] = 'no-referrer'
  }
