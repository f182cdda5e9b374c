// The rules for URLs and addresses that this server may send to. URLs come from users: without these rules anybody with an
// API key could make the server send requests to machines that only it can reach (SSRF).

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { memoize } from '../../base/memoize.ts'

/** Longest URL of a receiver, in characters. */
export const MAX_URL_LENGTH = 2_048

export interface Egress {
  /** The URL without fragment and final dot of the host; or the problem, as a text after "the URL". */
  checkUrl(text: string): { url: URL } | { problem: string }
  /** Whether a connection to this address is allowed; false for a text that is not an address. */
  isAllowed(address: string): boolean
}

export interface EgressOptions {
  /** Networks that are allowed whatever they are: the setting WEBHOOK_ALLOW_CIDRS. */
  allowCidrs: readonly string[]
  /** The setting WEBHOOK_ALLOW_HTTP. */
  allowHttp: boolean
  /** The addresses of this host's own interfaces. */
  ownAddresses: readonly string[]
}

/** The networks that hold most private addresses: what DNS answered for a name is not shown. */
const USUAL_NETWORKS = '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16'

/** The message of every refused scheme or address, with a line to paste. */
export const refusalOf = (networks = USUAL_NETWORKS): string =>
  `must be an https URL with a public address; started with WEBHOOK_ALLOW_HTTP=true WEBHOOK_ALLOW_CIDRS=${networks} the server also allows http, and the addresses of that network`

const PRIVATE_NETWORKS = [
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '100.64.0.0/10'],
  ...['fc00::/7', 'fe80::/10'],
].map((cidr) => ({ cidr, network: ipaddr.parseCIDR(cidr) }))

/** The network of a refused address that the URL itself has: a private one, else the address alone. */
function networkOf(text: string): string {
  const address = ipaddr.parse(text)
  const network = PRIVATE_NETWORKS.find(
    ({ network: [first, bits] }) => first.kind() === address.kind() && address.match(first, bits),
  )
  return network?.cidr ?? `${address}/${address.kind() === 'ipv4' ? 32 : 128}`
}

/** Azure's host agent: a public address that only its guests reach. */
const AZURE_AGENT = '168.63.129.16'
/** All global unicast addresses. Loopback, local, multicast and most IPv4-in-IPv6 addresses lie outside. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Suffixes of private networks; with WEBHOOK_ALLOW_CIDRS only their addresses are checked. `.test` is used in tests. */
const LOCAL_SUFFIXES = ['.local', '.localdomain', '.internal', '.intranet', '.lan', '.home.arpa']

const FIRST_FREE_PORT = 1_024
/** Ports above 1023 where databases, queues, caches and administration services listen. */
const SERVICE_PORTS = new Set([
  1080, 1433, 1434, 1521, 1883, 2049, 2181, 2375, 2376, 2377, 2379, 2380, 3128, 3306, 3389, 4369, 5432, 5433,
  5671, 5672, 5900, 5901, 5984, 5985, 5986, 6000, 6379, 6380, 6443, 6660, 6661, 6662, 6663, 6664, 6665, 6666,
  6667, 6668, 6669, 6697, 7000, 7001, 7199, 8125, 8500, 8600, 9042, 9092, 9160, 9200, 9300, 10250, 10255,
  11211, 15672, 16379, 26257, 26379, 27017, 27018, 27019, 28015, 33060, 50000, 61616,
])

function addressCheck({ allowCidrs, ownAddresses }: EgressOptions): (address: string) => boolean {
  const addresses = [AZURE_AGENT, ...ownAddresses.map((address) => address.replace(/%.*$/, ''))]
  const networks = {
    allowed: allowCidrs.map((cidr) => ipaddr.parseCIDR(cidr)),
    refused: addresses.map((address) => ipaddr.parseCIDR(`${address}/${isIP(address) === 4 ? 32 : 128}`)),
  }
  return (text) => {
    // an address with a zone is link-local
    if (isIP(text) === 0 || text.includes('%')) return false
    const address = ipaddr.parse(text)
    const range = ipaddr.subnetMatch(address, networks, address.range())
    const isPublic = address instanceof ipaddr.IPv4 || address.match(PUBLIC_IPV6)
    return range === 'allowed' || (isPublic && range === 'unicast')
  }
}

/** The addresses of `localhost` and its subdomains, which need no DNS; undefined for other names. */
export const loopbackOf = (host: string): readonly string[] | undefined =>
  host === 'localhost' || host.endsWith('.localhost') ? ['127.0.0.1', '::1'] : undefined

/** The host of a URL in the form of node:net and DNS: IPv6 without brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

function textProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`
  if (/[\s\p{Cc}\p{Cs}\\]/u.test(text)) return 'must not contain spaces, control characters or backslashes'
  const [, authority] = /^https?:\/\/([^/?#]*)/i.exec(text) ?? []
  if (authority === undefined) return 'must be an absolute https URL'
  if (authority === '') return 'must name a host'
  return authority.includes('@') ? 'must not contain a user name or password' : undefined
}

/** Letters, digits, hyphens and underscores; the URL parser allows characters that no DNS name has. */
const isName = (host: string): boolean =>
  host.length <= 253 && host.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label))

function hostProblem(host: string, options: EgressOptions, isAllowed: Egress['isAllowed']) {
  const addresses = isIP(host) === 0 ? loopbackOf(host) : [host]
  if (addresses !== undefined)
    return addresses.some(isAllowed) ? undefined : refusalOf(networkOf(addresses[0] ?? host))
  if (!isName(host)) return 'must name a host'
  if (options.allowCidrs.length > 0) return undefined
  if (!host.includes('.') || LOCAL_SUFFIXES.some((suffix) => host.endsWith(suffix))) return refusalOf()
  return undefined
}

function portProblem(url: URL, { allowCidrs, allowHttp }: EgressOptions): string | undefined {
  const port = Number(url.port || (url.protocol === 'http:' ? 80 : 443))
  if (port === 0) return 'must not have port 0'
  if (allowCidrs.length > 0 || port === 443 || (port === 80 && allowHttp)) return undefined
  return port < FIRST_FREE_PORT || SERVICE_PORTS.has(port)
    ? `must have port 443${allowHttp ? ', 80' : ''} or one from ${FIRST_FREE_PORT} that no well-known service has (with WEBHOOK_ALLOW_CIDRS any)`
    : undefined
}

/** Checks URLs and addresses of receivers. A problem is shown to the user and names the setting that would allow it. */
export function createEgress(options: EgressOptions): Egress {
  // may be cached, as the rules do not change: an attempt checks up to five addresses, at 12 µs each
  const isAllowed = memoize(addressCheck(options))
  const checkUrl = (text: string): { url: URL } | { problem: string } => {
    const problem = textProblem(text)
    if (problem !== undefined) return { problem }
    if (!URL.canParse(text)) return { problem: 'must be an absolute https URL' }
    const url = new URL(text)
    url.hash = ''
    // a certificate is for the name without the dot
    if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
    const scheme = url.protocol === 'https:' || options.allowHttp ? undefined : refusalOf()
    const refusal = hostProblem(hostOf(url), options, isAllowed) ?? scheme ?? portProblem(url, options)
    return refusal === undefined ? { url } : { problem: refusal }
  }
  return { checkUrl, isAllowed }
}
