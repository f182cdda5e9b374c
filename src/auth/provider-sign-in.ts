import { recordEntries, SYSTEM } from '../audit-log/append.ts'
import { type OidcConfig, ROLES, type Role } from '../config.ts'
import type { ISql } from '../db/client.ts'
import { ApiError } from '../errors.ts'
import { findOrganization } from '../organizations/queries.ts'
import { endSessionsOf, saveAccount } from '../people/account-queries.ts'
import { addMember, changeMember } from '../sync/member-changes.ts'
import { countOwners, findMember, findOwnAddress } from '../team/queries.ts'
import { asciiLower } from '../text.ts'
import type { AuthDeps } from './deps.ts'
import type { Identity } from './identity-provider.ts'
import { type Client, startSessionOf } from './sign-in.ts'

/** The highest role that one of the groups gives, else the default. */
const roleOf = ({ groups }: Identity, { roles, defaultRole }: OidcConfig): Role | null =>
  ROLES.find((role) => groups.some((group) => roles.get(group) === role)) ?? defaultRole

/**
 * Signs in whom the identity provider named: makes a member at the first sign-in, and gives the role of the claim at each;
 * but the last owner stays one. Somebody without a role does not come in, and their sessions end. Returns the cookie's token.
 * Throws FORBIDDEN.
 */
export async function signInByProvider(
  { people, inTurn }: Pick<AuthDeps, 'people' | 'inTurn'>,
  identity: Identity,
  oidc: OidcConfig,
  client: Client,
  former: string | undefined,
  now: Date,
): Promise<string> {
  const organization = await findOrganization(people, oidc.organization)
  if (organization === undefined) {
    throw new ApiError('INTERNAL_ERROR', `OIDC_ORGANIZATION: there is no organization ${oidc.organization}`, {
      status: 503,
    })
  }
  const { id: orgId } = organization
  const role = roleOf(identity, oidc)
  const memberId = await inTurn(orgId, (tx) => admit(tx, orgId, identity, role, client, now))
  if (memberId === null) {
    throw new ApiError(
      'FORBIDDEN',
      `Your account has no role in ${organization.name}: ask for one at the identity provider`,
    )
  }
  return await startSessionOf({ inTurn }, { orgId, memberId }, client, former)
}

/** The id of the member with an account and the role; null, and no session left, without a role. */
async function admit(
  tx: ISql,
  orgId: string,
  { email, name }: Identity,
  role: Role | null,
  { exact }: Client,
  now: Date,
): Promise<string | null> {
  const changer = { actor: { ...SYSTEM, ipAddress: exact } }
  const address = await findOwnAddress(tx, orgId, email)
  const known = address === undefined ? undefined : await findMember(tx, orgId, address)
  if (role === null) {
    if (known !== undefined) {
      await endSessionsOf(tx, orgId, known.id)
      const entry = { action: 'member.sign_in_failed', details: { ids: [known.id] } }
      await recordEntries(tx, orgId, { userId: known.id, ipAddress: exact }, [entry])
    }
    return null
  }
  const isLastOwner = known?.role === 'owner' && (await countOwners(tx, orgId)) === 1
  const member =
    known === undefined
      ? await addMember(tx, orgId, changer, { email: asciiLower(email), display_name: name, role }, now)
      : known.role === role || isLastOwner
        ? known
        : await changeMember(tx, orgId, changer, known.id, { role })
  await saveAccount(tx, orgId, member, null)
  return member.id
}
