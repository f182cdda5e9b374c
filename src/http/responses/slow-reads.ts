import { createShares } from '../../accounts/organizations/shares.ts'

// A slow statement has a connection of the pool for long. A dozen of one organization would take all of them, and the short
// statements of the others wait for seconds. So slow reads have some of the connections only, and what is not known to be
// short is treated alike.

/** Reads that take longer are slow. */
const SLOW_MS = 100
/** Weight of the latest duration in the moving average: a read that was late once is not yet slow. */
const LATEST_PART = 0.2
/** The slow reads' share of the pool's connections. */
const PLACES_PART = 0.6
/** Kinds of reads whose duration is known at most: an organization uses some dozens. */
const MAX_KINDS = 10_000
/** A read that waits holds little. The time is below that of the client's connection, which may be idle for 30 s. */
const WAIT = { waiting: 1_000, waitMs: 25_000 }

/** Tells that a read has ended: whole, or not. */
export type EndRead = (isWhole: boolean) => void

/** Begins a read of the organization, identified as `cacheKeyOf` does, which must be ended once. */
export type BeginRead = (orgId: string, key: string) => EndRead | Promise<EndRead>

/**
 * Reads of one kind take about as long: those of an organization, a route and its parameters' names, and of the values that
 * are words of the API, as `week`. Names of projects may be among them.
 */
const kindOf = (orgId: string, key: string): string =>
  `${orgId} ${key
    .split('\0')
    .filter((part, index) => index === 0 || index % 2 === 1 || /^[a-z_]+$/.test(part))
    .join(' ')}`

/**
 * Divides the connections of a pool. A read of a kind that lately took above 100 ms, or that is new, waits until one of six
 * in ten connections is free, in turn with other organizations, the last of which one organization alone leaves to them.
 * Throws INTERNAL_ERROR with 503 after 25 s, and when a thousand of the organization wait. `clock` gives milliseconds.
 */
export function createSlowReads(connections: number, clock: () => number = () => performance.now()) {
  const total = Math.max(1, Math.floor(connections * PLACES_PART))
  const places = createShares({
    total,
    each: Math.max(1, total - 1),
    waiting: WAIT.waiting,
    what: 'slow reads',
  })
  /** Milliseconds that a read of each kind is expected to take. */
  const expected = new Map<string, number>()
  const load = { running: 0, waiting: 0 }

  const note = (kind: string, ms: number) => {
    const known = expected.get(kind)
    if (known === undefined && expected.size >= MAX_KINDS) expected.clear()
    expected.set(kind, known === undefined ? ms : known + (ms - known) * LATEST_PART)
  }
  const timed = (kind: string): EndRead => {
    const start = clock()
    return (isWhole) => {
      const ms = clock() - start
      // one that fails at once tells nothing; one that reached its time limit does
      if (isWhole || ms > SLOW_MS) note(kind, ms)
    }
  }
  const begin = async (orgId: string, key: string): Promise<EndRead> => {
    const kind = kindOf(orgId, key)
    if ((expected.get(kind) ?? Infinity) <= SLOW_MS) return timed(kind)
    load.waiting += 1
    const place = places.take(orgId, 1, { units: 1, signal: undefined, waitMs: WAIT.waitMs })
    const free = await place.finally(() => {
      load.waiting -= 1
    })
    load.running += 1
    const end = timed(kind)
    return (isWhole) => {
      end(isWhole)
      load.running -= 1
      free()
    }
  }
  return { begin, load }
}
