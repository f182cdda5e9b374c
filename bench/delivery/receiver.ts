// The receiver of the deliveries: it responds 200 and records when each delivery came first. It runs as a process with an
// IPC channel, by which it gets the number of deliveries to expect.

/** Starts a run of `count` deliveries, of which the first `warmUp` do not count; or asks for its results. */
export type ToReceiver = { type: 'expect'; count: number; warmUp: number } | { type: 'account' }

export type FromReceiver =
  | { type: 'listening'; port: number }
  | { type: 'ready' }
  /** The first delivery has arrived. */
  | { type: 'begun' }
  /** The expected number of different deliveries has arrived. */
  | { type: 'complete' }
  | { type: 'account'; account: Account }

/** The result of a run. Times are Unix milliseconds with a fraction. */
export interface Account {
  deliveries: number
  /** Deliveries of the warm-up. */
  warmDeliveries: number
  /** Requests beyond the first of a delivery. */
  duplicates: number
  /** Times of the first arrival after the warm-up and of the last one. */
  warmMs: number
  lastMs: number
  /** The first request. */
  sample: Sample
}

export interface Sample {
  headers: Record<string, string>
  body: string
}

export const nowMs = (): number => performance.timeOrigin + performance.now()

/** Called when a request is complete. */
type Take = (deliveryId: string, headers: Headers, body: string) => void

/** Listens on a free port of 127.0.0.1. */
export function listen(take: Take): { port: number; stop(): Promise<void> } {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const body = await request.text()
      take(request.headers.get('x-service-delivery') ?? '', request.headers, body)
      return new Response('ok')
    },
  })
  if (server.port === undefined) throw new Error('the receiver has no port')
  return { port: server.port, stop: () => server.stop(true) }
}

const send = (message: FromReceiver) => process.send?.(message)

function newRun(expected: number, warmUp: number): { take: Take; account: Account } {
  const seen = new Set<string>()
  const account: Account = {
    deliveries: 0,
    warmDeliveries: warmUp,
    duplicates: 0,
    warmMs: 0,
    lastMs: 0,
    sample: { headers: {}, body: '' },
  }
  const take: Take = (id, headers, body) => {
    if (seen.has(id)) {
      account.duplicates += 1
      return
    }
    const now = nowMs()
    if (seen.size === 0) {
      account.sample = { headers: headers.toJSON(), body }
      send({ type: 'begun' })
    }
    if (seen.size === warmUp) account.warmMs = now
    seen.add(id)
    account.deliveries = seen.size
    account.lastMs = now
    if (seen.size === expected) send({ type: 'complete' })
  }
  return { take, account }
}

function main(): void {
  let run = newRun(0, 0)
  const { port } = listen((id, headers, body) => run.take(id, headers, body))
  process.on('message', (message: ToReceiver) => {
    if (message.type === 'account') return send({ type: 'account', account: run.account })
    run = newRun(message.count, message.warmUp)
    return send({ type: 'ready' })
  })
  process.on('disconnect', () => process.exit(0))
  send({ type: 'listening', port })
}

if (import.meta.main) main()
