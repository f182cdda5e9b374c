import { ApiError } from '../errors.ts'

interface Pace {
  /** After this time of reading, */
  graceMs: number
  /** a body must have come at this rate since. */
  bytesPerS: number
}

/** Between two checks while nothing is asked for. */
const MIN_CHECK_MS = 100
const PACE: Pace = { graceMs: 10_000, bytesPerS: 1024 }

interface Receiving {
  /** The next bytes; undefined at the end. Throws 408 when they come too slowly, and 503 when the server stops. */
  next(): Promise<Uint8Array | undefined>
  /** To be called at the end of reading, however it ends. */
  end(): void
}

/**
 * Reads a body that must come at a minimum rate: of 10 s + n s of reading, n KiB. Only the time counts in which more bytes
 * are asked for. A body that is not read to its end closes the connection.
 */
export function receive(
  body: ReadableStream<Uint8Array>,
  stopped: AbortSignal,
  { graceMs, bytesPerS } = PACE,
): Receiving {
  const reader = body.getReader()
  let size = 0
  let readMs = 0
  let askedAt: number | undefined
  let isDone = false
  let failure: ApiError | undefined
  const leftMs = () =>
    graceMs + (size / bytesPerS) * 1000 - readMs - (askedAt === undefined ? 0 : performance.now() - askedAt)
  const fail = (error: ApiError): void => {
    failure ??= error
    // the read that waits resolves as at the end of the body
    reader.cancel().catch(() => {})
  }
  const check = (): void => {
    const ms = leftMs()
    if (askedAt !== undefined && ms <= 0) fail(tooSlow({ graceMs, bytesPerS }))
    else timer = setTimeout(check, Math.max(ms, MIN_CHECK_MS))
  }
  const stop = () => fail(stopping())
  let timer = setTimeout(check, graceMs)
  stopped.addEventListener('abort', stop)
  return {
    async next() {
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
    end() {
      clearTimeout(timer)
      stopped.removeEventListener('abort', stop)
      if (!isDone) reader.cancel().catch(() => {})
    },
  }
}

/** What is left of the body is not read. */
const CLOSE = { connection: 'close' }

function tooSlow({ graceMs, bytesPerS }: Pace): ApiError {
  const message = `must come at ${bytesPerS} bytes a second at least, after its first ${graceMs / 1000} s`
  return new ApiError('VALIDATION_ERROR', `body: ${message}`, {
    status: 408,
    headers: CLOSE,
    details: [{ field: 'body', message }],
  })
}

const stopping = () =>
  new ApiError('INTERNAL_ERROR', 'The server stops; try again', {
    status: 503,
    headers: { ...CLOSE, 'retry-after': '2' },
  })
