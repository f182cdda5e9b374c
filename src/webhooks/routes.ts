import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { checked } from '../analysis/records/problems.ts'
import type { RouteDeps } from '../http/api.ts'
import { fixedFields } from '../http/declared.ts'
import { catalogue } from './catalogue-page.ts'
import { changeOf, checkHost, endpointProblems, newEndpointOf } from './endpoint-check.ts'
import { getEndpoint, listEndpoints } from './endpoint-queries.ts'
import {
  createEndpoint,
  deleteEndpoint,
  type EndpointDeps,
  finishRotation,
  rotateSecret,
  updateEndpoint,
} from './endpoints.ts'
import type { Egress } from './http/egress.ts'
import type { Resolve } from './http/resolve.ts'
import { findStoredResponse, IdempotencyHeader, idempotencyOf } from './idempotency-queries.ts'
import {
  Catalogue,
  CreatedEndpoint,
  DEFAULT_GRACE_S,
  Endpoint,
  EndpointChangeBody,
  EndpointList,
  NewEndpointBody,
  RotateBody,
  RotatedSecret,
  rotationProblems,
} from './model.ts'

export const webhookRoutes = (webhooks: RouteDeps & EndpointDeps & { egress: Egress; resolve: Resolve }) => {
  const { read, api, egress, resolve, box } = webhooks
  const problems = (body: EndpointChangeBody) => endpointProblems(body, egress)
  return new Elysia({ prefix: '/webhooks', tags: ['Webhooks'] })
    .use(api)
    .get('/events', () => catalogue, {
      scope: 'webhooks',
      response: Catalogue,
      detail: { operationId: 'listWebhookEvents', summary: 'The events there are' },
    })
    .get('', async ({ orgId }) => ({ data: await read(orgId, (sql) => listEndpoints(sql, orgId)) }), {
      scope: 'webhooks',
      response: EndpointList,
      detail: { operationId: 'listWebhooks', summary: 'List webhook endpoints, oldest first' },
    })
    .post(
      '',
      async ({ body, headers, orgId, actor }): Promise<CreatedEndpoint> => {
        const idempotency = idempotencyOf(headers['idempotency-key'], body)
        const fields = newEndpointOf(body)
        const stored = await read(orgId, (sql) => findStoredResponse(sql, box, orgId, idempotency))
        if (stored !== undefined) return JSON.parse(stored)
        await checkHost(fields.url, egress, resolve)
        return await createEndpoint(webhooks, orgId, actor, fields, idempotency)
      },
      {
        scope: 'webhooks',
        headers: IdempotencyHeader,
        body: checked(NewEndpointBody, problems),
        response: { 201: CreatedEndpoint },
        detail: {
          operationId: 'createWebhook',
          summary: 'Add a webhook endpoint',
          description: 'The answer has its signing `secret`, which is shown once: no other answer has it.',
        },
      },
    )
    .get(
      '/:webhook_id',
      ({ params, orgId }) => read(orgId, (sql) => getEndpoint(sql, orgId, params.webhook_id)),
      {
        scope: 'webhooks',
        response: Endpoint,
        detail: { operationId: 'getWebhook', summary: 'One webhook endpoint' },
      },
    )
    .patch(
      '/:webhook_id',
      async ({ params: { webhook_id: id }, body, orgId, actor }) => {
        const change = changeOf(body)
        if (change.url !== undefined) {
          const { url } = await read(orgId, (sql) => getEndpoint(sql, orgId, id))
          if (url !== change.url) await checkHost(change.url, egress, resolve)
        }
        return await updateEndpoint(webhooks, orgId, actor, id, change)
      },
      {
        scope: 'webhooks',
        body: checked(EndpointChangeBody, problems),
        ignores: fixedFields(Endpoint, EndpointChangeBody),
        response: Endpoint,
        detail: {
          operationId: 'updateWebhook',
          summary: 'Change a webhook endpoint',
          description: 'Changes the fields that are given. Enabled again, an endpoint gets what was held.',
        },
      },
    )
    .delete(
      '/:webhook_id',
      ({ params, orgId, actor }) => deleteEndpoint(webhooks, orgId, actor, params.webhook_id),
      {
        scope: 'webhooks',
        response: { 204: Type.Void({ description: 'Removed' }) },
        detail: {
          operationId: 'deleteWebhook',
          summary: 'Remove a webhook endpoint',
          description: 'What waits for it is cancelled; an attempt in flight may still arrive.',
        },
      },
    )
    .post(
      '/:webhook_id/rotate-secret',
      async ({ params: { webhook_id: id }, body, orgId, actor }) =>
        body.finish === true
          ? await finishRotation(webhooks, orgId, actor, id)
          : await rotateSecret(webhooks, orgId, actor, id, body.grace_period_seconds ?? DEFAULT_GRACE_S),
      {
        scope: 'webhooks',
        body: checked(RotateBody, rotationProblems),
        reads: { optional: true },
        response: RotatedSecret,
        detail: {
          operationId: 'rotateWebhookSecret',
          summary: 'Replace the signing secret',
          description:
            'The new `secret` is shown once, in this answer. Until the grace period ends, or is ended by `finish`, the signature headers are by the former secret, `X-Service-Signature-256-Next` is by the new one, and `webhook-signature` has both. Once more within the grace period replaces the new one.',
        },
      },
    )
}
