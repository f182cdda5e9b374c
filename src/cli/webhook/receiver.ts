// Starts a local receiver that verifies deliveries, for `webhook listen` and `demo`.

import { parseJson } from '../../analysis/agents/transcript/json.ts'
import { codeOf, OperatorError } from '../../base/errors.ts'
import { readAtMost } from '../client/ask-server.ts'
import { type Verification, verifyDelivery } from './verification.ts'

const HOST = '127.0.0.1'
/** Largest body of a delivery: four times the largest that the server sends. */
export const MAX_BODY_BYTES = 1024 * 1024

export interface Received extends Verification {
  /** UTC, milliseconds. */
  received_at: string
  /** The event named in the headers; null: the header is missing. */
  event: string | null
  delivery_id: string | null
  attempt: number | null
  status: number
  /** Parsed where it is JSON, else the text. */
  body: unknown
}

interface ReceiverOptions {
  /** 0: any free port. */
  port: number
  /** Called for every delivery; null: nothing can be verified. */
  secret: () => string | null
  /** The status of the response to valid and unverified deliveries. */
  status: number
  /** WEBHOOK_HEADER_PREFIX */
  prefix: string
  onReceived: (received: Received) => void
}

/** Receives deliveries on 127.0.0.1; 400 for an invalid signature. Throws OperatorError when the port is in use. */
export function startReceiver(options: ReceiverOptions) {
  const { port } = options
  let server: Bun.Server<unknown>
  try {
    server = Bun.serve({
      hostname: HOST,
      port,
      reusePort: false,
      development: false,
      fetch: (request) => receive(request, options),
      // the sender closed the connection before the end of the body; nobody reads the response
      error: () => new Response(null, { status: 400 }),
    })
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EADDRINUSE') throw new OperatorError(`port ${port} is in use: give another by --port`)
    if (code === 'EACCES') throw new OperatorError(`port ${port} needs more rights: give one above 1023`)
    throw error
  }
  return { url: `http://${HOST}:${server.port}`, stop: () => server.stop(true) }
}

async function receive(request: Request, { secret, prefix, status: code, onReceived }: ReceiverOptions) {
  if (request.method !== 'POST')
    return new Response('webhooks are sent by POST\n', { status: 405, headers: { allow: 'POST' } })
  const body = await readAtMost(request.body ?? [], MAX_BODY_BYTES)
  const { headers } = request
  const verification: Verification =
    body === undefined
      ? { signature: 'unverified', warning: `the body is larger than ${MAX_BODY_BYTES} bytes` }
      : verifyDelivery(secret(), prefix, headers, body)
  const status = body === undefined ? 413 : verification.signature === 'invalid' ? 400 : code
  onReceived({
    received_at: new Date().toISOString(),
    event: headers.get(`${prefix}-Event`),
    delivery_id: headers.get(`${prefix}-Delivery`),
    attempt: integerOf(headers.get(`${prefix}-Attempt`)),
    ...verification,
    status,
    body: body === undefined ? null : jsonOrText(new TextDecoder().decode(body)),
  })
  // these have no body
  if ([204, 205, 304].includes(status)) return new Response(null, { status })
  return new Response(`signature ${verification.signature}\n`, { status })
}

const integerOf = (header: string | null): number | null =>
  header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null

function jsonOrText(text: string): unknown {
  const value = parseJson(text)
  return value === undefined ? text : value
}
