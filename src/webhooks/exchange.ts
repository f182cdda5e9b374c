import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { Connections } from './connections.ts'
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
import { createKeptBody, type KeptBody } from './kept-body.ts'
import { LOOKUP_TIMEOUT_MS, vetName } from './resolve.ts'
import type { OutgoingRequest, SenderOptions } from './sender.ts'

/** For TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 5_000
/** After the headers the status has decided; a body is not waited for much longer. */
const BODY_TIMEOUT_MS = 5_000
const MAX_HEADER_BYTES = 16_384
/** Answers of 1xx before the real one. */
const MAX_INTERIM = 16

export interface Ending {
  /** null: no answer. */
  answer: { status: number; body: KeptBody } | null
  /** null: answered with 2xx. */
  failure: Failure | null
}

/** What an attempt's timers and events act on. */
interface Exchange {
  options: SenderOptions
  phase: Phase
  answer: Ending['answer']
  /** The answer was read to its end: its connection can serve the next request. */
  isWhole: boolean
  /** Ends the attempt; only the first call counts. After an answer began its status has decided, not `failure`. */
  finish(failure: Failure | null): void
  /** Ends the attempt so after `ms`, unless `arm` or `disarm` is called before: there is one such timer. */
  arm(ms: number, failure: Failure): void
  disarm(): void
}

/** Gives a new connection the addresses of its name, all of them judged. Not asked for addresses in the URL. */
const vettingLookup =
  (state: Exchange): LookupFunction =>
  (host, { all }, callback) => {
    const { egress, resolve, timeoutMs } = state.options
    const lookupMs = Math.min(LOOKUP_TIMEOUT_MS, timeoutMs)
    const connect = async () => {
      const vetted = await vetName(egress, resolve, host, lookupMs)
      if ('problem' in vetted) {
        state.finish(lookupFailure(vetted, lookupMs))
        // the socket still waits to hear of it
        return callback(new Error('no address'), [])
      }
      // seen before it fails, as another may give a descriptor back meanwhile
      if (isOutOfDescriptors()) state.finish(POSTPONED)
      state.arm(CONNECT_TIMEOUT_MS, timedOut('no connection', CONNECT_TIMEOUT_MS))
      const addresses = vetted.addresses.map((address) => ({ address, family: isIP(address) }))
      const [first] = addresses
      if (all === true || first === undefined) callback(null, addresses)
      else callback(null, first.address, first.family)
    }
    // a rejection that nobody hears would end the thread
    connect().catch((error: unknown) => state.finish(connectionFailure(error, state.phase)))
  }

function watchConnection(state: Exchange, req: ClientRequest, socket: Socket, isTls: boolean): void {
  const { egress } = state.options
  // the judged address was given to the connection; this sees to it that it is the one in use
  const judgePeer = () => {
    if (socket.remoteAddress !== undefined && !egress.isAllowed(socket.remoteAddress))
      state.finish(refused(ADDRESS_REFUSED))
  }
  const ready = () => {
    state.disarm()
    state.phase = 'answer'
    judgePeer()
  }
  if (req.reusedSocket) {
    ready()
    return
  }
  socket.once('connect', () => {
    if (isTls) {
      state.phase = 'handshake'
      judgePeer()
    } else ready()
  })
  if (isTls) socket.once('secureConnect', ready)
}

function readAnswer(state: Exchange, status: number, res: IncomingMessage): void {
  const body = createKeptBody()
  state.answer = { status, body }
  state.arm(BODY_TIMEOUT_MS, timedOut('no whole body', BODY_TIMEOUT_MS))
  const end = () => state.finish(null)
  res.on('data', (chunk: Buffer) => {
    if (!body.add(chunk)) end()
  })
  res.on('end', () => {
    state.isWhole = res.complete
    end()
  })
  res.on('error', end)
  res.on('close', end)
}

function watchRequest(
  state: Exchange,
  req: ClientRequest,
  isTls: boolean,
  taken: Connections['taken'],
): void {
  let interim = 0
  req.on('socket', (socket) => {
    taken(socket)
    watchConnection(state, req, socket, isTls)
  })
  req.on('information', () => {
    interim += 1
    if (interim > MAX_INTERIM) state.finish(broken(`more than ${MAX_INTERIM} answers of 1xx`))
  })
  req.on('upgrade', (_res, socket) => {
    socket.on('error', () => undefined)
    socket.destroy()
    state.answer = { status: 101, body: createKeptBody() }
    state.finish(null)
  })
  req.on('response', (res) => readAnswer(state, res.statusCode ?? 0, res))
  // stays after the end: an error that nobody hears would end the thread
  req.on('error', (error) => state.finish(connectionFailure(error, state.phase)))
  req.on('close', () => state.finish(connectionFailure(undefined, state.phase)))
}

const requestOptions = (url: URL, { headers, body }: OutgoingRequest): RequestOptions => ({
  method: 'POST',
  host: hostOf(url),
  port: url.port || (url.protocol === 'https:' ? 443 : 80),
  path: `${url.pathname}${url.search}`,
  headers: {
    Host: url.host,
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    // nothing here inflates an answer
    'Accept-Encoding': 'identity',
  },
  maxHeaderSize: MAX_HEADER_BYTES,
})

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
  const isTls = url.protocol === 'https:'
  let isOver = false
  let step: ReturnType<typeof setTimeout> | undefined
  const state: Exchange = {
    options,
    phase: 'connect',
    answer: null,
    isWhole: false,
    finish(failure) {
      if (isOver) return
      isOver = true
      clearTimeout(step)
      clearTimeout(total)
      const { answer } = state
      resolve({ answer, failure: answer === null ? failure : statusFailure(answer.status) })
      if (!state.isWhole) req.destroy()
    },
    arm(ms, failure) {
      clearTimeout(step)
      if (!isOver) step = setTimeout(state.finish, ms, failure)
    },
    disarm: () => clearTimeout(step),
  }
  const common = { ...requestOptions(url, outgoing), lookup: vettingLookup(state) }
  const req = isTls
    ? httpsRequest({ ...common, agent: connections.https })
    : httpRequest({ ...common, agent: connections.http })
  const total = setTimeout(state.finish, options.timeoutMs, timedOut('no answer', options.timeoutMs))
  if (isIP(hostOf(url)) !== 0) state.arm(CONNECT_TIMEOUT_MS, timedOut('no connection', CONNECT_TIMEOUT_MS))
  watchRequest(state, req, isTls, connections.taken)
  req.end(outgoing.body)
  return promise
}
