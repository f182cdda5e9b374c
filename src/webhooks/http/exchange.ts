import { isIP } from 'node:net'
import type { Connection, User } from './connection.ts'
import type { Connections } from './connection-pool.ts'
import { isOutOfDescriptors } from './descriptors.ts'
import { ADDRESS_REFUSED, hostOf } from './egress.ts'
import {
  broken,
  connectionFailure,
  type Failure,
  lookupFailure,
  type Phase,
  POSTPONED,
  refused,
  statusFailure,
  timedOut,
} from './failure.ts'
import type { OutgoingRequest, SenderOptions } from './request.ts'
import { requestText } from './request-text.ts'
import { LOOKUP_TIMEOUT_MS, vetName } from './resolve.ts'
import { createKeptBody, type KeptBody } from './response-body.ts'

/** For TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 5_000
/** After the headers the status has decided; a body is not waited for much longer. */
const BODY_TIMEOUT_MS = 5_000
/** Answers of 1xx before the real one. */
const MAX_INTERIM = 16

export interface Ending {
  /** null: no answer. */
  answer: { status: number; body: KeptBody } | null
  /** null: answered with 2xx. */
  failure: Failure | null
}

/** One request on its way. */
interface Exchange {
  options: SenderOptions
  connections: Connections
  url: URL
  /** What is sent. */
  text: string
  phase: Phase
  connection: Connection | null
  /** Answers of 1xx so far. */
  interim: number
  answer: Ending['answer']
  isOver: boolean
  /** By the clock of performance.now(). */
  endsAt: number
  /** The only one: of the whole request, or of a step that has to end earlier. */
  timer: ReturnType<typeof setTimeout> | undefined
  resolve(ending: Ending): void
}

/** Ends the attempt; only the first call counts. After an answer began its status has decided, not `failure`. */
function finish(exchange: Exchange, failure: Failure | null, isWhole = false): void {
  if (exchange.isOver) return
  exchange.isOver = true
  clearTimeout(exchange.timer)
  const { answer, connection } = exchange
  if (connection !== null) exchange.connections.release(connection, isWhole)
  exchange.resolve({ answer, failure: answer === null ? failure : statusFailure(answer.status) })
}

const expire = (exchange: Exchange, what: string, ms: number): void => finish(exchange, timedOut(what, ms))

/** Ends the attempt after `ms`, or when its whole time is over if that is sooner, unless `arm` is called before. */
function arm(exchange: Exchange, what: string, ms: number): void {
  clearTimeout(exchange.timer)
  const { endsAt, options } = exchange
  const left = endsAt - performance.now()
  if (ms < left) exchange.timer = setTimeout(expire, ms, exchange, what, ms)
  else exchange.timer = setTimeout(expire, left, exchange, 'no answer', options.timeoutMs)
}

/** The judged addresses were given to the connection; this sees to it that it is one of them that is in use. */
function isPeerAllowed({ options, connection }: Exchange): boolean {
  const peer = connection?.socket.remoteAddress
  return peer === undefined || options.egress.isAllowed(peer)
}

function write(exchange: Exchange): void {
  exchange.phase = 'answer'
  if (isPeerAllowed(exchange)) exchange.connection?.socket.write(exchange.text)
  else finish(exchange, refused(ADDRESS_REFUSED))
}

function noteStatus(exchange: Exchange, status: number): void {
  if (status < 100 || status > 199 || status === 101) {
    exchange.answer = { status, body: createKeptBody() }
    return
  }
  exchange.interim += 1
  if (exchange.interim > MAX_INTERIM) finish(exchange, broken(`more than ${MAX_INTERIM} answers of 1xx`))
}

function userOf(exchange: Exchange): User {
  let isBodyTimed = false
  return {
    connected() {
      if (exchange.url.protocol === 'https:') exchange.phase = 'handshake'
      if (!isPeerAllowed(exchange)) finish(exchange, refused(ADDRESS_REFUSED))
    },
    ready() {
      arm(exchange, 'no answer', exchange.options.timeoutMs)
      write(exchange)
    },
    status: (status) => noteStatus(exchange, status),
    body(chunk) {
      if (exchange.answer?.body.add(chunk) === false) finish(exchange, null)
    },
    waiting() {
      if (exchange.answer === null || isBodyTimed) return
      isBodyTimed = true
      arm(exchange, 'no whole body', exchange.options.bodyTimeoutMs ?? BODY_TIMEOUT_MS)
    },
    complete: () => finish(exchange, null, true),
    failed: (error) => finish(exchange, connectionFailure(error, exchange.phase)),
  }
}

/** The addresses of the URL's host, all of them judged; null when that ended the attempt. */
async function vettedAddresses(exchange: Exchange): Promise<string[] | null> {
  const { egress, resolve, timeoutMs } = exchange.options
  const host = hostOf(exchange.url)
  // judged with the URL
  if (isIP(host) !== 0) return [host]
  const lookupMs = Math.min(LOOKUP_TIMEOUT_MS, timeoutMs)
  const vetted = await vetName(egress, resolve, host, lookupMs)
  if ('addresses' in vetted) return vetted.addresses
  finish(exchange, lookupFailure(vetted, lookupMs))
  return null
}

async function connect(exchange: Exchange, user: User): Promise<void> {
  const addresses = await vettedAddresses(exchange)
  // the time may be over meanwhile
  if (addresses === null || exchange.isOver) return
  // seen before it fails, as another may give a descriptor back meanwhile
  if (isOutOfDescriptors()) {
    finish(exchange, POSTPONED)
    return
  }
  arm(exchange, 'no connection', exchange.options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS)
  exchange.connection = exchange.connections.open(exchange.url, addresses, user)
}

/**
 * One request and its answer. A kept connection that the receiver closes as it is taken fails the attempt: whether the
 * request had arrived nobody knows, and an attempt is one request. Throws when a header is none that HTTP can carry; then
 * nothing was sent.
 */
export function exchange(
  options: SenderOptions,
  connections: Connections,
  url: URL,
  outgoing: OutgoingRequest,
): Promise<Ending> {
  const { promise, resolve } = Promise.withResolvers<Ending>()
  const { timeoutMs } = options
  const state: Exchange = {
    options,
    connections,
    url,
    text: requestText(url, outgoing),
    phase: 'connect',
    connection: null,
    interim: 0,
    answer: null,
    isOver: false,
    endsAt: performance.now() + timeoutMs,
    timer: undefined,
    resolve,
  }
  state.timer = setTimeout(expire, timeoutMs, state, 'no answer', timeoutMs)
  const user = userOf(state)
  state.connection = connections.take(url.origin, user) ?? null
  if (state.connection !== null) write(state)
  // a rejection that nobody hears would end the thread
  else connect(state, user).catch((error: unknown) => user.failed(error))
  return promise
}
