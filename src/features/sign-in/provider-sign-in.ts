// Signs in whom the identity provider named: makes a member at the first sign-in, is bound to that person from then on,
// whatever their address is, and gives the role and team of the claims at each; but an owner stays one. Somebody without a
// role does not come in, and their sessions end. Returns the cookie's token. Throws FORBIDDEN.

import { recordEntry, SYSTEM } from '../../accounts/audit-log/append.ts'
import { findOrganization } from '../../accounts/organizations/queries.ts'
import {
  endSessionsOf,
  findBySubject,
  hasSubject,
  saveAccount,
} from '../../accounts/people/account-queries.ts'
import { ApiError } from '../../base/errors.ts'
import { asciiLower } from '../../base/text.ts'
import { type OidcConfig, ROLES, type Role } from '../../config.ts'
import type { ISql } from '../../database/client.ts'
import { findOwnAddress } from '../../database/member-addresses.ts'
import { addMember, changeMember, getMember } from '../members/member-changes.ts'
import { findMember, hasGivenRole } from '../members/member-queries.ts'
import type { Member } from '../members/team-model.ts'
import { noteGivenRoles } from '../members/write.ts'
import type { AuthDeps } from './deps.ts'
import type { Identity } from './identity-provider.ts'
import { beginSession, type Client } from './sign-in.ts'

/** The role by the claim, else the default; null for none. A claim makes no owner: of an owner's roles the next counts. */
function roleOf({ groups }: Identity, { roles, defaultRole }: OidcConfig, isOwner: boolean): Role | null {
  const given = [...ROLES.filter((role) => groups.some((group) => roles.get(group) === role)), defaultRole]
  return given.find((role) => role !== null && (isOwner || role !== 'owner')) ?? null
}

function whyNoRole({ groups, hasTooManyGroups }: Identity, { roles, defaultRole }: OidcConfig): string {
  if (hasTooManyGroups)
    return 'the identity provider names too many groups to send them: ask an admin to add you'
  const isOwner = defaultRole === 'owner' || groups.some((group) => roles.get(group) === 'owner')
  return isOwner ? 'only an owner makes an owner: ask one' : 'ask for one at the identity provider'
}

export async function signInByProvider(
  { people, inTurn, log }: Pick<AuthDeps, 'people' | 'inTurn' | 'log'>,
  identity: Identity,
  oidc: OidcConfig,
  client: Client,
  former: string | undefined,
  now: Date,
): Promise<string> {
  const organization = await findOrganization(people, oidc.organization)
  if (organization === undefined)
    throw new ApiError('BUSY', `OIDC_ORGANIZATION: there is no organization ${oidc.organization}`)
  const { id: orgId } = organization
  // a member who is added or changed makes it a change
  const admitted = await inTurn(orgId, (tx) => admit(tx, orgId, identity, oidc, client, now), 'note')
  if (admitted === undefined) {
    const why = whyNoRole(identity, oidc)
    throw new ApiError('FORBIDDEN', `Your account has no role in ${organization.name}: ${why}`)
  }
  const { memberId, kept } = admitted
  if (kept !== undefined)
    log.warn('the claim of who signed in changes no role', { member_id: memberId, reason: kept })
  return await inTurn(orgId, (tx) => beginSession(tx, { orgId, memberId }, client, former), 'note')
}

/** The member who is bound to this person, else the one with the address. Throws FORBIDDEN. */
async function findKnown(tx: ISql, orgId: string, identity: Identity): Promise<Member | undefined> {
  const bound = await findBySubject(tx, orgId, identity)
  if (bound !== undefined) return await getMember(tx, orgId, bound)
  const member = await findMember(tx, orgId, identity.email)
  if (member === undefined) {
    if ((await findOwnAddress(tx, orgId, identity.email)) === undefined) return undefined
    throw new ApiError('FORBIDDEN', 'This address is another one of a member: they sign in by their own')
  }
  if (await hasSubject(tx, orgId, member.id)) {
    const message =
      'Another account of the identity provider signs in by this address: an invitation ends that'
    throw new ApiError('FORBIDDEN', message)
  }
  return member
}

/** The member who comes in, and why they keep their role if the claim says otherwise; undefined, and no session left, without a role. */
async function admit(
  tx: ISql,
  orgId: string,
  identity: Identity,
  oidc: OidcConfig,
  { exact }: Client,
  now: Date,
): Promise<{ memberId: string; kept: string | undefined } | undefined> {
  const changer = { actor: { ...SYSTEM, ipAddress: exact } }
  const person = await findKnown(tx, orgId, identity)
  const isOwner = person?.role === 'owner'
  const claimedRole = roleOf(identity, oidc, isOwner)
  // a role that a record without the scope admin gave says nothing of what the provider would say
  const keeps = identity.hasTooManyGroups && person && (isOwner || (await hasGivenRole(tx, orgId, person.id)))
  const role = keeps ? person.role : claimedRole
  if (role === null) {
    if (person !== undefined) {
      await endSessionsOf(tx, orgId, person.id)
      const actor = { userId: person.id, ipAddress: exact }
      await recordEntry(tx, orgId, actor, 'member.sign_in_failed', { ids: [person.id] })
    }
    return undefined
  }
  const { email, name, team } = identity
  const fields = { ...(isOwner ? {} : { role }), ...(team === undefined ? {} : { team }) }
  const added = { ...fields, email: asciiLower(email), display_name: name, role }
  const member =
    person === undefined
      ? await addMember(tx, orgId, changer, added, now)
      : Bun.deepEquals({ ...person, ...fields }, person)
        ? person
        : await changeMember(tx, orgId, changer, person.id, fields, now)
  if (!keeps) await noteGivenRoles(tx, orgId, [member.id])
  await saveAccount(tx, orgId, member, identity)
  const memberRole = keeps
    ? 'the identity provider sent no groups, since there are too many'
    : isOwner && role !== 'owner'
      ? `an owner stays one, where the claim says ${role}`
      : undefined
  return { memberId: member.id, kept: memberRole }
}
