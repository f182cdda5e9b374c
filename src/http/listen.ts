import type { AnyElysia } from 'elysia'
import { codeOf, OperatorError } from '../errors.ts'
import type { Log } from '../log.ts'
import { withTimeout } from '../timeout.ts'

/** A client that sends or takes nothing for this long is dropped; statements end before (db/client.ts). */
const IDLE_TIMEOUT_S = 30
/** For requests in flight when the server stops. */
const DRAIN_MS = 20_000
/** Beyond it Bun sends an empty 413. The limits of http/body.ts are lower and send JSON; no body is read before them. */
const UNREACHABLE_BYTES = 2 ** 50

export interface RunningServer {
  port: number
  /** `http://host:port`, as a client on this machine reaches it. */
  url: string
  /** Stops accepting, closes idle connections and waits for requests in flight, 20 s at most. */
  stop(): Promise<void>
}

interface Place {
  host: string
  /** 0: any free port. */
  port: number
}

/** An app as createApp makes it; the log's last lines are written when the server has stopped. */
type Servable = Pick<AnyElysia, 'fetch' | 'server'> & { flushAccessLog?: (() => void) | undefined }

/** Serves `app` at `place`. Throws OperatorError when the address is taken or not ours. */
export function listen(app: Servable, place: Place, log: Log): RunningServer {
  const { fetch } = app
  const server = open(place, () =>
    Bun.serve({
      hostname: place.host,
      port: place.port,
      reusePort: false,
      idleTimeout: IDLE_TIMEOUT_S,
      maxRequestBodySize: UNREACHABLE_BYTES,
      development: false,
      fetch: (request) => fetch(request.url.startsWith('/') ? withHost(request) : request),
      error(error) {
        // Only errors of Elysia itself reach this.
        log.error('a request failed outside its route', { error })
        return Response.json(
          { error: 'Something went wrong on our side', code: 'INTERNAL_ERROR', request_id: 'unknown' },
          { status: 500, headers: { 'cache-control': 'no-store' } },
        )
      },
    }),
  )
  // For the client's address.
  app.server = server
  const port = server.port ?? place.port
  return {
    port,
    url: localUrl({ host: place.host, port }),
    stop: () => drain(server).finally(() => app.flushAccessLog?.()),
  }
}

/** Without a Host header (HTTP/1.0), or with one that is no host, Bun gives the path alone as the URL. */
function withHost(request: Request): Request {
  return new Request(`http://localhost${request.url}`, request)
}

function open<Server>({ host, port }: Place, serve: () => Server): Server {
  try {
    return serve()
  } catch (error) {
    const code = codeOf(error)
    const where = `${host}:${port}`
    if (code === 'EADDRINUSE') {
      throw new OperatorError(`port ${port} is in use (${where}): give another by --port or PORT`)
    }
    if (code === 'EACCES') throw new OperatorError(`port ${port} needs more rights: give one above 1023`)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new OperatorError(`${host} is no address of this machine`)
    throw error
  }
}

/** Where a server that listens there is reached from this machine. */
export function localUrl({ host, port }: Place): string {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${local.includes(':') ? `[${local}]` : local}:${port}`
}

async function drain(server: Bun.Server<unknown>): Promise<void> {
  await withTimeout(server.stop(false), DRAIN_MS, undefined)
  await server.stop(true)
}
