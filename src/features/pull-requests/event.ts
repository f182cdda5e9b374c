import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { literals } from '../../analysis/records/fields.ts'
import { isTimestamp, normalizeTimestamp } from '../../base/dates.ts'
import type { PullRequestEvent } from '../risk/event-queries.ts'

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
export function eventOf(body: unknown): PullRequestEvent | undefined {
  if (!payload.Check(body)) return undefined
  const { pull_request: told, repository } = body as Static<typeof Payload>
  if (!isTimestamp(told.updated_at)) return undefined
  const time = (text: string | null | undefined) =>
    text != null && isTimestamp(text) ? normalizeTimestamp(text) : null
  const merged_at = time(told.merged_at)
  const state = told.state === 'open' ? 'open' : merged_at === null ? 'closed' : 'merged'
  return {
    repo: repository.full_name,
    pr_number: told.number,
    updatedAt: normalizeTimestamp(told.updated_at),
    title: told.title.slice(0, MAX_TITLE).toWellFormed().replaceAll('\0', '\uFFFD'),
    branch: told.head.ref === '' || told.head.ref.length > MAX_BRANCH ? null : told.head.ref,
    lifecycle: {
      state,
      merged_at: state === 'merged' ? merged_at : null,
      closed_at: state === 'open' ? null : time(told.closed_at),
      // an open pull request has a trial merge here
      merge_commit: state === 'merged' ? (told.merge_commit_sha ?? null) : null,
      url:
        told.html_url !== undefined && /^https?:\/\/\S{1,2000}$/.test(told.html_url) ? told.html_url : null,
      default_branch: repository.default_branch ?? null,
    },
  }
}
