// Two network namespaces: the server in one, in the other all receivers, allowed and refused. Two links
// connect them, so that packets to refused addresses are counted apart from those to public ones.

/** The server's own, on the link to the public ones. */
export const SERVER = { ipv4: '93.184.216.10', ipv6: '2606:2800:220:1::10' }
export const RECEIVER = {
  ipv4: '93.184.216.20',
  ipv6: '2606:2800:220:1::20',
  /** Serves https with a self-signed certificate. */
  selfSigned: '93.184.216.21',
  proxy: '93.184.216.22',
  dns: '93.184.216.53',
}
export const PROXY_PORT = 3_128
/** The name in the receiver's certificate. */
export const TLS_NAME = 'secure.receiver.com'

/** One address of each refused network that a machine can have; there is a route from the server to each. */
export const REFUSED_NETWORKS = {
  '0.0.0.0/8': '0.1.2.3',
  '10.0.0.0/8': '10.0.0.5',
  '100.64.0.0/10': '100.64.0.5',
  'metadata of Alibaba': '100.100.100.200',
  'host agent of Azure': '168.63.129.16',
  'metadata of most clouds': '169.254.169.254',
  'metadata of ECS': '169.254.170.2',
  '172.16.0.0/12': '172.16.0.5',
  'metadata of Oracle': '192.0.0.192',
  '192.0.2.0/24': '192.0.2.5',
  '192.31.196.0/24': '192.31.196.5',
  '192.52.193.0/24': '192.52.193.5',
  '192.88.99.0/24': '192.88.99.5',
  '192.168.0.0/16': '192.168.1.5',
  '192.175.48.0/24': '192.175.48.5',
  '198.18.0.0/15': '198.18.0.5',
  '198.51.100.0/24': '198.51.100.5',
  '203.0.113.0/24': '203.0.113.5',
  '240.0.0.0/4': '240.0.0.5',
  'IPv4-compatible IPv6': '::a00:5',
  'IPv4-translated IPv6': '::ffff:0:a00:5',
  NAT64: '64:ff9b::a00:5',
  'local NAT64': '64:ff9b:1::a00:5',
  '100::/64': '100::5',
  Teredo: '2001::5',
  '2001:db8::/32': '2001:db8::5',
  '6to4': '2002:a00:5::1',
  '2620:4f:8000::/48': '2620:4f:8000::5',
  '3fff::/20': '3fff::5',
  '4000::/3': '4000::1',
  '5f00::/16': '5f00::5',
  'unique local': 'fd00::5',
  'metadata of AWS by IPv6': 'fd00:ec2::254',
  'site-local': 'fec0::5',
}
/** Addresses of the server itself. */
export const OWN_ADDRESSES = {
  loopback: '127.0.0.1',
  'loopback, another': '127.0.0.53',
  'loopback by IPv6': '::1',
  'own address': SERVER.ipv4,
  'own address by IPv6': SERVER.ipv6,
}
/** Refused as well, but no machine can have them. */
export const UNREACHABLE = {
  'IPv4-mapped IPv6': '::ffff:10.0.0.5',
  unspecified: '0.0.0.0',
  'unspecified by IPv6': '::',
  broadcast: '255.255.255.255',
  multicast: '224.0.0.1',
  'multicast by IPv6': 'ff0e::1',
  'link-local by IPv6': 'fe80::5',
}

const SERVER_LAN = ['172.30.255.1', 'fd99::1']
const MAC = { server: '02:00:00:00:00:01', receiver: '02:00:00:00:00:02' }
const refused = Object.values(REFUSED_NETWORKS)
const lengthOf = (address: string) => (address.includes(':') ? 128 : 32)
/** Adds an address that can be used at once: IPv6 looks for duplicates otherwise. */
const alone = (address: string, link: string) =>
  `addr add ${address}/${lengthOf(address)} dev ${link}${address.includes(':') ? ' nodad' : ''}`

// No discovery of neighbours and no multicast: what is counted on the link was sent to somebody.
const quietLink = (name: string, mac: string) => [
  `link set ${name} address ${mac}`,
  `link set ${name} multicast off`,
  `link set ${name} addrgenmode none`,
  `link set ${name} up`,
]
const routeTo = (address: string, link: string, mac: string) => [
  `route add ${address}/${lengthOf(address)} dev ${link}`,
  `neigh replace ${address} lladdr ${mac} dev ${link} nud permanent`,
]

/** Lines of `ip -batch` in the server's namespace; `receiverPid` is a process in the other one. */
export const serverSetup = (receiverPid: number): string[] => [
  'link set lo up',
  `link add wan0 type veth peer name wan1 netns ${receiverPid}`,
  `link add lan0 type veth peer name lan1 netns ${receiverPid}`,
  'link set wan0 up',
  `addr add ${SERVER.ipv4}/24 dev wan0`,
  `addr add ${SERVER.ipv6}/64 dev wan0 nodad`,
  ...quietLink('lan0', MAC.server),
  ...SERVER_LAN.map((address) => alone(address, 'lan0')),
  ...refused.flatMap((address) => routeTo(address, 'lan0', MAC.receiver)),
]

/** Lines of `ip -batch` in the receivers' namespace, once the links are there. */
export const receiverSetup = (): string[] => [
  'link set lo up',
  'link set wan1 up',
  ...[RECEIVER.ipv4, RECEIVER.selfSigned, RECEIVER.proxy, RECEIVER.dns].map(
    (address) => `addr add ${address}/24 dev wan1`,
  ),
  `addr add ${RECEIVER.ipv6}/64 dev wan1 nodad`,
  ...quietLink('lan1', MAC.receiver),
  ...SERVER_LAN.flatMap((address) => routeTo(address, 'lan1', MAC.server)),
  ...refused.map((address) => alone(address, 'lo')),
]

/** Runs `ip` with these commands. Throws its error output when one fails. */
export function configure(commands: readonly string[]): void {
  const { success, stderr } = Bun.spawnSync(['ip', '-batch', '-'], {
    stdin: new Blob([`${commands.join('\n')}\n`]),
  })
  if (!success) throw new Error(`ip: ${stderr.toString()}`)
}
