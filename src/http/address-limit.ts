// Finds the client's address of a request, and limits requests with an unknown key, those of badges and those of GitHub with
// a wrong signature by it, in the memory of each instance.

import ipaddr from 'ipaddr.js'
import { type Decision, decisionAt } from './rate-limit.ts'

/** Requests a minute of an address, unless another limit is given. */
const LIMIT = 60
/** Addresses of a minute; the one that came first is dropped for another. */
const MAX_ADDRESSES = 50_000
const MINUTE_MS = 60_000
/** The end of X-Forwarded-For that is read: proxies add to it, clients may begin it with anything. */
const FORWARDED_END = 4_096
const UNKNOWN = 'unknown'

/** Limits clients by address: each has `limit` requests in a minute of the wall clock `now`. */
export function createAddressLimiter(now: () => Date, limit = LIMIT) {
  const counts = new Map<string, number>()
  let countedMinute = 0
  const usedBy = (address: string): number => {
    const minute = Math.floor(now().getTime() / MINUTE_MS)
    if (minute !== countedMinute) counts.clear()
    countedMinute = minute
    return counts.get(address) ?? 0
  }
  return {
    take(address: string): Decision {
      const used = usedBy(address)
      if (used >= limit) return decisionAt(now(), false, limit, 0)
      if (used === 0 && counts.size >= MAX_ADDRESSES) counts.delete(counts.keys().next().value ?? address)
      counts.set(address, used + 1)
      return decisionAt(now(), true, limit, limit - used - 1)
    },
    /** The decision on the next request, without counting. */
    peek: (address: string): Decision => decisionAt(now(), true, limit, limit - usedBy(address)),
  }
}

const WITH_PORT = [/^\[([^\]]+)\](?::\d+)?$/, /^(\d+\.\d+\.\d+\.\d+):\d+$/]

/** The address in `text` without brackets and port, IPv4 in IPv6 as IPv4; undefined when there is none. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const bare = WITH_PORT.map((form) => form.exec(text)?.[1]).find((part) => part !== undefined) ?? text
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined
}

/** Returns the unit that the limit counts: an IPv4 address, or the /64 network of an IPv6 address. */
const countedAddress = (address: ipaddr.IPv4 | ipaddr.IPv6): string =>
  address instanceof ipaddr.IPv4
    ? address.toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/64`).toString()

/**
 * The client a request came from. `peer` is the address of the connection; behind `hops` proxies it is the entry of
 * X-Forwarded-For that the outermost trusted proxy wrote; entries left of it come from clients and are ignored.
 */
function addressOf(peer: string | undefined, forwarded: string | null, hops: number) {
  const connection = peer === undefined ? undefined : parseAddress(peer)
  if (hops === 0 || forwarded === null) return connection
  const entries = forwarded
    .slice(-FORWARDED_END)
    .split(',')
    .map((entry) => entry.trim())
  const entry = entries[Math.max(0, entries.length - hops)]
  return (entry === undefined ? undefined : parseAddress(entry)) ?? connection
}

/** The server, which knows the connection's other end; null in tests without a socket. */
export type Server = { requestIP(request: Request): { address: string } | null } | null

/** The client of a request behind `hops` proxies: as limits count it, and its whole address for the audit log or null. */
export function clientOf(request: Request, server: Server, hops: number) {
  const address = addressOf(server?.requestIP(request)?.address, request.headers.get('x-forwarded-for'), hops)
  return {
    counted: address === undefined ? UNKNOWN : countedAddress(address),
    exact: address?.toString() ?? null,
  }
}
