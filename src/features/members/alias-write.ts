// Stores, finds and removes further addresses of members.

import type { Rights } from '../../accounts/keys/rights.ts'
import type { MemberRecord } from '../../analysis/records/member.ts'
import { fieldError, forbidden } from '../../base/errors.ts'
import { asciiLower } from '../../base/text.ts'
import type { ISql } from '../../database/client.ts'
import { deleteFrom, insert } from '../../database/rows.ts'

interface AliasRow {
  email: string
  member_email: string
}

interface AliasesWritten {
  /** Addresses that belong to another member than before, or to none: the expertise of their authors changes. */
  addresses: readonly string[]
  /** The own addresses of the members who got or lost some. */
  members: ReadonlySet<string>
}

/**
 * Replaces the aliases of members whose records name some, `[]` for none. Needs the lock of the history, in the
 * transaction that writes the members, before `writeMembers`, which refuses aliases that are members' own addresses. With
 * `rights` the aliases of an owner stay as they are. Throws VALIDATION_ERROR for an alias of another member, FORBIDDEN for an
 * owner who sets those of another owner.
 */
export async function writeAliases(
  tx: ISql,
  orgId: string,
  sent: readonly { prefix: string; record: Pick<MemberRecord, 'email' | 'aliases'> }[],
  rights?: Rights,
): Promise<AliasesWritten> {
  const rows = sent.flatMap(({ prefix, record: { email, aliases } }) =>
    aliases == null ? [] : [{ prefix, email: asciiLower(email), aliases: aliases.map(asciiLower) }],
  )
  const owners = rights === undefined || rows.length === 0 ? new Map() : await findOwners(tx, orgId, rows)
  const given = rows.filter(({ prefix, email }) => {
    const id = owners.get(email)
    if (id === undefined || id === rights?.ownerId) return true
    if (rights?.ownerId == null) return false
    throw forbidden({ field: `${prefix}aliases`, message: 'an owner sets their aliases themselves' })
  })
  if (given.length === 0) return { addresses: [], members: new Set() }
  const addresses = given.flatMap(({ email, aliases }) => [email, ...aliases])
  const stored = await findAliases(tx, orgId, addresses)
  const ownerOf = new Map(stored.map(({ email, member_email }) => [email, member_email]))
  const aliasesOf = Map.groupBy(ownerOf.keys(), (alias) => ownerOf.get(alias) ?? '')
  for (const { prefix, email, aliases } of given) {
    for (const alias of aliasesOf.get(email) ?? []) ownerOf.delete(alias)
    for (const [nth, alias] of aliases.entries()) {
      const owner = ownerOf.get(alias) ?? email
      const field = `${prefix}aliases[${nth}]`
      if (owner !== email) throw fieldError(field, 'is an alias of another member')
      ownerOf.set(alias, email)
    }
    aliasesOf.set(email, [...new Set(aliases)])
  }
  return await storeAliases(tx, orgId, stored, ownerOf)
}

/** Takes all aliases away from the member with this address. Needs the lock of the history. */
export async function removeAliases(tx: ISql, orgId: string, memberEmail: string): Promise<AliasesWritten> {
  const aliases = await findAliases(tx, orgId, [memberEmail])
  const stored = aliases.filter(({ member_email }) => member_email === memberEmail)
  return await storeAliases(tx, orgId, stored, new Map())
}

/** The ids of those of the members who are owners, by address. */
async function findOwners(tx: ISql, orgId: string, members: readonly { email: string }[]) {
  const rows = await tx<{ id: string; email: string }[]>`
    select m.id, m.email
    from members m
    where m.org_id = ${orgId}
      and m.email = any(${members.map(({ email }) => email)}::text[])
      and m.role = 'owner'`
  return new Map(rows.map(({ id, email }) => [email, id]))
}

/** Finds aliases by their own address, or by that of their member. */
export async function findAliases(tx: ISql, orgId: string, addresses: readonly string[]) {
  const addressList = [...new Set(addresses)]
  return await tx<AliasRow[]>`
    select l.email, l.member_email
    from member_aliases l
    where l.org_id = ${orgId}
      and (l.email = any(${addressList}::text[]) or l.member_email = any(${addressList}::text[]))`
}

async function storeAliases(
  tx: ISql,
  orgId: string,
  stored: readonly AliasRow[],
  ownerOf: ReadonlyMap<string, string>,
): Promise<AliasesWritten> {
  const before = new Map(stored.map(({ email, member_email }) => [email, member_email]))
  const removed = stored.filter(({ email, member_email }) => ownerOf.get(email) !== member_email)
  const added = [...ownerOf]
    .filter(([email, owner]) => before.get(email) !== owner)
    .map(([email, member_email]) => ({ email, member_email }))
  if (removed.length > 0) {
    const isRemoved = tx`and t.email = any(${removed.map(({ email }) => email)}::text[])`
    await deleteFrom(tx, orgId, 'member_aliases', isRemoved)
  }
  await insert(tx, orgId, 'member_aliases', added, { email: 'text', member_email: 'text' })
  const changed = [...removed, ...added]
  return {
    addresses: [...new Set(changed.map(({ email }) => email))],
    members: new Set(changed.map(({ member_email }) => member_email)),
  }
}
