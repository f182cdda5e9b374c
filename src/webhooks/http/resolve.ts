// Resolves names of receivers here and not by the connection, so that every address is checked before it is used. Only DNS
// is queried, not /etc/hosts.

import { promises as dns } from 'node:dns'
import { networkInterfaces } from 'node:os'
import { codeOf } from '../../base/errors.ts'
import { withTimeout } from '../../base/timing.ts'
import { type Egress, loopbackOf } from './egress.ts'

/** A name's addresses, IPv4 first. Rejects when `signal` aborts, or with a code such as ENOTFOUND. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>

/** A look-up may take this long. */
export const LOOKUP_TIMEOUT_MS = 3_000

/** After IPv4 or IPv6 was answered, the other is awaited this long: some DNS servers never answer queries for IPv6. */
const OTHER_FAMILY_MS = 500

/** Queries the DNS servers of this machine, or these (`address` or `address:port`). */
export const createResolve =
  (servers?: readonly string[]): Resolve =>
  async (host, signal) => {
    // a resolver for each look-up (16 µs): cancel() ends all queries of a resolver
    const resolver = new dns.Resolver({ timeout: 1_000, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    const errors: unknown[] = []
    const none = (error: unknown): string[] => {
      errors.push(error)
      return []
    }
    const queries = [resolver.resolve4(host).catch(none), resolver.resolve6(host).catch(none)]
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const first = await Promise.race(queries)
      const timer = first.length > 0 ? setTimeout(cancel, OTHER_FAMILY_MS) : undefined
      const addresses = (await Promise.all(queries)).flat()
      clearTimeout(timer)
      // ENODATA means only that one family has no address
      if (addresses.length === 0) throw errors.find((error) => codeOf(error) !== 'ENODATA') ?? errors[0]
      return addresses
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

export const resolveByDns = createResolve()

export type LookUpResult =
  | { addresses: string[] }
  | { problem: 'refused' | 'timeout' | 'failed'; code?: string }

/** Resolves a name and checks its addresses: one refused refuses the name. Of localhost, one allowed is enough. */
export async function lookUp(
  egress: Egress,
  resolve: Resolve,
  host: string,
  timeoutMs = LOOKUP_TIMEOUT_MS,
): Promise<LookUpResult> {
  const loopback = loopbackOf(host)?.filter(egress.isAllowed)
  if (loopback !== undefined) return loopback.length > 0 ? { addresses: loopback } : { problem: 'refused' }
  const abort = new AbortController()
  const resolved = Promise.try(resolve, host, abort.signal).then(
    (addresses): LookUpResult => check(egress, addresses),
    (error: unknown): LookUpResult => ({ problem: 'failed', code: codeOf(error) ?? 'EUNKNOWN' }),
  )
  const lookup = await withTimeout(resolved, timeoutMs, { problem: 'timeout' } as const)
  abort.abort()
  return lookup
}

function check(egress: Egress, addresses: string[]): LookUpResult {
  if (addresses.length === 0) return { problem: 'failed', code: 'ENODATA' }
  return addresses.every(egress.isAllowed) ? { addresses } : { problem: 'refused' }
}

/** The addresses of this host's interfaces. */
export const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address))
