import type { Sql } from '../../database/client.ts'
import { createShares } from './shares.ts'

// A slow statement has its connection for long. A dozen of one organization would take all of them, and the short statements
// of the others wait for seconds. So slow reads have connections of their own, and what is not known to be short is treated
// alike. Short ones are sent over theirs one behind the other: to send each alone and to wake PostgreSQL for it takes as long
// as an empty list.

/** Reads that take longer are slow. */
const SLOW_MS = 100
/** Weight of the latest duration in the moving average: a read that was late once is not yet slow. */
const LATEST_PART = 0.2
/** Kinds of reads whose duration is known at most: an organization uses some dozens. */
const MAX_KINDS = 10_000
/** A read that waits holds little. The time is below that of the client's connection, which may be idle for 30 s. */
const WAIT = { waiting: 1_000, waitMs: 25_000 }

/** A read that has begun. */
export interface Read {
  /** The connections for its statements. */
  sql: Sql
  /** Must be called once: tells whether the read came to its end. */
  end(isWhole: boolean): void
}

/** Begins a read of the organization, identified as `cacheKeyOf` does. */
export type BeginRead = (orgId: string, key: string) => Promise<Read>

/**
 * Reads of one kind take about as long: those of an organization, a route and its parameters' names, and of the values that
 * are words of the API, as `week`. Names of projects may be among them.
 */
const kindOf = (orgId: string, key: string): string =>
  `${orgId} ${key.replace(/(\0[^\0]*\0(?:[a-z_]+(?=\0|$))?)[^\0]*/g, '$1')}`

/**
 * Chooses the pool of each read. One of a kind that lately took above 100 ms, or that is new, waits until one of the
 * `connections` of `slow` is free, in turn with other organizations, the last of which one organization alone leaves to them.
 * Throws INTERNAL_ERROR with 503 after 25 s, and when a thousand of the organization wait. `clock` gives milliseconds.
 */
export function createSlowReads(
  pools: { slow: Sql; short: Sql },
  connections: number,
  clock: () => number = () => performance.now(),
) {
  const total = connections
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
  const timed = (sql: Sql, kind: string): Read => {
    const start = clock()
    return {
      sql,
      end(isWhole) {
        const ms = clock() - start
        // one that fails at once tells nothing; one that reached its time limit does
        if (isWhole || ms > SLOW_MS) note(kind, ms)
      },
    }
  }
  const begin: BeginRead = async (orgId, key) => {
    const kind = kindOf(orgId, key)
    if ((expected.get(kind) ?? Infinity) <= SLOW_MS) return timed(pools.short, kind)
    load.waiting += 1
    const place = places.take(orgId, 1, { units: 1, signal: undefined, waitMs: WAIT.waitMs })
    const free = await place.finally(() => {
      load.waiting -= 1
    })
    load.running += 1
    const { sql, end } = timed(pools.slow, kind)
    return {
      sql,
      end(isWhole) {
        end(isWhole)
        load.running -= 1
        free()
      },
    }
  }
  return { begin, load }
}
