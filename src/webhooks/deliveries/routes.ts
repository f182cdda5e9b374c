import { page } from '../../http/query.ts'
import { action, type RouteDeps, read } from '../../http/route.ts'
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
import { type RedeliveryDeps, recover, redeliver, retryAll, testEndpoint } from './redelivery.ts'

interface DeliveryDeps extends RedeliveryDeps {
  limitTests: TestLimit
}

const tag = 'Webhooks'
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

export const deliveryRoutes = ({ sql }: RouteDeps, deliveries: DeliveryDeps) => {
  const { prefix, limitTests, timeoutMs } = deliveries
  return [
    action('POST', '/webhooks/:webhook_id/test', 'webhooks', {
      id: 'testWebhook',
      summary: 'Send a test event now',
      description:
        'One attempt, no retry, also when the endpoint is disabled. The answer is 200 however the receiver answers. More than 4 at a time are RATE_LIMITED.',
      tag,
      body: TestBody,
      optional: true,
      response: { 200: TestResponse },
      timeoutS: Math.ceil(timeoutMs / 1_000) + TEST_MARGIN_S,
      handler: ({ params: { webhook_id: id }, body, access: { orgId, actor } }) =>
        limitTests(`${orgId}/${id}`, () => testEndpoint(deliveries, orgId, actor, id, body.event)),
    }),
    read('/webhooks/:webhook_id/deliveries', 'webhooks', {
      id: 'listDeliveries',
      summary: 'List deliveries of an endpoint, newest first',
      tag,
      query: DeliveryListQuery,
      response: DeliveryPage,
      handler: async ({ params: { webhook_id: id }, query, access: { orgId } }) => {
        await getEndpoint(sql, orgId, id)
        const { rows, total } = await listDeliveries(sql, orgId, id, query)
        return page(rows, query, total)
      },
    }),
    read('/webhooks/:webhook_id/deliveries/:delivery_id', 'webhooks', {
      id: 'getDelivery',
      summary: 'One delivery with its request and attempts',
      tag,
      response: DeliveryDetail,
      handler: async ({ params, access: { orgId } }) => {
        await getEndpoint(sql, orgId, params.webhook_id)
        return detailOf(await getHistory(sql, orgId, params.webhook_id, params.delivery_id), prefix)
      },
    }),
    action('POST', '/webhooks/:webhook_id/deliveries/:delivery_id/redeliver', 'webhooks', {
      id: 'redeliverDelivery',
      summary: 'Send a delivery again',
      description:
        'A finished one is sent once more, under the same id; a waiting one at once, keeping its retries; one in flight is left as it is. Held while the endpoint is disabled.',
      tag,
      response: { 202: Delivery },
      handler: ({ params, access: { orgId, actor } }) =>
        redeliver(deliveries, orgId, actor, params.webhook_id, params.delivery_id),
    }),
    action('POST', '/webhooks/:webhook_id/retry', 'webhooks', {
      id: 'retryDeliveries',
      summary: 'Send all deliveries that wait for a retry now',
      description: 'They keep the retries that they have left. Held while the endpoint is disabled.',
      tag,
      response: { 202: RecoverResponse },
      handler: ({ params, access: { orgId, actor } }) =>
        retryAll(deliveries, orgId, actor, params.webhook_id),
    }),
    action('POST', '/webhooks/:webhook_id/recover', 'webhooks', {
      id: 'recoverDeliveries',
      summary: 'Send all failed deliveries of a time again',
      description:
        'Those that were given up or cancelled, each once more. With `dry_run` they are only counted.',
      tag,
      body: RecoverBody,
      response: { 202: RecoverResponse },
      timeoutS: RECOVERY_TIMEOUT_S,
      handler: ({ params, body, access: { orgId, actor } }) =>
        recover(deliveries, orgId, actor, params.webhook_id, body),
    }),
  ]
}
