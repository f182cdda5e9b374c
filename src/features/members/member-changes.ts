// Adds, changes, invites and removes members, by the API, the command line and the identity provider. Each function needs a
// transaction, and takes the organization's lock.

import type { Static } from '@sinclair/typebox'
import { type Actor, recordEntries, recordEntry } from '../../accounts/audit-log/append.ts'
import { findKeysOfMember, revokeKeys } from '../../accounts/keys/queries.ts'
import { type Rights, scopesBeyond } from '../../accounts/keys/rights.ts'
import { removeAccount } from '../../accounts/people/account-queries.ts'
import { type Access, rightsOf } from '../../accounts/people/callers.ts'
import { createInvitation, type NewInvitation } from '../../accounts/people/invitation-queries.ts'
import type { MemberRecord, Role } from '../../analysis/records/member.ts'
import type { SentRecord } from '../../analysis/records/records.ts'
import { ApiError, fieldError, forbidden } from '../../base/errors.ts'
import { asciiLower } from '../../base/text.ts'
import type { ISql } from '../../database/client.ts'
import { findOwnAddress } from '../../database/member-addresses.ts'
import { lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { emit, type NewEvent } from '../../webhooks/outbox/events.ts'
import { emitBudgetAlerts } from '../budgets/alert-write.ts'
import { scopeOf } from '../budgets/scope-queries.ts'
import { deleteBudgetsOf } from '../budgets/write.ts'
import { updateExpertiseOf } from '../commits/expertise.ts'
import { deletePlansOf } from '../seats/plan-write.ts'
import { updateShares } from '../usage/pull-request-write.ts'
import { removeAliases, writeAliases } from './alias-write.ts'
import {
  findKeysOf,
  findMember,
  findMemberById,
  type MemberWithAliases,
  removeMember,
} from './member-queries.ts'
import type { InvitationsBody, MemberChange, NewMemberBody } from './model.ts'
import type { Member } from './team-model.ts'
import { hasOwner, noteGivenRoles, writeMembers } from './write.ts'

type NewMember = Static<typeof NewMemberBody>

/** The author of a change of members. Without `rights`, as the server's own command line, they may do everything. */
export interface Changer {
  actor: Actor
  rights?: Rights
}

export const changerOf = (access: Pick<Access, 'actor' | 'scopes' | 'person'>): Changer => ({
  actor: access.actor,
  rights: rightsOf(access),
})

const noMember = () => new ApiError('NOT_FOUND', 'There is no such member')

/**
 * Adds a member. Throws FORBIDDEN for an owner, and for an admin who has more scopes than the changer; VALIDATION_ERROR naming
 * `email` for an address of a member.
 */
export async function addMember(tx: ISql, orgId: string, changer: Changer, member: NewMember, now: Date) {
  await lockOrganization(tx, orgId)
  refuseForOwners(changer, member, 'role')
  // other members do not come in by it: that needs an invitation, or the identity provider, which says their role
  if (member.role === 'admin') refuseBeyond(changer, member.role)
  if ((await findOwnAddress(tx, orgId, member.email)) !== undefined)
    throw fieldError('email', 'is the address of a member')
  const record: MemberRecord = { type: 'member', ...member, joined_at: now.toISOString() }
  const [{ id } = { id: '' }] = await addMembers(tx, orgId, changer, [{ prefix: '', record }], now)
  return await getMember(tx, orgId, id)
}

/** Writes the members of whom some may be known, and returns those who have joined. */
async function addMembers(
  tx: ISql,
  orgId: string,
  changer: Changer,
  sent: readonly SentRecord<'member'>[],
  now: Date,
): Promise<readonly Pick<Member, 'id' | 'email'>[]> {
  const { joined } = await writeMembers(tx, orgId, sent)
  if (joined.length === 0) return []
  const ids = joined.map(({ id }) => id)
  await updateShares(tx, orgId, { members: await findKeysOf(tx, orgId, ids, []) })
  await recordEntry(tx, orgId, changer.actor, 'member.created', { created: ids.length, ids })
  const events = joined.map(
    ({ id, email, role }): NewEvent => ({ event: 'team.member_joined', data: { user_id: id, email, role } }),
  )
  await emit(tx, orgId, now, events)
  const scopes = ids.map((member) => scopeOf({ member }))
  await emitBudgetAlerts(tx, orgId, scopes, now)
  return joined
}

/**
 * Changes what is given; another role ends the member's invitation. Throws NOT_FOUND; FORBIDDEN for an owner, and for a role
 * with more scopes than the changer has; VALIDATION_ERROR for the role of the last owner, and for an alias that is another
 * member's.
 */
export async function changeMember(
  tx: ISql,
  orgId: string,
  changer: Changer,
  id: string,
  { display_name, role, team, aliases }: MemberChange,
  now: Date,
): Promise<MemberWithAliases> {
  const getChangeable = async () => {
    const member = await getMember(tx, orgId, id)
    refuseForOwners(changer, member, 'role')
    refuseForOwners(changer, { role: role ?? member.role }, 'role')
    if (role !== undefined) refuseBeyond(changer, role, member.role)
    const isOthers = changer.rights !== undefined && changer.rights.ownerId !== id
    if (aliases !== undefined && member.role === 'owner' && isOthers)
      throw forbidden({ field: 'aliases', message: 'an owner sets their aliases themselves' })
    return member
  }
  if (aliases !== undefined) await lockHistory(tx, orgId)
  const { email } = await getChangeable()
  const changes = aliases === undefined ? [] : [{ prefix: '', record: { email, aliases } }]
  // expertise takes seconds: it comes before the organization's lock
  const written = await writeAliases(tx, orgId, changes)
  await updateExpertiseOf(tx, orgId, written.addresses)
  await lockOrganization(tx, orgId)
  // again: the role may be another by now
  const before = await getChangeable()
  const record: MemberRecord = {
    type: 'member',
    email,
    display_name: display_name ?? before.display_name,
    role: role ?? before.role,
    joined_at: before.joined_at,
    ...(team === undefined ? {} : { team }),
    ...(aliases === undefined ? {} : { aliases }),
  }
  const sent = [{ prefix: '', record }]
  const { updated } = await writeMembers(tx, orgId, sent, written.members, undefined, role !== undefined)
  if (aliases !== undefined)
    await updateShares(tx, orgId, { members: await findKeysOf(tx, orgId, [id], written.addresses) })
  const entry = { action: 'member.updated', details: { updated: 1, ids: [id] } }
  await recordEntries(tx, orgId, changer.actor, updated > 0 ? [entry] : [])
  // the month of the member's team, or of the member with more addresses, may now be above its limit
  if (updated > 0) await emitBudgetAlerts(tx, orgId, [scopeOf({ member: id })], now)
  return await getMember(tx, orgId, id)
}

/**
 * Removes a member with their aliases; their sessions of the browser and their keys end. Throws NOT_FOUND, FORBIDDEN for an
 * owner, VALIDATION_ERROR for the last one.
 */
export async function removeWholeMember(tx: ISql, orgId: string, changer: Changer, id: string) {
  await lockHistory(tx, orgId)
  const { email } = await getMember(tx, orgId, id)
  const { addresses } = await removeAliases(tx, orgId, email)
  await updateExpertiseOf(tx, orgId, addresses)
  await lockOrganization(tx, orgId)
  const { role } = await getMember(tx, orgId, id)
  refuseForOwners(changer, { role }, 'user_id')
  const keysOfSessions = await findKeysOf(tx, orgId, [id], addresses)
  const member = await removeMember(tx, orgId, email)
  if (member === undefined) throw noMember()
  if (role === 'owner' && !(await hasOwner(tx, orgId)))
    throw fieldError('user_id', 'is the only owner: make another one first')
  await updateShares(tx, orgId, { members: keysOfSessions })
  const keys = await findKeysOfMember(tx, orgId, email)
  // before their ends: one of the keys or sessions may be that of the request
  await recordEntries(tx, orgId, changer.actor, [
    { action: 'member.removed', details: { ids: [id] } },
    ...(keys.length > 0 ? [{ action: 'api_key.revoked', details: { ids: keys } }] : []),
  ])
  await deleteBudgetsOf(tx, orgId, { scope: 'member', scope_key: id })
  await deletePlansOf(tx, orgId, id)
  await removeAccount(tx, orgId, id)
  await revokeKeys(tx, orgId, keys)
  return { ...member, aliases: addresses }
}

/** The member with this id, or with this address of any case. Throws NOT_FOUND. */
export async function getMember(tx: ISql, orgId: string, idOrAddress: string): Promise<MemberWithAliases> {
  const member = idOrAddress.includes('@')
    ? await findMember(tx, orgId, idOrAddress)
    : await findMemberById(tx, orgId, idOrAddress)
  if (member === undefined) throw noMember()
  return member
}

/**
 * Invites the member to set a password. That gives the scopes of the member's role: throws FORBIDDEN where the changer has not
 * all of them, and for an owner; NOT_FOUND.
 */
export async function inviteMember(tx: ISql, orgId: string, changer: Changer, id: string) {
  await lockOrganization(tx, orgId)
  const { role } = await getMember(tx, orgId, id)
  refuseForOwners(changer, { role }, 'user_id')
  refuseBeyond(changer, role)
  await noteGivenRoles(tx, orgId, [id])
  return await createInvitation(tx, orgId, id, changer.actor)
}

/**
 * Invites people, of whom those who are no members become ones; all or nobody. Throws FORBIDDEN as `inviteMember` does, and
 * VALIDATION_ERROR for an alias of a member, naming `members[i]`.
 */
export async function inviteMembers(
  tx: ISql,
  orgId: string,
  changer: Changer,
  { members }: InvitationsBody,
  now: Date,
): Promise<(NewInvitation & { id: string; email: string })[]> {
  await lockOrganization(tx, orgId)
  const rows = await Promise.all(members.map(({ email }) => findMember(tx, orgId, email)))
  for (const [index, { role }] of members.entries()) {
    const field = `members[${index}].role`
    const newRole = rows[index]?.role ?? role
    refuseForOwners(changer, { role }, field)
    refuseForOwners(changer, { role: newRole }, field)
    refuseBeyond(changer, newRole, undefined, field)
  }
  const sent = members.map(({ email, display_name, role, team }, index): SentRecord<'member'> => {
    const before = rows[index]
    // an address is longer than a name may be
    const name = display_name ?? email.replace(/@.*/, '').slice(0, 200)
    const stored = before && { display_name: before.display_name, role: before.role }
    const joined_at = before?.joined_at ?? now.toISOString()
    const fields = stored ?? { display_name: name, role, team: team ?? null }
    return { prefix: `members[${index}].`, record: { type: 'member', email, joined_at, ...fields } }
  })
  const joined = await addMembers(tx, orgId, changer, sent, now)
  const idOf = new Map([...joined, ...rows].flatMap((member) => (member ? [[member.email, member.id]] : [])))
  const invited = []
  for (const address of members) {
    const email = asciiLower(address.email)
    const id = idOf.get(email) ?? ''
    invited.push({ id, email, ...(await createInvitation(tx, orgId, id, changer.actor)) })
  }
  return invited
}

/** Throws FORBIDDEN where the member is an owner and the changer is none. */
function refuseForOwners({ rights }: Changer, { role }: Pick<Member, 'role'>, field: string): void {
  if (role === 'owner' && rights?.ownerId === null)
    throw forbidden({ field, message: 'only an owner may make, change, invite or remove an owner' })
}

/** Throws FORBIDDEN where the changer lacks scopes of the role that the role `before` does not have. */
function refuseBeyond({ rights }: Changer, role: Role, before?: Role, field = 'role'): void {
  const missing = rights === undefined ? [] : scopesBeyond(rights.scopes, role, before)
  if (missing.length > 0) {
    const message = `you do not have the scopes ${missing.join(', ')} of the role ${role}`
    throw forbidden({ field, message })
  }
}
