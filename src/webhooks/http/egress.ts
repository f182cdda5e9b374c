import { BlockList, isIP } from 'node:net'

// The rules for URLs and addresses that this server may send to. URLs come from users:
// without these rules anybody with an API key could make the server send requests to machines that only it can reach
// (SSRF).

/** Longest URL of a receiver, in characters. */
export const MAX_URL_LENGTH = 2_048

export interface Egress {
  /** The URL without fragment and final dot of the host; or the problem, as a text after "the URL". */
  checkUrl(text: string): { url: URL } | { problem: string }
  /** Whether a connection to this address is allowed; false for a text that is not an address. */
  isAllowed(address: string): boolean
}

export interface EgressOptions {
  /** Networks that are allowed whatever the lists below say: the setting WEBHOOK_ALLOW_CIDRS. */
  allowCidrs: readonly string[]
  /** The setting WEBHOOK_ALLOW_HTTP. */
  allowHttp: boolean
  /** The addresses of this host's own interfaces. */
  ownAddresses: readonly string[]
}

/** The message does not contain the address, which may be known to this network's resolver only. */
export const ADDRESS_REFUSED =
  'has an address that is private, reserved or of this host (WEBHOOK_ALLOW_CIDRS allows a network)'

const REFUSED_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8',
  '100.64.0.0/10', // shared by a provider's customers; 100.100.100.200 is Alibaba's metadata service
  '127.0.0.0/8',
  '168.63.129.16/32', // Azure's host agent: a public address that only its guests reach
  '169.254.0.0/16', // link-local, with the metadata services of most clouds
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24', // documentation
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24', // relays from IPv6
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
]
/** All global unicast addresses. Loopback, local, multicast and most IPv4-in-IPv6 addresses lie outside. */
const PUBLIC_IPV6 = ['2000::/3']
const REFUSED_IPV6 = [
  '2001::/23', // Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: IPv4 within
  '2620:4f:8000::/48',
  '3fff::/20', // documentation
]

/**
 * Suffixes that private networks use. With WEBHOOK_ALLOW_CIDRS set only their addresses are checked. `.test`,
 * `.example` and `.invalid` are missing: no DNS server resolves them, and users write them in tests.
 */
const LOCAL_SUFFIXES = ['.local', '.localdomain', '.internal', '.intranet', '.lan', '.home.arpa']

const FIRST_FREE_PORT = 1_024
/** Ports above 1023 where databases, queues, caches and administration services listen. */
const SERVICE_PORTS = new Set([
  1080, 1433, 1434, 1521, 1883, 2049, 2181, 2375, 2376, 2377, 2379, 2380, 3128, 3306, 3389, 4369, 5432, 5433,
  5671, 5672, 5900, 5901, 5984, 5985, 5986, 6000, 6379, 6380, 6443, 6660, 6661, 6662, 6663, 6664, 6665, 6666,
  6667, 6668, 6669, 6697, 7000, 7001, 7199, 8125, 8500, 8600, 9042, 9092, 9160, 9200, 9300, 10250, 10255,
  11211, 15672, 16379, 26257, 26379, 27017, 27018, 27019, 28015, 33060, 50000, 61616,
])

function networks(cidrs: readonly string[]): (address: string) => boolean {
  // one list for each family: a common one treats 10.0.0.1 and ::ffff:10.0.0.1 as equal
  const [ipv4, ipv6] = [new BlockList(), new BlockList()]
  for (const cidr of cidrs) {
    const [network = '', bits] = cidr.split('/')
    if (isIP(network) === 4) ipv4.addSubnet(network, Number(bits), 'ipv4')
    else ipv6.addSubnet(network, Number(bits), 'ipv6')
  }
  return (address) => {
    const family = isIP(address)
    return family === 4 ? ipv4.check(address, 'ipv4') : family === 6 && ipv6.check(address, 'ipv6')
  }
}

function addressCheck({ allowCidrs, ownAddresses }: EgressOptions): (address: string) => boolean {
  const isExempt = networks(allowCidrs)
  const isPublicIpv6 = networks(PUBLIC_IPV6)
  const own = ownAddresses
    .map((address) => address.replace(/%.*$/, ''))
    .map((address) => `${address}/${isIP(address) === 4 ? 32 : 128}`)
  const isRefused = networks([...REFUSED_IPV4, ...REFUSED_IPV6, ...own])
  return (address) => {
    // an address with a zone is link-local
    if (address.includes('%')) return false
    if (isExempt(address)) return true
    return (isIP(address) === 4 || isPublicIpv6(address)) && !isRefused(address)
  }
}

/** The addresses of `localhost` and its subdomains, which need no DNS; undefined for other names. */
export function loopbackOf(host: string): readonly string[] | undefined {
  return host === 'localhost' || host.endsWith('.localhost') ? ['127.0.0.1', '::1'] : undefined
}

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

function hostProblem(
  host: string,
  options: EgressOptions,
  isAllowed: Egress['isAllowed'],
): string | undefined {
  const addresses = isIP(host) === 0 ? loopbackOf(host) : [host]
  if (addresses !== undefined) return addresses.some(isAllowed) ? undefined : ADDRESS_REFUSED
  if (!isName(host)) return 'must name a host'
  if (options.allowCidrs.length > 0) return undefined
  if (!host.includes('.') || LOCAL_SUFFIXES.some((suffix) => host.endsWith(suffix)))
    return 'has a name of private networks (WEBHOOK_ALLOW_CIDRS allows a network)'
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

/**
 * Checks URLs and addresses of receivers. A problem is shown to the user who gave the URL and names the
 * setting that would allow it. The addresses of a host name are checked at each attempt.
 */
export function createEgress(options: EgressOptions): Egress {
  const isAllowed = addressCheck(options)
  const checkUrl = (text: string): { url: URL } | { problem: string } => {
    const problem = textProblem(text)
    if (problem !== undefined) return { problem }
    if (!URL.canParse(text)) return { problem: 'must be an absolute https URL' }
    const url = new URL(text)
    if (url.protocol !== 'https:' && !options.allowHttp)
      return { problem: 'must be an https URL (WEBHOOK_ALLOW_HTTP=true also allows http)' }
    url.hash = ''
    // a certificate is for the name without the dot
    if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
    const refusal = hostProblem(hostOf(url), options, isAllowed) ?? portProblem(url, options)
    return refusal === undefined ? { url } : { problem: refusal }
  }
  return { checkUrl, isAllowed }
}
