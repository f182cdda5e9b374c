import type { Change } from '../../accounts/organizations/gate.ts'
import type { Sql } from '../../database/client.ts'
import { inOrganization } from '../../database/org-lock.ts'
import { EXAMPLE_IDS } from '../../http/openapi/examples.ts'
import { createEndpoint } from '../../webhooks/endpoints.ts'
import { createSecretBox } from '../../webhooks/signing/secret-box.ts'
import { loadSecretKey } from '../../webhooks/signing/secret-key.ts'
import { commandLineActor } from '../command/actor.ts'
import type { Context } from '../command/context.ts'
import { printMessage } from '../command/output.ts'
import { startReceiver } from '../webhook/receiver.ts'
import { receivedLine } from '../webhook/text.ts'

/** Starts a receiver that prints a line for each delivery, with the result of the signature check. */
export function startDemoWebhooks({ config }: Pick<Context, 'config'>) {
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
    /** Registers an endpoint for all events of the organization. Returns its id. */
    async register(sql: Sql, orgId: string): Promise<string> {
      const box = createSecretBox(loadSecretKey(config))
      const wanted = {
        url: `${receiver.url}/`,
        events: ['*'],
        enabled: true,
        description: "The demo's own receiver",
      }
      const inTurn: Change = (id, work) => inOrganization(sql, id, work)
      const deps = { inTurn, box, maxEndpoints: config.webhookMaxEndpoints }
      const id = EXAMPLE_IDS.webhook_id
      const endpoint = await createEndpoint(deps, orgId, commandLineActor(), wanted, undefined, id)
      secret = endpoint.secret
      return endpoint.id
    },
  }
}

export type DemoWebhooks = ReturnType<typeof startDemoWebhooks>
