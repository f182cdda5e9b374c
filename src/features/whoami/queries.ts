import type { Access, Person } from '../../accounts/people/callers.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import type { Sql } from '../../database/client.ts'
import type { WhoAmI } from './model.ts'

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
  const [row] = await sql<Pick<WhoAmI, 'organization' | 'key' | 'member'>[]>`
    select
      json_build_object('id', o.org_id, 'slug', o.slug, 'name', o.name, 'plan', o.plan, 'time_zone', o.time_zone) as organization,
      case when k.id is not null then
        json_build_object(
          'id', k.id, 'name', k.name, 'scopes', ${scopes}::text[],
          'expires_at', to_char(k.expires_at at time zone 'UTC', ${TIME_PATTERN}),
          'member', case when k.member_email is not null then
            json_build_object('id', m.id, 'email', k.member_email)
          end
        )
      end as key,
      case when m.id is not null then
        json_build_object('id', m.id, 'email', m.email, 'display_name', m.display_name, 'role', m.role)
      end as member
    from organizations o
    left join api_keys k on k.org_id = o.org_id and k.id = ${keyId}
    left join members m on m.org_id = ${orgId} and (m.email = k.member_email or m.id = ${person?.userId ?? null})
    where o.org_id = ${orgId}`
  if (row === undefined || (row.key ?? row.member) === null)
    throw new ApiError('UNAUTHORIZED', 'Missing or invalid API key')
  return {
    ...row,
    scopes,
    ...(person !== null && { csrf_token: person.csrfToken }),
    limits: { read: perMinute, sync: perMinute },
  }
}
