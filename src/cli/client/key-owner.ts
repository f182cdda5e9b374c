// Asks a server whose key it is (`/whoami`), and explains its refusals.

import { type FieldProblem, OperatorError } from '../../base/errors.ts'
import { shellWord } from '../../base/text.ts'
import { VERSION } from '../../base/version.ts'
import type { WhoAmI } from '../../features/whoami/model.ts'
import { type Answer, askServer, bodyOf, errorOf, refuseRedirect } from './ask-server.ts'
import type { Server } from './find-server.ts'

const TIMEOUT_MS = 10_000

/** The owner of a key: for a person who signed in, `key` would be null. */
export type KeyWhoAmI = WhoAmI & { key: NonNullable<WhoAmI['key']> }

/** Asks who owns the key (`GET /v1/whoami`). Throws OperatorError when it is refused, or the server is away or another program. */
export async function fetchKeyOwner(url: string, key: string): Promise<KeyWhoAmI> {
  const response = await ask({ url, key }, '/whoami')
  const body = bodyOf(response)
  if (response.ok && isKeyOwner(body)) return body
  throw notOurs(url, response.status)
}

/** The 2xx, or the refusal of the request, of a GET or POST below /v1. Throws OperatorError for any other answer. */
async function ask({ url, key }: Pick<Server, 'url' | 'key'>, path: string, body?: object): Promise<Answer> {
  const response = await askServer(`${url}/v1${path}`, {
    timeoutMs: TIMEOUT_MS,
    headers: {
      ...{ authorization: `Bearer ${key}`, 'user-agent': `CloudAnalytics/${VERSION}` },
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  const { status } = response
  if (status === 401) throw new OperatorError(refusedKey(url))
  if (status === 429) {
    const seconds = Number(response.headers.get('retry-after')) || 60
    throw new OperatorError(`the rate limit of ${url} is reached: try again in ${seconds} s`)
  }
  refuseRedirect(url, response)
  if (status >= 500) throw new OperatorError(`${url} answers ${status}: it is not well, try again later`)
  return response
}

/** A server's refusal of a request; `details` of a wrong one. */
export class Refusal extends OperatorError {
  constructor(
    message: string,
    readonly code: string,
    readonly details: FieldProblem[] | undefined,
  ) {
    super(message)
  }
}

/** Does the same as `ask`, and throws Refusal unless the answer is a 2xx with an object. */
export async function askOk(server: Pick<Server, 'url' | 'key'>, path: string, body?: object) {
  const answer = await ask(server, path, body)
  if (answer.ok && Object.keys(bodyOf(answer)).length > 0) return answer
  const { error, code, details } = errorOf(answer)
  if (error === undefined || code === undefined) throw notOurs(server.url, answer.status)
  const reason = code === 'NOT_FOUND' ? 'is older than this program' : 'refuses'
  throw new Refusal(`${server.url} ${reason}: ${error}`, code, details)
}

export const notOurs = (url: string, status: number): OperatorError =>
  new OperatorError(`what answers on ${url} (${status}) is not Cloud Analytics: is the address right?`)

export const refusedKey = (url: string): string =>
  `${url} does not know the key: it is revoked, has expired or is another server's; get a new one and run cloud-analytics login --server ${shellWord(url)}`

/** Whether the body is that of `GET /v1/whoami`, as far as it is used. */
export function isKeyOwner(body: object): body is KeyWhoAmI {
  const { organization, key, limits } = body as Partial<WhoAmI>
  const isText = (value: unknown) => typeof value === 'string'
  return (
    isText(organization?.id) &&
    isText(organization?.slug) &&
    Array.isArray(key?.scopes) &&
    key.scopes.every(isText) &&
    (key.member === null || isText(key.member?.email)) &&
    typeof limits === 'object' &&
    limits !== null
  )
}
