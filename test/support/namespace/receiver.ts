import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { BunFile } from 'bun'
import { configure, PROXY_PORT, RECEIVER, REFUSED_NETWORKS, receiverSetup } from './addresses.ts'
import { type Names, startDns } from './dns.ts'

/*
 * A program for the receivers' namespace: receivers, a DNS server, a proxy, and addresses of private networks that record
 * connections. It is controlled over a unix socket in the folder of its argument, which both namespaces share.
 */

interface Arrived {
  /** The address it came to. */
  to: string
  host: string
  path: string
  headers: Record<string, string>
  body: string
}

/** The requests that were received since the last `/forget`. */
export interface SeenOutside {
  arrived: Arrived[]
  /** The refused address of each connection; must stay empty. */
  connections: string[]
}

const REDIRECT = '/redirect/'

async function record(seen: SeenOutside, addresses: readonly string[], port: number): Promise<void> {
  for (const address of addresses) {
    const server = createServer((socket) => {
      seen.connections.push(address)
      socket.on('error', () => undefined)
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\ninternal')
    })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    server.once('error', reject)
    server.listen(port, address, resolve)
    await promise
  }
}

function receive(seen: SeenOutside, to: string, tls?: { cert: BunFile; key: BunFile }): void {
  const listening = tls === undefined ? { hostname: to, port: 80 } : { hostname: to, port: 443, tls }
  Bun.serve({
    ...listening,
    async fetch(request: Request) {
      const { pathname, search } = new URL(request.url)
      const headers = Object.fromEntries(request.headers)
      seen.arrived.push({
        to,
        host: headers.host ?? '',
        path: `${pathname}${search}`,
        headers,
        body: await request.text(),
      })
      // on a kept connection the next request would need no DNS query
      const answer = { connection: 'close' }
      if (!pathname.startsWith(REDIRECT)) return new Response('received', { headers: answer })
      const status = Number(pathname.slice(REDIRECT.length))
      const location = 'http://169.254.169.254/latest/'
      return new Response('elsewhere', { status, headers: { ...answer, location } })
    },
  })
}

function certificate(folder: string, name: string): { cert: BunFile; key: BunFile } {
  return { cert: Bun.file(join(folder, `${name}.pem`)), key: Bun.file(join(folder, `${name}.key`)) }
}

async function start(folder: string): Promise<void> {
  configure(receiverSetup())
  const seen: SeenOutside = { arrived: [], connections: [] }
  const dns = await startDns(RECEIVER.dns)
  await record(seen, Object.values(REFUSED_NETWORKS), 80)
  await record(seen, [RECEIVER.proxy], PROXY_PORT)
  receive(seen, RECEIVER.ipv4)
  receive(seen, RECEIVER.ipv6)
  if (existsSync(join(folder, 'valid.pem'))) {
    receive(seen, RECEIVER.ipv4, certificate(folder, 'valid'))
    receive(seen, RECEIVER.selfSigned, certificate(folder, 'self-signed'))
  }
  Bun.serve({
    unix: join(folder, 'receiver.sock'),
    routes: {
      '/seen': () => Response.json(seen),
      '/forget': () => {
        seen.arrived = []
        seen.connections = []
        return new Response()
      },
      '/names': async (request) => {
        dns.names = (await request.json()) as Names
        return new Response()
      },
    },
  })
}

const say = (line: string) => process.stdout.write(`${line}\n`)

if (import.meta.main) {
  const [folder = ''] = process.argv.slice(2)
  say('up')
  // the other namespace makes the links, then writes a line; at the end of the input the program ends
  let isStarted = false
  for await (const _line of console) {
    if (isStarted) continue
    isStarted = true
    await start(folder)
    say('listening')
  }
  process.exit(0)
}
