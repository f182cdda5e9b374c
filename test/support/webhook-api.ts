import type { Config } from '../../src/config.ts'
import type { App } from '../../src/server/app.ts'
import { type Ask, newOrg, type Org, testApp } from './api.ts'
import type { TestDatabase } from './postgres.ts'

// Webhooks through the API, with receivers on this machine.

const PLENTY = { cloud_pro: 1e6, cloud_team: 1e6, cloud_enterprise: 1e6 }

/** Settings that allow receivers on this machine. */
export const LOCAL: Partial<Config> = {
  webhookAllowHttp: true,
  webhookAllowCidrs: ['127.0.0.0/8'],
  rateLimits: PLENTY,
}

/** An app that may deliver webhooks to this machine. */
export const webhookApp = (db: TestDatabase, over: Parameters<typeof testApp>[1] = {}): App =>
  testApp(db.sql, { ...over, config: { ...LOCAL, ...over.config } })

/** An organization whose key has the scope `webhooks`. */
export const hooked = (db: TestDatabase): Promise<Org> =>
  newOrg(db.sql, { scopes: ['read', 'write', 'audit:write', 'webhooks'] })

/** Adds an endpoint; returns the body of the response. */
export async function addHook(ask: Ask, url = 'https://hooks.example.com/in', over: object = {}) {
  const { status, body, text } = await ask('POST', '/v1/webhooks', { url, events: '*', ...over })
  if (status !== 201) throw new Error(text)
  return body
}

export interface Received {
  headers: Record<string, string>
  body: string
}

/** A receiver on this machine that responds as `answer` says; `got` has the requests. */
export function receiver(
  answer: (received: Received) => Response | Promise<Response> = () => new Response('ok'),
) {
  const got: Received[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const received = { headers: Object.fromEntries(request.headers), body: await request.text() }
      got.push(received)
      return await answer(received)
    },
  })
  const stop = () => server.stop(true)
  return { url: `http://127.0.0.1:${server.port}/in`, got, stop, [Symbol.asyncDispose]: stop }
}

/** The actions of the organization's audit log, newest first, with their details. */
export async function auditOf(ask: Ask, action = 'webhook.*') {
  const { body } = await ask('GET', `/v1/audit?action=${action}&per_page=100`)
  return body.data.map(({ action, details }) => ({ action, details }))
}
