import { Type } from '@sinclair/typebox'
import { action, type RouteDeps, read } from '../http/route.ts'
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

/** Only the routes of webhooks need these dependencies. */
interface WebhookDeps extends EndpointDeps {
  egress: Egress
  resolve: Resolve
}

const tag = 'Webhooks'
const IdempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'A name of your own for what is to be made, at most 255 printable characters: the same request again within 24 hours makes nothing and has the first answer',
      examples: ['make-hook-1'],
    }),
  ),
})

export const webhookRoutes = ({ sql }: RouteDeps, webhooks: WebhookDeps) => {
  const { egress, resolve, box } = webhooks
  const problems = (body: EndpointChangeBody) => endpointProblems(body, egress)
  return [
    read('/webhooks/events', 'webhooks', {
      id: 'listWebhookEvents',
      summary: 'The events there are',
      tag,
      response: Catalogue,
      handler: () => catalogue,
    }),
    read('/webhooks', 'webhooks', {
      id: 'listWebhooks',
      summary: 'List webhook endpoints, oldest first',
      tag,
      response: EndpointList,
      handler: async ({ access: { orgId } }) => ({ data: await listEndpoints(sql, orgId) }),
    }),
    action('POST', '/webhooks', 'webhooks', {
      id: 'createWebhook',
      summary: 'Add a webhook endpoint',
      tag,
      headers: IdempotencyHeader,
      body: NewEndpointBody,
      problems,
      response: { 201: CreatedEndpoint },
      location: ({ id }: CreatedEndpoint) => `/webhooks/${id}`,
      handler: async ({ body, request, access: { orgId, actor } }) => {
        const idempotency = idempotencyOf(request.headers.get('idempotency-key'), body)
        const wanted = newEndpointOf(body, egress)
        const stored = await findStoredResponse(sql, box, orgId, idempotency)
        if (stored !== undefined) return JSON.parse(stored) as CreatedEndpoint
        await checkHost(wanted.url, egress, resolve)
        return await createEndpoint(webhooks, orgId, actor, wanted, idempotency)
      },
    }),
    read('/webhooks/:webhook_id', 'webhooks', {
      id: 'getWebhook',
      summary: 'One webhook endpoint',
      tag,
      response: Endpoint,
      handler: ({ params, access: { orgId } }) => getEndpoint(sql, orgId, params.webhook_id),
    }),
    action('PATCH', '/webhooks/:webhook_id', 'webhooks', {
      id: 'updateWebhook',
      summary: 'Change a webhook endpoint',
      description: 'Changes the fields that are given. Enabled again, an endpoint gets what was held.',
      tag,
      body: EndpointChangeBody,
      problems,
      response: { 200: Endpoint },
      handler: async ({ params: { webhook_id: id }, body, access: { orgId, actor } }) => {
        const change = changeOf(body, egress)
        if (change.url !== undefined) {
          const { url } = await getEndpoint(sql, orgId, id)
          if (url !== change.url) await checkHost(change.url, egress, resolve)
        }
        return await updateEndpoint(webhooks, orgId, actor, id, change)
      },
    }),
    action('DELETE', '/webhooks/:webhook_id', 'webhooks', {
      id: 'deleteWebhook',
      summary: 'Remove a webhook endpoint',
      description: 'What waits for it is cancelled; an attempt in flight may still arrive.',
      tag,
      response: { 204: Type.Void({ description: 'Removed' }) },
      handler: ({ params, access: { orgId, actor } }) =>
        deleteEndpoint(webhooks, orgId, actor, params.webhook_id),
    }),
    action('POST', '/webhooks/:webhook_id/rotate-secret', 'webhooks', {
      id: 'rotateWebhookSecret',
      summary: 'Replace the signing secret',
      description:
        'Until the grace period ends, or is ended by `finish`, the signature headers are by the former secret, `X-Service-Signature-256-Next` is by the new one, and `webhook-signature` has both. Once more within the grace period replaces the new one.',
      tag,
      body: RotateBody,
      optional: true,
      problems: rotationProblems,
      response: { 200: RotatedSecret },
      handler: ({ params: { webhook_id: id }, body, access: { orgId, actor } }) =>
        body.finish === true
          ? finishRotation(webhooks, orgId, actor, id)
          : rotateSecret(webhooks, orgId, actor, id, gracePeriodOf(body)),
    }),
  ]
}
