// Writes the comment on a pull request at GitHub or GitLab, or changes the one that is there.

import { objectOf, valueAt } from '../../analysis/agents/transcript/json.ts'
import { OperatorError } from '../../base/errors.ts'
import { askServer, bodyOf } from '../client/ask-server.ts'
import { MARKER } from './markdown.ts'
import type { Discussion } from './pull-request.ts'

const TIMEOUT_MS = 30_000
/** Pages of 100 comments that are looked through for ours. */
const MAX_PAGES = 50

/** Puts the text into the comment of an earlier run, if the token's own user wrote it, else into a new one. Throws OperatorError. */
export async function putComment(discussion: Discussion, text: string): Promise<void> {
  const { host, api, place, number, token } = discussion
  if (!token) {
    const name = host === 'github' ? 'GITHUB_TOKEN' : 'GITLAB_TOKEN'
    throw new OperatorError(`--comment needs ${name}`)
  }
  const isGithub = host === 'github'
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'cloud-analytics',
    ...(isGithub
      ? { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' }
      : { 'private-token': token }),
  }
  const list = isGithub
    ? `${api}/repos/${place}/issues/${number}/comments`
    : `${api}/projects/${encodeURIComponent(place)}/merge_requests/${number}/notes`
  const one = (id: number) => (isGithub ? `${api}/repos/${place}/issues/comments/${id}` : `${list}/${id}`)
  const send = (url: string, method: string, body?: object) =>
    askServer(url, {
      method,
      headers,
      timeoutMs: TIMEOUT_MS,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const ask: Ask = async (url, method = 'GET', body) => {
    const answer = await send(url, method, body)
    if (!answer.ok) throw new OperatorError(`the comment is refused: ${url} answers ${answer.status}`)
    return JSON.parse(answer.text || 'null')
  }
  const author = (await userOf(`${api}/user`, send)) ?? (isGithub ? await viewerOf(api, send) : undefined)
  const comment = author === undefined ? undefined : await findComment(list, author, ask)
  if (comment === undefined) await ask(list, 'POST', { body: text })
  else await ask(one(comment), isGithub ? 'PATCH' : 'PUT', { body: text })
}

type Ask = (url: string, method?: string, body?: object) => Promise<unknown>
type Send = (url: string, method: string, body?: object) => ReturnType<typeof askServer>

/** The name of the token's user: GitHub's `login`, GitLab's `username`. Undefined for the token of a job, which is nobody's. */
async function userOf(url: string, send: Send): Promise<string | undefined> {
  const answer = await send(url, 'GET')
  return answer.ok ? userName(bodyOf(answer)) : undefined
}

/** GitHub's app of jobs, where GraphQL does not say who the token is of. */
const APP_OF_JOBS = 'github-actions[bot]'

async function viewerOf(api: string, send: Send): Promise<string> {
  const answer = await send(`${api.replace(/\/v3$/, '')}/graphql`, 'POST', { query: '{ viewer { login } }' })
  return userName(valueAt(bodyOf(answer), 'data', 'viewer')) ?? APP_OF_JOBS
}

const userName = (user: unknown): string | undefined => {
  const { login, username = login } = objectOf(user)
  return typeof username === 'string' ? username : undefined
}

/** The id of the comment that an earlier run wrote: anybody may begin one as ours do. */
async function findComment(list: string, author: string, ask: Ask): Promise<number | undefined> {
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const comments = await ask(`${list}?per_page=100&page=${page}`)
    if (!Array.isArray(comments) || comments.length === 0) return undefined
    const comment = comments.find(
      ({ body, user, author: by = user }) =>
        typeof body === 'string' && body.startsWith(MARKER) && userName(by) === author,
    )
    if (typeof comment?.id === 'number') return comment.id
    if (comments.length < 100) return undefined
  }
  return undefined
}
