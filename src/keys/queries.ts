import { type Actor, recordEntries, SYSTEM } from '../audit/record.ts'
import { PLANS, type Plan } from '../config.ts'
import { isDate, isTimestamp, normalizeTimestamp, TIME_PATTERN } from '../dates.ts'
import type { ISql, Sql } from '../db/client.ts'
import { lockOrganization } from '../db/org-lock.ts'
import { OperatorError } from '../errors.ts'
import { newId } from '../ids.ts'
import { makeKey } from './form.ts'
import { type ApiKey, type Organization, SCOPES, type Scope } from './model.ts'

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const MAX_NAME_LENGTH = 200

function checkName(name: string): string {
  const trimmed = name.trim()
  const good =
    trimmed !== '' && trimmed.length <= MAX_NAME_LENGTH && !trimmed.includes('\0') && trimmed.isWellFormed()
  if (!good) throw new OperatorError(`a name must have 1 to ${MAX_NAME_LENGTH} characters`, 2)
  return trimmed
}

function checkPlan(plan: string): Plan {
  const known = PLANS.find((candidate) => candidate === plan)
  if (known === undefined) throw new OperatorError(`unknown plan; the plans are ${PLANS.join(', ')}`, 2)
  return known
}

function checkScopes(scopes: readonly string[]): Scope[] {
  const known = SCOPES.filter((scope) => scopes.includes(scope))
  const unknown = scopes.filter((scope) => !known.some((candidate) => candidate === scope))
  if (known.length > 0 && unknown.length === 0) return known
  const problem = unknown.length === 0 ? 'a key needs a scope' : `unknown scope ${JSON.stringify(unknown[0])}`
  throw new OperatorError(`${problem}; the scopes are ${SCOPES.join(', ')}`, 2)
}

/** A day means its beginning in UTC. */
function checkExpiry(text: string): string {
  if (isDate(text)) return `${text}T00:00:00.000Z`
  if (isTimestamp(text)) return normalizeTimestamp(text)
  throw new OperatorError('expires must be a date (2027-01-31) or an RFC 3339 timestamp with an offset', 2)
}

const isUniqueViolation = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === '23505'

/** Makes an organization; its slug is lower-case letters, digits and inner hyphens, at most 63. Throws OperatorError. */
export async function createOrganization(
  sql: Sql,
  wanted: { slug: string; name: string; plan: string },
  actor: Actor = SYSTEM,
): Promise<Organization> {
  if (!SLUG.test(wanted.slug)) {
    throw new OperatorError('a slug is 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends', 2)
  }
  const name = checkName(wanted.name)
  const plan = checkPlan(wanted.plan)
  try {
    return await sql.begin(async (tx) => {
      const orgId = newId('org')
      await tx`
        insert into organizations (org_id, slug, name, plan)
        values (${orgId}, ${wanted.slug}, ${name}, ${plan})`
      await tx`
        insert into org_locks (org_id)
        values (${orgId})`
      const details = { ids: [orgId], slug: wanted.slug, name, plan }
      await recordEntries(tx, orgId, actor, [{ action: 'organization.created', details }])
      return await getOrganization(tx, wanted.slug)
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`there is an organization ${wanted.slug} already`)
    throw error
  }
}

/** All organizations, by slug. */
export async function listOrganizations(sql: Sql): Promise<Organization[]> {
  return await sql<Organization[]>`
    select o.org_id as id, o.slug, o.name, o.plan, to_char(o.created_at at time zone 'UTC', ${TIME_PATTERN}) as created_at
    from organizations o
    order by o.slug`
}

/** The organization with this slug. */
export async function findOrganization(sql: ISql, slug: string): Promise<Organization | undefined> {
  const [row] = await sql<Organization[]>`
    select o.org_id as id, o.slug, o.name, o.plan, to_char(o.created_at at time zone 'UTC', ${TIME_PATTERN}) as created_at
    from organizations o
    where o.slug = ${slug.replaceAll('\0', '')}`
  return row
}

/** The organization with this slug. Throws OperatorError when there is none. */
export async function getOrganization(sql: ISql, slug: string): Promise<Organization> {
  const organization = await findOrganization(sql, slug)
  if (organization === undefined) throw new OperatorError(`there is no organization ${JSON.stringify(slug)}`)
  return organization
}

/** Changes what is given. A changed plan holds on every instance within a second. Throws OperatorError. */
export async function updateOrganization(
  sql: Sql,
  slug: string,
  change: { name?: string | undefined; plan?: string | undefined },
  actor: Actor = SYSTEM,
): Promise<Organization> {
  const name = change.name === undefined ? null : checkName(change.name)
  const plan = change.plan === undefined ? null : checkPlan(change.plan)
  const { id } = await getOrganization(sql, slug)
  return await sql.begin(async (tx) => {
    await lockOrganization(tx, id)
    const before = await getOrganization(tx, slug)
    const changed = {
      ...(name === null || name === before.name ? {} : { name }),
      ...(plan === null || plan === before.plan ? {} : { plan }),
    }
    if (Object.keys(changed).length === 0) return before
    await tx`
      update organizations
      set name = coalesce(${name}, name), plan = coalesce(${plan}, plan)
      where org_id = ${id}`
    await recordEntries(tx, id, actor, [
      { action: 'organization.updated', details: { ids: [id], ...changed } },
    ])
    return { ...before, ...changed }
  })
}

/** Makes an API key. `key` is shown here and never again: only its SHA-256 is stored. Throws OperatorError. */
export async function createKey(
  sql: Sql,
  orgId: string,
  wanted: { name: string; scopes: readonly string[]; expires?: string | undefined },
  actor: Actor = SYSTEM,
): Promise<{ id: string; key: string; name: string; scopes: Scope[]; expires_at: string | null }> {
  const name = checkName(wanted.name)
  const scopes = checkScopes(wanted.scopes)
  const expires_at = wanted.expires === undefined ? null : checkExpiry(wanted.expires)
  const { id, key, hash } = makeKey()
  await sql.begin(async (tx) => {
    await lockOrganization(tx, orgId)
    await tx`
      insert into api_keys (id, org_id, name, key_hash, scopes, expires_at)
      values (${id}, ${orgId}, ${name}, ${hash}, ${scopes}, ${expires_at})`
    const details = { ids: [id], name, scopes, expires_at }
    await recordEntries(tx, orgId, actor, [{ action: 'api_key.created', details }])
  })
  return { id, key, name, scopes, expires_at }
}

/** The organization's keys, oldest first, without their secrets. */
export async function listKeys(sql: Sql, orgId: string): Promise<ApiKey[]> {
  return await sql<ApiKey[]>`
    select k.id, k.name, k.scopes,
      to_char(k.created_at at time zone 'UTC', ${TIME_PATTERN}) as created_at,
      to_char(k.expires_at at time zone 'UTC', ${TIME_PATTERN}) as expires_at,
      to_char(k.last_used_at at time zone 'UTC', ${TIME_PATTERN}) as last_used_at,
      to_char(k.revoked_at at time zone 'UTC', ${TIME_PATTERN}) as revoked_at
    from api_keys k
    where k.org_id = ${orgId}
    order by k.created_at, k.id`
}

/** Revokes a key by its id; again changes nothing. Every instance refuses it within a second. Throws OperatorError. */
export async function revokeKey(
  sql: Sql,
  id: string,
  actor: Actor = SYSTEM,
): Promise<{ id: string; org_id: string; revoked_at: string }> {
  return await sql.begin(async (tx) => {
    const known = await findRevocable(tx, id)
    await lockOrganization(tx, known.org_id)
    const revoked = await tx`
      update api_keys
      set revoked_at = now()
      where id = ${known.id}
        and revoked_at is null`
    if (revoked.count > 0) {
      await recordEntries(tx, known.org_id, actor, [
        { action: 'api_key.revoked', details: { ids: [known.id] } },
      ])
    }
    const { org_id, revoked_at } = await findRevocable(tx, id)
    return { id, org_id, revoked_at: revoked_at ?? '' }
  })
}

async function findRevocable(
  tx: ISql,
  id: string,
): Promise<{ id: string; org_id: string; revoked_at: string | null }> {
  const [row] = await tx<{ id: string; org_id: string; revoked_at: string | null }[]>`
    select k.id, k.org_id, to_char(k.revoked_at at time zone 'UTC', ${TIME_PATTERN}) as revoked_at
    from api_keys k
    where k.id = ${id.replaceAll('\0', '')}`
  if (row === undefined) throw new OperatorError(`there is no API key ${JSON.stringify(id)}`)
  return row
}

/** A key as admission needs it. `expiresInMs` counts from the statement, by the database's clock; null: never. */
export interface FoundKey {
  id: string
  orgId: string
  plan: Plan
  scopes: readonly Scope[]
  hash: Uint8Array
  expiresInMs: number | null
}

/** Those of the keys with these ids that exist and are not revoked. */
export async function findKeys(sql: Sql, ids: readonly string[]): Promise<FoundKey[]> {
  return await sql<FoundKey[]>`
    select k.id, k.org_id as "orgId", o.plan, k.scopes, k.key_hash as hash,
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

/** What a lease found: `used` requests of `minute` (Unix minutes) before it, at `nowMs` (Unix) of the clock asked. */
export interface LeasedWindow {
  minute: number
  usedBefore: number
  nowMs: number
}

/**
 * Takes `count` requests of the organization's current minute, by the clock of the database, or `at` in tests.
 * It may take more than the limit leaves: the caller may spend `limit - usedBefore` of them.
 */
export async function leaseRequests(
  sql: Sql,
  orgId: string,
  count: number,
  at: Date | null,
): Promise<LeasedWindow> {
  // A statement that waited for the row may come with the minute before: it counts in the row's minute. A row
  // more than a minute ahead is left from a clock that was set back: it starts anew.
  const [row] = await sql<LeasedWindow[]>`
    insert into rate_windows as w (org_id, minute, used)
    values (
      ${orgId},
      floor(extract(epoch from coalesce(${at}::timestamptz, clock_timestamp())) / 60)::bigint,
      ${count}
    )
    on conflict (org_id) do update
    set minute = case when w.minute = excluded.minute + 1 then w.minute else excluded.minute end,
      used = case when w.minute between excluded.minute and excluded.minute + 1 then w.used else 0 end
        + excluded.used
    returning w.minute::float8 as minute, (w.used - ${count})::float8 as "usedBefore",
      (extract(epoch from coalesce(${at}::timestamptz, clock_timestamp())) * 1000)::float8 as "nowMs"`
  if (row === undefined) throw new Error('the lease was not returned')
  return row
}
