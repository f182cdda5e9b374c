import { OperatorError } from '../../errors.ts'
import { askServer } from '../client/answer.ts'
import { MARKER } from './markdown.ts'
import type { Discussion } from './pull-request.ts'

const TIMEOUT_MS = 30_000
/** Pages of 100 comments that are looked through for ours. */
const MAX_PAGES = 50

/** Puts the text on the pull request: in the comment of an earlier run, else in a new one. Throws OperatorError. */
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
  const ask = async (url: string, method = 'GET', body?: object): Promise<unknown> => {
    const answer = await askServer(url, {
      method,
      headers,
      timeoutMs: TIMEOUT_MS,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new OperatorError(`the comment is refused: ${url} answers ${answer.status}`)
    return JSON.parse(answer.text || 'null')
  }
  const known = await findComment(list, ask)
  if (known === undefined) await ask(list, 'POST', { body: text })
  else await ask(one(known), isGithub ? 'PATCH' : 'PUT', { body: text })
}

/** The id of the comment that an earlier run wrote. */
async function findComment(
  list: string,
  ask: (url: string) => Promise<unknown>,
): Promise<number | undefined> {
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const comments = await ask(`${list}?per_page=100&page=${page}`)
    if (!Array.isArray(comments) || comments.length === 0) return undefined
    const own = comments.find(({ body }) => typeof body === 'string' && body.startsWith(MARKER))
    if (typeof own?.id === 'number') return own.id
    if (comments.length < 100) return undefined
  }
  return undefined
}
