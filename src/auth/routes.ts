import { Elysia } from 'elysia'
import { ApiError } from '../errors.ts'
import { cookieReader, sessionCookie } from '../people/cookies.ts'
import { createTryCounter } from '../people/try-queries.ts'
import { type AuthDeps, bodyReader, clientOf, refuseForged } from './deps.ts'
import { deviceRoutes } from './device-routes.ts'
import { AcceptBody, PasswordBody } from './model.ts'
import { oidcRoutes } from './oidc-routes.ts'
import { acceptInvitation, signInByPassword, signOut } from './sign-in.ts'

/** Signing in and out, by password or for a machine. Not below /v1: these need no key. */
export const authRoutes = (given: Omit<AuthDeps, 'countTry'>) => {
  const deps = { ...given, countTry: createTryCounter(given.people) }
  const { config, gate } = deps
  const cookieOf = cookieReader(config)
  const readPassword = bodyReader(gate, PasswordBody)
  const readAccept = bodyReader(gate, AcceptBody)
  const hide = { detail: { hide: true } }
  const refuseWithoutPasswords = () => {
    if (!config.passwords) {
      throw new ApiError('FORBIDDEN', 'This server has no passwords: sign in by the identity provider')
    }
  }
  return new Elysia()
    .post(
      '/auth/password',
      async ({ request, server, set }) => {
        set.headers['cache-control'] = 'no-store'
        refuseWithoutPasswords()
        const wanted = await readPassword(request)
        const client = clientOf(request, server, deps)
        const signedIn = await signInByPassword(deps, wanted, client, cookieOf(request))
        if ('organizations' in signedIn) return signedIn
        set.headers['set-cookie'] = sessionCookie(config, signedIn.token)
        set.status = 204
        return null
      },
      { parse: leaveUnread, ...hide },
    )
    .post(
      '/auth/accept',
      async ({ request, server, set }) => {
        set.headers['cache-control'] = 'no-store'
        refuseWithoutPasswords()
        const accepted = await readAccept(request)
        const client = clientOf(request, server, deps)
        const token = await acceptInvitation(deps, accepted, client, cookieOf(request))
        set.headers['set-cookie'] = sessionCookie(config, token)
        set.status = 204
        return null
      },
      { parse: leaveUnread, ...hide },
    )
    .post(
      '/auth/logout',
      async ({ request, server, set }) => {
        const token = cookieOf(request)
        if (token !== undefined) {
          refuseForged(request, token)
          await signOut(deps, token, clientOf(request, server, deps))
        }
        set.headers['cache-control'] = 'no-store'
        set.headers['set-cookie'] = sessionCookie(config)
        set.status = 204
        return null
      },
      { parse: leaveUnread, ...hide },
    )
    .get('/auth/methods', () => ({ password: config.passwords, oidc: config.oidc !== null }), hide)
    .use(deviceRoutes(deps))
    .use(config.oidc === null ? new Elysia() : oidcRoutes(config.oidc, deps))
}

/** Elysia must not read the body: it is read by the route, within its limits. */
const leaveUnread = () => null
