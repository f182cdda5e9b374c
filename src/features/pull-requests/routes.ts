import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { component } from '../../analysis/records/fields.ts'
import { decodeJson, parseOnce } from '../../analysis/records/json.ts'
import { ApiError, fieldError, tooMany } from '../../base/errors.ts'
import { clientOf, createAddressLimiter } from '../../http/address-limit.ts'
import { limitHeaders } from '../../http/admission.ts'
import { BROKEN, type RouteDeps } from '../../http/api.ts'
import { createAtOnce } from '../../http/at-once.ts'
import { bodyError, readRaw } from '../../http/body.ts'
import type { SecretBox } from '../../webhooks/signing/secret-box.ts'
import { verifySignature } from '../../webhooks/signing/signature.ts'
import { findGithubSecret } from '../organization/queries.ts'
import { eventOf } from './event.ts'
import { storePullRequestEvent } from './pull-request-events.ts'

/** GitHub's largest payload. */
const MAX_BYTES = 25 * 1024 * 1024

/** The only form of a signature: nothing is looked up for another. */
const SIGNATURE = /^sha256=[0-9a-f]{64}$/
/** Bodies at once whose signature is not checked yet, from an address and for an organization. */
const UNVERIFIED = { address: 4, organization: 16 }
/** Their share at the gate, which is nobody's. Organizations take turns in it. */
const UNVERIFIED_SHARE = 'unverified'
/** A body that is not checked may take this long. */
const RETRY_AFTER_S = 10

const UNAUTHORIZED = 'X-Hub-Signature-256 is not that of this organization’s secret'

/**
 * Takes GitHub's webhook. What its signature proves counts in no limit of requests; another signature counts for the client's
 * address, so that nobody tries signatures.
 */
export function githubRoutes({ api, writes, config, gate, enqueueWrite, now }: RouteDeps, box: SecretBox) {
  const limiter = createAddressLimiter(now)
  const begin = createAtOnce()
  /** The body, and whose it is; undefined where the signature is wrong. */
  const readVerified = async (request: Request, slug: string, signature: string) => {
    const found = await findGithubSecret(writes, box, slug)
    // without a secret no body is read
    if (found === undefined) return undefined
    const { orgId, secret } = found
    const bytes = await readRaw(request, MAX_BYTES, gate.pass(request, UNVERIFIED_SHARE, orgId))
    return verifySignature(secret, bytes, signature) ? { orgId, bytes } : undefined
  }
  return new Elysia({ tags: ['Sync'] }).use(api).post(
    '/github/:org_slug',
    async ({ request, server, params, set, status }) => {
      const slug = params.org_slug
      if (slug === BROKEN) throw new ApiError('NOT_FOUND', 'There is no such organization')
      const { counted, exact } = clientOf(request, server, config.trustProxy)
      const decision = limiter.peek(counted)
      const signature = request.headers.get('x-hub-signature-256') ?? ''
      if (!SIGNATURE.test(signature)) {
        Object.assign(set.headers, limitHeaders(decision))
        throw new ApiError('UNAUTHORIZED', UNAUTHORIZED)
      }
      if (decision.remaining === 0) {
        const { retryAfterS } = limiter.take(counted)
        throw tooMany('Too many requests with a wrong signature in this minute', retryAfterS)
      }
      const end = begin({
        [`address ${counted}`]: UNVERIFIED.address,
        [`organization ${slug}`]: UNVERIFIED.organization,
      })
      if (end === undefined)
        throw tooMany('Too many bodies at once whose signature is not checked yet', RETRY_AFTER_S)
      const verified = await readVerified(request, slug, signature).finally(end)
      if (verified === undefined) {
        Object.assign(set.headers, limitHeaders(limiter.take(counted)))
        throw new ApiError('UNAUTHORIZED', UNAUTHORIZED)
      }
      const { orgId, bytes } = verified
      const kind = request.headers.get('x-github-event')
      if (kind === null || kind === '') throw fieldError('X-GitHub-Event', 'is required')
      if (kind !== 'pull_request') return status(202, { taken: false })
      const event = eventOf(parseOnce(decodeJson(bytes)))
      if (event === undefined) throw bodyError('must be an event pull_request of GitHub, as JSON')
      gate.release(request)
      const actor = { userId: 'github', ipAddress: exact }
      await enqueueWrite(orgId, () => storePullRequestEvent(writes, orgId, actor, event))
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
