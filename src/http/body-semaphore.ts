import { ApiError } from '../errors.ts'

// 32 MiB of JSON take ten times that as objects: only a few requests may have that much in memory at once.
// Requests that wait take almost none: Bun reads a body only on demand (8 × 64 MB unread: 14 MB).

/** Bodies up to this size need no place. */
export const SMALL_BODY_BYTES = 1024 * 1024

export interface BodySemaphore {
  /** Resolves when the request has a place for a large body. Throws 503 when too many wait. */
  acquire(request: Request): Promise<void>
  /** Frees the request's place, if it has one. */
  release(request: Request): void
}

interface SemaphoreLimits {
  atOnce: number
  waiting: number
  /** How long a request waits; less than a connection may be idle. */
  waitMs: number
  /** After this time a place is free again even without `release`. */
  holdMs: number
}

const LIMITS: SemaphoreLimits = { atOnce: 4, waiting: 32, waitMs: 20_000, holdMs: 120_000 }
const RETRY_S = 5

/** The semaphore of one instance; places are given in the order of the requests. */
export function createBodySemaphore({
  atOnce,
  waiting,
  waitMs,
  holdMs,
}: SemaphoreLimits = LIMITS): BodySemaphore {
  const holders = new Map<Request, ReturnType<typeof setTimeout>>()
  const queue = new Set<() => void>()
  const release = (request: Request) => {
    if (!holders.has(request)) return
    clearTimeout(holders.get(request))
    holders.delete(request)
    const [next] = queue
    next?.()
  }
  const hold = (request: Request) => {
    const timer = setTimeout(release, holdMs, request)
    timer.unref()
    holders.set(request, timer)
  }
  const wait = (request: Request): Promise<void> => {
    const place = Promise.withResolvers<void>()
    const done = () => {
      queue.delete(proceed)
      clearTimeout(timer)
      request.signal.removeEventListener('abort', giveUp)
    }
    const proceed = () => {
      done()
      hold(request)
      place.resolve()
    }
    const giveUp = () => {
      done()
      place.reject(busy())
    }
    const timer = setTimeout(giveUp, waitMs)
    request.signal.addEventListener('abort', giveUp)
    queue.add(proceed)
    return place.promise
  }
  return {
    release,
    async acquire(request) {
      if (holders.has(request)) return
      if (holders.size < atOnce) return hold(request)
      if (queue.size >= waiting || request.signal.aborted) throw busy()
      await wait(request)
    },
  }
}

const busy = () =>
  new ApiError('INTERNAL_ERROR', 'Too many large requests at once; try again', {
    status: 503,
    headers: { 'retry-after': String(RETRY_S) },
  })
