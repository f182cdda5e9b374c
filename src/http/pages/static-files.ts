import { packedPath } from '../../packed-path.ts'
import { acceptedEncoding, MIN_COMPRESSED_BYTES } from '../responses/compression.ts'
import { matchesEtag } from '../responses/response.ts'

/** A file that is made at the first request and kept, packed and unpacked as asked for. */
export interface StaticFile {
  type: string
  plain: () => Promise<Uint8Array<ArrayBuffer>>
  /** Undefined where packing saves nothing. */
  gzip: () => Promise<Uint8Array<ArrayBuffer> | undefined>
  /** The ETag of the plain file, without its closing quote. */
  tag: () => Promise<string>
}

/** `make` with its result kept; what fails is made again. */
function once<Value>(make: () => Value | Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= Promise.resolve(make()).catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

const tagOf = (bytes: Uint8Array<ArrayBuffer>): string => `"${Bun.hash.xxHash3(bytes).toString(36)}`

/** A text that the server makes. */
export function textFile(type: string, text: () => string | Promise<string>): StaticFile {
  const plain = once(async () => new TextEncoder().encode(await text()))
  return {
    type,
    plain,
    gzip: once(async () => {
      const bytes = await plain()
      return bytes.length < MIN_COMPRESSED_BYTES ? undefined : new Uint8Array(Bun.gzipSync(bytes))
    }),
    tag: once(async () => tagOf(await plain())),
  }
}

/** A file packed by the build. */
export function packedFile(type: string, name: string): StaticFile {
  const gzip = once(() => Bun.file(packedPath(name)).bytes())
  return {
    type,
    plain: once(async () => Bun.gunzipSync(await gzip())),
    gzip,
    tag: once(async () => tagOf(await gzip())),
  }
}

/** The file, or 304, in an encoding that the client takes; `policy` is its Content-Security-Policy. */
export async function sendFile(
  request: Request,
  { type, plain, gzip, tag }: StaticFile,
  policy: string,
): Promise<Response> {
  const packed =
    acceptedEncoding(request.headers.get('accept-encoding'), ['gzip']) === undefined
      ? undefined
      : await gzip()
  const etag = `${await tag()}${packed === undefined ? '' : '-gzip'}"`
  const always = {
    etag,
    vary: 'Accept-Encoding',
    'cache-control': 'no-cache',
    'content-security-policy': policy,
  }
  if (matchesEtag(request.headers.get('if-none-match') ?? '', etag)) {
    return new Response(null, { status: 304, headers: always })
  }
  // Bun omits the body for HEAD
  return new Response(packed ?? (await plain()), {
    headers: {
      ...always,
      'referrer-policy': 'no-referrer',
      'content-type': type,
      ...(packed && { 'content-encoding': 'gzip' }),
    },
  })
}
