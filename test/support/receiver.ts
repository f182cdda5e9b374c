import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { listening } from './ports.ts'

/** A request as a receiver got it. */
export interface Received {
  headers: Record<string, string>
  body: string
  /** performance.now() when it was read. */
  atMs: number
}

type Answer = number | 'hang' | ((request: Received, response: ServerResponse) => void)

export interface Receiver {
  url: string
  received: Received[]
  /** Number of requests without a response: now, and at most so far. */
  open(): number
  mostOpen(): number
  /** Sets the response to further requests: a status, none (`hang`), or what the function does. */
  answer(how: Answer): void
  close(): void
}

/** A receiver of webhooks on a free port of 127.0.0.1; 200 until `answer` is called. */
export async function startReceiver(first: Answer = 200): Promise<Receiver> {
  let how = first
  let open = 0
  let mostOpen = 0
  const received: Received[] = []
  const sockets = new Set<Socket>()
  const handle = (request: Received, response: ServerResponse) => {
    if (typeof how === 'function') how(request, response)
    else if (how !== 'hang') response.writeHead(how).end()
  }
  const server = createServer(async (incoming: IncomingMessage, response) => {
    open += 1
    mostOpen = Math.max(mostOpen, open)
    response.on('close', () => {
      open -= 1
    })
    let body = ''
    incoming.setEncoding('utf8')
    incoming.on('error', () => {})
    for await (const chunk of incoming) body += chunk
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    )
    const request = { headers, body, atMs: performance.now() }
    received.push(request)
    handle(request, response)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  const port = await listening(server)
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    open: () => open,
    mostOpen: () => mostOpen,
    answer(next) {
      how = next
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
