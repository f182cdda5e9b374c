import { timesOfKey } from '../../accounts/keys/queries.ts'
import { ApiError } from '../../base/errors.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { readPage } from '../../database/rows.ts'
import type { PageQuery } from '../../http/query.ts'
import type { Key } from './model.ts'

/** `owner`: only the keys that are bound to the member with this address. */
const fromKeys = (sql: ISql, orgId: string, owner: string | undefined): Fragment => sql`
  from api_keys k
  where k.org_id = ${orgId}
    ${owner === undefined ? sql`` : sql`and k.member_email = ${owner}`}`

const keyColumns = (sql: ISql, orgId: string) => sql`
  k.id, k.name, k.scopes, k.created_by, ${timesOfKey(sql)},
  case when k.member_email is not null then
    json_build_object(
      'id', (
        select m.id
        from members m
        where m.org_id = ${orgId}
          and m.email = k.member_email
      ),
      'email', k.member_email
    )
  end as member`

/** A page of the organization's keys, newest first. */
export const listKeyPage = (sql: ISql, orgId: string, query: PageQuery, owner: string | undefined) =>
  readPage<Key>(sql, query, {
    columns: keyColumns(sql, orgId),
    from: fromKeys(sql, orgId, owner),
    order: sql`k.created_at desc, k.id desc`,
  })

/** Reads one key. Throws NOT_FOUND. */
export async function getKey(sql: ISql, orgId: string, id: string, owner: string | undefined): Promise<Key> {
  const [row] = await sql<Key[]>`
    select ${keyColumns(sql, orgId)}
    ${fromKeys(sql, orgId, owner)}
      and k.id = ${id}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'There is no such API key')
  return row
}
