// Makes, rotates and revokes keys by a request. Throws FORBIDDEN, VALIDATION_ERROR or NOT_FOUND for what cannot be done.

import { createKey, revokeKey, rotateKey } from '../../accounts/keys/queries.ts'
import { contains, SCOPES_OF_DEVELOPERS_KEYS } from '../../accounts/keys/rights.ts'
import type { Scope } from '../../accounts/keys/scopes.ts'
import type { Access } from '../../accounts/people/callers.ts'
import { ApiError, fieldError, forbidden, OperatorError } from '../../base/errors.ts'
import type { Sql } from '../../database/client.ts'
import { getMember } from '../members/member-changes.ts'
import { type CreatedKey, graceMsOf, type Key, type NewKeyBody, type RotateKeyBody } from './model.ts'
import { getKey } from './queries.ts'

/** Returns the address whose keys the caller manages: a developer has their own only; undefined: everybody's. */
export const ownerOf = ({ scopes, person }: Access): string | undefined =>
  person === null || contains(scopes, 'admin') ? undefined : person.email

/** Nobody gives a key more than they may do themselves; a developer also what a laptop needs. */
function refuseMore(access: Access, scopes: readonly Scope[]): void {
  const isOwn = ownerOf(access) !== undefined
  const missing = scopes.filter((scope) =>
    isOwn ? !SCOPES_OF_DEVELOPERS_KEYS.includes(scope) : !contains(access.scopes, scope),
  )
  if (missing.length === 0) return
  throw forbidden(
    ...missing.map((scope) => ({ field: 'scopes', message: `you do not have the scope ${scope}` })),
  )
}

/** The operator's errors of the command line as those of a request. */
async function asRequest<Result>(field: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw error instanceof OperatorError ? fieldError(field, error.message) : error
  }
}

async function getUsable(writes: Sql, access: Access, id: string): Promise<Key> {
  const key = await getKey(writes, access.orgId, id, ownerOf(access))
  if (key.revoked_at !== null) throw new ApiError('NOT_FOUND', 'This API key is revoked')
  return key
}

async function memberAddress(writes: Sql, orgId: string, member: string): Promise<string> {
  try {
    return (await getMember(writes, orgId, member)).email
  } catch (error) {
    const isUnknown = error instanceof ApiError && error.code === 'NOT_FOUND'
    throw isUnknown ? fieldError('member', 'is no member') : error
  }
}

/** The key to make: with the member's address, which is that of a developer who makes it. */
export async function wantedKey(writes: Sql, access: Access, body: NewKeyBody) {
  const { name, scopes, expires_at, member: memberKey } = body
  refuseMore(access, scopes)
  const owner = ownerOf(access)
  const member = memberKey == null ? owner : await memberAddress(writes, access.orgId, memberKey)
  if (owner !== undefined && member !== owner)
    throw forbidden({ field: 'member', message: 'a developer makes keys for themselves only' })
  return { name, scopes, expires: expires_at ?? undefined, member }
}

export async function create(
  writes: Sql,
  { orgId, actor }: Access,
  fields: Awaited<ReturnType<typeof wantedKey>>,
): Promise<CreatedKey> {
  const { id, key } = await asRequest('body', createKey(writes, orgId, fields, actor))
  return { ...(await getKey(writes, orgId, id, undefined)), key }
}

export async function rotate(writes: Sql, access: Access, id: string, body: RotateKeyBody) {
  const { scopes } = await getUsable(writes, access, id)
  refuseMore(access, scopes)
  const key = await asRequest('key_id', rotateKey(writes, id, graceMsOf(body), access.actor))
  return { ...(await getKey(writes, access.orgId, key.id, undefined)), key: key.key }
}

export async function revoke(writes: Sql, access: Access, id: string): Promise<void> {
  await getUsable(writes, access, id)
  await asRequest('key_id', revokeKey(writes, id, access.actor))
}
