// Statements of erasure: sessions that end, by age or by id, the rows of an organization, and texts of a person.

import { keptDays } from '../../accounts/organizations/retention-queries.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { memberOf } from '../../database/member-addresses.ts'
import { deleteFrom } from '../../database/rows.ts'
import type { Traces } from './traces.ts'

/** A transaction reads at most this much of texts under the organization's lock, and changes at most this many rows. */
const BATCH_BYTES = 2_000_000
const BATCH_ROWS = 500

/** Sessions deleted in one transaction, or fewer where they are large. */
export const SESSIONS_AT_A_TIME = 200

/** A session or another row, and the size of its texts. */
export interface Sized {
  id: string
  bytes: number
}

/** The ids in batches for one transaction each; a row larger than a batch has one of its own. */
export function inBatchesOfBytes(rows: readonly Sized[]): string[][] {
  const batches: string[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const row of rows) {
    const size = Math.max(row.bytes, BATCH_BYTES / BATCH_ROWS)
    bytes += size
    if (bytes > BATCH_BYTES) {
      batches.push([])
      bytes = size
    }
    batches.at(-1)?.push(row.id)
  }
  return batches
}

/** Returns those of these sessions that are stored, with the address of the member who has them. */
export async function findSessions(tx: ISql, orgId: string, ids: readonly string[]) {
  return await tx<{ id: string; email: string | null }[]>`
    select s.id, coalesce(m.email, s.user_email) as email
    from sessions s
    join session_usage u
      on u.org_id = ${orgId}
      and u.session_id = s.id
      and u.is_main
    ${memberOf(tx, orgId, tx`u.member`)}
    where s.org_id = ${orgId}
      and s.id = any(${[...ids]}::text[])`
}

/** The organizations that do not keep their sessions for ever. */
export async function listRetentions(sql: Sql): Promise<{ orgId: string; days: number }[]> {
  return await sql<{ orgId: string; days: number }[]>`
    select o.org_id as "orgId", ${keptDays(sql)} as days
    from organizations o
    where ${keptDays(sql)} is not null
      and o.deleted_at is null
    order by o.org_id`
}

/** The sessions `s` that match, the oldest first, at most `limit`, with the sizes of their details. */
export async function findSizes(sql: ISql, orgId: string, which: Fragment, limit: number): Promise<Sized[]> {
  return await sql<Sized[]>`
    select
      s.id,
      coalesce((
        select octet_length(d.detail::text)
        from session_details d
        where d.org_id = s.org_id
          and d.session_id = s.id
      ), 0) as bytes
    from sessions s
    where s.org_id = ${orgId}
      and ${which}
    order by s.created_at, s.id
    limit ${limit}`
}

/** The condition on sessions `s` of days before `firstDay`. */
export const isExpired = (sql: ISql, firstDay: string): Fragment => sql`
  s.created_at < ${firstDay}::date::timestamp at time zone 'UTC'`

/** Returns those of these sessions that are of days before `firstDay`. */
export async function onlyExpired(tx: ISql, orgId: string, firstDay: string, ids: readonly string[]) {
  const rows = await tx<{ id: string }[]>`
    select s.id
    from sessions s
    where s.org_id = ${orgId}
      and s.id = any(${[...ids]}::text[])
      and ${isExpired(tx, firstDay)}`
  return rows.map(({ id }) => id)
}

export interface OrganizationTable {
  name: string
  /** The columns that may hold any text, with their types. */
  texts: readonly { name: string; type: string }[]
}

/** Every table whose rows name their organization. */
export async function listOrganizationTables(sql: ISql): Promise<OrganizationTable[]> {
  return await sql<OrganizationTable[]>`
    select c.relname as name, coalesce(t.texts, '[]') as texts
    from pg_class c
    join pg_attribute o on o.attrelid = c.oid and o.attname = 'org_id'
    cross join lateral (
      select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null)) order by a.attnum) as texts
      from pg_attribute a
      where a.attrelid = c.oid
        and a.attnum > 0
        and not a.attisdropped
        and a.attgenerated = ''
        and a.attname <> 'org_id'
        and format_type(a.atttypid, null) in ('text', 'character varying', 'json', 'jsonb', 'text[]')
    ) t
    where c.relnamespace = current_schema()::regnamespace
      and c.relkind = 'r'
    order by c.relname collate "C"`
}

/** Counts the organization's rows in each table; tables without any are left out. */
export async function countRows(sql: Sql, orgId: string): Promise<{ table: string; rows: number }[]> {
  const counts: { table: string; rows: number }[] = []
  for (const { name } of await listOrganizationTables(sql)) {
    if (name === 'organizations') continue
    const [row] = await sql<{ rows: number }[]>`
      select count(*)::float8 as rows
      from ${sql(name)} t
      where t.org_id = ${orgId}`
    if (row !== undefined && row.rows > 0) counts.push({ table: name, rows: row.rows })
  }
  return counts
}

/** The organization with this slug, also one whose deletion was begun. */
export async function findAnyOrganization(sql: ISql, slug: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select o.org_id as id
    from organizations o
    where o.slug = ${slug.replaceAll('\0', '')}`
  return row?.id
}

/** Ends the organization for all who use it, and what waits for delivery. Waits for the writer that has its lock. */
export async function endOrganization(tx: ISql, orgId: string): Promise<void> {
  await deleteFrom(tx, orgId, 'org_locks')
  await tx`
    update organizations
    set deleted_at = coalesce(deleted_at, ${new Date()}), badges_public = false, badge_token_hash = null
    where org_id = ${orgId}`
  await deleteFrom(tx, orgId, 'api_keys')
  await deleteFrom(tx, orgId, 'webhook_endpoints')
}

/** Deletes at most `limit` rows of an organization that was ended. Returns how many. */
export async function deleteSomeRows(sql: Sql, table: string, orgId: string, limit: number): Promise<number> {
  const some = sql`
    select r.ctid
    from ${sql(table)} r
    where r.org_id = ${orgId}
    limit ${limit}`
  return await deleteFrom(sql, orgId, table, sql`and t.ctid = any(array(${some}))`)
}

/** Whether a text may have something of the person. */
export const mayHave = (sql: ISql, { pattern }: Traces, text: Fragment): Fragment =>
  sql`${text} ~* ${pattern}`
