import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { component } from '../../analysis/records/fields.ts'
import { decodeJson, parseOnce } from '../../analysis/records/json.ts'
import { ApiError, fieldError, tooMany } from '../../base/errors.ts'
import { clientOf, createAddressLimiter } from '../../http/address-limit.ts'
import { limitHeaders } from '../../http/admission.ts'
import { BROKEN, type RouteDeps } from '../../http/api.ts'
import { bodyError, readRaw } from '../../http/body.ts'
import type { SecretBox } from '../../webhooks/signing/secret-box.ts'
import { verifySignature } from '../../webhooks/signing/signature.ts'
import { findGithubSecret } from '../organization/queries.ts'
import { eventOf } from './event.ts'
import { storePullRequestEvent } from './pull-request-events.ts'

/** GitHub's largest payload. */
const MAX_BYTES = 25 * 1024 * 1024

/**
 * Takes GitHub's webhook. What its signature proves counts in no limit; anything else counts for the client's address, so
 * that nobody tries signatures.
 */
export function githubRoutes({ api, writes, config, gate, now }: RouteDeps, box: SecretBox) {
  const limiter = createAddressLimiter(now)
  return new Elysia({ tags: ['Sync'] }).use(api).post(
    '/github/:org_slug',
    async ({ request, server, params, set, status }) => {
      const slug = params.org_slug
      if (slug === BROKEN) throw new ApiError('NOT_FOUND', 'There is no such organization')
      const { counted, exact } = clientOf(request, server, config.trustProxy)
      if (limiter.peek(counted).remaining === 0) {
        throw tooMany(
          'Too many requests with a wrong signature in this minute',
          limiter.take(counted).retryAfterS,
        )
      }
      const found = await findGithubSecret(writes, box, slug)
      // without a secret no body is read
      const bytes =
        found === undefined ? undefined : await readRaw(request, MAX_BYTES, gate.pass(request, found.orgId))
      const signature = request.headers.get('x-hub-signature-256') ?? ''
      if (found === undefined || bytes === undefined || !verifySignature(found.secret, bytes, signature)) {
        Object.assign(set.headers, limitHeaders(limiter.take(counted)))
        throw new ApiError('UNAUTHORIZED', 'X-Hub-Signature-256 is not that of this organization’s secret')
      }
      const kind = request.headers.get('x-github-event')
      if (kind === null || kind === '') throw fieldError('X-GitHub-Event', 'is required')
      if (kind !== 'pull_request') return status(202, { taken: false })
      const event = eventOf(parseOnce(decodeJson(bytes)))
      if (event === undefined) throw bodyError('must be an event pull_request of GitHub, as JSON')
      await storePullRequestEvent(writes, found.orgId, { userId: 'github', ipAddress: exact }, event)
      return undefined
    },
    {
      open: true,
      response: {
        202: component('IgnoredEvent', { taken: Type.Boolean({ examples: [false] }) }),
        204: Type.Void({ description: 'The pull request is as GitHub says' }),
      },
      fails: [401, 404, 408, 413, 415, 429],
      detail: {
        operationId: 'takeGithubEvent',
        summary: 'GitHub’s webhook',
        description:
          'Takes the events `pull_request` of a webhook whose secret is `github_secret` of the organization; others are accepted and ignored.',
        security: [{ githubSignature: [] }],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { type: 'object' }, example: { action: 'opened' } } },
        },
      },
    },
  )
}
