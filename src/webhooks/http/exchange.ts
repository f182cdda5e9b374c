// One HTTP request over a checked connection.

import { type Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { MAX_STORED_BODY_BYTES } from './attempt-result.ts'
import { type Egress, refusalOf } from './egress.ts'
import {
  connectionFailure,
  type Failure,
  isOutOfDescriptors,
  lookupFailure,
  type Phase,
  POSTPONED,
  protocolFailure,
  refused,
  statusFailure,
  timedOut,
} from './failure.ts'
import { LOOKUP_TIMEOUT_MS, lookUp, type Resolve } from './resolve.ts'

/** After this many bytes of a body the connection is closed. */
const MAX_READ_BODY_BYTES = 16_384

/** Cuts a body to MAX_STORED_BODY_BYTES of text that PostgreSQL can store, without an incomplete last character. */
function bodyText(bytes: Uint8Array, isWhole: boolean): string {
  const text = new TextDecoder().decode(bytes, { stream: !isWhole }).replaceAll('\0', '\uFFFD')
  // longer, since each invalid byte becomes U+FFFD, which has three bytes
  if (Buffer.byteLength(text) <= MAX_STORED_BODY_BYTES) return text
  return new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_STORED_BODY_BYTES), { stream: true })
}

function createResponseBody() {
  const chunks: Buffer[] = []
  let read = 0
  return {
    /** Returns whether more is to be read. */
    add(chunk: Buffer): boolean {
      if (read < MAX_STORED_BODY_BYTES) chunks.push(chunk.subarray(0, MAX_STORED_BODY_BYTES - read))
      read += chunk.length
      return read < MAX_READ_BODY_BYTES
    },
    text: (): string => (read === 0 ? '' : bodyText(Buffer.concat(chunks), read <= MAX_STORED_BODY_BYTES)),
  }
}

/** Reads a response's body and keeps its beginning. */
type ResponseBody = ReturnType<typeof createResponseBody>

/** Limit of TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 5_000
/** Limit from the head of a response to the end of its body, which is not needed: the status decides. */
const BODY_TIMEOUT_MS = 5_000
/** Limit for the head of a response, and for its trailers. */
const MAX_HEAD_BYTES = 16_384
/** Responses of 1xx before the final one. */
const MAX_INTERIM = 16

/** A POST to a receiver. */
export interface OutgoingRequest {
  url: string
  /** Host, Content-Length, Accept-Encoding and Connection are added. */
  headers: Record<string, string>
  body: string
}

export interface SenderOptions {
  egress: Egress
  resolve: Resolve
  /** Limit from the start to the complete response: the setting WEBHOOK_TIMEOUT_MS. */
  timeoutMs: number
  /** Limit of TCP and TLS together; 5 s by default. */
  connectTimeoutMs?: number
  /** Limit from the headers to the end of the body; 5 s by default. */
  bodyTimeoutMs?: number
  /** Certificate authorities in PEM, in place of the system's. */
  ca?: string
}

export interface ExchangeResult {
  /** null: no response. */
  response: { status: number; body: ResponseBody } | null
  /** null: the status is 2xx. */
  failure: Failure | null
}

interface Exchange {
  options: SenderOptions
  url: URL
  request: ClientRequest | null
  phase: Phase
  response: ExchangeResult['response']
  isOver: boolean
  /** The end of the time limit, by the clock of performance.now(). */
  endsAt: number
  /** Ends the whole request, or a step that has to end earlier. */
  timer: ReturnType<typeof setTimeout> | undefined
  resolve(result: ExchangeResult): void
}

/** Ends the exchange, once. The status of a response replaces `failure`. The connection is closed unless `isComplete`. */
function finish(exchange: Exchange, failure: Failure | null, isComplete = false): void {
  if (exchange.isOver) return
  exchange.isOver = true
  clearTimeout(exchange.timer)
  const { response } = exchange
  if (!isComplete) exchange.request?.destroy()
  exchange.resolve({ response, failure: response === null ? failure : statusFailure(response.status) })
}

const fail = (exchange: Exchange, error: unknown) =>
  finish(exchange, connectionFailure(error, exchange.phase))

const expire = (exchange: Exchange, what: string, ms: number): void => finish(exchange, timedOut(what, ms))

/** Ends the exchange after `ms`, or at `endsAt` if that is sooner. Replaces the timer that runs. */
function startTimer(exchange: Exchange, what: string, ms: number): void {
  clearTimeout(exchange.timer)
  if (exchange.isOver) return
  const { endsAt, options } = exchange
  const left = endsAt - performance.now()
  if (ms < left) exchange.timer = setTimeout(expire, ms, exchange, what, ms)
  else exchange.timer = setTimeout(expire, Math.max(left, 0), exchange, 'no answer', options.timeoutMs)
}

const startConnectTimer = (exchange: Exchange) =>
  startTimer(exchange, 'no connection', exchange.options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS)

/** The addresses for a new connection, all checked: it is made to no others. An address was checked with the URL. */
const lookupOf =
  (exchange: Exchange): LookupFunction =>
  (host, _options, callback) => {
    const { egress, resolve, timeoutMs } = exchange.options
    const lookupMs = Math.min(LOOKUP_TIMEOUT_MS, timeoutMs)
    const connect = async () => {
      const answer = await lookUp(egress, resolve, host, lookupMs)
      // the timeout may have ended the exchange meanwhile
      if (exchange.isOver) return
      if (!('addresses' in answer)) return finish(exchange, lookupFailure(answer, lookupMs))
      // checked before connecting too: by the time a connection has failed, a descriptor may be free again
      if (isOutOfDescriptors()) return finish(exchange, POSTPONED)
      startConnectTimer(exchange)
      const addresses = answer.addresses.map((address) => ({ address, family: isIP(address) }))
      callback(null, addresses)
    }
    // an unhandled rejection would end the thread
    connect().catch((error: unknown) => fail(exchange, error))
  }

/** Checks the address in use too, independently of the look-up. */
function checkPeer(exchange: Exchange, { remoteAddress }: Socket): void {
  const isAllowed = remoteAddress === undefined || exchange.options.egress.isAllowed(remoteAddress)
  if (!isAllowed) finish(exchange, refused(refusalOf()))
}

/** Follows the connection until it can be written to. Nothing is sent before the peer is checked. */
function noteSocket(exchange: Exchange, socket: Socket): void {
  if (exchange.request?.reusedSocket) {
    exchange.phase = 'response'
    checkPeer(exchange, socket)
    return
  }
  const isSecure = exchange.url.protocol === 'https:'
  startConnectTimer(exchange)
  socket.once('connect', () => {
    if (isSecure) exchange.phase = 'handshake'
    checkPeer(exchange, socket)
  })
  socket.once(isSecure ? 'secureConnect' : 'connect', () => {
    exchange.phase = 'response'
    startTimer(exchange, 'no answer', exchange.options.timeoutMs)
  })
}

function noteResponse(exchange: Exchange, response: IncomingMessage): void {
  const body = createResponseBody()
  exchange.response = { status: response.statusCode ?? 0, body }
  startTimer(exchange, 'no whole body', exchange.options.bodyTimeoutMs ?? BODY_TIMEOUT_MS)
  response.on('data', (chunk: Buffer) => {
    if (!body.add(chunk)) finish(exchange, null)
  })
  response.on('end', () => finish(exchange, null, true))
  // cut off: 'close' follows
  response.on('error', () => undefined)
  response.on('close', () => finish(exchange, null))
}

function follow(exchange: Exchange, sent: ClientRequest): void {
  let interim = 0
  sent.on('socket', (socket) => noteSocket(exchange, socket))
  sent.on('information', () => {
    interim += 1
    if (interim > MAX_INTERIM) finish(exchange, protocolFailure(`more than ${MAX_INTERIM} answers of 1xx`))
  })
  sent.on('response', (response) => noteResponse(exchange, response))
  // 101: what follows it is not HTTP
  sent.on('upgrade', (response, socket) => {
    noteResponse(exchange, response)
    socket.destroy()
    finish(exchange, null)
  })
  // never removed: an 'error' event without a listener ends the thread
  sent.on('error', (error) => {
    // a body that was received is still to be read
    if (exchange.response === null) fail(exchange, error)
  })
}

/** One request and its response, never repeated: it may have arrived. Throws when a header is invalid. */
export function exchange(options: SenderOptions, agent: Agent, url: URL, { headers, body }: OutgoingRequest) {
  const { promise, resolve } = Promise.withResolvers<ExchangeResult>()
  const { timeoutMs } = options
  const state: Exchange = {
    options,
    url,
    request: null,
    phase: 'connect',
    response: null,
    isOver: false,
    endsAt: performance.now() + timeoutMs,
    timer: undefined,
    resolve,
  }
  state.request = request(url, {
    agent,
    method: 'POST',
    // identity, since responses are not decompressed
    headers: { Host: url.host, ...headers, 'Accept-Encoding': 'identity' },
    lookup: lookupOf(state),
    maxHeaderSize: MAX_HEAD_BYTES,
  })
  follow(state, state.request)
  startTimer(state, 'no answer', timeoutMs)
  state.request.end(body)
  return promise
}
