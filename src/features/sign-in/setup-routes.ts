// POST /auth/setup makes the first organization, by the link that `serve` prints; GET /auth/methods says how people sign in.

import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { SYSTEM } from '../../accounts/audit-log/append.ts'
import { SCOPES_OF_ROLE } from '../../accounts/keys/rights.ts'
import {
  hasOrganization,
  insertOrganization,
  lockFirst,
  recordCreated,
} from '../../accounts/organizations/queries.ts'
import { saveAccount } from '../../accounts/people/account-queries.ts'
import { cookieReader, sessionCookie } from '../../accounts/people/cookies.ts'
import { hashPassword } from '../../accounts/people/passwords.ts'
import { csrfTokenOf, isToken } from '../../accounts/people/tokens.ts'
import { ApiError } from '../../base/errors.ts'
import type { Plan } from '../../config.ts'
import { lockOrganization } from '../../database/org-lock.ts'
import { addMember } from '../members/member-changes.ts'
import { WhoAmI } from '../whoami/model.ts'
import { getCaller } from '../whoami/queries.ts'
import { type AuthDeps, signInClientOf } from './deps.ts'
import { Methods, SetupBody } from './model.ts'
import { beginSession, type Client } from './sign-in.ts'

/** The plan of an organization that is made in the browser. */
const PLAN: Plan = 'cloud_team'

const isSetUp = () => new ApiError('NOT_FOUND', 'This server has an organization: sign in')

/**
 * Makes the first organization and its owner, who is signed in by the returned token of a cookie. `token`: that of the printed
 * link. Throws NOT_FOUND once there is an organization, UNAUTHORIZED for another token, and RATE_LIMITED after ten of these in
 * a minute from one address.
 */
async function setUp(
  { people, countTry }: Pick<AuthDeps, 'people' | 'countTry'>,
  fields: Static<typeof SetupBody>,
  token: string,
  client: Client,
  now: Date,
  former: string | undefined,
): Promise<{ orgId: string; memberId: string; token: string }> {
  if (!isToken(fields.token, token)) {
    await countTry([`set-up ${client.counted}`], { at: client.at })
    throw new ApiError('UNAUTHORIZED', 'This is not the link of the running server: look at what it printed')
  }
  const hash = await hashPassword(fields.password)
  const { display_name, email, organization } = fields
  const stored = {
    slug: organization.slug ?? slugOf(organization.name),
    name: organization.name,
    plan: PLAN,
    time_zone: organization.time_zone,
  }
  return await people.begin(async (tx) => {
    await lockFirst(tx)
    if (await hasOrganization(tx)) throw isSetUp()
    const orgId = await insertOrganization(tx, stored)
    await lockOrganization(tx, orgId)
    const ipAddress = client.exact
    const changer = { actor: { ...SYSTEM, ipAddress } }
    const owner = await addMember(tx, orgId, changer, { email, display_name, role: 'owner' }, now)
    await recordCreated(tx, orgId, stored, { userId: owner.id, ipAddress })
    await saveAccount(tx, orgId, owner, { passwordHash: hash })
    const result = { orgId, memberId: owner.id }
    return { ...result, token: await beginSession(tx, result, client, former) }
  })
}

/** A slug for a name: `Acme GmbH & Co.` is `acme-gmbh-co`. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 63)
    .replace(/-+$/, '') || 'organization'

/** Says how people can sign in, and sets the server up by the printed link. */
export const setupRoutes = (deps: AuthDeps) => {
  const { publicApi, people, config, setupToken } = deps
  const cookieOf = cookieReader(config)
  return new Elysia()
    .use(publicApi)
    .get(
      '/methods',
      async () => ({
        password: config.passwords,
        oidc: config.oidc !== null,
        setup: setupToken !== undefined && !(await hasOrganization(people)),
      }),
      {
        response: Methods,
        detail: { operationId: 'getSignInMethods', summary: 'How people can sign in' },
      },
    )
    .post(
      '/setup',
      async ({ body, request, server, set }) => {
        if (setupToken === undefined) throw isSetUp()
        const client = signInClientOf(request, server, deps)
        const result = await setUp(deps, body, setupToken, client, new Date(), cookieOf(request))
        set.headers['set-cookie'] = sessionCookie(config, result.token)
        const person = { userId: result.memberId, csrfToken: csrfTokenOf(result.token) }
        const caller = { orgId: result.orgId, keyId: null, person, scopes: SCOPES_OF_ROLE.owner }
        return await getCaller(people, caller, config.rateLimits[PLAN])
      },
      {
        before: async () => {
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
