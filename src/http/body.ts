// Reads bodies of requests within limits of size and time: their type, unpacking, JSON.

import type { TSchema, TUnsafe } from '@sinclair/typebox'
import { parseJson } from '../analysis/records/sent-json.ts'
import { type ApiError, busy, fieldError, type Reason } from '../base/errors.ts'
import { HttpError } from './failure.ts'
import { FREE_BODY_BYTES, type Pass, SMALL_BODY_BYTES } from './queues/gate.ts'

/** Largest body, packed and unpacked, unless a route has its own limit. */
const MAX_BODY_BYTES = 1024 * 1024

export const JSON_TYPE = 'application/json'
/** OpenTelemetry's binary form. */
export const PROTOBUF_TYPE = 'application/x-protobuf'
export const NDJSON_TYPE = 'application/x-ndjson'
const CHARSET_PARAMETER = /^\s*charset\s*=\s*"?utf-?8"?\s*$/i

/** Parts of a body that is not packed: scanning one takes some 0.1 ms. */
const CHUNK_BYTES = 64 * 1024
type Encoding = 'gzip' | 'zstd'

export interface BodyOptions {
  /** Largest body, packed and unpacked; 1 MiB unless given. */
  maxBytes?: number
  /** Media types that it takes, unless it is only JSON. */
  types?: readonly string[]
  /** A missing body is `{}`. */
  optional?: boolean
  /** Without a Content-Type it is refused, instead of read as JSON. */
  needsType?: boolean
}

/** The schema, for the document, of a body that the route's handler gets as it was sent, for the intake. */
export const packedBody = (schema: TSchema): TUnsafe<PackedBody> =>
  // undefined: Elysia closes objects that do not name it
  ({ ...schema, noValidate: true, additionalProperties: undefined }) as unknown as TUnsafe<PackedBody>

export const isSentPacked = (schema: TSchema | undefined): boolean => schema?.noValidate === true

export interface PackedBody {
  /** The bytes have a buffer of their own, so that they can be transferred to a thread. */
  bytes: Uint8Array<ArrayBuffer>
  encoding: Encoding | undefined
  /** In lower case. */
  mediaType: string
}

export const bodyError = (message: string, reason?: Reason): ApiError => fieldError('body', message, reason)

const unsupported = (message: string) => new HttpError(bodyError(message), { status: 415 })

const tooLarge = (maxBytes: number) =>
  bodyError(`must have at most ${maxBytes} bytes, also when unpacked`, 'TOO_LARGE')

/** The media type in lower case, JSON where none is given; throws 415 unless it is one of `accepted` in UTF-8. */
function mediaTypeOf(request: Request, { types = [JSON_TYPE], needsType = false }: BodyOptions): string {
  const header = request.headers.get('content-type') || (needsType ? '' : JSON_TYPE)
  const [type = '', ...parameters] = header.split(';')
  const mediaType = type.trim().toLowerCase()
  const utf8 = parameters.every((one) => !/^\s*charset\s*=/i.test(one) || CHARSET_PARAMETER.test(one))
  if (types.includes(mediaType) && utf8) return mediaType
  throw unsupported(`Content-Type must be ${types.join(' or ')}, in UTF-8`)
}

/** Returns the encoding of the body; throws 415 for an unknown one. */
function encodingOf(request: Request): Encoding | undefined {
  const encoding = (request.headers.get('content-encoding') ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity') return undefined
  if (encoding === 'gzip' || encoding === 'x-gzip') return 'gzip'
  if (encoding === 'zstd') return 'zstd'
  throw unsupported('Content-Encoding must be gzip, zstd or identity')
}

/** The body as it was sent, of any type, not packed, which must come within 10 s: see `readBytes`. */
export async function readRaw(request: Request, maxBytes: number, pass: Pass) {
  if (encodingOf(request) !== undefined) throw unsupported('must not be packed')
  return await readBytes(request, maxBytes, pass, { ...PACE, bytesPerS: Infinity })
}

/** All bytes of the body as they were sent; waits for places of `pass`. Throws 413, 408 when they come too slowly, and 503. */
async function readBytes(request: Request, maxBytes: number, pass: Pass, pace = PACE) {
  const header = request.headers.get('content-length')
  const declared = header === null ? undefined : Number(header)
  if (declared !== undefined && declared > maxBytes) throw tooLarge(maxBytes)
  if (request.body === null) return Buffer.alloc(0)
  const body = receive(request.body, pass, pace)
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) {
      size += chunk.byteLength
      // the server's parser enforces a declared length; a chunked body is counted while it is read
      if (size > maxBytes) throw tooLarge(maxBytes)
      if (size > FREE_BODY_BYTES) await pass.takeSmall(declared ?? SMALL_BODY_BYTES, SMALL_BODY_BYTES)
      if (size > SMALL_BODY_BYTES) await pass.takeLarge()
      chunks.push(chunk)
    }
  } finally {
    body.end()
  }
  return Bun.concatArrayBuffers(chunks, Number.POSITIVE_INFINITY, true)
}

/** The unpacked body in parts. Throws VALIDATION_ERROR: 413 beyond `maxBytes`, 400 for a damaged body. */
export async function* unpack({ bytes, encoding }: PackedBody, maxBytes: number) {
  let size = 0
  for await (const chunk of encoding === undefined ? chunksOf(bytes) : decompressed(bytes, encoding)) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge(maxBytes)
    yield chunk
  }
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

/** Uses DecompressionStream: Bun 1.4.5's `zstdDecompress` accepts a truncated body as a complete one. */
async function* decompressed(bytes: Uint8Array<ArrayBuffer>, encoding: Encoding): AsyncGenerator<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(encoding))
  try {
    yield* stream
  } catch {
    throw bodyError(`must be valid ${encoding}`)
  }
}

/** The body as it was sent, after places of `pass`. Throws VALIDATION_ERROR: 413, 415, 408; and 503. */
export async function readPacked(request: Request, options: BodyOptions, pass: Pass): Promise<PackedBody> {
  const mediaType = mediaTypeOf(request, options)
  const encoding = encodingOf(request)
  const bytes = await readBytes(request, options.maxBytes ?? MAX_BODY_BYTES, pass)
  return { bytes, encoding, mediaType }
}

/**
 * The request's body: JSON in UTF-8, packed by gzip or zstd or not at all, with or without a byte order mark. It waits for
 * places of `pass`. Throws as `readPacked` does, also 413 beyond `maxBytes` unpacked, and 400 for what is not JSON.
 */
export async function readBody(request: Request, options: BodyOptions, pass: Pass): Promise<unknown> {
  const { maxBytes = MAX_BODY_BYTES, optional = false } = options
  if (optional && request.body === null) return {}
  const packed = await readPacked(request, options, pass)
  if (optional && packed.bytes.length === 0) return {}
  const isPacked = packed.encoding !== undefined
  await pass.takeSmall(isPacked ? SMALL_BODY_BYTES : packed.bytes.length, packed.bytes.length)
  return parseJson(isPacked ? Buffer.concat(await Array.fromAsync(unpack(packed, maxBytes))) : packed.bytes)
}

/** The rate is checked after a time between these. */
const MIN_CHECK_MS = 100
const MAX_CHECK_MS = 1_000
const PACE = {
  /** Reading may take this long beyond the time by the rate. */
  graceMs: 10_000,
  /** Lowest rate of a body after that time; Infinity: it must have come whole. */
  bytesPerS: 1024,
  /** Lowest rate of a body while another organization waits for its place. */
  wantedBytesPerS: 64 * 1024,
}

/** Reads a body that must come at a rate of a KiB a second after 10 s, 64 times that while another waits for its place. */
export function receive(
  body: ReadableStream<Uint8Array>,
  { stopped, isWanted }: Pick<Pass, 'stopped' | 'isWanted'>,
  { graceMs, bytesPerS, wantedBytesPerS } = PACE,
) {
  const reader = body.getReader()
  let size = 0
  let readMs = 0
  let askedAt: number | undefined
  let isDone = false
  let failure: ApiError | undefined
  const leftMs = (rate: number) =>
    graceMs + (size / rate) * 1000 - readMs - (askedAt === undefined ? 0 : performance.now() - askedAt)
  const fail = (error: ApiError): void => {
    failure ??= error
    // the read that waits resolves as at the end of the body
    reader.cancel().catch(() => {})
  }
  const check = (): void => {
    const ms = leftMs(isWanted() ? wantedBytesPerS : bytesPerS)
    if (askedAt !== undefined && ms <= 0)
      fail(leftMs(bytesPerS) <= 0 ? tooSlow(bytesPerS, graceMs) : placeNeeded())
    else timer = setTimeout(check, Math.min(Math.max(ms, MIN_CHECK_MS), MAX_CHECK_MS))
  }
  const stop = () => fail(stopping())
  let timer = setTimeout(check, Math.min(graceMs, MAX_CHECK_MS))
  stopped.addEventListener('abort', stop)
  return {
    /** The next bytes; undefined at the end. Throws 408 when they come too slowly, 503 when the place is needed or the server stops. */
    async next(): Promise<Uint8Array | undefined> {
      if (stopped.aborted) stop()
      if (failure !== undefined) throw failure
      askedAt = performance.now()
      const { done, value } = await reader.read()
      readMs += performance.now() - askedAt
      askedAt = undefined
      if (failure !== undefined) throw failure
      isDone = done
      size += value?.byteLength ?? 0
      return value
    },
    /** The caller calls it at the end of reading, however it ends. */
    end() {
      clearTimeout(timer)
      stopped.removeEventListener('abort', stop)
      if (!isDone) reader.cancel().catch(() => {})
    },
  }
}

/** The connection is closed, since the rest of the body is not read. */
const CLOSE = { connection: 'close' }

const tooSlow = (bytesPerS: number, graceMs: number) =>
  new HttpError(
    bodyError(
      bytesPerS === Infinity
        ? `must come within ${graceMs / 1000} s`
        : `must come at ${bytesPerS} bytes a second at least, after its first ${graceMs / 1000} s`,
    ),
    { status: 408, headers: CLOSE },
  )

const stopping = () => new HttpError(busy('The server stops'), { headers: CLOSE })

const placeNeeded = () =>
  new HttpError(busy('The body came slowly while others waited for its place', 5), { headers: CLOSE })
