import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { type SecureContext, connect as tlsConnect } from 'node:tls'
import { hostOf } from './egress.ts'
import { createResponseParser, type ResponseEvents, type ResponseParser } from './response-parser.ts'

/** One address of a name is tried for this long before the next. */
const ADDRESS_TIMEOUT_MS = 1_000

/** The events of a connection that its request gets until it releases the connection. */
export interface RequestEvents extends ResponseEvents {
  /** TCP is connected, and the peer is known; with TLS the handshake follows. */
  connected(): void
  /** The connection can be written to. */
  ready(): void
  /** All bytes received so far were read, and the response is not complete. */
  waiting(): void
  /** The response was read to its end. */
  complete(): void
  /** The response will not come, or not be completed. Undefined: closed without an error. */
  failed(error: unknown): void
}

export interface Connection {
  /** Scheme, host and port: which requests may use it. */
  origin: string
  socket: Socket
  parser: ResponseParser
  /** The request in flight; null: idle. */
  request: RequestEvents | null
}

/** A look-up that returns the addresses that were checked: a second one could return others. */
const fixedLookup =
  (addresses: readonly string[]): LookupFunction =>
  (_host, { all }, callback) => {
    const list = addresses.map((address) => ({ address, family: isIP(address) }))
    const [first] = list
    if (all === true || first === undefined) callback(null, list)
    else callback(null, first.address, first.family)
  }

function openSocket(url: URL, addresses: readonly string[], context: SecureContext | null): Socket {
  const host = hostOf(url)
  const target = {
    host,
    port: Number(url.port || (context === null ? 80 : 443)),
    lookup: fixedLookup(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    noDelay: true,
  }
  if (context === null) return connect(target)
  return tlsConnect({
    ...target,
    secureContext: context,
    // explicit: NODE_TLS_REJECT_UNAUTHORIZED changes the default
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    // SNI carries names only
    servername: isIP(host) === 0 ? host : '',
  })
}

const CLOSED_EARLY = Object.assign(new Error('closed'), { code: 'ECONNRESET' })

/**
 * Begins to connect to one of `addresses`, all of them checked; over TLS when there is a `context`. The
 * events go to the connection's request; `onClosed` is called once, when the connection is closed.
 */
export function openConnection(
  url: URL,
  addresses: readonly string[],
  context: SecureContext | null,
  request: RequestEvents,
  onClosed: (connection: Connection) => void,
): Connection {
  const socket = openSocket(url, addresses, context)
  const parser = createResponseParser({
    status: (status) => connection.request?.status(status),
    body: (chunk) => connection.request?.body(chunk),
  })
  const connection: Connection = { origin: url.origin, socket, parser, request }
  parser.begin()
  socket.on('data', (bytes: Buffer) => {
    // bytes received without a request must not be read as the next response
    if (connection.request === null) {
      socket.destroy()
      return
    }
    const error = parser.read(bytes)
    if (parser.isComplete()) connection.request?.complete()
    else if (error === null) connection.request?.waiting()
    else connection.request?.failed(error)
  })
  socket.on('end', () => {
    parser.end()
    if (parser.isComplete()) connection.request?.complete()
    else connection.request?.failed(CLOSED_EARLY)
    socket.destroy()
  })
  socket.once('connect', () => connection.request?.connected())
  socket.once(context === null ? 'connect' : 'secureConnect', () => connection.request?.ready())
  // never removed: an 'error' event without a listener ends the thread
  socket.on('error', (error) => connection.request?.failed(error))
  socket.once('close', () => {
    connection.request?.failed(undefined)
    onClosed(connection)
  })
  return connection
}
