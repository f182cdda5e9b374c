import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'

/** The connections of a sender: kept a moment for the next request to the same host and port. */
export interface Connections {
  http: HttpAgent
  https: HttpsAgent
  /** To be told that a request has this connection now. */
  taken(socket: Duplex): void
  /** Closes them all, those in use too. */
  close(): void
}

/** How long one waits for another request: less than receivers wait, so that their close rarely crosses with it. */
const IDLE_MS = 1_000
/** That wait, to all receivers: some 50 KB each with TLS. */
const MAX_IDLE = 256

/** Has `agents` keep no more than MAX_IDLE connections in all; by themselves they limit those to one host. */
function limitIdle(agents: readonly (HttpAgent | HttpsAgent)[]): Connections['taken'] {
  const idle = new Set<Duplex>()
  const known = new WeakSet<Duplex>()
  for (const agent of agents) {
    const keep = agent.keepSocketAlive
    agent.keepSocketAlive = (socket: Duplex) => {
      if (idle.size >= MAX_IDLE) return false
      idle.add(socket)
      if (!known.has(socket)) socket.once('close', () => idle.delete(socket))
      known.add(socket)
      return keep.call(agent, socket)
    }
  }
  return (socket) => idle.delete(socket)
}

/** `ca`: authorities in PEM instead of the known ones. */
export function createConnections(ca?: string): Connections {
  const own = ca === undefined ? {} : { ca }
  const tls = { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...own } as const
  const keep = { keepAlive: true, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS }
  const [http, https] = [new HttpAgent(keep), new HttpsAgent({ ...keep, ...tls })]
  return {
    http,
    https,
    taken: limitIdle([http, https]),
    close() {
      http.destroy()
      https.destroy()
    },
  }
}
