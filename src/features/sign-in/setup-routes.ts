import { Elysia } from 'elysia'
import { hasOrganization } from '../../accounts/organizations/queries.ts'
import { cookieReader, sessionCookie } from '../../accounts/people/cookies.ts'
import { SCOPES_OF_ROLE } from '../../accounts/people/roles.ts'
import { csrfTokenOf } from '../../accounts/people/tokens.ts'
import { WhoAmI } from '../whoami/model.ts'
import { getCaller } from '../whoami/queries.ts'
import { type AuthDeps, clientOf } from './deps.ts'
import { Methods, SetupBody } from './model.ts'
import { isSetUp, PLAN, setUp } from './setup.ts'

/** Says how people can sign in, and sets the server up by the printed link. */
export const setupRoutes = (deps: AuthDeps) => {
  const { api, people, config, setupToken } = deps
  const cookieOf = cookieReader(config)
  return new Elysia()
    .use(api)
    .get(
      '/methods',
      async () => ({
        password: config.passwords,
        oidc: config.oidc !== null,
        setup: setupToken !== undefined && !(await hasOrganization(people)),
      }),
      {
        open: true,
        response: Methods,
        detail: { operationId: 'getSignInMethods', summary: 'How people can sign in' },
      },
    )
    .post(
      '/setup',
      async ({ body, request, server, set }) => {
        if (setupToken === undefined) throw isSetUp()
        const client = clientOf(request, server, deps)
        const made = await setUp(deps, body, setupToken, client, new Date(), cookieOf(request))
        set.headers['set-cookie'] = sessionCookie(config, made.token)
        const person = { userId: made.memberId, csrfToken: csrfTokenOf(made.token) }
        const caller = { orgId: made.orgId, keyId: null, person, scopes: SCOPES_OF_ROLE.owner }
        return await getCaller(people, caller, config.rateLimits[PLAN])
      },
      {
        open: async () => {
          if (setupToken === undefined || (await hasOrganization(people))) throw isSetUp()
        },
        body: SetupBody,
        response: { 201: WhoAmI },
        fails: [401, 404, 429],
        detail: {
          operationId: 'setUp',
          summary: 'Make the first organization and its owner, who is signed in',
          description:
            'By the token of the link that the server prints while it has no organization; afterwards 404. The answer is that of ' +
            '`GET /v1/whoami`, with the cookie of a session.',
        },
      },
    )
}
