import { createShares, type Free } from '../organizations/shares.ts'

// Bodies in memory, shared by the organizations. 32 MiB of JSON take ten times that as objects: only a few requests may
// have that much in memory at once. A request that waits takes little: Bun reads a body only on demand, up to 1 MiB
// ahead.

/** Bodies up to this size need no large place. */
export const SMALL_BODY_BYTES = 1024 * 1024
/** This part of a body is read before it needs a place: slow senders of small bodies hold none while they send. */
export const FREE_BODY_BYTES = 64 * 1024

/** The least that a body is counted as, for what a request takes besides it. */
const MIN_BODY_BYTES = 16 * 1024

interface Share {
  /** All organizations together hold at most this much. */
  total: number
  /** One organization holds at most this much. */
  each: number
  /** Requests of one organization that wait hold at most this much. */
  waiting: number
}

interface SemaphoreLimits {
  /** Counted in bytes. */
  small: Share
  /** Counted in bodies. */
  large: Share
  /** A request waits at most this long for both places together; the time is shorter than a connection may be idle. */
  waitMs: number
  /** After this time places are free again even without `release`. */
  holdMs: number
}

const MIB = 1024 * 1024
const LIMITS: SemaphoreLimits = {
  small: { total: 64 * MIB, each: 16 * MIB, waiting: 32 * MIB },
  large: { total: 4, each: 2, waiting: 32 },
  waitMs: 18_000,
  holdMs: 900_000,
}

/** The places of one request. */
export interface BodyPlaces {
  /**
   * Takes memory for `bytes`, SMALL_BODY_BYTES at most, unless the request has a place. Waits, with `heldBytes` in memory
   * already; throws 503 when too many requests of the organization wait, or for too long.
   */
  takeSmall(bytes: number, heldBytes: number): Promise<void>
  /** Takes a place for a large body in place of that for a small one. Waits and throws as `takeSmall` does. */
  takeLarge(): Promise<void>
  /** Whether the request has a large place that another organization waits for. */
  isWanted(): boolean
  /** Aborted when the server stops: a body that has not come yet is not waited for any more. */
  stopped: AbortSignal
}

interface Held {
  small?: Free
  large?: Free
  timer: ReturnType<typeof setTimeout>
}

const smallUnits = (bytes: number) => Math.min(Math.max(bytes, MIN_BODY_BYTES), SMALL_BODY_BYTES)

/** The semaphore of one instance. */
export function createBodySemaphore({ small, large, waitMs, holdMs }: SemaphoreLimits = LIMITS) {
  const shares = {
    small: createShares({ ...small, what: 'requests' }),
    large: createShares({ ...large, what: 'large requests' }),
  }
  const held = new Map<Request, Held>()
  const stopping = new AbortController()
  const release = (request: Request): void => {
    const places = held.get(request)
    if (places === undefined) return
    clearTimeout(places.timer)
    held.delete(request)
    places.small?.()
    places.large?.()
  }
  const hold = (request: Request): Held => {
    const known = held.get(request)
    if (known !== undefined) return known
    const timer = setTimeout(release, holdMs, request)
    timer.unref()
    const places = { timer }
    held.set(request, places)
    return places
  }
  return {
    /** Frees the request's places, if it has any. */
    release,
    placesOf(request: Request, orgId: string): BodyPlaces {
      let waitedMs = 0
      const take = async (kind: 'small' | 'large', units: number, heldUnits: number): Promise<void> => {
        const startedAt = performance.now()
        const free = await shares[kind].take(orgId, units, {
          units: heldUnits,
          signal: request.signal,
          waitMs: Math.max(0, waitMs - waitedMs),
        })
        waitedMs += performance.now() - startedAt
        hold(request)[kind] = free
      }
      return {
        async takeSmall(bytes, heldBytes) {
          if (!held.has(request)) await take('small', smallUnits(bytes), smallUnits(heldBytes))
        },
        async takeLarge() {
          const places = held.get(request)
          if (places?.large !== undefined) return
          // its bytes count as waiting now: small bodies pass
          places?.small?.()
          await take('large', 1, 1)
        },
        isWanted: () => held.get(request)?.large !== undefined && shares.large.isWantedBeside(orgId),
        stopped: stopping.signal,
      }
    },
    /** Refuses requests that wait or whose bodies have not come, now and from now on. */
    stop() {
      shares.small.stop()
      shares.large.stop()
      stopping.abort()
    },
  }
}

export type BodySemaphore = ReturnType<typeof createBodySemaphore>
