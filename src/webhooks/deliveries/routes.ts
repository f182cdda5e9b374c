// Routes of an endpoint's deliveries: the list, one, redelivery of one, of those that wait or of a span, and tests.

import { Elysia } from 'elysia'
import { tooMany } from '../../base/errors.ts'
import type { RouteDeps } from '../../http/api.ts'
import { HttpError } from '../../http/failure.ts'
import { createAtOnce } from '../../http/in-progress.ts'
import { page } from '../../http/query.ts'
import { getEndpoint } from '../endpoint-queries.ts'
import { maskedHeaders } from '../signing/signature.ts'
import { getHistory, listDeliveries } from './history-queries.ts'
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

/** Tests in flight to one endpoint from this process. */
const MAX_TESTS = 4
const RETRY_AFTER_S = 1

/** Added to the time of the attempt, for the database; then the server closes the connection. */
const MARGIN_S = 30

type Work<Result> = () => Promise<Result>
/** Runs `work` for a request. Throws RATE_LIMITED when MAX_TESTS tests of the endpoint are in flight. */
export type TestLimit = <Result>(endpointId: string, request: Request, work: Work<Result>) => Promise<Result>

/** Limits concurrent tests: they are sent by the main thread, where the worker's limits do not apply. */
export function createTestLimit(timeoutMs: number, server: RouteDeps['server']): TestLimit {
  const begin = createAtOnce()
  return async (endpointId, request, work) => {
    const end = begin({ [endpointId]: MAX_TESTS })
    if (end === undefined) {
      const message = `${MAX_TESTS} tests of this endpoint are in flight; try again`
      const headers = { 'X-RateLimit-Remaining': '0' }
      throw new HttpError(tooMany(message, RETRY_AFTER_S), { headers })
    }
    server()?.timeout(request, Math.ceil(timeoutMs / 1_000) + MARGIN_S)
    try {
      return await work()
    } finally {
      end()
    }
  }
}

/** The server's maximum: a million deliveries take a minute. */
const RECOVERY_TIMEOUT_S = 255

/** The headers are not stored: they follow from the delivery. */
function detailOf(history: Awaited<ReturnType<typeof getHistory>>, prefix: string): DeliveryDetail {
  const { delivery, body, attempts } = history
  const { id, event, event_id, status, attempts: begun, ...rest } = delivery
  const headers = maskedHeaders({
    prefix,
    eventId: event_id,
    event,
    deliveryId: id,
    attempt: Math.max(1, begun),
    body,
    at: new Date(attempts.at(-1)?.started_at ?? delivery.created_at),
  })
  return { id, event, event_id, status, attempts, ...rest, request: { headers, body } }
}

export const deliveryRoutes = (deliveries: RouteDeps & RedeliveryDeps & { limitTests: TestLimit }) => {
  const { read, api, prefix, limitTests } = deliveries
  return new Elysia({ prefix: '/webhooks/:webhook_id', tags: ['Webhooks'] })
    .use(api)
    .post(
      '/test',
      ({ params: { webhook_id: id }, body, request, orgId, actor }) =>
        limitTests(`${orgId}/${id}`, request, () => testEndpoint(deliveries, orgId, actor, id, body.event)),
      {
        scope: 'webhooks',
        body: TestBody,
        reads: { optional: true },
        response: TestResponse,
        detail: {
          operationId: 'testWebhook',
          summary: 'Send a test event now',
          description:
            'One attempt, no retry, also when the endpoint is disabled. The example of an event has `"test": true` beside `event`, and the header `X-Service-Test: true`, also when it is redelivered. The answer is 200 however the receiver answers. More than 4 at a time are RATE_LIMITED.',
        },
      },
    )
    .get(
      '/deliveries',
      ({ params: { webhook_id: id }, query, orgId }) =>
        read(orgId, async (sql) => {
          await getEndpoint(sql, orgId, id)
          const { rows, total } = await listDeliveries(sql, orgId, id, query)
          return page(rows, query, total)
        }),
      {
        scope: 'webhooks',
        query: DeliveryListQuery,
        response: DeliveryPage,
        detail: { operationId: 'listDeliveries', summary: 'List deliveries of an endpoint, newest first' },
      },
    )
    .get(
      '/deliveries/:delivery_id',
      ({ params: { webhook_id: id, delivery_id }, orgId }) =>
        read(orgId, async (sql) => {
          await getEndpoint(sql, orgId, id)
          return detailOf(await getHistory(sql, orgId, id, delivery_id), prefix)
        }),
      {
        scope: 'webhooks',
        response: DeliveryDetail,
        detail: { operationId: 'getDelivery', summary: 'One delivery with its request and attempts' },
      },
    )
    .post(
      '/deliveries/:delivery_id/redeliver',
      ({ params, orgId, actor }) =>
        redeliver(deliveries, orgId, actor, params.webhook_id, params.delivery_id),
      {
        scope: 'webhooks',
        response: { 202: Delivery },
        detail: {
          operationId: 'redeliverDelivery',
          summary: 'Send a delivery again',
          description:
            'A finished one is sent once more, under the same id; a waiting one at once, keeping its retries; one in flight is left as it is. Held while the endpoint is disabled.',
        },
      },
    )
    .post('/retry', ({ params, orgId, actor }) => retryAll(deliveries, orgId, actor, params.webhook_id), {
      scope: 'webhooks',
      response: { 202: RecoverResponse },
      detail: {
        operationId: 'retryDeliveries',
        summary: 'Send all deliveries that wait for a retry now',
        description: 'They keep the retries that they have left. Held while the endpoint is disabled.',
      },
    })
    .post(
      '/recover',
      ({ params, body, request, server, orgId, actor }) => {
        server?.timeout(request, RECOVERY_TIMEOUT_S)
        return recover(deliveries, orgId, actor, params.webhook_id, body)
      },
      {
        scope: 'webhooks',
        body: RecoverBody,
        response: { 202: RecoverResponse },
        detail: {
          operationId: 'recoverDeliveries',
          summary: 'Send all failed deliveries of a time again',
          description:
            'Those that were given up or cancelled, each once more. With `dry_run` they are only counted.',
        },
      },
    )
}
