import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { cookieReader, sessionCookie } from '../../accounts/people/cookies.ts'
import { createTryCounter } from '../../accounts/people/try-queries.ts'
import { ApiError } from '../../base/errors.ts'
import { type AuthDeps, refuseForged, signInClientOf } from './deps.ts'
import { deviceRoutes } from './device-routes.ts'
import { AcceptBody, Organizations, PasswordBody } from './model.ts'
import { oidcRoutes } from './oidc-routes.ts'
import { setupRoutes } from './setup-routes.ts'
import { acceptInvitation, signInByPassword, signOut } from './sign-in.ts'

/** Signing in and out, by password or for a machine. Not below /v1: these need no key. */
export const authRoutes = (given: Omit<AuthDeps, 'countTry'>) => {
  const deps = { ...given, countTry: createTryCounter(given.people) }
  const { publicApi, config } = deps
  const cookieOf = cookieReader(config)
  const refuseWithoutPasswords = () => {
    if (!config.passwords)
      throw new ApiError('FORBIDDEN', 'This server has no passwords: sign in by the identity provider')
  }
  const refuseForgedSignOut = (request: Request) => {
    const token = cookieOf(request)
    if (token !== undefined) refuseForged(request, token)
  }
  return new Elysia({ prefix: '/auth', tags: ['Sign-in'] })
    .use(publicApi)
    .onBeforeHandle(({ set }) => {
      set.headers['cache-control'] = 'no-store'
    })
    .post(
      '/password',
      async ({ body, request, server, set, status }) => {
        const client = signInClientOf(request, server, deps)
        const signedIn = await signInByPassword(deps, body, client, cookieOf(request))
        if ('organizations' in signedIn) return signedIn
        set.headers['set-cookie'] = sessionCookie(config, signedIn.token)
        return status(204, undefined)
      },
      {
        before: refuseWithoutPasswords,
        body: PasswordBody,
        response: { 200: Organizations, 204: Type.Void({ description: 'Signed in: the cookie is set' }) },
        fails: [401, 403, 429],
        detail: {
          operationId: 'signIn',
          summary: 'Sign in by a password',
          description:
            'Sets the cookie of a session. Where the address and password are those of members of several organizations, the answer lists them, and `organization` says which.',
        },
      },
    )
    .post(
      '/accept',
      async ({ body, request, server, set }) => {
        const client = signInClientOf(request, server, deps)
        const token = await acceptInvitation(deps, body, client, cookieOf(request))
        set.headers['set-cookie'] = sessionCookie(config, token)
      },
      {
        before: refuseWithoutPasswords,
        body: AcceptBody,
        response: { 204: Type.Void({ description: 'Signed in: the cookie is set' }) },
        fails: [401, 403, 429],
        detail: { operationId: 'acceptInvitation', summary: 'Set a password by an invitation, and sign in' },
      },
    )
    .post(
      '/logout',
      async ({ request, server, set }) => {
        const token = cookieOf(request)
        if (token !== undefined) await signOut(deps, token, signInClientOf(request, server, deps))
        set.headers['set-cookie'] = sessionCookie(config)
      },
      {
        before: refuseForgedSignOut,
        response: { 204: Type.Void({ description: 'Signed out, or nobody was signed in' }) },
        fails: [403],
        detail: {
          operationId: 'signOut',
          summary: 'Sign out',
          security: [{ session: [], csrfToken: [] }, {}],
        },
      },
    )
    .use(setupRoutes(deps))
    .use(deviceRoutes(deps))
    .use(oidcRoutes(deps))
}
