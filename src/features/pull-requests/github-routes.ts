// POST /github/:org_slug: takes what GitHub's webhook says of pull requests.

import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Elysia } from 'elysia'
import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { component, literals } from '../../analysis/records/fields.ts'
import { decodeJson, parseOnce } from '../../analysis/records/sent-json.ts'
import { isTimestamp, normalizeTimestamp } from '../../base/dates.ts'
import { ApiError, fieldError, tooMany } from '../../base/errors.ts'
import type { Sql } from '../../database/client.ts'
import { lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { clientOf, createAddressLimiter } from '../../http/address-limit.ts'
import { limitHeaders } from '../../http/admission.ts'
import { BROKEN, type RouteDeps } from '../../http/api.ts'
import { bodyError, readRaw } from '../../http/body.ts'
import { createAtOnce } from '../../http/in-progress.ts'
import type { SecretBox } from '../../webhooks/signing/secret-box.ts'
import { verifySignature } from '../../webhooks/signing/signature.ts'
import { findGithubSecret } from '../organization/queries.ts'
import { keepEvent, type PullRequestEvent } from '../risk/store-write.ts'
import { applyEvent } from '../risk/write.ts'
import { updateShares } from '../usage/pull-request-write.ts'

/** The fields that are read of GitHub's event `pull_request`. */
const Payload = Type.Object({
  pull_request: Type.Object({
    number: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
    title: Type.String(),
    state: literals(['open', 'closed']),
    merged_at: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    closed_at: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    updated_at: Type.String(),
    merge_commit_sha: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    html_url: Type.Optional(Type.String()),
    head: Type.Object({ ref: Type.String() }),
  }),
  repository: Type.Object({
    full_name: Type.String({ minLength: 1, maxLength: 200 }),
    default_branch: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  }),
})
const payload = TypeCompiler.Compile(Payload)

const MAX_TITLE = 1_000
const MAX_BRANCH = 500

/** The pull request that the event tells of; undefined for a body of another form. */
function eventOf(body: unknown): PullRequestEvent | undefined {
  if (!payload.Check(body)) return undefined
  const { pull_request: pullRequest, repository } = body as Static<typeof Payload>
  if (!isTimestamp(pullRequest.updated_at)) return undefined
  const time = (text: string | null | undefined) =>
    text != null && isTimestamp(text) ? normalizeTimestamp(text) : null
  const merged_at = time(pullRequest.merged_at)
  const state = pullRequest.state === 'open' ? 'open' : merged_at === null ? 'closed' : 'merged'
  return {
    repo: repository.full_name,
    pr_number: pullRequest.number,
    updatedAt: normalizeTimestamp(pullRequest.updated_at),
    title: pullRequest.title.slice(0, MAX_TITLE).toWellFormed().replaceAll('\0', '\uFFFD'),
    branch:
      pullRequest.head.ref === '' || pullRequest.head.ref.length > MAX_BRANCH ? null : pullRequest.head.ref,
    lifecycle: {
      state,
      merged_at: state === 'merged' ? merged_at : null,
      closed_at: state === 'open' ? null : time(pullRequest.closed_at),
      // an open pull request has a trial merge here
      merge_commit: state === 'merged' ? (pullRequest.merge_commit_sha ?? null) : null,
      url:
        pullRequest.html_url !== undefined && /^https?:\/\/\S{1,2000}$/.test(pullRequest.html_url)
          ? pullRequest.html_url
          : null,
      default_branch: repository.default_branch ?? null,
    },
  }
}

/** Stores what a repository's host says of a pull request, also before its record comes; nothing that is not newer. */
async function storePullRequestEvent(writes: Sql, orgId: string, actor: Actor, event: PullRequestEvent) {
  await writes.begin(async (tx) => {
    await lockHistory(tx, orgId)
    await lockOrganization(tx, orgId)
    if (!(await keepEvent(tx, orgId, event))) return
    const changed = await applyEvent(tx, orgId, event)
    if (changed === undefined) return
    await changed.updateRollups()
    await updateShares(tx, orgId, changed)
    const details = { created: 0, updated: 1, ids: changed.updatedIds }
    await recordEntry(tx, orgId, actor, 'pr_risk.synced', details)
  })
}

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

/** GitHub's webhook. A right signature counts in no limit, a wrong one in that of the address, so that nobody tries them. */
export function githubRoutes(
  { publicApi, writes, config, gate, enqueueWrite, now }: RouteDeps,
  box: SecretBox,
) {
  const limiter = createAddressLimiter(now)
  const begin = createAtOnce()
  /** The body, and whose it is; undefined where the signature is wrong. */
  const readVerified = async (request: Request, slug: string, signature: string) => {
    const stored = await findGithubSecret(writes, box, slug)
    // without a secret no body is read
    if (stored === undefined) return undefined
    const { orgId, secret } = stored
    const bytes = await readRaw(request, MAX_BYTES, gate.pass(request, UNVERIFIED_SHARE, orgId))
    return verifySignature(secret, bytes, signature) ? { orgId, bytes } : undefined
  }
  return new Elysia({ tags: ['Sync'] }).use(publicApi).post(
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
