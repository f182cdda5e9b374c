// The receivers of the backlog benchmark, as a process: one that responds at once and records arrivals and
// their order, one that never responds, one that resets each connection. It prints their ports as a line of
// JSON; the first receiver returns the records over HTTP.

import { createServer, type Socket } from 'node:net'
import { nowMs } from '../delivery/receiver.ts'

/** Ports of 127.0.0.1. At `refusing` nobody listens. */
export interface Ports {
  good: number
  hanging: number
  resetting: number
  refusing: number
}

/** The order in which one endpoint's backlog arrived, by the numbers of the deliveries. */
export interface Lane {
  received: number
  /** Arrived after a delivery with a higher number. */
  late: number
  /** Largest difference of the numbers. */
  mostPlaces: number
  highest: number
}

/** The requests that arrived since the last `DELETE`. Times are Unix milliseconds with a fraction. */
export interface Receipts {
  /** Time of the first arrival by session, without the backlog. */
  first: Record<string, number>
  duplicates: number
  /** The lanes by the path's last part. */
  lanes: Record<string, Lane>
}

const nothing = (): Receipts => ({ first: {}, duplicates: 0, lanes: {} })

function take(receipts: Receipts, lane: string, body: string): void {
  const [, session = ''] = /"session_id":"([^"]+)"/.exec(body) ?? []
  const [, place] = /^sess_backlog(\d+)$/.exec(session) ?? []
  if (place === undefined) {
    if (session in receipts.first) receipts.duplicates += 1
    else receipts.first[session] = nowMs()
    return
  }
  receipts.lanes[lane] ??= { received: 0, late: 0, mostPlaces: 0, highest: 0 }
  const order = receipts.lanes[lane]
  const behind = order.highest - Number(place)
  order.received += 1
  if (behind > 0) order.late += 1
  order.mostPlaces = Math.max(order.mostPlaces, behind)
  order.highest = Math.max(order.highest, Number(place))
}

/** The port of a server that does `how` with each connection that sends something. */
async function deadPort(how: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => how(socket))
  })
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a receiver has no port')
  return address.port
}

async function closedPort(): Promise<number> {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = server
  server.stop(true)
  return port
}

if (import.meta.main) {
  let receipts = nothing()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      if (request.method === 'GET') return Response.json(receipts)
      if (request.method === 'DELETE') receipts = nothing()
      else take(receipts, request.url.slice(request.url.lastIndexOf('/') + 1), await request.text())
      return new Response('ok')
    },
  })
  const ports = {
    good: server.port ?? 0,
    hanging: await deadPort(() => {}),
    resetting: await deadPort((socket) => socket.resetAndDestroy()),
    refusing: await closedPort(),
  } satisfies Ports
  process.stdout.write(`${JSON.stringify(ports)}\n`)
}
