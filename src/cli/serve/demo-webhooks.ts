import type { Change } from '../../accounts/organizations/gate.ts'
import type { Sql } from '../../database/client.ts'
import { inOrganization } from '../../database/org-lock.ts'
import { createEndpoint } from '../../webhooks/endpoints.ts'
import { createSecretBox } from '../../webhooks/signing/secret-box.ts'
import { loadSecretKey } from '../../webhooks/signing/secret-key.ts'
import { commandLineActor } from '../command/actor.ts'
import type { Context } from '../command/context.ts'
import { printMessage } from '../command/output.ts'
import { type Receiver, startReceiver } from '../webhook/receiver.ts'
import { receivedLine } from '../webhook/text.ts'

/** The receiver of a demo and the endpoint that delivers to it. */
export interface DemoWebhooks extends Pick<Receiver, 'stop'> {
  /** Registers an endpoint for all events of the organization. Returns its id. */
  register(sql: Sql, orgId: string): Promise<string>
}

/** Starts a receiver that prints a line for each delivery, with the result of the signature check. */
export function startDemoWebhooks({ config }: Pick<Context, 'config'>): DemoWebhooks {
  let secret: string | null = null
  const receiver = startReceiver({
    port: 0,
    secret: () => secret,
    status: 200,
    prefix: config.webhookHeaderPrefix,
    onReceived: (received) => printMessage(`webhook received: ${receivedLine(received)}`),
  })
  return {
    stop: receiver.stop,
    async register(sql, orgId) {
      const box = createSecretBox(loadSecretKey(config))
      const wanted = {
        url: `${receiver.url}/`,
        events: ['*'],
        enabled: true,
        description: "The demo's own receiver",
      }
      const inTurn: Change = (id, work) => inOrganization(sql, id, work)
      const deps = { inTurn, box, maxEndpoints: config.webhookMaxEndpoints }
      const endpoint = await createEndpoint(deps, orgId, commandLineActor(), wanted, undefined)
      secret = endpoint.secret
      return endpoint.id
    },
  }
}
