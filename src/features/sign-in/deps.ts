// Dependencies of the routes of signing in, and what they share: client's address, session, refusal of forged requests.

import { cookieReader } from '../../accounts/people/cookies.ts'
import { type FoundSession, findSession } from '../../accounts/people/sign-in-queries.ts'
import { csrfTokenOf } from '../../accounts/people/tokens.ts'
import type { CountTry } from '../../accounts/people/try-queries.ts'
import { ApiError } from '../../base/errors.ts'
import type { Sql } from '../../database/client.ts'
import { clientOf, type Server } from '../../http/address-limit.ts'
import type { RouteDeps } from '../../http/api.ts'

/** The routes of signing in need these. */
export interface AuthDeps extends RouteDeps {
  /** Connections of their own: whoever tries passwords and codes takes none of those by which others change something. */
  people: Sql
  countTry: CountTry
  /** Tests only: the clock of the minutes in which tries are counted, which is otherwise the database's. */
  windowClock?: (() => Date) | undefined
  /** The token of the link that makes the first organization; undefined where there is no such link. */
  setupToken?: string | undefined
}

/** The client's address: as tries are counted, an IPv6 network as one, and as the audit log has it. */
export const signInClientOf = (request: Request, server: Server, { config, windowClock }: AuthDeps) => ({
  ...clientOf(request, server, config.trustProxy),
  at: windowClock?.(),
})

/** Throws FORBIDDEN where the request lacks the token of the pages of the session with this cookie's token. */
export function refuseForged(request: Request, token: string): void {
  if (request.headers.get('x-csrf-token') !== csrfTokenOf(token))
    throw new ApiError('FORBIDDEN', 'X-CSRF-Token: must be the one of /v1/whoami')
}

/** Finds the session of a request's cookie; what is no GET needs the token of their pages. Throws UNAUTHORIZED, FORBIDDEN. */
export function sessionReader({ people, config }: Pick<AuthDeps, 'people' | 'config'>) {
  const cookieOf = cookieReader(config)
  return async (request: Request): Promise<FoundSession> => {
    const token = cookieOf(request)
    const session = token === undefined ? undefined : await findSession(people, token)
    if (token === undefined || session === undefined)
      throw new ApiError('UNAUTHORIZED', 'Sign in to approve a machine')
    if (request.method !== 'GET') refuseForged(request, token)
    return session
  }
}
