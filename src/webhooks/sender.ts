import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { AttemptResult } from './attempt-result.ts'
import { type Connections, createConnections } from './connections.ts'
import { isOutOfDescriptors } from './descriptors.ts'
import { ADDRESS_REFUSED, type Egress, hostOf } from './egress.ts'
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
import { LOOKUP_TIMEOUT_MS, type Resolve, vetName } from './resolve.ts'

// One attempt over node:http and node:https. Not fetch: that takes no look-up of ours, so that the address that was
// judged need not be the one that is used; it goes through the proxies of the environment; and it has at most 256
// requests in flight.

export interface Sender {
  /** One POST, as a value whatever happens. Never rejects. */
  send(request: OutgoingRequest): Promise<AttemptResult>
  /** Closes all connections, those in use too. */
  close(): void
}

export interface OutgoingRequest {
  url: string
  /** Without Host and Content-Length, which are added. */
  headers: Record<string, string>
  body: string
}

export interface SenderOptions {
  egress: Egress
  resolve: Resolve
  /** From the start to the whole answer: the setting WEBHOOK_TIMEOUT_MS. */
  timeoutMs: number
  /** Authorities in PEM in place of the known ones. */
  ca?: string
}

/** For TCP and TLS together. */
const CONNECT_TIMEOUT_MS = 5_000
/** After the headers the status has decided; a body is not waited for much longer. */
const BODY_TIMEOUT_MS = 5_000
const MAX_HEADER_BYTES = 16_384
/** Answers of 1xx before the real one. */
const MAX_INTERIM = 16

interface Ending {
  /** null: no answer. */
  answer: { status: number; body: KeptBody } | null
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
  (exchange: Exchange): LookupFunction =>
  (host, { all }, callback) => {
    const { egress, resolve, timeoutMs } = exchange.options
    const lookupMs = Math.min(LOOKUP_TIMEOUT_MS, timeoutMs)
    void vetName(egress, resolve, host, lookupMs).then((vetted) => {
      if ('problem' in vetted) {
        exchange.finish(lookupFailure(vetted, lookupMs))
        // the socket still waits to hear of it
        return callback(new Error('no address'), [])
      }
      // seen before it fails, as another may give a descriptor back meanwhile
      if (isOutOfDescriptors()) exchange.finish(POSTPONED)
      exchange.arm(CONNECT_TIMEOUT_MS, timedOut('no connection', CONNECT_TIMEOUT_MS))
      const addresses = vetted.addresses.map((address) => ({ address, family: isIP(address) }))
      const [first] = addresses
      if (all === true || first === undefined) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }

function watchConnection(exchange: Exchange, req: ClientRequest, socket: Socket, isTls: boolean): void {
  const { egress } = exchange.options
  // the judged address was given to the connection; this sees to it that it is the one in use
  const judgePeer = () => {
    if (socket.remoteAddress !== undefined && !egress.isAllowed(socket.remoteAddress))
      exchange.finish(refused(ADDRESS_REFUSED))
  }
  const ready = () => {
    exchange.disarm()
    exchange.phase = 'answer'
    judgePeer()
  }
  if (req.reusedSocket) {
    ready()
    return
  }
  socket.once('connect', () => {
    if (isTls) {
      exchange.phase = 'handshake'
      judgePeer()
    } else ready()
  })
  if (isTls) socket.once('secureConnect', ready)
}

function readAnswer(exchange: Exchange, status: number, res: IncomingMessage): void {
  const body = createKeptBody()
  exchange.answer = { status, body }
  exchange.arm(BODY_TIMEOUT_MS, timedOut('no whole body', BODY_TIMEOUT_MS))
  const end = () => exchange.finish(null)
  res.on('data', (chunk: Buffer) => {
    if (!body.add(chunk)) end()
  })
  res.on('end', () => {
    exchange.isWhole = res.complete
    end()
  })
  res.on('error', end)
  res.on('close', end)
}

function watchRequest(
  exchange: Exchange,
  req: ClientRequest,
  isTls: boolean,
  taken: Connections['taken'],
): void {
  let interim = 0
  req.on('socket', (socket) => {
    taken(socket)
    watchConnection(exchange, req, socket, isTls)
  })
  req.on('information', () => {
    interim += 1
    if (interim > MAX_INTERIM) exchange.finish(broken(`more than ${MAX_INTERIM} answers of 1xx`))
  })
  req.on('upgrade', (_res, socket) => {
    socket.on('error', () => undefined)
    socket.destroy()
    exchange.answer = { status: 101, body: createKeptBody() }
    exchange.finish(null)
  })
  req.on('response', (res) => readAnswer(exchange, res.statusCode ?? 0, res))
  // stays after the end: an error that nobody hears would end the thread
  req.on('error', (error) => exchange.finish(connectionFailure(error, exchange.phase)))
  req.on('close', () => exchange.finish(connectionFailure(undefined, exchange.phase)))
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

/** Throws when a header is none that HTTP can carry; then nothing was sent. */
function converse(
  options: SenderOptions,
  connections: Connections,
  url: URL,
  outgoing: OutgoingRequest,
): Promise<Ending> {
  const { promise, resolve } = Promise.withResolvers<Ending>()
  const { timeoutMs } = options
  const isTls = url.protocol === 'https:'
  let isOver = false
  let step: ReturnType<typeof setTimeout> | undefined
  const exchange: Exchange = {
    options,
    phase: 'connect',
    answer: null,
    isWhole: false,
    finish(failure) {
      if (isOver) return
      isOver = true
      clearTimeout(step)
      clearTimeout(total)
      const { answer } = exchange
      resolve({ answer, failure: answer === null ? failure : statusFailure(answer.status) })
      if (!exchange.isWhole) req.destroy()
    },
    arm(ms, failure) {
      clearTimeout(step)
      if (!isOver) step = setTimeout(exchange.finish, ms, failure)
    },
    disarm: () => clearTimeout(step),
  }
  const common = { ...requestOptions(url, outgoing), lookup: vettingLookup(exchange) }
  const req = isTls
    ? httpsRequest({ ...common, agent: connections.https })
    : httpRequest({ ...common, agent: connections.http })
  const total = setTimeout(exchange.finish, timeoutMs, timedOut('no answer', timeoutMs))
  if (isIP(hostOf(url)) !== 0) exchange.arm(CONNECT_TIMEOUT_MS, timedOut('no connection', CONNECT_TIMEOUT_MS))
  watchRequest(exchange, req, isTls, connections.taken)
  req.end(outgoing.body)
  return promise
}

/** A sender with connections of its own. It judges the URL and every address again at each attempt. */
export function createSender(options: SenderOptions): Sender {
  const connections = createConnections(options.ca)
  const attempt = async (outgoing: OutgoingRequest): Promise<Ending> => {
    const checked = options.egress.checkUrl(outgoing.url)
    if ('problem' in checked) return { answer: null, failure: refused(checked.problem) }
    try {
      return await converse(options, connections, checked.url, outgoing)
    } catch {
      return { answer: null, failure: broken('the request cannot be made') }
    }
  }
  return {
    async send(outgoing) {
      const startedAt = new Date()
      const begin = performance.now()
      const { answer, failure } = await attempt(outgoing)
      return {
        startedAt,
        durationMs: performance.now() - begin,
        ok: failure === null,
        refused: failure?.kind === 'refused',
        postponed: failure?.kind === 'postponed',
        statusCode: answer?.status ?? null,
        error: failure?.text ?? null,
        responseBody: answer?.body.text() ?? null,
      }
    },
    close: connections.close,
  }
}
