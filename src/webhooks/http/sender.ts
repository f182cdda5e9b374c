import { memoize } from '../../memoize.ts'
import type { AttemptResult } from './attempt-result.ts'
import { createConnections } from './connection-pool.ts'
import { type Ending, exchange } from './exchange.ts'
import { broken, refused } from './failure.ts'
import type { OutgoingRequest, SenderOptions } from './request.ts'

// One attempt over sockets of node:net and node:tls, its answer read by the parser of node:http. Not node:http itself:
// with it a request on a kept connection takes some 130 µs of the processor, so 45. Not fetch: that takes no look-up of
// ours, so that the address that was judged need not be the one that is used; it goes through the proxies of the
// environment; and it has at most 256 requests in flight.

export interface Sender {
  /** One POST, as a value whatever happens. Never rejects. */
  send(request: OutgoingRequest): Promise<AttemptResult>
  /** Closes all connections, those in use too. */
  close(): void
}

const failed = (failure: Ending['failure']): Ending => ({ answer: null, failure })

/** A sender with connections of its own. It judges each URL once, and the addresses of its name at each attempt. */
export function createSender(options: SenderOptions): Sender {
  const { egress } = options
  const connections = createConnections(options.ca)
  // the rules do not change while the program runs
  const checkUrl = memoize(egress.checkUrl)
  const attempt = async (outgoing: OutgoingRequest): Promise<Ending> => {
    const checked = checkUrl(outgoing.url)
    if ('problem' in checked) return failed(refused(checked.problem))
    try {
      return await exchange(options, connections, checked.url, outgoing)
    } catch {
      return failed(broken('the request cannot be made'))
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
