import { promises as dns } from 'node:dns'
import { networkInterfaces } from 'node:os'
import { type Egress, loopbackOf } from './egress.ts'

// Names are resolved here and not by the connection, so that every address is judged before it is used. Only DNS is
// asked, not /etc/hosts.

/** A name's addresses, IPv4 first. Rejects when `signal` aborts, and with a code such as ENOTFOUND when there are none. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>

/** How long a look-up may take. */
export const LOOKUP_TIMEOUT_MS = 3_000

/** Some DNS servers never answer for IPv6: with the one family there, the other is waited for no longer than this. */
const OTHER_FAMILY_MS = 500

/** Asks DNS: the servers of this machine, or these (`address` or `address:port`). */
export const createResolve =
  (servers?: readonly string[]): Resolve =>
  async (host, signal) => {
    // one of its own (16 µs), as cancelling ends all that a resolver has begun
    const resolver = new dns.Resolver({ timeout: 1_000, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    const errors: unknown[] = []
    const none = (error: unknown): string[] => {
      errors.push(error)
      return []
    }
    const answers = [resolver.resolve4(host).catch(none), resolver.resolve6(host).catch(none)]
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const first = await Promise.race(answers)
      const timer = first.length > 0 ? setTimeout(cancel, OTHER_FAMILY_MS) : undefined
      const addresses = (await Promise.all(answers)).flat()
      clearTimeout(timer)
      // of a name without addresses, the error that says more than "none of these"
      if (addresses.length === 0) throw errors.find((error) => codeOf(error) !== 'ENODATA') ?? errors[0]
      return addresses
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

export const resolveByDns = createResolve()

/** What came of a look-up: allowed addresses; or a refusal; or an error, after which another look-up may succeed. */
export type Vetted = { addresses: string[] } | { problem: 'refused' | 'timeout' | 'failed'; code?: string }

/**
 * Resolves a name and judges what it means. One refused address refuses the name: whoever mixes them in wants them used.
 * Of localhost the allowed one of its two addresses is enough.
 */
export async function vetName(
  egress: Egress,
  resolve: Resolve,
  host: string,
  timeoutMs = LOOKUP_TIMEOUT_MS,
): Promise<Vetted> {
  const loopback = loopbackOf(host)?.filter(egress.isAllowed)
  if (loopback !== undefined) return loopback.length > 0 ? { addresses: loopback } : { problem: 'refused' }
  const abort = new AbortController()
  const late = Promise.withResolvers<Vetted>()
  const timer = setTimeout(() => {
    late.resolve({ problem: 'timeout' })
    abort.abort()
  }, timeoutMs)
  const answer = Promise.try(resolve, host, abort.signal).then(
    (addresses): Vetted => judge(egress, addresses),
    (error: unknown): Vetted => ({ problem: 'failed', code: codeOf(error) }),
  )
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function judge(egress: Egress, addresses: string[]): Vetted {
  if (addresses.length === 0) return { problem: 'failed', code: 'ENODATA' }
  return addresses.every(egress.isAllowed) ? { addresses } : { problem: 'refused' }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EUNKNOWN'

/** The addresses of this host's interfaces. */
export const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address))
