import { inOrganization } from '../../database/org-lock.ts'
import type { Erasure } from './person-tables.ts'

/** Revokes the keys that are bound to the person, and takes their names away. Returns how many. */
export async function endKeys({ sql, orgId, person, pseudonym }: Erasure): Promise<number> {
  return await inOrganization(sql, orgId, async (tx) => {
    const { count } = await tx`
      update api_keys
      set revoked_at = coalesce(revoked_at, ${new Date()}), member_email = ${pseudonym.email}, name = ${pseudonym.name}
      where org_id = ${orgId}
        and member_email = any(${[person.email, ...person.aliases]}::text[])`
    return count
  })
}
