// Writes members of records, notes the roles that were given, and says whether there is an owner.

import { grants, type Rights, scopesBeyond } from '../../accounts/keys/rights.ts'
import { findWaysIn } from '../../accounts/people/account-queries.ts'
import { endInvitations } from '../../accounts/people/invitation-queries.ts'
import { findLastChanges, type WriteResult } from '../../analysis/records/changes.ts'
import type { MemberRecord, Role } from '../../analysis/records/member.ts'
import type { SentRecord } from '../../analysis/records/records.ts'
import { normalizeTimestamp } from '../../base/dates.ts'
import { fieldError, forbidden, MAX_PROBLEMS } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { asciiLower } from '../../base/text.ts'
import type { ISql } from '../../database/client.ts'
import { upsert } from '../../database/rows.ts'
import { findAliases } from './alias-write.ts'
import { memberColumns } from './member-queries.ts'
import type { Member } from './team-model.ts'

export interface MembersWritten extends WriteResult {
  joined: readonly Pick<Member, 'id' | 'email' | 'role'>[]
}

/**
 * Writes the batch's member records. Needs the organization's lock. A member is identified by its address, in any case;
 * its id never changes. `withNewAliases`: the addresses of members whose aliases `writeAliases` changed. `rights`: those of the
 * sender; without them everything may be written. `givesRoles`: whether an admin, or the provider, gives the roles. Nobody but an
 * owner changes an owner, and nobody without the scope admin who is an admin by a record of that role: such a record
 * is unchanged. Throws VALIDATION_ERROR for an id that another address has, a second id of one address, an address that is both a
 * member's own and an alias, or where no owner would be left; FORBIDDEN for what `refuseRoles` refuses.
 */
export async function writeMembers(
  tx: ISql,
  orgId: string,
  sent: readonly SentRecord<'member'>[],
  withNewAliases: ReadonlySet<string> = new Set(),
  rights?: Rights,
  givesRoles = mayGiveRoles(rights),
): Promise<MembersWritten> {
  const records = sent.map(({ record }) => record)
  const memberRows = await findMembers(tx, orgId, records)
  const stored = new Map(memberRows.map((row) => [row.email, row]))
  const members = sent.filter(({ prefix, record }) => {
    const email = asciiLower(record.email)
    const role = stored.get(email)?.role
    if (role === 'admin' && record.role === 'admin') return mayGiveRoles(rights) || withNewAliases.has(email)
    if (rights?.ownerId !== null || role !== 'owner') return true
    // who is an owner since the aliases were written
    if (withNewAliases.has(email)) throw forbidden({ field: `${prefix}aliases`, message: OWNERS_ONLY })
    return false
  })
  const byEmail = new Map(stored)
  const byId = new Map(memberRows.map((row) => [row.id, row]))
  const addresses = members.map(({ record }) => asciiLower(record.email))
  const own = new Set([...stored.keys(), ...addresses])
  for (const { prefix, record } of members) refuseOwnAddresses(record, own, `${prefix}aliases`)
  const aliases = new Set((await findAliases(tx, orgId, addresses)).map(({ email }) => email))
  const prepared = members.map(({ prefix, record }) => {
    const row = memberOf(record, byEmail)
    if (aliases.has(row.email)) throw fieldError(`${prefix}email`, 'is an alias of another member')
    refuseForeignId(record, row, byId, `${prefix}id`)
    byEmail.set(row.email, row)
    byId.set(row.id, row)
    return row
  })
  const { rows, ...result } = findLastChanges(prepared, stored, {
    keyOf: ({ email }) => email,
    idOf: ({ id }) => id,
    isSame: (a, b) => isSameMember(a, b) && !withNewAliases.has(a.email),
  })
  const demoted = findDemoted(members, stored)
  if (rights !== undefined) await refuseRoles(tx, orgId, members, stored, rights)
  await upsertMembers(tx, orgId, rows)
  // made for the role that the member had
  const changed = rows.filter(({ email, role }) => role !== (stored.get(email)?.role ?? role))
  const changedIds = changed.map(({ id }) => id)
  await endInvitations(tx, orgId, changedIds)
  await noteGivenRoles(tx, orgId, givesRoles ? prepared.map(({ id }) => id) : changedIds, givesRoles)
  if (demoted !== undefined && !(await hasOwner(tx, orgId)))
    throw fieldError(`${demoted}role`, 'is the only owner: make another one first')
  const unchanged = result.unchanged + sent.length - members.length
  return { ...result, unchanged, joined: rows.filter(({ email }) => !stored.has(email)) }
}

const OWNERS_ONLY =
  'only an owner may make, change, invite or remove an owner, and nobody makes one by a record'

/** The prefix of a record that takes an owner's role away. */
const findDemoted = (
  members: readonly SentRecord<'member'>[],
  stored: ReadonlyMap<string, Member>,
): string | undefined =>
  members.find(
    ({ record }) => record.role !== 'owner' && stored.get(asciiLower(record.email))?.role === 'owner',
  )?.prefix

/** Whether the sender may make somebody an admin, as far as the role's scopes allow. */
const mayGiveRoles = (rights: Rights | undefined): boolean =>
  rights === undefined || grants(rights.scopes, 'admin')

/** Lists what the sender lacks of the scope admin and all that the role gives beyond the role `before`. */
const missingScopes = ({ scopes }: Rights, role: Role, before?: Role): string[] => [
  ...new Set([...(grants(scopes, 'admin') ? [] : ['admin']), ...scopesBeyond(scopes, role, before)]),
]

/**
 * Throws FORBIDDEN for a record that makes an owner; and for one that makes an admin, or gives another role to an owner or to
 * someone who can sign in, unless the sender has the scope admin and all that the role gives. Keys that are bound to a member have the scopes of the role: one of
 * more scopes needs the same, also where the member cannot sign in.
 */
async function refuseRoles(
  tx: ISql,
  orgId: string,
  members: readonly SentRecord<'member'>[],
  stored: ReadonlyMap<string, Member>,
  rights: Rights,
): Promise<void> {
  const changes = members.flatMap(({ prefix, record }) => {
    const known = stored.get(asciiLower(record.email))
    return known?.role === record.role ? [] : [{ prefix, role: record.role, known }]
  })
  if (changes.length === 0) return
  const ids = changes.flatMap(({ known }) => known?.id ?? [])
  const waysIn = await findWaysIn(tx, orgId, ids)
  const problems = changes.flatMap(({ prefix, role, known }) => {
    const field = `${prefix}role`
    if (role === 'owner') return [{ field, message: OWNERS_ONLY }]
    const missing = missingScopes(rights, role, known?.role)
    if (missing.length === 0) return []
    const needed = `needs the scopes ${missingScopes({ ...rights, scopes: [] }, role, known?.role).join(', ')}`
    if (role === 'admin') return [{ field, message: `the role admin ${needed}` }]
    const { hasAccount, hasKey } = (known && waysIn.get(known.id)) ?? {}
    const gives = hasKey && scopesBeyond(rights.scopes, role, known?.role).length > 0
    if (known?.role !== 'owner' && !hasAccount && !gives) return []
    return [{ field, message: `the role of who can sign in or has a key ${needed}` }]
  })
  if (problems.length > 0) throw forbidden(...problems.slice(0, MAX_PROBLEMS))
}

/** Notes whether an admin, or the identity provider, gave these members their roles: only then does a sign-in keep them. */
export async function noteGivenRoles(tx: ISql, orgId: string, ids: readonly string[], isGiven = true) {
  if (ids.length === 0) return
  await tx`
    update members
    set role_given = ${isGiven}
    where org_id = ${orgId}
      and id = any(${[...ids]}::text[])
      and role_given <> ${isGiven}`
}

/** Whether the organization has an owner. */
export async function hasOwner(tx: ISql, orgId: string): Promise<boolean> {
  const owners = await tx`
    select 1
    from members m
    where m.org_id = ${orgId}
      and m.role = 'owner'
    limit 1`
  return owners.length > 0
}

function memberOf(record: MemberRecord, byEmail: ReadonlyMap<string, Member>): Member {
  const email = asciiLower(record.email)
  const before = byEmail.get(email)
  return {
    id: before?.id ?? record.id ?? newId('user'),
    email,
    display_name: record.display_name,
    role: record.role,
    joined_at: normalizeTimestamp(record.joined_at),
    team: record.team === undefined ? (before?.team ?? null) : record.team,
  }
}

function refuseForeignId(
  record: MemberRecord,
  row: Member,
  byId: ReadonlyMap<string, Member>,
  field: string,
): void {
  if (record.id != null && record.id !== row.id)
    throw fieldError(field, `this address already has the id ${row.id}`)
  const owner = byId.get(row.id)
  if (owner !== undefined && owner.email !== row.email) throw fieldError(field, 'another address has this id')
}

function refuseOwnAddresses({ aliases }: MemberRecord, addresses: ReadonlySet<string>, field: string): void {
  for (const [nth, alias] of aliases?.entries() ?? [])
    if (addresses.has(asciiLower(alias))) throw fieldError(`${field}[${nth}]`, 'is the address of a member')
}

const isSameMember = (a: Member, b: Member): boolean =>
  a.display_name === b.display_name && a.role === b.role && a.joined_at === b.joined_at && a.team === b.team

const findMembers = async (tx: ISql, orgId: string, records: readonly MemberRecord[]): Promise<Member[]> =>
  await tx<Member[]>`
    select ${memberColumns(tx)}
    from members m
    where m.org_id = ${orgId}
      and (
        m.email = any(${records.flatMap(({ email, aliases }) => [email, ...(aliases ?? [])]).map(asciiLower)}::text[])
        or m.id = any(${records.flatMap((record) => record.id ?? [])}::text[])
      )`

const upsertMembers = (tx: ISql, orgId: string, rows: readonly Member[]) =>
  upsert(tx, orgId, { table: 'members', key: ['email'] }, rows, {
    id: 'text',
    email: 'text',
    display_name: 'text',
    role: 'text',
    joined_at: 'timestamptz',
    team: 'text',
  })
