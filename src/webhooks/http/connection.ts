import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { type SecureContext, connect as tlsConnect } from 'node:tls'
import { hostOf } from './egress.ts'
import { type AnswerEvents, type AnswerParser, createAnswerParser } from './response-parser.ts'

/** Of a name with many addresses, how long one is tried before the next. */
const ADDRESS_TIMEOUT_MS = 1_000

/** The request that uses a connection, and what it hears of it. Nothing after it has let it go. */
export interface User extends AnswerEvents {
  /** TCP is there, and with it the peer; with TLS the handshake follows. */
  connected(): void
  /** Can be written to. */
  ready(): void
  /** The bytes that have come were read, and the answer goes on. */
  waiting(): void
  /** The answer was read to its end. */
  complete(): void
  /** No answer will come, or no more of it. Undefined: closed without an error. */
  failed(error: unknown): void
}

export interface Connection {
  /** Scheme, host and port: whom it may be used for. */
  origin: string
  socket: Socket
  parser: AnswerParser
  /** null: waits for its next use. */
  user: User | null
}

/** Gives a new connection the addresses that were judged, instead of looking the name up again. */
const given =
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
    lookup: given(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    noDelay: true,
  }
  if (context === null) return connect(target)
  return tlsConnect({
    ...target,
    secureContext: context,
    // told always: without it the environment can switch the check off
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    // an address is no name that a receiver could be asked for
    servername: isIP(host) === 0 ? host : '',
  })
}

const CUT_OFF = Object.assign(new Error('closed'), { code: 'ECONNRESET' })

/**
 * Begins to connect to one of `addresses`, all of them judged; with `context` by TLS. Its events go to its user for as
 * long as it has one; `onClosed` is called once, at its end.
 */
export function openConnection(
  url: URL,
  addresses: readonly string[],
  context: SecureContext | null,
  user: User,
  onClosed: (connection: Connection) => void,
): Connection {
  const socket = openSocket(url, addresses, context)
  const parser = createAnswerParser({
    status: (status) => connection.user?.status(status),
    body: (chunk) => connection.user?.body(chunk),
  })
  const connection: Connection = { origin: url.origin, socket, parser, user }
  parser.begin()
  socket.on('data', (bytes: Buffer) => {
    // what comes unasked is no answer to the next request
    if (connection.user === null) {
      socket.destroy()
      return
    }
    const error = parser.read(bytes)
    if (parser.isComplete()) connection.user?.complete()
    else if (error === null) connection.user?.waiting()
    else connection.user?.failed(error)
  })
  socket.on('end', () => {
    parser.end()
    if (parser.isComplete()) connection.user?.complete()
    else connection.user?.failed(CUT_OFF)
    socket.destroy()
  })
  socket.once('connect', () => connection.user?.connected())
  socket.once(context === null ? 'connect' : 'secureConnect', () => connection.user?.ready())
  // stays to the end: an error that nobody hears would end the thread
  socket.on('error', (error) => connection.user?.failed(error))
  socket.once('close', () => {
    connection.user?.failed(undefined)
    parser.free()
    onClosed(connection)
  })
  return connection
}
