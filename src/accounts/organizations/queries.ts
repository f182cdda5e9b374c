// Makes, finds and lists organizations, and reads the versions of their data, for commands, sign-in and the cache.

import { dayOf, TIME_PATTERN, UTC } from '../../base/dates.ts'
import { OperatorError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { PLANS, type Plan } from '../../config.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { type Actor, recordEntry, SYSTEM } from '../audit-log/append.ts'
import type { Organization } from './model.ts'

export const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const MAX_NAME_LENGTH = 200

/** The organization of a key or session, as admission needs it. */
export interface FoundOrganization {
  orgId: string
  plan: Plan
  /** Whether it shows members to keys with the scope team:read only. */
  hideMembers: boolean
  memberVisibility: 'all' | 'own'
  zone: string
  isZoneChanging: boolean
}

/** The columns of a `FoundOrganization`, of `organizations o`. */
export const foundColumns = (sql: Sql) => sql`
  o.org_id as "orgId", o.plan, o.hide_members as "hideMembers", o.member_visibility as "memberVisibility",
  o.time_zone as zone, o.time_zone_pending is not null as "isZoneChanging"`

/** The name without spaces around it. Throws OperatorError (wrong usage) for one that cannot be kept. */
export function checkName(name: string): string {
  const trimmed = name.trim()
  const good =
    trimmed !== '' && trimmed.length <= MAX_NAME_LENGTH && !trimmed.includes('\0') && trimmed.isWellFormed()
  if (!good) throw new OperatorError(`a name must have 1 to ${MAX_NAME_LENGTH} characters`, 2)
  return trimmed
}

function checkPlan(plan: string): Plan {
  const validPlan = PLANS.find((candidate) => candidate === plan)
  if (validPlan === undefined) throw new OperatorError(`unknown plan; the plans are ${PLANS.join(', ')}`, 2)
  return validPlan
}

const isUniqueViolation = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === '23505'

/** Makes an organization; its slug is lower-case letters, digits and inner hyphens, at most 63. Throws OperatorError. */
export async function createOrganization(sql: Sql, fields: NewOrganization, actor: Actor = SYSTEM) {
  if (!SLUG.test(fields.slug))
    throw new OperatorError('a slug is 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends', 2)
  const checked = { ...fields, name: checkName(fields.name), plan: checkPlan(fields.plan) }
  try {
    return await sql.begin(async (tx) => {
      const orgId = await insertOrganization(tx, checked)
      await recordCreated(tx, orgId, checked, actor)
      return await getOrganization(tx, checked.slug)
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`there is an organization ${fields.slug} already`)
    throw error
  }
}

interface NewOrganization {
  slug: string
  name: string
  plan: string
  /** UTC unless given. */
  time_zone?: string | undefined
}

export async function insertOrganization(tx: ISql, { slug, name, plan, time_zone = UTC }: NewOrganization) {
  const orgId = newId('org')
  await tx`
    insert into organizations (org_id, slug, name, plan, time_zone)
    values (${orgId}, ${slug}, ${name}, ${plan}, ${time_zone})`
  await tx`
    insert into org_locks (org_id)
    values (${orgId})`
  return orgId
}

export const recordCreated = (
  tx: ISql,
  orgId: string,
  { slug, name, plan, time_zone = UTC }: NewOrganization,
  actor: Actor,
) => recordEntry(tx, orgId, actor, 'organization.created', { ids: [orgId], slug, name, plan, time_zone })

/** Lets those who make the first organization wait for each other until the end of the transaction. */
export async function lockFirst(tx: ISql): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('first organization', 0))`
}

/** Whether there is an organization, also one that is being deleted. */
export async function hasOrganization(sql: ISql): Promise<boolean> {
  const [row] = await sql`select 1 from organizations o limit 1`
  return row !== undefined
}

const organizationColumns = (sql: ISql) => sql`
  o.org_id as id, o.slug, o.name, o.plan, to_char(o.created_at at time zone 'UTC', ${TIME_PATTERN}) as created_at,
  o.time_zone, o.hide_members, o.retention_sessions_days, o.budget_action`

/** All organizations, by slug, without those that are being deleted. */
export async function listOrganizations(sql: Sql): Promise<Organization[]> {
  return await sql<Organization[]>`
    select ${organizationColumns(sql)}
    from organizations o
    where o.deleted_at is null
    order by o.slug`
}

export async function findOrganization(sql: ISql, slug: string): Promise<Organization | undefined> {
  const [row] = await sql<Organization[]>`
    select ${organizationColumns(sql)}
    from organizations o
    where o.slug = ${slug.replaceAll('\0', '')}
      and o.deleted_at is null`
  return row
}

/** Slugs of the organizations in which nobody is an owner, at most `limit`. */
export async function listWithoutOwner(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ slug: string }[]>`
    select o.slug
    from organizations o
    where o.deleted_at is null
      and o.org_id not in (select m.org_id from members m where m.role = 'owner')
    order by o.slug
    limit ${limit}`
  return rows.map(({ slug }) => slug)
}

export async function findOrganizationById(sql: ISql, orgId: string) {
  const [row] = await sql<Pick<Organization, 'id' | 'slug' | 'name'>[]>`
    select o.org_id as id, o.slug, o.name
    from organizations o
    where o.org_id = ${orgId}`
  return row
}

/** The organization with this slug. Throws OperatorError when there is none. */
export async function getOrganization(sql: ISql, slug: string): Promise<Organization> {
  const organization = await findOrganization(sql, slug)
  if (organization === undefined)
    throw new OperatorError(
      `there is no organization ${JSON.stringify(slug)}; those there are: cloud-analytics org list`,
    )
  return organization
}

/** The organization with this slug, or all without one. Throws OperatorError when there is none with it. */
export const organizationsOf = async (sql: Sql, slug: string | undefined): Promise<Organization[]> =>
  slug === undefined ? await listOrganizations(sql) : [await getOrganization(sql, slug)]

/** Organizations and the versions of their data: every transaction that writes an organization's data moves its version. */
type Versions = ReadonlyMap<string, string>

/** The versions by id; without those that do not exist. */
export async function findVersions(sql: ISql, ids: readonly string[]): Promise<Versions> {
  const rows = await sql<{ id: string; version: string }[]>`
    select l.org_id as id, l.version
    from org_locks l
    where l.org_id = any(${ids}::text[])`
  return new Map(rows.map(({ id, version }) => [id, version]))
}

/** The versions by slug, each with the organization's day at `now`; without those that do not exist. */
export async function findVersionsBySlug(sql: Sql, slugs: readonly string[], now: Date): Promise<Versions> {
  const rows = await sql<{ slug: string; version: string; zone: string }[]>`
    select o.slug, l.version, o.time_zone as zone
    from org_locks l
    join organizations o on o.org_id = l.org_id
    where o.slug = any(${slugs}::text[])`
  return new Map(rows.map(({ slug, version, zone }) => [slug, `${version} ${dayOf(now, zone)}`]))
}
