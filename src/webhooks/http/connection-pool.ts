import { createSecureContext, type SecureContext } from 'node:tls'
import { type Connection, openConnection, type User } from './connection.ts'

/** The connections of a sender: kept a moment for the next request to the same scheme, host and port. */
export interface Connections {
  /** The kept one that was used last, for `user` from now on. */
  take(origin: string, user: User): Connection | undefined
  /** A new one to one of `addresses`, all of them judged. Throws when no socket can be made. */
  open(url: URL, addresses: readonly string[], user: User): Connection
  /** Its user is done. Closes it unless the answer came whole and it can serve again. */
  release(connection: Connection, isWhole: boolean): void
  /** Closes them all, those in use too. */
  close(): void
}

/** How long one waits for another request: less than receivers wait, so that their close rarely crosses with it. */
const IDLE_MS = 1_000
/** That wait, to all receivers: some 50 KB each with TLS. */
const MAX_IDLE = 256

const isUsable = ({ socket, parser }: Connection): boolean =>
  parser.isKept() && !socket.destroyed && socket.readyState === 'open' && socket.writableLength === 0

interface Idle {
  add(connection: Connection): void
  remove(connection: Connection): void
  /** The youngest of this origin, removed. */
  pop(origin: string): Connection | undefined
  size(): number
}

/** Those that wait, each for IDLE_MS. One timer sees to all of them, as one a request costs more than the search. */
function createIdle(): Idle {
  const byOrigin = new Map<string, Connection[]>()
  /** When they began to wait, the oldest first. */
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
    add(connection) {
      since.set(connection, performance.now())
      const same = byOrigin.get(connection.origin)
      if (same === undefined) byOrigin.set(connection.origin, [connection])
      else same.push(connection)
      if (timer === undefined) timer = setTimeout(sweep, IDLE_MS)
    },
    remove,
    pop(origin) {
      const connection = byOrigin.get(origin)?.at(-1)
      if (connection !== undefined) remove(connection)
      return connection
    },
    size: () => since.size,
  }
}

/** `ca`: authorities in PEM instead of the known ones. */
export function createConnections(ca?: string): Connections {
  const idle = createIdle()
  const open = new Set<Connection>()
  let context: SecureContext | undefined
  let isClosed = false
  const contextOf = ({ protocol }: URL): SecureContext | null => {
    if (protocol !== 'https:') return null
    context ??= createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) })
    return context
  }
  const forget = (connection: Connection) => {
    open.delete(connection)
    idle.remove(connection)
  }
  return {
    take(origin, user) {
      for (let kept = idle.pop(origin); kept !== undefined; kept = idle.pop(origin)) {
        // one that was closed just now
        if (!isUsable(kept)) continue
        kept.user = user
        kept.parser.begin()
        return kept
      }
      return undefined
    },
    open(url, addresses, user) {
      if (isClosed) throw new Error('the sender was closed')
      const connection = openConnection(url, addresses, contextOf(url), user, forget)
      open.add(connection)
      return connection
    },
    release(connection, isWhole) {
      connection.user = null
      if (isWhole && !isClosed && idle.size() < MAX_IDLE && isUsable(connection)) idle.add(connection)
      else connection.socket.destroy()
    },
    close() {
      isClosed = true
      for (const { socket } of open) socket.destroy()
    },
  }
}
