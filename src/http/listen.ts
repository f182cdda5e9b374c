// Listens at an address, and stops without cutting requests off.

import type { AnyElysia } from 'elysia'
import { codeOf, OperatorError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { withTimeout } from '../base/timing.ts'
import { flagOf, type SettingName } from '../config.ts'

/** A client that sends or takes nothing for this long is dropped; statements end before (database/client.ts). */
const IDLE_TIMEOUT_S = 30
const DRAIN_MS = 20_000
/** A stop waits this long for requests that wait for others or whose bodies have not come. */
const DRAIN_WAITING_MS = 1_500
/** A stop waits this long for connections without a request, which may be sending a part of the next. */
const LINGER_MS = 250
const POLL_MS = 20
/** No limit: Bun would refuse with an empty 413. The limits of http/body.ts refuse with JSON. */
const MAX_REQUEST_BYTES = 2 ** 50

interface Address {
  host: string
  /** 0: any free port. */
  port: number
  /** The setting of the port, for errors; PORT unless given. */
  setting?: SettingName
}

/** The parts of an app that the listener uses. */
type Servable = Pick<AnyElysia, 'fetch' | 'server'> & {
  flushAccessLog?: (() => void) | undefined
  /** Called when the server stops and does not wait any longer for requests that do not proceed. */
  refuseWaiting?: (() => void) | undefined
  /** Called when the server stops: ends the responses that would go on. */
  endStreams?: (() => void) | undefined
}

/** Serves `app` at `address`. Throws OperatorError when it is in use or not of this machine. */
export function listen(app: Servable, address: Address, log: Log) {
  const { fetch } = app
  const server = open(address, () =>
    Bun.serve({
      hostname: address.host,
      port: address.port,
      reusePort: false,
      idleTimeout: IDLE_TIMEOUT_S,
      maxRequestBodySize: MAX_REQUEST_BYTES,
      development: false,
      fetch: (request) => fetch(request.url.startsWith('/') ? withHost(request) : request),
      error(error) {
        // Only errors of Elysia itself arrive here.
        log.error('a request failed outside its route', { error })
        return Response.json(
          { error: 'Something went wrong on our side', code: 'INTERNAL_ERROR', request_id: 'unknown' },
          { status: 500, headers: { 'cache-control': 'no-store' } },
        )
      },
    }),
  )
  // The app reads clients' addresses from it.
  app.server = server
  const port = server.port ?? address.port
  return {
    port,
    /** `http://host:port`, as a client on this machine reaches it. */
    url: localUrl({ host: address.host, port }),
    /** Stops accepting and waits for requests in flight: 20 s at most, 1.5 s for those that wait or whose bodies have not come. */
    stop: () => drain(server, app).finally(() => app.flushAccessLog?.()),
  }
}

export type HttpServer = ReturnType<typeof listen>

/** Without a valid Host header Bun gives the path alone as the URL. Of a new Request it would not know the client's address. */
const withHost = (request: Request): Request =>
  Object.defineProperty(request, 'url', { value: `http://localhost${request.url}` })

function open<Server>({ host, port, setting = 'PORT' }: Address, serve: () => Server): Server {
  try {
    return serve()
  } catch (error) {
    const code = codeOf(error)
    const where = `${host}:${port}`
    if (code === 'EADDRINUSE')
      throw new OperatorError(
        `port ${port} is in use (${where}): give another by ${flagOf(setting)} or ${setting}`,
      )
    if (code === 'EACCES') throw new OperatorError(`port ${port} needs more rights: give one above 1023`)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new OperatorError(`${host} is no address of this machine`)
    throw error
  }
}

/** The URL of a server that listens at `address`, for clients on this machine. */
export function localUrl({ host, port }: Address): string {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${local.includes(':') ? `[${local}]` : local}:${port}`
}

async function drain(
  server: Bun.Server<unknown>,
  { refuseWaiting, endStreams }: Pick<Servable, 'refuseWaiting' | 'endStreams'>,
): Promise<void> {
  endStreams?.()
  const deadline = performance.now() + DRAIN_MS
  const timer = setTimeout(() => refuseWaiting?.(), DRAIN_WAITING_MS)
  const stopped = server.stop(false)
  // the promise also waits for connections that have sent a part of their headers, for up to 12 s
  while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(POLL_MS)
  clearTimeout(timer)
  await withTimeout(stopped, LINGER_MS, undefined)
  await server.stop(true)
}
