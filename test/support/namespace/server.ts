import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { readUntil } from '../cli.ts'
import { configure, OWN_ADDRESSES, PROXY_PORT, RECEIVER, REFUSED_NETWORKS, serverSetup } from './addresses.ts'

/*
 * The first program in the server's namespaces: connects them to the receivers', starts `serve`, and forwards requests
 * from a unix socket in a folder. Its arguments are the folder and the command of the program. It ends with its input.
 */

/**
 * Connections to the server's own addresses since the last `/forget`, and all packets to refused addresses so
 * far.
 */
export interface SeenInside {
  connections: string[]
  /** Packets to private and reserved networks, of any protocol. */
  packets: number
}

const PORT = 8_080

/** Multicast packets sent: reports of the kernel (MLD) when an interface comes up, which no machine gets. */
function multicasts(): number {
  const counters = readFileSync('/proc/net/dev_snmp6/lan0', 'utf8')
  return Number(/^Ip6OutMcastPkts\s+(\d+)$/m.exec(counters)?.[1])
}

function packetsToRefused(): number {
  const before = multicasts()
  const { stdout } = Bun.spawnSync(['ip', '-s', '-j', 'link', 'show', 'lan0'])
  const [link] = JSON.parse(stdout.toString()) as { stats64: { tx: { packets: number } } }[]
  if (link === undefined) throw new Error('the link is gone')
  // counted again if a multicast packet was sent between the two reads
  return before === multicasts() ? link.stats64.tx.packets - before : packetsToRefused()
}

/** True when a connection to the address from here gets data. */
function reaches(address: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host: address, port })
  let answered = false
  socket.on('data', () => {
    answered = true
  })
  socket.on('error', () => undefined)
  socket.on('close', () => resolve(answered))
  return promise
}

async function listen(server: ReturnType<typeof createServer>, where: { host: string } | { path: string }) {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ ...where, ...('host' in where ? { port: 80 } : {}) }, resolve)
  await promise
}

/** Starts the receivers in their namespace, connects the two, and waits until they listen. */
async function startReceivers(folder: string): Promise<void> {
  const child = Bun.spawn(
    ['unshare', '--net', process.execPath, join(import.meta.dir, 'receiver.ts'), folder],
    { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' },
  )
  await readUntil(child.stdout, 'up')
  configure(serverSetup(child.pid))
  child.stdin.write('go\n')
  child.stdin.flush()
  await readUntil(child.stdout, 'listening')
}

async function watchOwnAddresses(folder: string): Promise<void> {
  const own = Object.values(OWN_ADDRESSES)
  let connections: string[] = []
  for (const host of own) {
    const server = createServer((socket) => {
      connections.push(host)
      socket.on('error', () => undefined)
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\ninternal')
    })
    await listen(server, { host })
  }
  Bun.serve({
    unix: join(folder, 'inside.sock'),
    routes: {
      '/seen': () => Response.json({ connections, packets: packetsToRefused() } satisfies SeenInside),
      '/forget': () => {
        connections = []
        return new Response()
      },
      '/reach': async () => {
        const all = [...Object.values(REFUSED_NETWORKS), ...own, RECEIVER.proxy]
        const portOf = (address: string) => (address === RECEIVER.proxy ? PROXY_PORT : 80)
        const reached = await Promise.all(all.map((address) => reaches(address, portOf(address))))
        return Response.json(all.filter((_address, index) => reached[index]))
      },
    },
  })
}

async function forwardRequests(folder: string): Promise<void> {
  const server = createServer((socket) => {
    const inner = connect({ host: '127.0.0.1', port: PORT })
    for (const [from, to] of [
      [socket, inner],
      [inner, socket],
    ] as const) {
      from.on('error', () => to.destroy())
      from.pipe(to)
    }
  })
  await listen(server, { path: join(folder, 'api.sock') })
}

if (import.meta.main) {
  const [folder = '', ...program] = process.argv.slice(2)
  const resolver = Bun.spawnSync(['mount', '--bind', join(folder, 'resolv.conf'), '/etc/resolv.conf'])
  if (!resolver.success) throw new Error(`mount: ${resolver.stderr.toString()}`)
  await startReceivers(folder)
  await watchOwnAddresses(folder)
  const serve = Bun.spawn([...program, 'serve', '--json', '--port', String(PORT)], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  await readUntil(serve.stdout, '\n')
  await forwardRequests(folder)
  process.stdout.write('ready\n')
  for await (const _line of console);
  serve.kill('SIGTERM')
  // the kernel removes namespaces, links and mounts with the last process
  process.exit(await serve.exited)
}
