import { type Actor, recordEntries } from '../audit-log/append.ts'
import { updateExpertiseOf } from '../commits/expertise.ts'
import type { ISql } from '../db/client.ts'
import { lockHistory, lockOrganization } from '../db/org-lock.ts'
import { ApiError, forbidden, validationError } from '../errors.ts'
import { revokeKeysOfMember } from '../keys/queries.ts'
import { removeAccount } from '../people/member-queries.ts'
import type { MemberRecord, Role } from '../records/member.ts'
import { removeAliases, writeAliases } from '../team/alias-write.ts'
import {
  findKeysOf,
  findMember,
  findMemberById,
  findOwnAddress,
  type Member,
  type MemberWithAliases,
  removeMember,
} from '../team/queries.ts'
import { hasOwner, writeMembers } from '../team/write.ts'
import { updateParts } from '../usage/pull-request-write.ts'
import { emit } from '../webhooks/outbox/events.ts'

// Changes of one member: by the API, the command line, and the identity provider. Each function needs a transaction, and
// takes the organization's lock.

/** The author of a change of members: only an owner may make, change or remove an owner. */
export interface Changer {
  actor: Actor
  mayChangeOwners: boolean
}

export interface MemberChange {
  display_name?: string
  role?: Role
  /** All of them. */
  aliases?: string[]
}

/** Decides again which pull requests the sessions of these members belong to: commits tell, by their addresses. */
const updatePartsOf = (tx: ISql, orgId: string, members: readonly string[]) =>
  updateParts(tx, orgId, { pullRequests: [], formerBranches: [], commits: [], members })

const noMember = () => new ApiError('NOT_FOUND', 'There is no such member')

/** The problems of a record that a request made, without the record's name before them. */
async function namingFields<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ApiError) || error.options.details === undefined) throw error
    throw validationError(
      ...error.options.details.map(({ field, message }) => ({
        field: field.replace(/^records\[0\]\./, ''),
        message,
      })),
    )
  }
}

/** Adds a member. Throws VALIDATION_ERROR naming `email` for an address of a member, FORBIDDEN for an owner. */
export async function addMember(
  tx: ISql,
  orgId: string,
  changer: Changer,
  member: { email: string; display_name: string; role: Role },
  now: Date,
): Promise<MemberWithAliases> {
  await lockOrganization(tx, orgId)
  refuseForOwners(changer, member, 'role')
  if ((await findOwnAddress(tx, orgId, member.email)) !== undefined) {
    throw validationError({ field: 'email', message: 'is the address of a member' })
  }
  const record: MemberRecord = { type: 'member', ...member, joined_at: now.toISOString() }
  const { joined } = await namingFields(writeMembers(tx, orgId, [record]))
  const ids = joined.map(({ id }) => id)
  await updatePartsOf(tx, orgId, await findKeysOf(tx, orgId, ids, []))
  await recordEntries(tx, orgId, changer.actor, [{ action: 'member.created', details: { created: 1, ids } }])
  await emit(
    tx,
    orgId,
    now,
    joined.map(({ id, email, role }) => ({
      event: 'team.member_joined',
      data: { user_id: id, email, role },
    })),
  )
  return await getMember(tx, orgId, ids[0] ?? '')
}

/**
 * Changes what is given. Throws NOT_FOUND; FORBIDDEN for an owner; VALIDATION_ERROR for the role of the last owner, and for
 * an alias that is another member's.
 */
export async function changeMember(
  tx: ISql,
  orgId: string,
  changer: Changer,
  id: string,
  { display_name, role, aliases }: MemberChange,
): Promise<MemberWithAliases> {
  if (aliases !== undefined) await lockHistory(tx, orgId)
  const { email } = await getMember(tx, orgId, id)
  const named = aliases === undefined ? [] : [{ type: 'member' as const, email, aliases }]
  // expertise takes seconds: it comes before the organization's lock
  const written = await namingFields(writeAliases(tx, orgId, named as MemberRecord[]))
  await updateExpertiseOf(tx, orgId, written.addresses)
  await lockOrganization(tx, orgId)
  const before = await getMember(tx, orgId, id)
  refuseForOwners(changer, before, 'role')
  refuseForOwners(changer, { role: role ?? before.role }, 'role')
  const record: MemberRecord = {
    type: 'member',
    email,
    display_name: display_name ?? before.display_name,
    role: role ?? before.role,
    joined_at: before.joined_at,
    ...(aliases === undefined ? {} : { aliases }),
  }
  const { updated } = await namingFields(
    writeMembers(tx, orgId, [record], written.members, { mayChangeRoles: true }),
  )
  if (aliases !== undefined) {
    await updatePartsOf(tx, orgId, await findKeysOf(tx, orgId, [id], written.addresses))
  }
  const entry = { action: 'member.updated', details: { updated: 1, ids: [id] } }
  await recordEntries(tx, orgId, changer.actor, updated > 0 ? [entry] : [])
  return await getMember(tx, orgId, id)
}

/**
 * Removes a member with their aliases; their sessions of the browser and their keys end. Throws NOT_FOUND, FORBIDDEN for an
 * owner, VALIDATION_ERROR for the last one.
 */
export async function removeWholeMember(
  tx: ISql,
  orgId: string,
  changer: Changer,
  id: string,
): Promise<Member & { aliases: readonly string[] }> {
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
  if (role === 'owner' && !(await hasOwner(tx, orgId))) {
    throw validationError({ field: 'user_id', message: 'is the only owner: make another one first' })
  }
  await updatePartsOf(tx, orgId, keysOfSessions)
  await removeAccount(tx, orgId, id)
  const keys = await revokeKeysOfMember(tx, orgId, email)
  await recordEntries(tx, orgId, changer.actor, [
    { action: 'member.removed', details: { ids: [id] } },
    ...(keys.length > 0 ? [{ action: 'api_key.revoked', details: { ids: keys } }] : []),
  ])
  return { ...member, aliases: addresses }
}

/** The member with this id, or with this address of any case. Throws NOT_FOUND. */
export async function getMember(tx: ISql, orgId: string, idOrAddress: string): Promise<MemberWithAliases> {
  const found = idOrAddress.includes('@')
    ? await findMember(tx, orgId, idOrAddress)
    : await findMemberById(tx, orgId, idOrAddress)
  if (found === undefined) throw noMember()
  return found
}

/** Throws FORBIDDEN where the member is an owner and the changer may change none. */
export function refuseForOwners(
  { mayChangeOwners }: Changer,
  { role }: Pick<Member, 'role'>,
  field: string,
): void {
  if (role === 'owner' && !mayChangeOwners) throw ownersOnly(field)
}

const ownersOnly = (field: string) =>
  forbidden({ field, message: 'only an owner may make, change or remove an owner' })
