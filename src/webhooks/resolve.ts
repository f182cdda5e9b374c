import { promises as dns } from 'node:dns'
import { networkInterfaces } from 'node:os'
import { type Egress, loopbackOf } from './egress.ts'

// Names are resolved here and not by the connection, so that every address is judged before it is used. Only DNS is
// asked, not /etc/hosts.

/** A name's addresses, IPv4 first. Rejects when `signal` aborts, and with a code such as ENOTFOUND when there are none. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>

/** How long a look-up may take. */
export const LOOKUP_TIMEOUT_MS = 3_000

/** Asks the DNS servers of this machine. */
export const resolveByDns: Resolve = async (host, signal) => {
  // one of its own, as cancelling ends all that a resolver has begun
  const resolver = new dns.Resolver({ timeout: 1_000, tries: 3 })
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
    return addresses
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

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
  const answer = resolve(host, abort.signal).then(
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
