import { memoize } from '../../base/memoize.ts'
import { createAgents } from './agents.ts'
import type { AttemptResult } from './attempt-result.ts'
import { type ExchangeResult, exchange, type OutgoingRequest, type SenderOptions } from './exchange.ts'
import { protocolFailure, refused } from './failure.ts'

// Attempts by node:http, which takes a look-up. Not fetch: it takes none, so that the address in use may differ from the
// one that was checked, it uses the proxies of the environment, and it has at most 256 requests in flight.

const failed = (failure: ExchangeResult['failure']): ExchangeResult => ({ response: null, failure })

/** A sender with connections of its own. Checks each URL once, and its host's addresses at each attempt. */
export function createSender(options: SenderOptions) {
  const { egress } = options
  const agents = createAgents(options.ca)
  // may be cached: the rules do not change while the program runs
  const checkUrl = memoize(egress.checkUrl)
  const attempt = async (outgoing: OutgoingRequest): Promise<ExchangeResult> => {
    const checked = checkUrl(outgoing.url)
    if ('problem' in checked) return failed(refused(checked.problem))
    try {
      return await exchange(options, agents.of(checked.url.protocol), checked.url, outgoing)
    } catch {
      return failed(protocolFailure('the request cannot be made'))
    }
  }
  return {
    /** One POST. Never rejects. */
    async send(outgoing: OutgoingRequest): Promise<AttemptResult> {
      const startedAt = new Date()
      const begin = performance.now()
      const { response, failure } = await attempt(outgoing)
      return {
        startedAt,
        durationMs: performance.now() - begin,
        ok: failure === null,
        refused: failure?.kind === 'refused',
        postponed: failure?.kind === 'postponed',
        statusCode: response?.status ?? null,
        error: failure?.text ?? null,
        responseBody: response?.body.text() ?? null,
      }
    },
    /** Closes all connections, those in use too. */
    close: agents.close,
  }
}

export type Sender = ReturnType<typeof createSender>
