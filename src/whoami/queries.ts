import { TIME_PATTERN } from '../dates.ts'
import type { Sql } from '../db/client.ts'
import { ApiError } from '../errors.ts'
import type { WhoAmI } from './model.ts'

type Row = WhoAmI['organization'] & {
  key_id: string
  key_name: string
  scopes: WhoAmI['key']['scopes']
  expires_at: string | null
  member_id: string | null
  member_email: string | null
}

/** The key, its organization, and whose sessions it sends. Throws UNAUTHORIZED when the key was just deleted. */
export async function getKeyOwner(
  sql: Sql,
  orgId: string,
  keyId: string,
): Promise<Pick<WhoAmI, 'organization' | 'key'>> {
  const [row] = await sql<Row[]>`
    select
      o.org_id as id, o.slug, o.name, o.plan,
      k.id as key_id, k.name as key_name, k.scopes, k.member_email,
      to_char(k.expires_at at time zone 'UTC', ${TIME_PATTERN}) as expires_at,
      (
        select m.id
        from members m
        where m.org_id = ${orgId}
          and m.email = k.member_email
      ) as member_id
    from api_keys k
    join organizations o on o.org_id = k.org_id
    where k.org_id = ${orgId}
      and k.id = ${keyId}`
  if (row === undefined) throw new ApiError('UNAUTHORIZED', 'Missing or invalid API key')
  const { id, slug, name, plan, key_id, key_name, scopes, expires_at, member_id, member_email } = row
  const member = member_email === null ? null : { id: member_id, email: member_email }
  return {
    organization: { id, slug, name, plan },
    key: { id: key_id, name: key_name, scopes, expires_at, member },
  }
}
