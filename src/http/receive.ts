import type { Pass } from '../accounts/organizations/gate.ts'
import { type ApiError, busy, fieldError } from '../base/errors.ts'

interface Pace {
  /** Reading may take this long beyond the time by the rate. */
  graceMs: number
  /** Lowest rate of a body. */
  bytesPerS: number
  /** Lowest rate of a body while another organization waits for its place. */
  wantedBytesPerS: number
}

/** The rate is checked after a time between these. */
const MIN_CHECK_MS = 100
const MAX_CHECK_MS = 1_000
const PACE: Pace = { graceMs: 10_000, bytesPerS: 1024, wantedBytesPerS: 64 * 1024 }

/**
 * Reads a body that must come at a minimum rate: of 10 s + n s of reading, n KiB; while another organization waits for its
 * place, 64 times that. Only the time counts in which more bytes are asked for. A body that is not read to its end closes
 * the connection.
 */
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
    /**
     * The next bytes; undefined at the end. Throws 408 when they come too slowly, and 503 when the server stops or others
     * need the body's place.
     */
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
  fieldError(
    'body',
    `must come at ${bytesPerS} bytes a second at least, after its first ${graceMs / 1000} s`,
    { status: 408, headers: CLOSE },
  )

const stopping = () => busy('The server stops', { headers: CLOSE })

const placeNeeded = () =>
  busy('The body came slowly while others waited for its place', { retryAfterS: 5, headers: CLOSE })
