import { connect, createServer, type Socket } from 'node:net'

/**
 * A proxy to PostgreSQL that can stop passing data without closing connections, as a firewall does that drops
 * them.
 */
export interface SilentProxy {
  url: string
  /** Bytes from the client since it fell silent. */
  held(): number
  fallSilent(): void
  /** Passes on what was held back. */
  goOn(): void
  /** The present connections stay silent; new ones work. */
  forget(): void
  close(): void
}

/** A proxy in front of the database of `url`, which may name a unix socket by `?host=`. */
export async function silentProxy(url: string): Promise<SilentProxy> {
  const upstream = new URL(url)
  const socketDir = upstream.searchParams.get('host')
  const place =
    socketDir === null
      ? { host: upstream.hostname, port: Number(upstream.port || 5432) }
      : { path: `${socketDir}/.s.PGSQL.5432` }
  const sockets = new Set<Socket>()
  const forgotten = new WeakSet<Socket>()
  let isSilent = false
  let held = 0
  let waiting: (() => void)[] = []
  const pass = (from: Socket, to: Socket, isClient: boolean) => {
    sockets.add(from)
    // forgotten connections do not pass a close on either
    const end = () => {
      if (!forgotten.has(from)) to.destroy()
    }
    from.on('error', end)
    from.on('close', end)
    from.on('data', (data) => {
      if (forgotten.has(from)) return
      if (!isSilent) return void to.write(data)
      if (isClient) held += data.length
      waiting.push(() => to.write(data))
    })
  }
  const server = createServer((client) => {
    const database = connect(place)
    pass(client, database, true)
    pass(database, client, false)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const proxied = new URL(url)
  proxied.searchParams.delete('host')
  proxied.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return {
    url: proxied.href,
    held: () => held,
    fallSilent() {
      isSilent = true
      held = 0
    },
    goOn() {
      isSilent = false
      for (const send of waiting) send()
      waiting = []
    },
    forget() {
      for (const socket of sockets) forgotten.add(socket)
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
