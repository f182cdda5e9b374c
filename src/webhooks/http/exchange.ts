import { isIP } from 'node:net'
import type { Connection, RequestEvents } from './connection.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { isOutOfDescriptors } from './descriptors.ts'
import { ADDRESS_REFUSED, hostOf } from './egress.ts'
import {
  connectionFailure,
  type Failure,
  lookupFailure,
  type Phase,
  POSTPONED,
  protocolFailure,
  refused,
  statusFailure,
  timedOut,
} from './failure.ts'
import type { OutgoingRequest, SenderOptions } from './request.ts'
import { requestText } from './request-text.ts'
import { LOOKUP_TIMEOUT_MS, lookUp } from './resolve.ts'
import { createResponseBody, type ResponseBody } from './response-body.ts'
import { isInterim } from './response-head.ts'

/** Limit of TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 5_000
/** Limit from the head of a response to the end of its body, which is not needed: the status decides. */
const BODY_TIMEOUT_MS = 5_000
/** Responses of 1xx before the final one. */
const MAX_INTERIM = 16

/** The end of an exchange. */
export interface ExchangeResult {
  /** null: no response. */
  response: { status: number; body: ResponseBody } | null
  /** null: the status is 2xx. */
  failure: Failure | null
}

/** One request in flight. */
interface Exchange {
  options: SenderOptions
  pool: ConnectionPool
  url: URL
  /** The request. */
  text: string
  phase: Phase
  connection: Connection | null
  /** Responses of 1xx so far. */
  interim: number
  response: ExchangeResult['response']
  isOver: boolean
  /** The end of the time limit, by the clock of performance.now(). */
  endsAt: number
  /** Ends the whole request, or a step that has to end earlier. */
  timer: ReturnType<typeof setTimeout> | undefined
  resolve(result: ExchangeResult): void
}

/** Ends the exchange; only the first call counts. If there is a response, its status replaces `failure`. */
function finish(exchange: Exchange, failure: Failure | null, isComplete = false): void {
  if (exchange.isOver) return
  exchange.isOver = true
  clearTimeout(exchange.timer)
  const { response, connection } = exchange
  if (connection !== null) exchange.pool.release(connection, isComplete)
  exchange.resolve({ response, failure: response === null ? failure : statusFailure(response.status) })
}

const expire = (exchange: Exchange, what: string, ms: number): void => finish(exchange, timedOut(what, ms))

/** Ends the exchange after `ms`, or at `endsAt` if that is sooner. Replaces the timer that runs. */
function startTimer(exchange: Exchange, what: string, ms: number): void {
  clearTimeout(exchange.timer)
  const { endsAt, options } = exchange
  const left = endsAt - performance.now()
  if (ms < left) exchange.timer = setTimeout(expire, ms, exchange, what, ms)
  else exchange.timer = setTimeout(expire, left, exchange, 'no answer', options.timeoutMs)
}

/** Checks the address in use too, independently of the look-up. */
function isPeerAllowed({ options, connection }: Exchange): boolean {
  const peer = connection?.socket.remoteAddress
  return peer === undefined || options.egress.isAllowed(peer)
}

function write(exchange: Exchange): void {
  exchange.phase = 'response'
  if (isPeerAllowed(exchange)) exchange.connection?.socket.write(exchange.text)
  else finish(exchange, refused(ADDRESS_REFUSED))
}

function noteStatus(exchange: Exchange, status: number): void {
  if (!isInterim(status)) {
    exchange.response = { status, body: createResponseBody() }
    return
  }
  exchange.interim += 1
  if (exchange.interim > MAX_INTERIM)
    finish(exchange, protocolFailure(`more than ${MAX_INTERIM} answers of 1xx`))
}

function eventsOf(exchange: Exchange): RequestEvents {
  let isBodyTimed = false
  return {
    connected() {
      if (exchange.url.protocol === 'https:') exchange.phase = 'handshake'
      if (!isPeerAllowed(exchange)) finish(exchange, refused(ADDRESS_REFUSED))
    },
    ready() {
      startTimer(exchange, 'no answer', exchange.options.timeoutMs)
      write(exchange)
    },
    status: (status) => noteStatus(exchange, status),
    body(chunk) {
      if (exchange.response?.body.add(chunk) === false) finish(exchange, null)
    },
    waiting() {
      if (exchange.response === null || isBodyTimed) return
      isBodyTimed = true
      startTimer(exchange, 'no whole body', exchange.options.bodyTimeoutMs ?? BODY_TIMEOUT_MS)
    },
    complete: () => finish(exchange, null, true),
    failed: (error) => finish(exchange, connectionFailure(error, exchange.phase)),
  }
}

/** The addresses of the URL's host, all of them checked; null when that ended the exchange. */
async function allowedAddresses(exchange: Exchange): Promise<string[] | null> {
  const { egress, resolve, timeoutMs } = exchange.options
  const host = hostOf(exchange.url)
  // an address was checked with the URL
  if (isIP(host) !== 0) return [host]
  const lookupMs = Math.min(LOOKUP_TIMEOUT_MS, timeoutMs)
  const found = await lookUp(egress, resolve, host, lookupMs)
  if ('addresses' in found) return found.addresses
  finish(exchange, lookupFailure(found, lookupMs))
  return null
}

async function connect(exchange: Exchange, request: RequestEvents): Promise<void> {
  const addresses = await allowedAddresses(exchange)
  // the timeout may have ended the exchange meanwhile
  if (addresses === null || exchange.isOver) return
  // checked before connecting too: by the time a connection has failed, a descriptor may be free again
  if (isOutOfDescriptors()) {
    finish(exchange, POSTPONED)
    return
  }
  startTimer(exchange, 'no connection', exchange.options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS)
  exchange.connection = exchange.pool.open(exchange.url, addresses, request)
}

/**
 * One request and its response. When the receiver closes an idle connection while it is used again, the
 * exchange fails and is not repeated, since the request may have arrived. Throws when a header is invalid;
 * then nothing was sent.
 */
export function exchange(
  options: SenderOptions,
  pool: ConnectionPool,
  url: URL,
  outgoing: OutgoingRequest,
): Promise<ExchangeResult> {
  const { promise, resolve } = Promise.withResolvers<ExchangeResult>()
  const { timeoutMs } = options
  const state: Exchange = {
    options,
    pool,
    url,
    text: requestText(url, outgoing),
    phase: 'connect',
    connection: null,
    interim: 0,
    response: null,
    isOver: false,
    endsAt: performance.now() + timeoutMs,
    timer: undefined,
    resolve,
  }
  state.timer = setTimeout(expire, timeoutMs, state, 'no answer', timeoutMs)
  const events = eventsOf(state)
  state.connection = pool.take(url.origin, events) ?? null
  if (state.connection !== null) write(state)
  // an unhandled rejection would end the thread
  else connect(state, events).catch((error: unknown) => events.failed(error))
  return promise
}
