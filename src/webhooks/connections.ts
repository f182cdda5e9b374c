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

/** `ca`: authorities in PEM instead of the known ones. */
export function createConnections(ca?: string): Connections {
  const idle = new Set<Duplex>()
  const known = new WeakSet<Duplex>()
  const options = { keepAlive: true, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS }
  const tls = { rejectUnauthorized: true, minVersion: 'TLSv1.2' } as const
  const http = new HttpAgent(options)
  const https = new HttpsAgent({ ...options, ...tls, ...(ca === undefined ? {} : { ca }) })
  for (const agent of [http, https]) {
    const keep = agent.keepSocketAlive
    agent.keepSocketAlive = (socket: Duplex) => {
      if (idle.size >= MAX_IDLE) return false
      idle.add(socket)
      if (!known.has(socket)) socket.once('close', () => idle.delete(socket))
      known.add(socket)
      return keep.call(agent, socket)
    }
  }
  return {
    http,
    https,
    taken: (socket) => idle.delete(socket),
    close() {
      http.destroy()
      https.destroy()
    },
  }
}
