// Limits the requests of each organization by minute. All running instances share the limit of an organization without a
// query per request: an instance leases a part of the minute's requests (one statement) and spends it from memory. No leased
// request is spent twice or after its minute, so the sum over instances never exceeds the limit. Requests that an instance
// leased and did not spend are lost to the others for the rest of the minute; leases shrink as the minute's limit runs out.

import type { LeasedWindow } from './rate-windows.ts'

const MINUTE_MS = 60_000
/** A lease is at most a 20th of the limit. */
const LEASE_PART = 20
/** A lease is at most a quarter of what is left of the limit. */
const LEFT_PART = 4
/** Windows after which ended ones are deleted from memory. */
const MAX_WINDOWS = 10_000

/** X-RateLimit-* and Retry-After where `left` requests are left. `resetS`: Unix seconds; `retryAfterS`: from now, at least 1. */
const decisionOf = (admitted: boolean, limit: number, left: number, resetS: number, leftMs: number) => ({
  ...{ admitted, limit, remaining: admitted ? Math.max(0, left) : 0, resetS },
  retryAfterS: Math.max(1, Math.ceil(leftMs / 1000)),
})

export type Decision = ReturnType<typeof decisionOf>

/** The decision in the minute of the wall clock, of whose limit `left` requests are left. */
export function decisionAt(now: Date, admitted: boolean, limit: number, left: number): Decision {
  const resetS = (Math.floor(now.getTime() / MINUTE_MS) + 1) * 60
  return decisionOf(admitted, limit, left, resetS, resetS * 1000 - now.getTime())
}

interface Window {
  /** Unix minutes, by the database's clock. */
  minute: number
  /** The end of the minute, in milliseconds of `clock`, never too late. */
  endsAt: number
  /** Requests of the minute that any instance has leased, this one included. */
  used: number
  held: number
  waiting: number
  leasing: Promise<void> | null
}

/** The limiter of one instance. `clock`: milliseconds from any beginning, never set back. */
export function createLimiter({
  lease,
  clock,
}: {
  lease: (orgId: string, count: number) => Promise<LeasedWindow>
  clock: () => number
}) {
  const windows = new Map<string, Window>()

  const windowOf = (orgId: string): Window => {
    const current = windows.get(orgId)
    if (current !== undefined) return current
    if (windows.size >= MAX_WINDOWS)
      for (const [id, { endsAt, leasing }] of windows)
        if (endsAt <= clock() && leasing === null) windows.delete(id)
    const window: Window = { minute: 0, endsAt: -Infinity, used: 0, held: 0, waiting: 0, leasing: null }
    windows.set(orgId, window)
    return window
  }

  const decide = ({ used, held, minute, endsAt }: Window, limit: number, admitted: boolean): Decision =>
    decisionOf(admitted, limit, limit - (used - held), (minute + 1) * 60, endsAt - clock())

  /** A decision from memory; undefined when a lease is needed. */
  const spend = (window: Window, limit: number): Decision | undefined => {
    if (clock() >= window.endsAt) return undefined
    if (window.used - window.held >= limit) return decide(window, limit, false)
    if (window.held === 0) return undefined
    window.held -= 1
    return decide(window, limit, true)
  }

  const leaseMore = async (orgId: string, window: Window, limit: number): Promise<void> => {
    const askedAt = clock()
    const left = askedAt < window.endsAt ? Math.max(0, limit - window.used) : limit
    const part = Math.max(1, Math.floor(Math.min(limit / LEASE_PART, left / LEFT_PART)))
    const count = Math.min(Math.max(part, window.waiting), Math.max(1, left))
    const { minute, usedBefore, nowMs } = await lease(orgId, count)
    const granted = Math.min(Math.max(limit - usedBefore, 0), count)
    const held = minute === window.minute ? window.held : 0
    window.minute = minute
    window.held = held + granted
    window.used = usedBefore + granted
    // The database read its clock after `askedAt`: counted from `askedAt`, the minute ends too early rather
    // than too late.
    window.endsAt = askedAt + (minute + 1) * MINUTE_MS - nowMs
  }

  const takeLeased = async (orgId: string, window: Window, limit: number): Promise<Decision> => {
    window.waiting += 1
    try {
      for (;;) {
        window.leasing ??= leaseMore(orgId, window, limit).finally(() => {
          window.leasing = null
        })
        await window.leasing
        const decision = spend(window, limit)
        if (decision !== undefined) return decision
      }
    } finally {
      window.waiting -= 1
    }
  }

  return {
    /** Counts a request of the organization, which has `limit` a minute. Rejects when the database does. */
    take(orgId: string, limit: number): Decision | Promise<Decision> {
      const window = windowOf(orgId)
      return spend(window, limit) ?? takeLeased(orgId, window, limit)
    },
    /** The decision from memory, without counting; undefined when the organization's minute is not known. */
    peek(orgId: string, limit: number): Decision | undefined {
      const window = windows.get(orgId)
      return window === undefined || clock() >= window.endsAt ? undefined : decide(window, limit, true)
    },
  }
}
