import type { Access, Person } from '../../accounts/people/callers.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import type { Sql } from '../../database/client.ts'
import type { WhoAmI } from './model.ts'

type Row = WhoAmI['organization'] & {
  key_id: string | null
  key_name: string
  expires_at: string | null
  key_email: string | null
  member_id: string | null
  member_email: string
  display_name: string
  role: NonNullable<WhoAmI['member']>['role']
}

/** Who asks: a key or a person. */
type Caller = Pick<Access, 'orgId' | 'keyId' | 'scopes'> & {
  person: Pick<Person, 'userId' | 'csrfToken'> | null
}

/**
 * The organization and its limits, the key, with the scopes that are left to it, unless a person is asked for, and the member:
 * the person, or whose sessions the key sends. Throws UNAUTHORIZED when the key or person was just deleted.
 */
export async function getCaller(
  sql: Sql,
  { orgId, keyId, person, ...access }: Caller,
  perMinute: number,
): Promise<WhoAmI> {
  const scopes = [...access.scopes]
  const [row] = await sql<Row[]>`
    select
      o.org_id as id, o.slug, o.name, o.plan,
      k.id as key_id, k.name as key_name, k.member_email as key_email,
      to_char(k.expires_at at time zone 'UTC', ${TIME_PATTERN}) as expires_at,
      m.id as member_id, m.email as member_email, m.display_name, m.role
    from organizations o
    left join api_keys k on k.org_id = o.org_id and k.id = ${keyId}
    left join members m on m.org_id = ${orgId} and (m.email = k.member_email or m.id = ${person?.userId ?? null})
    where o.org_id = ${orgId}`
  if (row === undefined || (row.key_id ?? row.member_id) === null) {
    throw new ApiError('UNAUTHORIZED', 'Missing or invalid API key')
  }
  const { id, slug, name, plan, key_id, key_name, expires_at, key_email } = row
  const { member_id, member_email, display_name, role } = row
  const owner = key_email === null ? null : { id: member_id, email: key_email }
  return {
    organization: { id, slug, name, plan },
    key: key_id === null ? null : { id: key_id, name: key_name, scopes, expires_at, member: owner },
    member: member_id === null ? null : { id: member_id, email: member_email, display_name, role },
    scopes,
    ...(person !== null && { csrf_token: person.csrfToken }),
    limits: { read: perMinute, sync: perMinute },
  }
}
