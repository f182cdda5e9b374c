import { TIME_PATTERN } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { page } from '../../http/query.ts'
import type { Key, KeyListQuery, KeyPage } from './model.ts'

type KeyRow = Omit<Key, 'member'> & { member_id: string | null; member_email: string | null }

/** `owner`: only the keys that are bound to the member with this address. */
const ownedBy = (sql: ISql, owner: string | undefined): Fragment =>
  owner === undefined ? sql`` : sql`and k.member_email = ${owner}`

const keyColumns = (sql: ISql, orgId: string) => sql`
  k.id, k.name, k.scopes, k.member_email, k.created_by,
  (
    select m.id
    from members m
    where m.org_id = ${orgId}
      and m.email = k.member_email
  ) as member_id,
  to_char(k.created_at at time zone 'UTC', ${TIME_PATTERN}) as created_at,
  to_char(k.expires_at at time zone 'UTC', ${TIME_PATTERN}) as expires_at,
  to_char(k.last_used_at at time zone 'UTC', ${TIME_PATTERN}) as last_used_at,
  to_char(k.revoked_at at time zone 'UTC', ${TIME_PATTERN}) as revoked_at`

const keyFromRow = ({ member_id, member_email, ...row }: KeyRow): Key => ({
  ...row,
  member: member_email === null ? null : { id: member_id, email: member_email },
})

/** A page of the organization's keys, newest first. */
export async function listKeyPage(
  sql: ISql,
  orgId: string,
  query: KeyListQuery,
  owner: string | undefined,
): Promise<KeyPage> {
  const [rows, [counted]] = await Promise.all([
    sql<KeyRow[]>`
      select ${keyColumns(sql, orgId)}
      from api_keys k
      where k.org_id = ${orgId}
        ${ownedBy(sql, owner)}
      order by k.created_at desc, k.id desc
      limit ${query.per_page}
      offset ${(query.page - 1) * query.per_page}`,
    sql<{ total: number }[]>`
      select count(*)::integer as total
      from api_keys k
      where k.org_id = ${orgId}
        ${ownedBy(sql, owner)}`,
  ])
  return page(rows.map(keyFromRow), query, counted?.total ?? 0)
}

/** Reads one key. Throws NOT_FOUND. */
export async function getKey(sql: ISql, orgId: string, id: string, owner: string | undefined): Promise<Key> {
  const [row] = await sql<KeyRow[]>`
    select ${keyColumns(sql, orgId)}
    from api_keys k
    where k.org_id = ${orgId}
      and k.id = ${id}
      ${ownedBy(sql, owner)}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'There is no such API key')
  return keyFromRow(row)
}
