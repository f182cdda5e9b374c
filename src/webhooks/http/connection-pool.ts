import { createSecureContext, type SecureContext } from 'node:tls'
import { type Connection, openConnection, type RequestEvents } from './connection.ts'

/** Shorter than receivers' keep-alive time, so that one rarely closes while a request is sent. */
const IDLE_MS = 1_000
/** Idle connections to all receivers: some 50 KB each with TLS. */
const MAX_IDLE = 256

const isUsable = ({ socket, parser }: Connection): boolean =>
  parser.isKept() && !socket.destroyed && socket.readyState === 'open' && socket.writableLength === 0

/** Closes each connection after IDLE_MS. One timer for all: one for each request costs more. */
function createIdleConnections() {
  const byOrigin = new Map<string, Connection[]>()
  /** Time when each became idle, the oldest first. */
  const since = new Map<Connection, number>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const remove = (connection: Connection) => {
    if (!since.delete(connection)) return
    const same = byOrigin.get(connection.origin) ?? []
    same.splice(same.lastIndexOf(connection), 1)
    if (same.length === 0) byOrigin.delete(connection.origin)
  }
  const sweep = () => {
    timer = undefined
    const now = performance.now()
    for (const [connection, began] of since) {
      const left = began + IDLE_MS - now
      if (left > 0) {
        timer = setTimeout(sweep, left)
        return
      }
      remove(connection)
      connection.socket.destroy()
    }
  }
  return {
    add(connection: Connection) {
      since.set(connection, performance.now())
      const same = byOrigin.get(connection.origin)
      if (same === undefined) byOrigin.set(connection.origin, [connection])
      else same.push(connection)
      if (timer === undefined) timer = setTimeout(sweep, IDLE_MS)
    },
    remove,
    /** Removes and returns the one of this origin that was used last. */
    pop(origin: string): Connection | undefined {
      const connection = byOrigin.get(origin)?.at(-1)
      if (connection !== undefined) remove(connection)
      return connection
    },
    size: (): number => since.size,
  }
}

/** `ca`: certificate authorities in PEM, in place of the system's. */
export function createConnectionPool(ca?: string) {
  const idle = createIdleConnections()
  const open = new Set<Connection>()
  let context: SecureContext | undefined
  let isClosed = false
  const contextOf = ({ protocol }: URL): SecureContext | null => {
    if (protocol !== 'https:') return null
    context ??= createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) })
    return context
  }
  const remove = (connection: Connection) => {
    open.delete(connection)
    idle.remove(connection)
  }
  return {
    /** Assigns the idle connection to `origin` that was used last to `request`, if there is one. */
    take(origin: string, request: RequestEvents): Connection | undefined {
      for (let kept = idle.pop(origin); kept !== undefined; kept = idle.pop(origin)) {
        // the receiver has closed it, and the event was not emitted yet
        if (!isUsable(kept)) continue
        kept.request = request
        kept.parser.begin()
        return kept
      }
      return undefined
    },
    /** A new connection to one of `addresses`, all of them checked. Throws when no socket can be made. */
    open(url: URL, addresses: readonly string[], request: RequestEvents): Connection {
      if (isClosed) throw new Error('the sender was closed')
      const connection = openConnection(url, addresses, contextOf(url), request, remove)
      open.add(connection)
      return connection
    },
    /** Ends the request's use. Keeps the connection if the response is complete and it can be used again. */
    release(connection: Connection, isComplete: boolean) {
      connection.request = null
      if (isComplete && !isClosed && idle.size() < MAX_IDLE && isUsable(connection)) idle.add(connection)
      else connection.socket.destroy()
    },
    /** Closes all connections, those in use too. */
    close() {
      isClosed = true
      for (const { socket } of open) socket.destroy()
    },
  }
}

/** The connections of a sender: kept for IDLE_MS for the next request to the same scheme, host and port. */
export type ConnectionPool = ReturnType<typeof createConnectionPool>
