import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { publicPath } from '../config.ts'
import { access, guard, type RouteDeps } from '../http/access.ts'
import type { EnqueueWrite } from '../organizations/queue.ts'
import { catalogue } from './catalogue-page.ts'
import { changeOf, checkHost, endpointProblems, newEndpointOf } from './endpoint-check.ts'
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
import { findStoredResponse, idempotencyOf } from './idempotency.ts'
import {
  Catalogue,
  CreatedEndpoint,
  Endpoint,
  EndpointChangeBody,
  EndpointList,
  gracePeriodOf,
  NewEndpointBody,
  RotateBody,
  RotatedSecret,
  rotationProblems,
} from './model.ts'
import { getEndpoint, listEndpoints } from './queries.ts'

/** What only the routes of webhooks need. */
export interface WebhookDeps extends EndpointDeps {
  egress: Egress
  resolve: Resolve
  /** Runs `work` after the organization's earlier changes in this process. */
  enqueueWrite: EnqueueWrite
}

const tags = ['Webhooks']
const IdempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'A name of your own for what is to be made, at most 255 printable characters: the same request again within 24 hours makes nothing and has the first answer',
      examples: ['make-hook-1'],
    }),
  ),
})

export const webhookRoutes = (deps: RouteDeps, webhooks: WebhookDeps) => {
  const { egress, resolve, box, enqueueWrite } = webhooks
  const prefix = publicPath(deps.config)
  const problems = (body: EndpointChangeBody) => endpointProblems(body, egress)
  return new Elysia()
    .use(access(deps))
    .get('/webhooks/events', () => catalogue, {
      ...guard('webhooks', { response: { 200: Catalogue } }),
      detail: { operationId: 'listWebhookEvents', summary: 'The events there are', tags },
    })
    .get('/webhooks', async ({ access: { orgId } }) => ({ data: await listEndpoints(deps.sql, orgId) }), {
      ...guard('webhooks', { response: { 200: EndpointList } }),
      detail: { operationId: 'listWebhooks', summary: 'List webhook endpoints, oldest first', tags },
    })
    .post(
      '/webhooks',
      async ({ body, request, set, access: { orgId, actor } }) => {
        const idempotency = idempotencyOf(request.headers.get('idempotency-key'), body)
        const wanted = newEndpointOf(body, egress)
        const stored = await findStoredResponse(deps.sql, box, orgId, idempotency)
        if (stored === undefined) await checkHost(wanted.url, egress, resolve)
        const created =
          stored === undefined
            ? await enqueueWrite(orgId, () => createEndpoint(webhooks, orgId, actor, wanted, idempotency))
            : (JSON.parse(stored) as CreatedEndpoint)
        set.status = 201
        set.headers.location = `${prefix}${new URL(request.url).pathname}/${created.id}`
        return created
      },
      {
        ...guard('webhooks', { body: NewEndpointBody, problems, response: { 201: CreatedEndpoint } }),
        headers: IdempotencyHeader,

        detail: { operationId: 'createWebhook', summary: 'Add a webhook endpoint', tags },
      },
    )
    .get(
      '/webhooks/:webhook_id',
      ({ params, access: { orgId } }) => getEndpoint(deps.sql, orgId, params.webhook_id),
      {
        ...guard('webhooks', { response: { 200: Endpoint } }),
        detail: { operationId: 'getWebhook', summary: 'One webhook endpoint', tags },
      },
    )
    .patch(
      '/webhooks/:webhook_id',
      async ({ params, body, access: { orgId, actor } }) => {
        const change = changeOf(body, egress)
        if (change.url !== undefined) {
          const { url } = await getEndpoint(deps.sql, orgId, params.webhook_id)
          if (url !== change.url) await checkHost(change.url, egress, resolve)
        }
        return await enqueueWrite(orgId, () =>
          updateEndpoint(webhooks, orgId, actor, params.webhook_id, change),
        )
      },
      {
        ...guard('webhooks', { body: EndpointChangeBody, problems, response: { 200: Endpoint } }),
        detail: {
          operationId: 'updateWebhook',
          summary: 'Change a webhook endpoint',
          description: 'Changes the fields that are given. Enabled again, an endpoint gets what was held.',
          tags,
        },
      },
    )
    .delete(
      '/webhooks/:webhook_id',
      async ({ params, set, access: { orgId, actor } }) => {
        await enqueueWrite(orgId, () => deleteEndpoint(webhooks, orgId, actor, params.webhook_id))
        set.status = 204
      },
      {
        ...guard('webhooks', { response: { 204: Type.Void({ description: 'Removed' }) } }),
        detail: {
          operationId: 'deleteWebhook',
          summary: 'Remove a webhook endpoint',
          description: 'What waits for it is cancelled; an attempt in flight may still arrive.',
          tags,
        },
      },
    )
    .post(
      '/webhooks/:webhook_id/rotate-secret',
      ({ params: { webhook_id: id }, body, access: { orgId, actor } }) =>
        enqueueWrite(orgId, () =>
          body.finish === true
            ? finishRotation(webhooks, orgId, actor, id)
            : rotateSecret(webhooks, orgId, actor, id, gracePeriodOf(body)),
        ),
      {
        ...guard('webhooks', {
          body: RotateBody,
          optional: true,
          problems: rotationProblems,
          response: { 200: RotatedSecret },
        }),
        detail: {
          operationId: 'rotateWebhookSecret',
          summary: 'Replace the signing secret',
          description:
            'Until the grace period ends, or is ended by `finish`, the signature headers are by the former secret, `X-Service-Signature-256-Next` is by the new one, and `webhook-signature` has both. Once more within the grace period replaces the new one.',
          tags,
        },
      },
    )
}
