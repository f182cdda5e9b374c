// Sends requests to receivers over connections of its own: checks each URL once, and its host's addresses at each attempt.

import { Agent, type AgentOptions } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import type { Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import { memoize } from '../../base/memoize.ts'
import type { AttemptResult } from './attempt-result.ts'
import { type ExchangeResult, exchange, type OutgoingRequest, type SenderOptions } from './exchange.ts'
import { protocolFailure, refused } from './failure.ts'

/** Shorter than receivers' keep-alive time, so that one rarely closes while a request is sent. */
const IDLE_MS = 1_000
/** Idle connections of an agent: some 50 KB each with TLS. */
const MAX_IDLE = 256
/** One address of a name is tried for this long before the next. */
const ADDRESS_TIMEOUT_MS = 1_000

const OPTIONS: AgentOptions = {
  keepAlive: true,
  timeout: IDLE_MS,
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
}

const createSecureAgent = (ca?: string): Agent =>
  new SecureAgent({
    ...OPTIONS,
    // one for all connections: to read the authorities takes 15 ms
    secureContext: createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) }),
    // explicit: NODE_TLS_REJECT_UNAUTHORIZED changes the default
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
    maxCachedSessions: 0,
  })

/** An agent limits the idle connections of each host only. */
function limitIdle(agent: Agent): Agent {
  return agent.on('free', (socket: Socket) => {
    const idle = Object.values(agent.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0)
    if (idle > MAX_IDLE) socket.destroy()
  })
}

/** The connections of a sender, kept for IDLE_MS. `ca`: certificate authorities in PEM, in place of the system's. */
function createAgents(ca?: string) {
  const agents: Agent[] = []
  return {
    /** The agent of a URL's scheme, made when it is first used. */
    of: memoize((protocol) => {
      const agent = limitIdle(protocol === 'https:' ? createSecureAgent(ca) : new Agent(OPTIONS))
      agents.push(agent)
      return agent
    }),
    /** Closes all connections, those in use too. */
    close() {
      for (const agent of agents) agent.destroy()
    },
  }
}

// Attempts by node:http, which takes a look-up. Not fetch: it takes none, so that the address in use may differ from the
// one that was checked, it uses the proxies of the environment, and it has at most 256 requests in flight.

const failed = (failure: ExchangeResult['failure']): ExchangeResult => ({ response: null, failure })

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
