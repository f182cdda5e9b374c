import { ApiError } from '../errors.ts'

// Thirty-two MiB of JSON are ten times that as objects, until they are written: only a few requests have that much at
// once. Those that wait cost nothing: Bun reads of a body no more than it is asked for (8 × 64 MB unread: 14 MB).

/** Bodies up to this size pass without asking. */
export const SMALL_BODY_BYTES = 1024 * 1024

export interface BodyGate {
  /** Resolves when the request may have a large body in memory, at once if it may already. Throws 503 when too many wait. */
  enter(request: Request): Promise<void>
  /** The request is answered; nothing happens for one that never entered. */
  leave(request: Request): void
}

interface GateLimits {
  atOnce: number
  waiting: number
  /** How long one waits; less than a connection may be idle. */
  waitMs: number
  /** After so long a place is free again even if nobody said so. */
  holdMs: number
}

const LIMITS: GateLimits = { atOnce: 4, waiting: 32, waitMs: 20_000, holdMs: 120_000 }
const RETRY_S = 5

/** The gate of one instance; places are given in the order of asking. */
export function createBodyGate({ atOnce, waiting, waitMs, holdMs }: GateLimits = LIMITS): BodyGate {
  const inside = new Map<Request, ReturnType<typeof setTimeout>>()
  const queue = new Set<() => void>()
  const leave = (request: Request) => {
    if (!inside.has(request)) return
    clearTimeout(inside.get(request))
    inside.delete(request)
    const [next] = queue
    next?.()
  }
  const admit = (request: Request) => {
    const timer = setTimeout(leave, holdMs, request)
    timer.unref()
    inside.set(request, timer)
  }
  const wait = (request: Request): Promise<void> => {
    const turn = Promise.withResolvers<void>()
    const done = () => {
      queue.delete(proceed)
      clearTimeout(timer)
      request.signal.removeEventListener('abort', giveUp)
    }
    const proceed = () => {
      done()
      admit(request)
      turn.resolve()
    }
    const giveUp = () => {
      done()
      turn.reject(busy())
    }
    const timer = setTimeout(giveUp, waitMs)
    request.signal.addEventListener('abort', giveUp)
    queue.add(proceed)
    return turn.promise
  }
  return {
    leave,
    async enter(request) {
      if (inside.has(request)) return
      if (inside.size < atOnce) return admit(request)
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
