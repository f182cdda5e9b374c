import { Agent, type AgentOptions } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import type { Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import { memoize } from '../../base/memoize.ts'

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

/**
 * The connections of a sender: those to the same scheme, host and port are kept for IDLE_MS for the next request.
 * `ca`: certificate authorities in PEM, in place of the system's.
 */
export function createAgents(ca?: string) {
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
