import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../../http/access.ts'
import { page } from '../../http/query.ts'
import { getEndpoint } from '../queries.ts'
import { maskedHeaders } from '../signing/signature.ts'
import type { TestLimit } from './concurrent-tests.ts'
import { type DeliveryHistory, getHistory, listDeliveries } from './history-queries.ts'
import {
  Delivery,
  DeliveryDetail,
  DeliveryListQuery,
  DeliveryPage,
  RecoverBody,
  RecoverResponse,
  TestBody,
  TestResponse,
} from './model.ts'
import { type RedeliveryDeps, recover, redeliver, testEndpoint } from './redelivery.ts'

export interface DeliveryDeps extends RedeliveryDeps {
  limitTests: TestLimit
}

const tags = ['Webhooks']
/** Added to the time of the attempt, for the database; then the server closes the connection. */
const TEST_MARGIN_S = 30
/** The server's maximum: a million deliveries take a minute. */
const RECOVERY_TIMEOUT_S = 255

/** The headers are not stored: they follow from the delivery. */
function detailOf({ delivery, body, attempts }: DeliveryHistory, prefix: string): DeliveryDetail {
  const { id, event, event_id, status, attempts: begun, ...rest } = delivery
  const headers = maskedHeaders({
    prefix,
    eventId: event_id,
    event,
    deliveryId: id,
    attempt: Math.max(1, begun),
    at: new Date(attempts.at(-1)?.started_at ?? delivery.created_at),
  })
  return { id, event, event_id, status, attempts, ...rest, request: { headers, body } }
}

export const deliveryRoutes = (deps: RouteDeps, deliveries: DeliveryDeps) => {
  const { prefix, limitTests, timeoutMs } = deliveries
  return new Elysia()
    .use(access(deps))
    .post(
      '/webhooks/:webhook_id/test',
      ({ params: { webhook_id: id }, body, request, server, access: { orgId, actor } }) => {
        server?.timeout(request, Math.ceil(timeoutMs / 1_000) + TEST_MARGIN_S)
        return limitTests(`${orgId}/${id}`, () => testEndpoint(deliveries, orgId, actor, id, body.event))
      },
      {
        ...guard('webhooks', { body: TestBody, optional: true, response: { 200: TestResponse } }),
        detail: {
          operationId: 'testWebhook',
          summary: 'Send a test event now',
          description:
            'One attempt, no retry, also when the endpoint is disabled. The answer is 200 however the receiver answers. More than 4 at a time are RATE_LIMITED.',
          tags,
        },
      },
    )
    .get(
      '/webhooks/:webhook_id/deliveries',
      async ({ params: { webhook_id: id }, query, access: { orgId } }) => {
        await getEndpoint(deps.sql, orgId, id)
        const { rows, total } = await listDeliveries(deps.sql, orgId, id, query)
        return page(rows, query, total)
      },
      {
        ...guard('webhooks', { query: DeliveryListQuery, response: { 200: DeliveryPage } }),
        detail: {
          operationId: 'listDeliveries',
          summary: 'List deliveries of an endpoint, newest first',
          tags,
        },
      },
    )
    .get(
      '/webhooks/:webhook_id/deliveries/:delivery_id',
      async ({ params, access: { orgId } }) => {
        await getEndpoint(deps.sql, orgId, params.webhook_id)
        return detailOf(await getHistory(deps.sql, orgId, params.webhook_id, params.delivery_id), prefix)
      },
      {
        ...guard('webhooks', { response: { 200: DeliveryDetail } }),
        detail: { operationId: 'getDelivery', summary: 'One delivery with its request and attempts', tags },
      },
    )
    .post(
      '/webhooks/:webhook_id/deliveries/:delivery_id/redeliver',
      async ({ params, set, access: { orgId, actor } }) => {
        set.status = 202
        return await redeliver(deliveries, orgId, actor, params.webhook_id, params.delivery_id)
      },
      {
        ...guard('webhooks', { response: { 202: Delivery } }),
        detail: {
          operationId: 'redeliverDelivery',
          summary: 'Send a delivery again',
          description:
            'A finished one is sent once more, under the same id; a waiting one at once, keeping its retries; one in flight is left as it is. Held while the endpoint is disabled.',
          tags,
        },
      },
    )
    .post(
      '/webhooks/:webhook_id/recover',
      async ({ params, body, request, server, set, access: { orgId, actor } }) => {
        server?.timeout(request, RECOVERY_TIMEOUT_S)
        const recovered = await recover(deliveries, orgId, actor, params.webhook_id, body)
        set.status = 202
        return recovered
      },
      {
        ...guard('webhooks', { body: RecoverBody, response: { 202: RecoverResponse } }),
        detail: {
          operationId: 'recoverDeliveries',
          summary: 'Send all failed deliveries of a time again',
          description:
            'Those that were given up or cancelled, each once more. With `dry_run` they are only counted.',
          tags,
        },
      },
    )
}
