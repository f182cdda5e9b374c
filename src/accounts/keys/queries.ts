// Makes, lists, rotates, revokes and finds API keys: for routes, commands and the admission of requests.

import { isTime, normalizeTimestamp, TIME_PATTERN } from '../../base/dates.ts'
import { OperatorError } from '../../base/errors.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { findOwnAddress } from '../../database/member-addresses.ts'
import { inOrganization, lockOrganization } from '../../database/org-lock.ts'
import { type Actor, recordEntry, SYSTEM } from '../audit-log/append.ts'
import { checkName, type FoundOrganization, foundColumns } from '../organizations/queries.ts'
import { makeKey } from './format.ts'
import type { ApiKey } from './rights.ts'
import { SCOPES, type Scope } from './scopes.ts'

/** Matches the audit log's names of persons and keys, but not of the command line. */
const MADE_BY_REQUEST = /^(?:user|key)_/

function checkScopes(scopes: readonly string[]): Scope[] {
  const validScopes = SCOPES.filter((scope) => scopes.includes(scope))
  const unknown = scopes.filter((scope) => !validScopes.some((candidate) => candidate === scope))
  if (validScopes.length > 0 && unknown.length === 0) return validScopes
  const problem = unknown.length === 0 ? 'a key needs a scope' : `unknown scope ${JSON.stringify(unknown[0])}`
  throw new OperatorError(`${problem}; the scopes are ${SCOPES.join(', ')}`, 2)
}

/** The time of expiry; a date means its beginning in UTC. Throws OperatorError, also when it has passed. */
function checkExpiry(text: string): string {
  if (!isTime(text)) {
    throw new OperatorError(
      'expires must be a date (2027-01-31), or a date and time, UTC without an offset',
      2,
    )
  }
  const expires = normalizeTimestamp(text)
  if (Date.parse(expires) <= Date.now())
    throw new OperatorError(`expires must be in the future: ${text} has passed`, 2)
  return expires
}

/** A new key, as it is returned once: only its SHA-256 is stored. */
interface NewKey {
  id: string
  key: string
  name: string
  scopes: Scope[]
  expires_at: string | null
  /** Address of the member whose sessions it sends; left out for anybody's. */
  member?: string
}

type Rights = Omit<NewKey, 'id' | 'key' | 'member'> & { member: string | null }

/** Creates an API key, for a member's sessions where `member` is the address of one. Throws OperatorError. */
export async function createKey(
  sql: Sql,
  orgId: string,
  key: {
    name: string
    scopes: readonly string[]
    expires?: string | undefined
    member?: string | undefined
    /** The public part of the key; random unless given. */
    id?: string | undefined
  },
  actor: Actor = SYSTEM,
): Promise<NewKey> {
  const name = checkName(key.name)
  const scopes = checkScopes(key.scopes)
  const expires_at = key.expires === undefined ? null : checkExpiry(key.expires)
  return await inOrganization(sql, orgId, async (tx) => {
    const member = key.member === undefined ? null : await findAddress(tx, orgId, key.member)
    const rights = { name, scopes, expires_at, member }
    const created = await insertKey(tx, orgId, rights, actor, key.id)
    const details = { ids: [created.id], name, scopes, expires_at, ...(member === null ? {} : { member }) }
    await recordEntry(tx, orgId, actor, 'api_key.created', details)
    return created
  })
}

/** Stores a new key, which is returned once. Needs the organization's lock. */
export async function insertKey(
  tx: ISql,
  orgId: string,
  rights: Rights,
  actor: Actor,
  wantedId?: string,
): Promise<NewKey> {
  const { id, key, hash } = makeKey(wantedId)
  const { name, scopes, expires_at, member } = rights
  await tx`
    insert into api_keys (id, org_id, name, key_hash, scopes, expires_at, member_email, created_by)
    values (
      ${id}, ${orgId}, ${name}, ${hash}, ${scopes}, ${expires_at}, ${member},
      ${MADE_BY_REQUEST.test(actor.userId) ? actor.userId : null}
    )`
  return { id, key, name, scopes, expires_at, ...(member === null ? {} : { member }) }
}

/** The own address of a member with this address, as it is stored. Throws OperatorError. */
async function findAddress(tx: ISql, orgId: string, email: string): Promise<string> {
  const address = await findOwnAddress(tx, orgId, email)
  if (address === undefined) throw new OperatorError(`there is no member ${JSON.stringify(email)}`)
  return address
}

/** Makes a key with the rights of a valid one, which ends after `graceMs` at most. Throws OperatorError, also when rotated before. */
export async function rotateKey(sql: Sql, id: string, graceMs: number, actor: Actor = SYSTEM) {
  return await sql.begin(async (tx) => {
    const key = await findRevocable(tx, id)
    await lockOrganization(tx, key.org_id)
    const [rights] = await tx<(Rights & { rotated_to: string | null })[]>`
      select k.name, k.scopes, k.member_email as member, k.rotated_to,
        to_char(k.expires_at at time zone 'UTC', ${TIME_PATTERN}) as expires_at
      from api_keys k
      where k.id = ${key.id}
        and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > clock_timestamp())`
    if (rights === undefined) throw new OperatorError(`the key ${key.id} has ended: create another one`)
    if (rights.rotated_to !== null)
      throw new OperatorError(`the key ${key.id} was replaced by ${rights.rotated_to}: rotate that one`)
    const created = await insertKey(tx, key.org_id, rights, actor)
    await tx`
      update api_keys
      set rotated_to = ${created.id},
        expires_at = least(expires_at, statement_timestamp() + ${graceMs} * interval '1 millisecond')
      where id = ${key.id}`
    // apart: Citus refuses to_char in what an update returns
    const [ended] = await tx<{ expires_at: string }[]>`
      select to_char(k.expires_at at time zone 'UTC', ${TIME_PATTERN}) as expires_at
      from api_keys k
      where k.id = ${key.id}`
    const previous = { id: key.id, expires_at: ended?.expires_at ?? '' }
    const details = { ids: [key.id, created.id], previous_expires_at: previous.expires_at }
    await recordEntry(tx, key.org_id, actor, 'api_key.rotated', details)
    return { ...created, previous }
  })
}

export const timesOfKey = (sql: ISql): Fragment => sql`
  to_char(k.created_at at time zone 'UTC', ${TIME_PATTERN}) as created_at,
  to_char(k.expires_at at time zone 'UTC', ${TIME_PATTERN}) as expires_at,
  to_char(k.last_used_at at time zone 'UTC', ${TIME_PATTERN}) as last_used_at,
  to_char(k.revoked_at at time zone 'UTC', ${TIME_PATTERN}) as revoked_at`

export async function listKeys(sql: Sql, orgId: string): Promise<ApiKey[]> {
  return await sql<ApiKey[]>`
    select k.id, k.name, k.scopes, k.member_email as member, ${timesOfKey(sql)}
    from api_keys k
    where k.org_id = ${orgId}
    order by k.created_at, k.id`
}

/** Revokes a key by its id, once. Every instance refuses it within a second. Throws OperatorError. */
export async function revokeKey(sql: Sql, id: string, actor: Actor = SYSTEM) {
  return await sql.begin(async (tx) => {
    await lockOrganization(tx, (await findRevocable(tx, id)).org_id)
    const key = await findRevocable(tx, id)
    if (key.revoked_at === null) {
      // before its end: the key may be that of the request
      await recordEntry(tx, key.org_id, actor, 'api_key.revoked', { ids: [key.id] })
      await revokeKeys(tx, key.org_id, [key.id])
    }
    const { org_id, revoked_at } = await findRevocable(tx, id)
    return { id, org_id, revoked_at: revoked_at ?? '' }
  })
}

/** The ids of the keys that are bound to the member with this address and not revoked. */
export async function findKeysOfMember(tx: ISql, orgId: string, email: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select k.id
    from api_keys k
    where k.org_id = ${orgId}
      and k.member_email = ${email}
      and k.revoked_at is null`
  return rows.map(({ id }) => id)
}

/** Revokes these keys. Needs the organization's lock. */
export async function revokeKeys(tx: ISql, orgId: string, ids: readonly string[]): Promise<void> {
  await tx`
    update api_keys
    set revoked_at = now()
    where org_id = ${orgId}
      and id = any(${[...ids]})`
}

async function findRevocable(tx: ISql, id: string) {
  const [row] = await tx<{ id: string; org_id: string; revoked_at: string | null }[]>`
    select k.id, k.org_id, to_char(k.revoked_at at time zone 'UTC', ${TIME_PATTERN}) as revoked_at
    from api_keys k
    where k.id = ${id.replaceAll('\0', '')}`
  if (row === undefined)
    throw new OperatorError(
      `there is no API key ${JSON.stringify(id)}; those there are: cloud-analytics key list --org SLUG`,
    )
  return row
}

/** A key as admission needs it. `expiresInMs` counts from the statement, by the database's clock; null: never. */
export interface FoundKey extends FoundOrganization {
  id: string
  scopes: readonly Scope[]
  /** The key sends sessions of this member only; null: of any member. */
  memberEmail: string | null
  hash: Uint8Array
  expiresInMs: number | null
}

/** Returns those of the keys with these ids that exist and are not revoked. */
export async function findKeys(sql: Sql, ids: readonly string[]): Promise<FoundKey[]> {
  return await sql<FoundKey[]>`
    select k.id, k.scopes, k.member_email as "memberEmail", k.key_hash as hash,
      ${foundColumns(sql)},
      (extract(epoch from k.expires_at - clock_timestamp()) * 1000)::float8 as "expiresInMs"
    from api_keys k
    join organizations o on o.org_id = k.org_id
    where k.id = any(${[...ids]})
      and k.revoked_at is null`
}

/** Notes that the key was used, unless that was noted less than a minute ago. */
export async function touchKey(sql: Sql, id: string): Promise<void> {
  await sql`
    update api_keys
    set last_used_at = now()
    where id = ${id}
      and (last_used_at is null or last_used_at < now() - interval '1 minute')`
}
