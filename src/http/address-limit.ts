import ipaddr from 'ipaddr.js'
import type { Decision } from './rate-limit.ts'

// Requests without a valid key are limited by client address, in the memory of each instance.

/** Requests a minute of an address. */
const LIMIT = 60
/** Addresses remembered; the one not heard of for longest is forgotten first. */
const MAX_ADDRESSES = 50_000
const MINUTE_MS = 60_000
const MAX_FORWARDED_LENGTH = 4_096
const UNKNOWN = 'unknown'

/** The limiter of callers without a key. */
export interface AddressLimiter {
  /** Counts one request of the address. */
  take(address: string): Decision
  /** What the next request would find, without counting. */
  peek(address: string): Decision
}

/** `now` is the wall clock: the windows are its minutes. */
export function createAddressLimiter(now: () => Date): AddressLimiter {
  const windows = new Map<string, { minute: number; used: number }>()
  const decide = (used: number, admitted: boolean): Decision => {
    const nowMs = now().getTime()
    const resetMs = (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS
    return {
      admitted,
      limit: LIMIT,
      remaining: Math.max(0, LIMIT - used),
      resetS: resetMs / 1000,
      retryAfterS: Math.max(1, Math.ceil((resetMs - nowMs) / 1000)),
    }
  }
  const usedOf = (address: string): number => {
    const window = windows.get(address)
    return window?.minute === Math.floor(now().getTime() / MINUTE_MS) ? window.used : 0
  }
  return {
    take(address) {
      const used = usedOf(address)
      if (used >= LIMIT) return decide(used, false)
      // Deleted and set again, so that the map's order is that of last use.
      windows.delete(address)
      if (windows.size >= MAX_ADDRESSES) windows.delete(windows.keys().next().value ?? address)
      windows.set(address, { minute: Math.floor(now().getTime() / MINUTE_MS), used: used + 1 })
      return decide(used + 1, true)
    },
    peek: (address) => decide(usedOf(address), true),
  }
}

/** An address as it is counted: IPv4 whole, also when written as IPv6, and the /64 network of an IPv6 address. */
function countedAddress(text: string): string | undefined {
  const bare =
    /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text
  if (!ipaddr.isValid(bare)) return undefined
  const address = ipaddr.process(bare)
  if (address instanceof ipaddr.IPv4) return address.toString()
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/**
 * The client a request is counted against. `peer` is the address of the connection; behind `hops` proxies it is the
 * entry of X-Forwarded-For that the outermost trusted proxy wrote, and what clients wrote left of it is not believed.
 */
export function clientAddress(peer: string | undefined, forwarded: string | null, hops: number): string {
  const connection = peer === undefined ? UNKNOWN : (countedAddress(peer) ?? UNKNOWN)
  if (hops === 0 || forwarded === null || forwarded.length > MAX_FORWARDED_LENGTH) return connection
  const entries = forwarded.split(',').map((entry) => entry.trim())
  const entry = entries[Math.max(0, entries.length - hops)]
  return (entry === undefined ? undefined : countedAddress(entry)) ?? connection
}
