import type { Static } from '@sinclair/typebox'
import { SYSTEM } from '../../accounts/audit-log/append.ts'
import {
  hasOrganization,
  insertOrganization,
  lockFirst,
  recordCreated,
} from '../../accounts/organizations/queries.ts'
import { saveAccount } from '../../accounts/people/account-queries.ts'
import { hashPassword } from '../../accounts/people/passwords.ts'
import { isToken } from '../../accounts/people/tokens.ts'
import { ApiError } from '../../base/errors.ts'
import type { Plan } from '../../config.ts'
import { lockOrganization } from '../../database/org-lock.ts'
import { addMember } from '../members/member-changes.ts'
import type { AuthDeps } from './deps.ts'
import type { SetupBody } from './model.ts'
import { beginSession, type Client } from './sign-in.ts'

// The first organization is made in the browser, by the link that `serve` prints.

/** The plan of an organization that is made in the browser. */
export const PLAN: Plan = 'cloud_team'

export const isSetUp = () => new ApiError('NOT_FOUND', 'This server has an organization: sign in')

/**
 * Makes the first organization and its owner, who is signed in by the returned token of a cookie. `token`: that of the printed
 * link. Throws NOT_FOUND once there is an organization, UNAUTHORIZED for another token, and RATE_LIMITED after ten of these in
 * a minute from one address.
 */
export async function setUp(
  { people, countTry }: Pick<AuthDeps, 'people' | 'countTry'>,
  wanted: Static<typeof SetupBody>,
  token: string,
  client: Client,
  now: Date,
  former: string | undefined,
): Promise<{ orgId: string; memberId: string; token: string }> {
  if (!isToken(wanted.token, token)) {
    await countTry([`set-up ${client.counted}`], { at: client.at })
    throw new ApiError('UNAUTHORIZED', 'This is not the link of the running server: look at what it printed')
  }
  const hash = await hashPassword(wanted.password)
  const { display_name, email, organization } = wanted
  const stored = { slug: organization.slug ?? slugOf(organization.name), name: organization.name, plan: PLAN }
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
    const made = { orgId, memberId: owner.id }
    return { ...made, token: await beginSession(tx, made, client, former) }
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
