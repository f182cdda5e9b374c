import { connect, createServer, type Socket } from 'node:net'
import { atPort, listening, placeOf } from './ports.ts'

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

/** The message by which PostgreSQL names the process of a session; the number and a secret follow. */
const BACKEND_KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 12])

/** Gives the session's process another number, as poolers do. Returns whether `data` names it. */
function renumber(data: Buffer): boolean {
  const at = data.indexOf(BACKEND_KEY_DATA)
  if (at >= 0) data.writeUInt32BE(1, at + BACKEND_KEY_DATA.length)
  return at >= 0
}

/**
 * A proxy in front of the database of `url`, which may name a unix socket by `?host=`. `asPooler`: clients see
 * that it is no PostgreSQL.
 */
export async function silentProxy(url: string, { asPooler = false } = {}): Promise<SilentProxy> {
  const place = placeOf(url)
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
    let isNamed = isClient || !asPooler
    from.on('data', (data) => {
      if (!isNamed && typeof data !== 'string') isNamed = renumber(data)
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
  const port = await listening(server)
  return {
    url: atPort(url, port),
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
