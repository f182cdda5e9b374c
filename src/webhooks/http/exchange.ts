// Sends one HTTP request over a checked connection, and reads its response.

import { type Agent, type IncomingMessage, request } from 'node:http'
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

/** One request and its response, never repeated: it may have arrived. Throws when a header is invalid. */
export function exchange(options: SenderOptions, agent: Agent, url: URL, { headers, body }: OutgoingRequest) {
  const {
    egress,
    timeoutMs,
    connectTimeoutMs = CONNECT_TIMEOUT_MS,
    bodyTimeoutMs = BODY_TIMEOUT_MS,
  } = options
  const { promise, resolve } = Promise.withResolvers<ExchangeResult>()
  const endsAt = performance.now() + timeoutMs
  let phase: Phase = 'connect'
  let response: ExchangeResult['response'] = null
  let isOver = false
  /** Ends the whole request, or a step that has to end earlier. */
  let timer: ReturnType<typeof setTimeout> | undefined
  let interim = 0

  /** Ends the exchange, once. The status of a response replaces `failure`. The connection is closed unless `isComplete`. */
  const finish = (failure: Failure | null, isComplete = false): void => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    if (!isComplete) sent.destroy()
    resolve({ response, failure: response === null ? failure : statusFailure(response.status) })
  }
  const fail = (error: unknown): void => finish(connectionFailure(error, phase))
  /** Ends the exchange after `ms`, or at `endsAt` if that is sooner. Replaces the timer that runs. */
  const limit = (what: string, ms: number): void => {
    clearTimeout(timer)
    if (isOver) return
    const left = endsAt - performance.now()
    const failure = ms < left ? timedOut(what, ms) : timedOut('no answer', timeoutMs)
    timer = setTimeout(finish, Math.max(Math.min(ms, left), 0), failure)
  }
  /** Gives the addresses for a new connection, all checked: it is made to no others. An address was checked with the URL. */
  const lookup: LookupFunction = (host, _options, callback) => {
    const lookupMs = Math.min(LOOKUP_TIMEOUT_MS, timeoutMs)
    const connect = async () => {
      const answer = await lookUp(egress, options.resolve, host, lookupMs)
      // the timeout may have ended the exchange meanwhile
      if (isOver) return
      if (!('addresses' in answer)) return finish(lookupFailure(answer, lookupMs))
      // checked before connecting too: by the time a connection has failed, a descriptor may be free again
      if (isOutOfDescriptors()) return finish(POSTPONED)
      limit('no connection', connectTimeoutMs)
      const addresses = answer.addresses.map((address) => ({ address, family: isIP(address) }))
      callback(null, addresses)
    }
    // an unhandled rejection would end the thread
    connect().catch(fail)
  }
  const sent = request(url, {
    agent,
    method: 'POST',
    // identity, since responses are not decompressed
    headers: { Host: url.host, ...headers, 'Accept-Encoding': 'identity' },
    lookup,
    maxHeaderSize: MAX_HEAD_BYTES,
  })
  /** Checks the address in use too, independently of the look-up. Nothing is sent before. */
  const checkPeer = ({ remoteAddress }: Socket): void => {
    if (remoteAddress !== undefined && !egress.isAllowed(remoteAddress)) finish(refused(refusalOf()))
  }
  sent.on('socket', (socket) => {
    if (sent.reusedSocket) {
      phase = 'response'
      return checkPeer(socket)
    }
    const isSecure = url.protocol === 'https:'
    limit('no connection', connectTimeoutMs)
    socket.once('connect', () => {
      if (isSecure) phase = 'handshake'
      checkPeer(socket)
    })
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      phase = 'response'
      limit('no answer', timeoutMs)
    })
  })
  sent.on('information', () => {
    interim += 1
    if (interim > MAX_INTERIM) finish(protocolFailure(`more than ${MAX_INTERIM} answers of 1xx`))
  })
  const onResponse = (received: IncomingMessage): void => {
    const content = createResponseBody()
    response = { status: received.statusCode ?? 0, body: content }
    limit('no whole body', bodyTimeoutMs)
    received.on('data', (chunk: Buffer) => {
      if (!content.add(chunk)) finish(null)
    })
    received.on('end', () => finish(null, true))
    // cut off: 'close' follows
    received.on('error', () => undefined)
    received.on('close', () => finish(null))
  }
  sent.on('response', onResponse)
  // 101: what follows it is not HTTP
  sent.on('upgrade', (received, socket) => {
    onResponse(received)
    socket.destroy()
    finish(null)
  })
  // never removed: an 'error' event without a listener ends the thread
  sent.on('error', (error) => {
    // a body that was received is still to be read
    if (response === null) fail(error)
  })
  limit('no answer', timeoutMs)
  sent.end(body)
  return promise
}
